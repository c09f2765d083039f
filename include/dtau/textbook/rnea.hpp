// Computes inverse dynamics by the recursive Newton-Euler algorithm in body coordinates, O(N):
// rnea(). [RBDA] table 5.1.
//
//   v_i = X_i v_p + S_i q'_i                           X_i: from parent p to body i
//   a_i = X_i a_p + S_i q''_i + v_i x S_i q'_i         a_0 = -gravity
//   f_i = I_i a_i + v_i x* I_i v_i - f_ext_i + sum over children c of X_c^T f_c
//   tau_i = S_i^T f_i
//
// The fast form is algorithms/values/rnea.hpp.
#pragma once

#include "dtau/textbook/spatial.hpp"

namespace dtau::DTAU_VARIANT::textbook {

template <class T> struct RneaWorkspace {
    Configuration<T> angles;
    Vector<T>*S, *v, *a, *f;  // columns of the subspaces (nv); twist, acceleration, force (nnodes)
    Matrix<T>* X;

    RneaWorkspace(Arena& arena, const Tree& tree, const Options&)
        : angles(arena, tree), S(arena.take<Vector<T>>(tree.nv)) {
        arena.take_each(tree.nnodes, v, a, f, X);
    }
};

template <class T>
void rnea(const Tree& tree, const T* q, const T* qd, const T* qdd, const T* f_ext, T* tau,
          const RneaWorkspace<T>& w) {
    const Configuration<T> x = configuration(tree, q, w.angles);
    for (int i = 0; i < tree.nnodes; ++i) {
        const Body& body = tree.bodies[i];
        const int p = body.parent, k = body.v;
        w.X[i] = motion_transform(jcalc(body, x, w.S + k));
        const Vector<T> vJ = times(w.S + k, qd + k, body.nv);
        const Vector<T> aJ = times(w.S + k, qdd + k, body.nv);
        w.v[i] = p < 0 ? vJ : w.X[i] * w.v[p] + vJ;
        w.a[i] = w.X[i] * (p < 0 ? minus_gravity<T>(tree) : w.a[p]) + aJ + crm(w.v[i]) * vJ;
        const Matrix<T> I = rigid_body_inertia<T>(body);
        w.f[i] = I * w.a[i] + crf(w.v[i]) * (I * w.v[i]) - external_force(body, f_ext);
    }
    for (int i = tree.nnodes - 1; i >= 0; --i) {
        const Body& body = tree.bodies[i];
        for (int k = body.v; k < body.v + body.nv; ++k)
            tau[k] =
                dot(w.S[k], w.f[i]) + T(tree.armature[k]) * qdd[k] + T(tree.damping[k]) * qd[k];
        if (body.parent >= 0) w.f[body.parent] += transposed(w.X[i]) * w.f[i];
    }
    add_spring_torques(tree, q, tau);
    add_friction_torques(tree, 1.0, qd, tau);
}

}  // namespace dtau::DTAU_VARIANT::textbook
