// Differentiates the forces of MuJoCo's actuators whose length is linear in q, on hinges, slides and
// fixed tendons: actuator_derivatives(). With the moment arms r = d length / dq, the joint forces are
// r times the force.
#pragma once

#include <algorithm>

#include "dtau/lane.hpp"
#include "mujoco/step.hpp"

namespace dtau::DTAU_VARIANT::mujoco_step {

using mujoco::Index;

// Of the force by length and velocity, and by the activation and the control: columns of [act, ctrl].
struct ActuatorDerivatives {
    double by_length, by_velocity;
    Index state, control;  // columns; state: -1 without an activation
    double by_state, by_control, by_velocity_and_state, by_velocity_and_control;
};

// The input u of  gear (gain u + bias)  is the control or the activation: the one before the step,
// or with `actearly` the one after it.
inline ActuatorDerivatives actuator_derivatives(const mujoco::Constants& m,
                                                const mujoco::Solutions& at, Index k, Index i) {
    const mujoco::Actuator& x = m.actuators[i];
    const Index place = k * m.nactuators + i, state = m.actuator_states[i];
    const double control = at.ctrl[k * m.nu + m.actuator_columns[i]];
    const double unsaturated = x.force_low < at.force[place] && at.force[place] < x.force_high;
    const double follows = x.ctrl_low <= control && control <= x.ctrl_high;
    double u = std::clamp(control, x.ctrl_low, x.ctrl_high);
    double by_state = 0.0, by_control = unsaturated * follows;
    if (state >= 0) {
        const double w = at.act[k * m.na + state];
        const double next = w + x.span * at.act_dot[k * m.na + state];
        const double free = x.act_low < next && next < x.act_high;
        const bool early = x.early != 0.0;
        u = early ? std::clamp(next, x.act_low, x.act_high) : w;
        by_state = unsaturated * (early ? x.keep * free : 1.0);
        by_control *= early ? x.step * free : 0.0;
    }
    const double by_input =
        x.gain[0] + x.gain[1] * at.length[place] + x.gain[2] * at.velocity[place];
    return {unsaturated * (x.gain[1] * u + x.bias[1]),
            unsaturated * (x.gain[2] * u + x.bias[2]),
            state,
            m.na + m.actuator_columns[i],
            by_state * by_input,
            by_control * by_input,
            by_state * x.gain[2],
            by_control * x.gain[2]};
}

// Whether the actuators' force on degree of freedom i is within its range: at the ends it is constant.
inline bool follows_actuators(const mujoco::Constants& m, const mujoco::Solutions& at, Index k,
                              Index i) {
    const double force = at.actuation[k * m.nv + i];
    return m.actuation_low[i] < force && force < m.actuation_high[i];
}

// Whether implicitfast is implicit in the force of actuator i. It leaves out actuators of a joint at
// the end of that range, but actuators of a tendon never.
inline bool damps(const mujoco::Constants& m, const mujoco::Solutions& at, Index k, Index i) {
    const Index dof = m.actuator_dofs[i];
    return dof < 0 || follows_actuators(m, at, k, dof);
}

// Calls f(dof, arm) for the degrees of freedom of actuator i.
template <class F>
DTAU_INLINE void for_each_arm(const mujoco::Constants& m, Index i, const F& f) {
    for (Index k = m.moments.starts[i]; k < m.moments.starts[i + 1]; ++k)
        f(m.moments.items[k], m.moment_arms[k]);
}

}  // namespace dtau::DTAU_VARIANT::mujoco_step
