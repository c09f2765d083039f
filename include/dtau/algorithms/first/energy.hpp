// First derivatives of the kinetic energy, O(N). [Notes] eq. 15.10. (Those of the potential energy are
// the torques that hold the robot against gravity: rnea.hpp.)
//
// Body axes and the workspace of rnea.hpp, whose f is the momentum of the subtree here.
#pragma once

#include "dtau/algorithms/values/rnea.hpp"

namespace dtau::DTAU_VARIANT {

// dq, dv: (nv)
template <class T>
void kinetic_energy_derivatives(const Tree& tree, const T* q, const T* v, T* dq, T* dv,
                                const RneaWorkspace<T>& w) {
    const Configuration<T> x = configuration(tree, q, w.angles);
    for (int i = 0; i < tree.nbodies; ++i) {
        const Body& body = tree.bodies[i];
        const Placement<T> X = joint_placement(body, constant_placement<T>(body), x);
        const Motion<T> vJ = joint_twist(body, v + body.v);
        // a: the twist of the parent
        w.a[i] = body.parent < 0 ? zero_motion<T>() : seen_from(X, w.v[body.parent]);
        w.v[i] = w.a[i] + vJ;
        const Vec3<double> c = vec3(body.com);
        w.f[i] = Inertia<double>{body.mass, body.mass * c, sym3(body.own_inertia)} * w.v[i];
        w.X[i] = X;
    }
    for (int i = tree.nbodies - 1; i >= 0; --i) {
        const Body& body = tree.bodies[i];
        joint_torque(body, cross_star(-w.a[i], w.f[i]), dq + body.v);  // [Notes] eq. 15.10
        joint_torque(body, w.f[i], dv + body.v);
        if (body.parent >= 0) w.f[body.parent] += transformed(w.X[i], w.f[i]);
    }
    for (int k = 0; k < tree.nv; ++k) dv[k] = fma(T(tree.armature[k]), v[k], dv[k]);
}

}  // namespace dtau::DTAU_VARIANT
