// Differentiates joint forces J^T W of wrenches W on bodies, which vary with the bodies' motion:
// add_body_wrench(), and gravity compensation: add_gravity_compensation().
#pragma once

#include "mujoco/actuators.hpp"
#include "mujoco/constraint_terms.hpp"

namespace dtau::DTAU_VARIANT::mujoco_step {

// Adds the derivatives by q for a wrench about the world's origin, in the rows i with counts(i).
// change(j): the derivative of the wrench by q_j. The axes of J turn in add_turning_axes().
template <class Counts, class Change>
void add_body_wrench(const mujoco::Constants& m, const Axes& axes, Index body, const Wrench& wrench,
                     const Counts& counts, const Change& change, const Terms& terms) {
    const Index *begin = m.paths.begin(body), *end = m.paths.end(body);
    for (const Index* j = begin; j != end; ++j) {
        const Wrench by_q = change(*j);
        for (const Index* i = begin; i != end; ++i)
            if (counts(*i)) terms.by_q[*i * m.nv + *j] += dot(by_q, axes.S[*i]);
    }
    for (const Index* i = begin; i != end; ++i)
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
        add_body_wrench(
            m, axes, body, {cross(center, force), force}, counts,
            [&](Index j) -> Wrench {
                const Vector moved = cross(axes.S[j].ang, center, axes.S[j].lin);
                return {cross(moved, force), {}};
            },
            terms);
    }
}

}  // namespace dtau::DTAU_VARIANT::mujoco_step
