// Computes inertial parameters pi in place of a torque: less_inertial_torque(), subtract_inertial_gradient().
//
// In any dynamics, with contacts too, a variation dpi acts as the torque -Y dpi at the acceleration a: products
// with derivatives by pi are those by tau, and one pass here. [Derivations] eq. 18.6
#pragma once

#include "dtau/algorithms/first/parameter_products.hpp"

namespace dtau::DTAU_VARIANT {

template <class T> struct InertialTorqueWorkspace {
    InverseParameterWorkspace<T> inverse;
    T *joints, *torque;
    int count;
    T* gradient;

    InertialTorqueWorkspace(Arena& arena, const Tree& tree, const Options& options)
        : inverse(arena, tree, options),
          joints(arena.take<T>(tree.nv)),
          torque(room_beside(arena, tree, joints, tree.independent.n)),
          count(parameter_count(tree, options.joint_parameters)),
          gradient(arena.take<T>(count)) {}
};

// dtau - Y x, of the independent velocities.
template <class T>
const T* less_inertial_torque(const Tree& tree, const T* q, const T* v, const T* a, const T* x,
                              const T* dtau, const InertialTorqueWorkspace<T>& w) {
    inverse_dynamics_parameter_jvp(tree, q, v, a, x, w.joints, w.inverse);
    reduce_columns(tree, w.joints, 1, w.torque);
    for (int k = 0; k < tree.independent.n; ++k) w.torque[k] = dtau[k] - w.torque[k];
    return w.torque;
}

// by_parameters -= Y^T by_tau. by_tau: of the joints.
template <class T>
void subtract_inertial_gradient(const Tree& tree, const T* q, const T* v, const T* a,
                                const T* by_tau, T* by_parameters,
                                const InertialTorqueWorkspace<T>& w) {
    inverse_dynamics_parameter_vjp(tree, q, v, a, by_tau, w.gradient, w.inverse);
    for (int k = 0; k < w.count; ++k) by_parameters[k] = by_parameters[k] - w.gradient[k];
}

}  // namespace dtau::DTAU_VARIANT
