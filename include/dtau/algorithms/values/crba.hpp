// Mass matrix: the composite-rigid-body algorithm in ground coordinates, O(N d).
// [RBDA] section 6.2; M_ij = s_j . I^C_i s_i for j on the path from the root to i.
#pragma once

#include "dtau/free_root.hpp"

namespace dtau::DTAU_VARIANT {

// Backward sweep. The inertias of the bodies become composites. Calls store(k, j, M_kj) for the
// pairs of which j is k or on its path.
template <class T, class Store>
DTAU_INLINE void crba_backward(const Tree& tree, const Motion<T>* S, Inertia<T>* inertias,
                               const Store& store) {
    for (int i = tree.nnodes - 1; i >= 0; --i) {
        const Body& body = tree.bodies[i];
        const Inertia<T>& I = inertias[i];
        const int stop = path_stop(tree, body);
        if (body.v < stop) {
            T block[36];
            free_root_inertia(I, block, 6);
            for (int k = 0; k < 6; ++k)
                for (int j = 0; j <= k; ++j) store(body.v + k, body.v + j, block[6 * k + j]);
            continue;
        }
        for (int k = body.v; k < body.v + body.nv; ++k) {
            const Force<T> F = I * S[k];
            for (int j = k; j >= stop; j = tree.dofs.parent[j]) store(k, j, dot(F, S[j]));
            if (stop > 0) {
                const Components<T> c = components(F);
                for (int r = 0; r < 6; ++r) store(k, stop - 6 + r, c.x[r]);
            }
        }
        if (body.parent >= 0) inertias[body.parent] += I;
    }
}

template <class T>
struct MassMatrixWorkspace {
    Ground<T> ground;

    MassMatrixWorkspace(Arena& arena, const Tree& tree, const Options&) : ground(arena, tree) {}
};

// M: into zeros, both triangles.
template <class T>
void crba(const Tree& tree, const T* q, T* M, const Ground<T>& ground) {
    const int n = tree.nv;
    ground_sweep<T>(tree, q, nullptr, ground);
    crba_backward(tree, ground.S, ground.I,
                  [&](int k, int j, T m) { M[k * n + j] = M[j * n + k] = m; });
    for (int k = 0; k < n; ++k) M[k * n + k] += T(tree.armature[k]);
}

}  // namespace dtau::DTAU_VARIANT
