// Computes the first derivatives of the kinetic energy: kinetic_energy_derivatives(). O(N).
// [Derivations] eq. 15.10. (The derivatives of the potential energy are the torques that hold the robot
// against gravity: rnea.hpp.)
//
//   forward    v_i = X_i v_p + S_i q'        f_i = I_i v_i
//   backward   dT/dq = -S_i^T (v_p x* f_i)   dT/dv = S_i^T f_i + armature q'        f_p = f_p + X_i^T f_i
//
// The textbook has dT/dq_j = q'^T (dM/dq_j) q' / 2. Here no derivative of M is formed: a rigid motion
// of a subtree keeps its energy, and besides that joint j changes all its twists by v_p x s_j, so
// that the momentum f of the subtree is enough. v_p is the parent's twist in the axes of body i.
//
// Symbols, for body i with parent p, in the axes of body i about its origin:
//   X[i]    placement of the body in its parent      v_p[i], v[i]   twists of the parent and the body
//   f[i]    momentum of the subtree
#pragma once

#include "dtau/kinematics.hpp"

namespace dtau::DTAU_VARIANT {

template <class T> struct KineticEnergyDerivativesWorkspace {
    Configuration<T> angles;
    Placement<T>* X;
    Motion<T>*v_p, *v;
    Force<T>* f;

    KineticEnergyDerivativesWorkspace(Arena& arena, const Tree& tree, const Options&)
        : angles(arena, tree) {
        arena.take_each(tree.nnodes, X, v_p, v, f);
    }
};

// dq, dv: (nv)
template <class T>
void kinetic_energy_derivatives(const Tree& tree, const T* q, const T* v, T* dq, T* dv,
                                const KineticEnergyDerivativesWorkspace<T>& w) {
    const Configuration<T> x = configuration(tree, q, w.angles);
    for (int i = 0; i < tree.nnodes; ++i) {
        const Body& body = tree.bodies[i];
        const Placement<T> X = joint_placement(body, constant_placement<T>(body), x);
        const Motion<T> vJ = joint_twist(body, v + body.v);
        w.v_p[i] = body.parent < 0 ? zero_motion<T>() : seen_from(X, w.v[body.parent]);
        w.v[i] = w.v_p[i] + vJ;
        w.f[i] = own_inertia<double>(body) * w.v[i];
        w.X[i] = X;
    }
    for (int i = tree.nnodes - 1; i >= 0; --i) {
        const Body& body = tree.bodies[i];
        joint_torque(body, cross_star(-w.v_p[i], w.f[i]), dq + body.v);  // [Derivations] eq. 15.10
        joint_torque(body, w.f[i], dv + body.v);
        if (body.parent >= 0) w.f[body.parent] += transformed(w.X[i], w.f[i]);
    }
    for (int k = 0; k < tree.nv; ++k) dv[k] = fma(armature<T>(tree, k), v[k], dv[k]);
}

}  // namespace dtau::DTAU_VARIANT
