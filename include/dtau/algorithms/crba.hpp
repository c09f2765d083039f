// Mass matrix: the composite-rigid-body algorithm in ground coordinates, O(N d).
// RBDA section 6.2; M_ij = s_j . I^C_i s_i for j on the path from the root to i.
#pragma once

#include "dtau/kinematics.hpp"

namespace dtau::DTAU_VARIANT {

// The first degree of freedom of a tree that is not of a free root: where paths may stop, because
// the motion subspace of a free root is the identity in ground coordinates.
DTAU_INLINE int path_stop(const Tree& tree, const Body& body) {
    const Body& root = tree.bodies[body.root];
    return root.kind == JointKind::free ? root.v + root.nv : 0;
}

template <class T>
DTAU_INLINE void fill_zero(T* x, int count) {
    for (int k = 0; k < count; ++k) x[k] = T(0.0);
}

// ground.I becomes the composite inertias. M is complete: zeros and both triangles.
template <class T>
void crba(const Tree& tree, const T* q, T* M, const Ground<T>& ground) {
    const int n = tree.nv;
    ground_sweep<T>(tree, q, nullptr, ground);
    fill_zero(M, n * n);
    for (int i = tree.nbodies - 1; i >= 0; --i) {
        const Body& body = tree.bodies[i];
        const Inertia<T>& I = ground.I[i];
        const int stop = path_stop(tree, body);
        for (int k = body.v; k < body.v + body.nv; ++k) {
            const Force<T> F = I * ground.S[k];
            for (int j = k; j >= stop || j >= body.v; j = tree.dof_parent[j])
                M[k * n + j] = M[j * n + k] = dot(F, ground.S[j]);
            if (body.v >= stop && stop > 0) {  // a free root: components of F
                const T base[6] = {F.lin.x, F.lin.y, F.lin.z, F.ang.x, F.ang.y, F.ang.z};
                for (int j = 0; j < 6; ++j)
                    M[k * n + stop - 6 + j] = M[(stop - 6 + j) * n + k] = base[j];
            }
            M[k * n + k] += T(tree.armature[k]);
        }
        if (body.parent >= 0) ground.I[body.parent] += I;
    }
}

}  // namespace dtau::DTAU_VARIANT
