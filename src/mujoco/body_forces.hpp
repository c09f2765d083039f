// Differentiates joint forces J^T W of wrenches W on bodies: add_changes(), add_wrench(). They come from
// gravity compensation: add_gravity_compensation(), and from actuators of sites: add_thrusters().
//
// The rows of a body are its degrees of freedom i with counts(i). Wrenches are about the world's
// origin. The axes of J turn in add_turning_axes().
#pragma once

#include "mujoco/actuators.hpp"
#include "mujoco/constraint_terms.hpp"
#include "mujoco/contact_motion.hpp"

namespace dtau::DTAU_VARIANT::mujoco_step {

// Adds J^T dW to the derivatives `by` (nv, nv); change(j) is the change dW with degree of freedom j.
template <class Counts, class Change>
void add_changes(const mujoco::Constants& m, const Axes& axes, Index body, const Counts& counts,
                 double* by, const Change& change) {
    const Index *begin = m.paths.begin(body), *end = m.paths.end(body);
    for (const Index* j = begin; j != end; ++j) {
        const Wrench dW = change(*j);
        for (const Index* i = begin; i != end; ++i)
            if (counts(*i)) by[*i * m.nv + *j] += dot(dW, axes.S[*i]);
    }
}

template <class Counts>
void add_wrench(const mujoco::Constants& m, Index body, const Wrench& wrench, const Counts& counts,
                const Terms& terms) {
    for (const Index* i = m.paths.begin(body); i != m.paths.end(body); ++i)
        if (counts(*i)) terms.wrenches[*i] = fma(1.0, wrench, terms.wrenches[*i]);
}

// The force on a body is constant, and its moment varies with the center of mass. On joints with
// `actuatorgravcomp` it counts as a force of actuators, within their range.
inline void add_gravity_compensation(const mujoco::Constants& m, const mujoco::Solutions& at,
                                     Index k, const Axes& axes, const Terms& terms) {
    const auto counts = [&](Index i) {
        return m.compensation[i] == mujoco::passive ||
               (m.compensation[i] == mujoco::of_actuators && follows_actuators(m, at, k, i));
    };
    for (Index x = 0; x < m.ncompensated; ++x) {
        const Index body = m.compensated[x];
        const Vector center = vec3(at.xipos + 3 * (k * m.nbody + body));
        const Vector force = vec3(m.compensating + 3 * x);
        add_changes(m, axes, body, counts, terms.by_q, [&](Index j) -> Wrench {
            return {cross(cross(axes.S[j].ang, center, axes.S[j].lin), force), {}};
        });
        add_wrench(m, body, {cross(center, force), force}, counts, terms);
    }
}

// A frame that moves with a body.
struct BodyFrame {
    Matrix R;
    Vector origin;

    // `offset`: from the body's center of mass, along the body's axes.
    BodyFrame(const mujoco::Constants& m, const mujoco::Solutions& at, Index k, Index body,
              const double* offset, const double* rotation) {
        const Index place = k * m.nbody + body;
        const Matrix of_body = from_rows(at.xmat + 9 * place);
        R = of_body * from_rows(rotation);
        origin = vec3(at.xipos + 3 * place) + of_body * vec3(offset);
    }
    Wrench in_world(const Vector& force, const Vector& moment) const {
        const Vector turned = R * force;
        return {cross(origin, turned, R * moment), turned};
    }
};

// The actuator's force times a wrench U that turns and moves with the site. The velocity of the
// actuator is U . V for the twist V of the body, and changes by U . (-own_j) with q_j.
inline void add_thrusters(const mujoco::Constants& m, const mujoco::Solutions& at, Index k,
                          const Axes& axes, const Terms& terms) {
    const auto counts = [&](Index i) { return follows_actuators(m, at, k, i); };
    for (Index x = 0; x < m.nthrusters; ++x) {
        const Index actuator = m.thruster_actuators[x], body = m.thruster_bodies[x];
        const mujoco::Thruster& thruster = m.thrusters[x];
        const BodyFrame frame(m, at, k, body, thruster.offset, thruster.rotation);
        const Wrench unit = frame.in_world(vec3(thruster.gear), vec3(thruster.gear + 3));
        const double by_velocity = actuator_derivatives(m, at, k, actuator).by_velocity;
        const Wrench wrench =
            fma(at.force[k * m.nactuators + actuator], unit, zero_force<double>());
        add_changes(m, axes, body, counts, terms.by_q, [&](Index j) {
            const Wrench turned = cross_star(axes.S[j], wrench);
            return fma(-by_velocity * dot(unit, axes.own[1][j]), unit, turned);
        });
        add_wrench(m, body, wrench, counts, terms);
    }
}

}  // namespace dtau::DTAU_VARIANT::mujoco_step
