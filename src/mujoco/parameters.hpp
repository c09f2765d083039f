// Differentiates the smooth joint forces by parameters that they are linear in, at constant
// accelerations: set_parameter_columns(). Friction follows with the constraints.
//
// A body with the parameters pi = [m, h, I] about its origin needs the wrench
//
//   f = m a + w' x h + w x (w x h)      n = I w' + w x (I w) + h x a
//
// at its acceleration a less gravity, and the body's weight is compensated by the given share.
#pragma once

#include "mujoco/actuators.hpp"
#include "mujoco/constraint_terms.hpp"
#include "mujoco/contact_motion.hpp"

namespace dtau::DTAU_VARIANT::mujoco_step {

// Both are (nv, columns). `forces`: of  f - (M a + c).  `implicit`: of  M (a - a') + h V a'  for
// integrators with  (M - h V) a' = M a.
struct ParameterColumns {
    double *forces, *implicit;
};

// The motion of a body along its own axes, at its origin, and how wrenches come back.
class BodyMotion {
  public:
    // `velocity` and `acceleration` are twists at the world's origin.
    BodyMotion(const mujoco::Constants& m, const mujoco::Solutions& at, Index k, Index body,
               const Twist& velocity, const Twist& acceleration, const Vector& gravity)
        : R_(from_rows(at.xmat + 9 * (k * m.nbody + body))),
          origin_(vec3(at.xipos + 3 * (k * m.nbody + body)) -
                  R_ * vec3(m.parameters.from_center + 3 * body)) {
        const Vector moved = cross(velocity.ang, origin_, velocity.lin);
        const Vector faster = cross(acceleration.ang, origin_, acceleration.lin);
        turn_ = transposed_mul(R_, velocity.ang), turning_ = transposed_mul(R_, acceleration.ang);
        fast_ = transposed_mul(R_, cross(velocity.ang, moved, faster) - gravity);
    }
    // By parameter `p`, about the world's origin.
    Wrench by_parameter(int p) const {
        constexpr int row[6] = {0, 0, 1, 0, 1, 2}, column[6] = {0, 1, 1, 2, 2, 2};
        if (p == 0) return in_world(fast_, zero_vector<double>());
        if (p < 4) {
            const Vector h = unit(p - 1);
            return in_world(cross(turning_, h, cross(turn_, cross(turn_, h))), cross(h, fast_));
        }
        const int i = row[p - 4], j = column[p - 4];
        const auto times = [&](const Vector& x) {
            const double at[3] = {x.x, x.y, x.z};
            return i == j ? at[i] * unit(i) : at[j] * unit(i) + at[i] * unit(j);
        };
        return in_world(zero_vector<double>(), cross(turn_, times(turn_), times(turning_)));
    }
    // The same for a force m F along the world's axes at the center of mass.
    Wrench of_force(int p, const Vector& F) const {
        if (p == 0) return {cross(origin_, F), F};
        return p < 4 ? Wrench{cross(R_ * unit(p - 1), F), zero_vector<double>()}
                     : zero_force<double>();
    }

  private:
    static Vector unit(int i) {
        return {i == 0 ? 1.0 : 0.0, i == 1 ? 1.0 : 0.0, i == 2 ? 1.0 : 0.0};
    }
    Wrench in_world(const Vector& force, const Vector& moment) const {
        const Vector turned = R_ * force;
        return {cross(origin_, turned, R_ * moment), turned};
    }

