// Differentiates the forces of MuJoCo's actuators: actuator_derivatives(). With the moment arms
// r = d length / dq, the joint forces are r times the force. The arms of hinges, slides and fixed
// tendons are constant.
#pragma once

#include <algorithm>

#include "dtau/lane.hpp"
#include "mujoco/muscles.hpp"
#include "mujoco/step.hpp"

namespace dtau::DTAU_VARIANT::mujoco_step {

using mujoco::Index;

// Of the force by length and velocity, and by the activation and the control: columns of [act, ctrl].
// The second derivatives are of the velocity and another.
struct ActuatorDerivatives {
    double by_length, by_velocity;
    Index state, control;  // columns; state: -1 without an activation
    double by_state, by_control, by_velocity_and_state, by_velocity_and_control;
    double by_velocity_and_length, by_velocity_twice;
    double unsaturated, input;  // 1, or 0 for a force at its limit; u
};

inline double control_of(const mujoco::Constants& m, const mujoco::Solutions& at, Index k,
                         Index i) {
    return at.ctrl[k * m.nu + m.actuator_columns[i]];
}

// Derivatives of the rate of the activation, and of the next one.
struct Activation {
    double w, next;
    bool free;  // the next one is within its range
    Rate rate, after;
};

inline Activation activation(const mujoco::Constants& m, const mujoco::Solutions& at, Index k,
                             Index i) {
    const mujoco::Actuator& x = m.actuators[i];
    const Index place = k * m.na + m.actuator_states[i];
    const double control = control_of(m, at, k, i);
    Activation out;
    out.w = at.act[place], out.next = out.w + x.span * at.act_dot[place];
    out.free = x.act_low < out.next && out.next < x.act_high;
    out.rate = {x.rate_by_state, x.rate_by_control};
    if (x.is_muscle != 0.0)
        out.rate = muscle_rate(x, std::clamp(control, x.ctrl_low, x.ctrl_high), out.w);
    if (!(x.ctrl_low <= control && control <= x.ctrl_high)) out.rate.by_control = 0.0;
    out.after = {out.free ? fma(x.span, out.rate.by_state, 1.0) : 0.0,
                 out.free ? x.span * out.rate.by_control : 0.0};
    return out;
}

// The input u of  gear (gain u + bias)  is the control or the activation: the one before the step,
// or with `actearly` the one after it.
inline ActuatorDerivatives actuator_derivatives(const mujoco::Constants& m,
                                                const mujoco::Solutions& at, Index k, Index i) {
    const mujoco::Actuator& x = m.actuators[i];
    const Index place = k * m.nactuators + i, state = m.actuator_states[i];
    const double control = control_of(m, at, k, i);
    const double unsaturated = x.force_low < at.force[place] && at.force[place] < x.force_high;
    const double follows = x.ctrl_low <= control && control <= x.ctrl_high;
    double u = std::clamp(control, x.ctrl_low, x.ctrl_high);
    double by_state = 0.0, by_control = unsaturated * follows;
    if (state >= 0) {
        const Activation w = activation(m, at, k, i);
        const bool early = x.early != 0.0;
        u = early ? std::clamp(w.next, x.act_low, x.act_high) : w.w;
        by_state = unsaturated * (early ? w.after.by_state : 1.0);
        by_control = early ? unsaturated * w.after.by_control : 0.0;
    }
    const double length = at.length[place], velocity = at.velocity[place];
    const Gain muscle = muscle_gain(x, length, velocity);
    const double by_input = x.gain[0] + x.gain[1] * length + x.gain[2] * velocity + muscle.value;
    const double by_velocity = x.gain[2] + muscle.by_velocity;
    return {unsaturated * ((x.gain[1] + muscle.by_length) * u + x.bias[1] + muscle_bias(x, length)),
            unsaturated * (by_velocity * u + x.bias[2]),
            state,
            m.na + m.actuator_columns[i],
            by_state * by_input,
            by_control * by_input,
            by_state * by_velocity,
            by_control * by_velocity,
            unsaturated * muscle.by_velocity_and_length * u,
            unsaturated * muscle.by_velocity_twice * u,
            unsaturated,
            u};
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
DTAU_INLINE void for_each_arm(const mujoco::Constants& m, const mujoco::Solutions& at, Index k,
                              Index i, const F& f) {
    const Index count = m.moments.starts[m.nactuators];
    for (Index x = m.moments.starts[i]; x < m.moments.starts[i + 1]; ++x)
        f(m.moments.items[x], at.moment_arms[k * count + x]);
}

// Adds derivatives of the actuators' joint forces to `rows` (nv, width).
inline void add_actuator_derivatives(const mujoco::Constants& m, const mujoco::Solutions& at,
                                     Index k, double* rows) {
    for (Index actuator = 0; actuator < m.nactuators; ++actuator) {
        const ActuatorDerivatives by = actuator_derivatives(m, at, k, actuator);
        for_each_arm(m, at, k, actuator, [&](Index i, double left) {
            if (!follows_actuators(m, at, k, i)) return;
            double* row = rows + i * m.width();
            for_each_arm(m, at, k, actuator, [&](Index j, double right) {
                row[j] += left * by.by_length * right;
                row[m.nv + j] += left * by.by_velocity * right;
            });
            row[2 * m.nv + by.control] += left * by.by_control;
            if (by.state >= 0) row[2 * m.nv + by.state] += left * by.by_state;
        });
    }
}

}  // namespace dtau::DTAU_VARIANT::mujoco_step
