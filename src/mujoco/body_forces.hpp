// Differentiates joint forces J^T W of wrenches W on bodies: add_changes(), add_wrench(), and gravity
// compensation: add_gravity_compensation().
//
// The rows of a body are its degrees of freedom i with counts(i). Wrenches are about the world's
// origin. The axes of J turn in add_turning_axes().
#pragma once

#include "mujoco/actuators.hpp"
#include "mujoco/constraint_terms.hpp"

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

}  // namespace dtau::DTAU_VARIANT::mujoco_step
