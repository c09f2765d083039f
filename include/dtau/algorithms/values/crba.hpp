// Mass matrix: the composite-rigid-body algorithm in ground coordinates, O(N d).
// [RBDA] section 6.2; M_ij = s_j . I^C_i s_i for j on the path from the root to i.
#pragma once

#include "dtau/kinematics.hpp"

namespace dtau::DTAU_VARIANT {

// Writes a force as a column of a block of six rows: row `base`, column `column`.
template <class T>
DTAU_INLINE void store_column(const Force<T>& f, int base, int column, int n, T* matrix) {
    const Components<T> c = components(f);
    for (int r = 0; r < 6; ++r) matrix[(base + r) * n + column] = c.x[r];
}

// The block of a free root: its composite inertia, [m 1, -h^; h^, J].
template <class T>
DTAU_INLINE void free_root_inertia(const Inertia<T>& I, int base, int n, T* M) {
    const T m = I.m, zero(0.0);
    const Mat3<T> h = skew(I.h), minus_h = skew(-I.h), J = full(I.J);
    store_column({h.x, {m, zero, zero}}, base, base, n, M);
    store_column({h.y, {zero, m, zero}}, base, base + 1, n, M);
    store_column({h.z, {zero, zero, m}}, base, base + 2, n, M);
    store_column({J.x, minus_h.x}, base, base + 3, n, M);
    store_column({J.y, minus_h.y}, base, base + 4, n, M);
    store_column({J.z, minus_h.z}, base, base + 5, n, M);
}

// Backward sweep. The inertias of the bodies become composites. Calls store(k, j, M_kj) for the
// pairs of which j is k or on its path.
template <class T, class Store>
DTAU_INLINE void crba_backward(const Tree& tree, const Motion<T>* S, Inertia<T>* inertias,
                               const Store& store) {
    for (int i = tree.nbodies - 1; i >= 0; --i) {
        const Body& body = tree.bodies[i];
        const Inertia<T>& I = inertias[i];
        const int stop = path_stop(tree, body);
        if (body.v < stop) {
            T block[36];
            free_root_inertia(I, 0, 6, block);
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
