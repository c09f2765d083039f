// Multiplies parts of the step's derivatives with weights of the state after it, from the end to the
// beginning: pull_back_rates(), pull_back_forces(), pull_back_activations(), add_smooth().
//
// `by` are the gradients by [q, v, act, ctrl], to which the functions add.
#pragma once

#include "mujoco/actuators.hpp"
#include "mujoco/smooth.hpp"

namespace dtau::DTAU_VARIANT::mujoco_step {

// Of  h dV a,  for implicitfast.
inline void pull_back_rates(const mujoco::Constants& m, const mujoco::Solutions& at, Index k,
                            const double* a, const double* weights, double* by) {
    for (Index actuator = 0; actuator < m.nactuators; ++actuator) {
        if (!damps(m, at, k, actuator)) continue;
        const ActuatorDerivatives of = actuator_derivatives(m, at, k, actuator);
        double factor = 0.0;
        for_each_arm(m, at, k, actuator, [&](Index i, double arm) {
            for_each_arm(m, at, k, actuator, [&](Index j, double other) {
                factor += weights[i] * arm * other * a[j] * m.related[i * m.nv + j];
            });
        });
        factor *= m.timestep;
        for_each_arm(m, at, k, actuator, [&](Index i, double arm) {
            by[i] += factor * of.by_velocity_and_length * arm;
            by[m.nv + i] += factor * of.by_velocity_twice * arm;
        });
        by[2 * m.nv + of.control] += factor * of.by_velocity_and_control;
        if (of.state >= 0) by[2 * m.nv + of.state] += factor * of.by_velocity_and_state;
    }
}

// Of the forces of springs, dampers and actuators.
inline void pull_back_forces(const mujoco::Constants& m, const mujoco::Solutions& at, Index k,
                             const double* weights, double* by) {
    const Index nv = m.nv;
    for (Index i = 0; i < nv; ++i) {
        by[i] -= m.stiffness[i] * weights[i];
        by[nv + i] -= m.damping[i] * weights[i];
    }
    for (Index actuator = 0; actuator < m.nactuators; ++actuator) {
        const ActuatorDerivatives of = actuator_derivatives(m, at, k, actuator);
        double weight = 0.0;
        for_each_arm(m, at, k, actuator, [&](Index i, double arm) {
            if (follows_actuators(m, at, k, i)) weight += arm * weights[i];
        });
        for_each_arm(m, at, k, actuator, [&](Index i, double arm) {
            by[i] += weight * of.by_length * arm;
            by[nv + i] += weight * of.by_velocity * arm;
        });
        by[2 * nv + of.control] += weight * of.by_control;
        if (of.state >= 0) by[2 * nv + of.state] += weight * of.by_state;
    }
}

// Of the activations after the step, with weights (na).
inline void pull_back_activations(const mujoco::Constants& m, const mujoco::Solutions& at, Index k,
                                  const double* weights, double* by) {
    for (Index actuator = 0; actuator < m.nactuators; ++actuator) {
        const Index state = m.actuator_states[actuator];
        if (state < 0) continue;
        const Rate after = activation(m, at, k, actuator).after;
        by[2 * m.nv + state] += weights[state] * after.by_state;
        by[2 * m.nv + m.na + m.actuator_columns[actuator]] += weights[state] * after.by_control;
    }
}

// Writes dtau's weights of joint torques for MuJoCo's.
inline void weights_to_dtau(const mujoco::Constants& m, const mujoco::Solutions& at, Index k,
                            const double* weights, double* dtau) {
    for (Index i = 0; i < m.nv; ++i) dtau[m.order[i]] = weights[i];
    for (Index f = 0; f < m.nfree; ++f) {
        const Index lin = m.free[f];
        double turned[3];
        put(turned, transposed_mul(free_rotation(m, at, k, f), vec3(weights + lin)));
        for (Index i = 0; i < 3; ++i) dtau[m.order[lin + i]] = turned[i];
    }
}

// Of  M a + c  with the multipliers of state `place`, from dtau's product.
inline void add_smooth(const mujoco::Constants& m, const mujoco::Solutions& at, Index k,
                       const double* a, const double* multipliers,
                       const mujoco::SmoothProduct& product, Index place, double* by_q,
                       double* by_v, double* by) {
    const Index nv = m.nv, first = place * nv;
    const double *q = product.by_q + first, *v = product.by_v + first,
                 *inertia = product.by_a + first;
    for (Index i = 0; i < nv; ++i) by_q[i] = q[m.order[i]], by_v[i] = v[m.order[i]];
    for (Index f = 0; f < m.nfree; ++f) {
        const FreeJoint joint(m, at, k, a, f);
        joint.move_row(m, inertia, by_q, by_v);
        double force[3];  // along the world's axes, without the armature's
        for (Index r = 0; r < 3; ++r) {
            const Index row = joint.lin + r;
            const double* M = at.mass + (k * nv + row) * nv;
            force[r] = at.bias[k * nv + row] - m.armature[row] * a[row];
            for (Index j = 0; j < nv; ++j) force[r] = fma(M[j], a[j], force[r]);
        }
        const Vector turned = cross(vec3(multipliers + first + joint.lin), vec3(force));
        put(by_q + joint.ang, vec3(by_q + joint.ang) - transposed_mul(joint.R, turned));
    }
    for (Index i = 0; i < nv; ++i) by[i] += by_q[i], by[nv + i] += by_v[i];
}

}  // namespace dtau::DTAU_VARIANT::mujoco_step
