// Differentiates the forces of MuJoCo's actuators on hinges and slides: actuator_derivatives().
#pragma once

#include <algorithm>

#include "mujoco/step.hpp"

namespace dtau::DTAU_VARIANT::mujoco_step {

using mujoco::Index;

// The force of an actuator on its own degree of freedom. `input` is a column of [act, ctrl].
struct ActuatorDerivatives {
    double by_q, by_v;
    Index state, control;  // columns; state: -1 without an activation
    double by_state, by_control, by_v_and_state, by_v_and_control;
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
        x.gear * (x.gain[0] + x.gain[1] * at.length[place] + x.gain[2] * at.velocity[place]);
    const double factor = x.gear * x.gear * unsaturated, damping = x.gear * x.gear * x.gain[2];
    return {factor * (x.gain[1] * u + x.bias[1]),
            factor * (x.gain[2] * u + x.bias[2]),
            state,
            m.na + m.actuator_columns[i],
            by_state * by_input,
            by_control * by_input,
            by_state * damping,
            by_control * damping};
}

}  // namespace dtau::DTAU_VARIANT::mujoco_step
