// Integrates implicitly in the velocity, as the head of step.cpp says: factorize_implicit(),
// add_rates().
#pragma once

#include "mujoco/actuators.hpp"
#include "mujoco/dense_solve.hpp"

namespace dtau::DTAU_VARIANT::mujoco_step {

// M - h V of state k, factorized.
inline void factorize_implicit(const mujoco::Constants& m, const mujoco::Solutions& at, Index k,
                               double* matrix) {
    const Index nv = m.nv;
    const double* M = at.mass + k * nv * nv;
    for (Index i = 0; i < nv * nv; ++i) matrix[i] = fma(m.timestep, m.implicit[i], M[i]);
    if (m.integrator == mujoco::implicit_fast)
        for (Index actuator = 0; actuator < m.nactuators; ++actuator) {
            const double by = actuator_derivatives(m, at, k, actuator).by_velocity;
            if (by == 0.0 || !damps(m, at, k, actuator)) continue;
            for_each_arm(m, at, k, actuator, [&](Index i, double left) {
                for_each_arm(m, at, k, actuator, [&](Index j, double right) {
                    matrix[i * nv + j] -= m.timestep * by * left * right * m.related[i * nv + j];
                });
            });
        }
    factorize(matrix, nv);
}

// Adds the part  h dV a'  of actuators, whose rate depends on the state, to rows `right` (nv, width).
inline void add_rates(const mujoco::Constants& m, const mujoco::Solutions& at, Index k,
                      const double* a, double* right) {
    for (Index actuator = 0; actuator < m.nactuators; ++actuator) {
        if (!damps(m, at, k, actuator)) continue;
        const ActuatorDerivatives by = actuator_derivatives(m, at, k, actuator);
        for_each_arm(m, at, k, actuator, [&](Index i, double arm) {
            double rate = 0.0;
            for_each_arm(m, at, k, actuator, [&](Index j, double other) {
                rate += other * a[j] * m.related[i * m.nv + j];
            });
            double* row = right + i * m.width();
            const double factor = m.timestep * arm * rate;
            for_each_arm(m, at, k, actuator, [&](Index j, double other) {
                row[j] += factor * by.by_velocity_and_length * other;
                row[m.nv + j] += factor * by.by_velocity_twice * other;
            });
            row += 2 * m.nv;
            row[by.control] += factor * by.by_velocity_and_control;
            if (by.state >= 0) row[by.state] += factor * by.by_velocity_and_state;
        });
    }
}

}  // namespace dtau::DTAU_VARIANT::mujoco_step
