// Differentiates the constraint forces of one state, and other forces on bodies: StateConstraints.
#pragma once

#include <algorithm>

#include "mujoco/body_forces.hpp"
#include "mujoco/fluid.hpp"
#include "mujoco/workspace.hpp"

namespace dtau::DTAU_VARIANT::mujoco_step {

class StateConstraints {
  public:
    StateConstraints(mujoco::StepJob& job, Workspace& w, Index k)
        : job_(job), m_(job.model), at_(job.at), w_(w), k_(k) {}

    // Adds J^T H J to the matrix, and writes d(J^T lambda)/dq and /dv in the workspace; false if there
    // are no such forces.
    bool add() {
        const bool on_bodies = m_.ncompensated > 0 || m_.nfluid > 0 || m_.nthrusters > 0;
        const bool plain = at_.plain_starts[k_] < at_.plain_starts[k_ + 1];
        const bool touches = at_.contact_starts[k_] < at_.contact_starts[k_ + 1];
        if (!plain && !touches && !job_.terms && !on_bodies && m_.ntendons == 0) return false;
        const Terms terms = {w_.by_a, w_.other_by_q, w_.by_v, w_.wrenches, w_.parameters.forces};
        set_terms(terms);
        add_tendon_springs(m_, at_, k_, terms);
        if (plain) {
            const Index row = add_row_terms(m_, at_, k_, terms);
            if (row >= 0) job_.jumping_limit = row;
        }
        const bool holds = BodyEqualities::any(m_, at_, k_);
        if (touches || holds || on_bodies) {
            const Axes axes(m_, at_, k_, w_.axes);
            if (holds) w_.equalities.add(m_, at_, k_, axes, terms);
            for (Index c = at_.contact_starts[k_]; c < at_.contact_starts[k_ + 1]; ++c)
                if (at_.address[c] >= 0) add_contact(c, axes, terms);
            add_gravity_compensation(m_, at_, k_, axes, terms);
            add_thrusters(m_, at_, k_, axes, terms);
            add_fluid_forces(m_, at_, k_, axes, terms);
            add_turning_axes(axes, terms);
        }
        for (Index i = 0; i < m_.nv * m_.nv; ++i) w_.matrix[i] += terms.by_a[i];
        return true;
    }

  private:
    void add_contact(Index c, const Axes& axes, const Terms& terms) {
        using Outcome = ContactTerms::Outcome;
        double* rows = nullptr;
        if (job_.sweeps.counts) {
            const Index size = ContactRows::size(m_.nv);
            rows = w_.contact_rows + (c - at_.contact_starts[k_]) * size;
            std::fill_n(rows, size, 0.0);
        }
        const Outcome outcome = w_.contacts.add(m_, at_, k_, c, axes, given_motion(c), terms, rows);
        if (outcome == Outcome::unknown) job_.missing[job_.nmissing++] = c;
        if (outcome == Outcome::jumps) job_.jumping_contact = c;
    }
    void set_terms(const Terms& terms) const {
        const double* given = job_.terms ? job_.terms + 2 * k_ * m_.nv * m_.nv : nullptr;
        for (Index i = 0; i < m_.nv; ++i)
            for (Index j = 0; j < m_.nv; ++j) {
                const double* from = given ? given + 2 * i * m_.nv + j : nullptr;
                terms.by_a[i * m_.nv + j] = 0.0;
                terms.by_q[i * m_.nv + j] = from ? from[0] : 0.0;
                terms.by_v[i * m_.nv + j] = from ? from[m_.nv] : 0.0;
            }
        std::fill_n(terms.wrenches, m_.nv, zero_force<double>());
    }
    // The axes of J move with the joints that carry them, dS_i/dq_j = S_j x S_i.
    void add_turning_axes(const Axes& axes, const Terms& terms) const {
        for (Index i = 0; i < m_.nv; ++i) {
            const Wrench turned = cross_star(axes.S[i], terms.wrenches[i]);
            for (const Index* j = m_.carried.begin(i); j != m_.carried.end(i); ++j)
                terms.by_q[i * m_.nv + *j] += dot(turned, axes.S[*j]);
        }
    }
    const double* given_motion(Index contact) const {
        const Index* end = job_.given + job_.ngiven;
        const Index* found = std::lower_bound(job_.given, end, contact);
        return found != end && *found == contact ? job_.given_motions + 84 * (found - job_.given)
                                                 : nullptr;
    }

    mujoco::StepJob& job_;
    const mujoco::Constants& m_;
    const mujoco::Solutions& at_;
    Workspace& w_;
    Index k_;
};

}  // namespace dtau::DTAU_VARIANT::mujoco_step
