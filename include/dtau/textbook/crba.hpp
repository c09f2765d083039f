// Computes the mass matrix by the composite-rigid-body algorithm in body coordinates, O(N d):
// crba(). [RBDA] table 6.2.
//
//   I^c_i = I_i + sum over children c of X_c^T I^c_c X_c         composite inertia
//   F = I^c_i S_i,   M_ii = S_i^T F
//   for each ancestor j of i, from i to the root:   F = X^T F,   M_ji = S_j^T F = M_ij^T
//
// The fast form is algorithms/values/crba.hpp.
#pragma once

#include "dtau/textbook/spatial.hpp"

namespace dtau::DTAU_VARIANT::textbook {

template <class T> struct CrbaWorkspace {
    Configuration<T> angles;
    Vector<T>* S;      // (nv)
    Matrix<T>*X, *Ic;  // (nnodes)

    CrbaWorkspace(Arena& arena, const Tree& tree, const Options&)
        : angles(arena, tree), S(arena.take<Vector<T>>(tree.nv)) {
        arena.take_each(tree.nnodes, X, Ic);
    }
};

// M: (nv, nv)
template <class T> void crba(const Tree& tree, const T* q, T* M, const CrbaWorkspace<T>& w) {
    const int n = tree.nv;
    const Configuration<T> x = configuration(tree, q, w.angles);
    for (int k = 0; k < n * n; ++k) M[k] = T(0.0);
    for (int i = 0; i < tree.nnodes; ++i) {
        const Body& body = tree.bodies[i];
        w.X[i] = motion_transform(jcalc(body, x, w.S + body.v));
        w.Ic[i] = rigid_body_inertia<T>(body);
    }
    for (int i = tree.nnodes - 1; i >= 0; --i) {
        const Body& body = tree.bodies[i];
        if (body.parent >= 0) w.Ic[body.parent] += transposed(w.X[i]) * w.Ic[i] * w.X[i];
        for (int k = body.v; k < body.v + body.nv; ++k) {
            Vector<T> F = w.Ic[i] * w.S[k];
            for (int j = i; j >= 0; F = transposed(w.X[j]) * F, j = tree.bodies[j].parent) {
                const Body& on = tree.bodies[j];
                for (int l = on.v; l < on.v + on.nv; ++l)
                    M[k * n + l] = M[l * n + k] = dot(w.S[l], F);
            }
            M[k * n + k] = M[k * n + k] + T(tree.armature[k]);
        }
    }
}

}  // namespace dtau::DTAU_VARIANT::textbook