    Matrix R_;
    Vector origin_, turn_, turning_, fast_;
};

// `change`: a - a'.  `turned` (nv): room for dS/dt.
inline void add_inertial_columns(const mujoco::Constants& m, const mujoco::Solutions& at, Index k,
                                 const Axes& axes, const double* change, Twist* turned,
                                 const ParameterColumns& out) {
    const mujoco::Parameters& x = m.parameters;
    const double *v = at.v + k * m.nv, *a = at.a + k * m.nv;
    const Vector gravity = vec3(x.gravity);
    for (Index i = 0; i < m.nv; ++i) turned[i] = cross(axes.sum(m.carried, i, v), axes.S[i]);
    const auto compensates = [&](Index i) {
        return m.compensation[i] == mujoco::passive ||
               (m.compensation[i] == mujoco::of_actuators && follows_actuators(m, at, k, i));
    };
    for (Index body = 0; body < m.nbody; ++body) {
        const Index *begin = m.paths.begin(body), *end = m.paths.end(body);
        Twist acceleration = axes.sum(m.paths, body, a);
        for (const Index* i = begin; i != end; ++i)
            acceleration = fma(v[*i], turned[*i], acceleration);
        const BodyMotion motion(m, at, k, body, axes.sum(m.paths, body, v), acceleration, gravity);
        const BodyMotion changed(m, at, k, body, zero_motion<double>(),
                                 axes.sum(m.paths, body, change), zero_vector<double>());
        const Vector support = -x.compensated[body] * gravity;
        for (int p = 0; p < 10; ++p) {
            const Wrench needed = motion.by_parameter(p), other = changed.by_parameter(p);
            const Wrench given = motion.of_force(p, support);
            for (const Index* i = begin; i != end; ++i) {
                const Index place = *i * x.columns + x.inertial + 10 * body + p;
                const double help = compensates(*i) ? dot(given, axes.S[*i]) : 0.0;
                out.forces[place] = help - dot(needed, axes.S[*i]);
                out.implicit[place] = dot(other, axes.S[*i]);
            }
        }
    }
}

inline void add_actuator_columns(const mujoco::Constants& m, const mujoco::Solutions& at, Index k,
                                 Index actuator, const double* a, const ParameterColumns& out) {
    const mujoco::Parameters& x = m.parameters;
    const ActuatorDerivatives by = actuator_derivatives(m, at, k, actuator);
    const Index place = k * m.nactuators + actuator;
    const double powers[3] = {1.0, at.length[place], at.velocity[place]};
    const bool damped = m.integrator == mujoco::implicit_fast && damps(m, at, k, actuator);
    const auto add = [&](Index column, int power, double factor) {
        for_each_arm(m, at, k, actuator, [&](Index i, double arm) {
            const Index at_row = i * x.columns + column;
            if (follows_actuators(m, at, k, i)) out.forces[at_row] += arm * factor * powers[power];
            if (power < 2 || !damped) return;
            double rate = 0.0;
            for_each_arm(m, at, k, actuator, [&](Index j, double other) {
                rate += other * a[j] * m.related[i * m.nv + j];
            });
            out.implicit[at_row] += m.timestep * arm * factor * rate;
        });
    };
    for (int c = 0; c < 3; ++c) {
        if (x.gain >= 0 && c < x.gains[actuator])
            add(x.gain + 3 * actuator + c, c, by.unsaturated * by.input);
        if (x.bias >= 0 && c < x.biases[actuator])
            add(x.bias + 3 * actuator + c, c, by.unsaturated);
    }
}

// `a`: a' of integrators that are implicit.
inline void set_parameter_columns(const mujoco::Constants& m, const mujoco::Solutions& at, Index k,
                                  const double* a, Twist* memory, double* change,
                                  const ParameterColumns& out) {
    const mujoco::Parameters& x = m.parameters;
    for (double* columns : {out.forces, out.implicit}) std::fill_n(columns, m.nv * x.columns, 0.0);
    for (Index i = 0; i < m.nv; ++i) {
        const Index row = i * x.columns;
        change[i] = at.a[k * m.nv + i] - a[i];
        if (x.damping >= 0) {
            out.forces[row + x.damping + i] = -*x.dampers * at.v[k * m.nv + i];
            out.implicit[row + x.damping + i] = -*x.dampers * m.timestep * a[i];
        }
        if (x.armature >= 0) {
            out.forces[row + x.armature + i] = -at.a[k * m.nv + i];
            out.implicit[row + x.armature + i] = change[i];
        }
        if (x.stiffness >= 0)
            out.forces[row + x.stiffness + x.joints[i]] = -at.stretch[k * m.nv + i];
    }
    if (x.inertial >= 0) {
        const Axes axes(m, at, k, memory);
        add_inertial_columns(m, at, k, axes, change, memory + 3 * m.nv, out);
    }
    if (x.gain >= 0 || x.bias >= 0)
        for (Index actuator = 0; actuator < m.nactuators; ++actuator)
            add_actuator_columns(m, at, k, actuator, a, out);
}

}  // namespace dtau::DTAU_VARIANT::mujoco_step
