// Keeps the arrays that a step of one state is differentiated in: Workspace.
#pragma once

#include "mujoco/contact_terms.hpp"
#include "mujoco/equalities.hpp"
#include "mujoco/noslip.hpp"
#include "mujoco/parameters.hpp"

namespace dtau::DTAU_VARIANT::mujoco_step {

struct Workspace {
    double *by_q, *by_v, *other_by_q, *by_a, *matrix;  // (nv, nv)
    double *right, *other_right;                       // (nv, width)
    double *torque, *displacement;                     // (nv)
    Twist* axes;
    Wrench* wrenches;
    ParameterColumns parameters;
    ContactTerms contacts;
    BodyEqualities equalities;
    double* contact_rows;  // of ContactRows, of a state; null: there are no sweeps
    NoslipSweeps sweeps;

    Workspace(Arena& arena, const mujoco::StepJob& job) : Workspace(arena, job, job.model) {}

  private:
    Workspace(Arena& arena, const mujoco::StepJob& job, const mujoco::Constants& m)
        : by_q(square(arena, m)),
          by_v(square(arena, m)),
          other_by_q(square(arena, m)),
          by_a(square(arena, m)),
          matrix(square(arena, m)),
          right(arena.take<double>(static_cast<std::size_t>(m.nv * m.width()))),
          other_right(arena.take<double>(static_cast<std::size_t>(m.nv * m.width()))),
          torque(arena.take<double>(static_cast<std::size_t>(m.nv))),
          displacement(arena.take<double>(static_cast<std::size_t>(m.nv))),
          axes(arena.take<Twist>(static_cast<std::size_t>(4 * m.nv))),
          wrenches(arena.take<Wrench>(static_cast<std::size_t>(m.nv))),
          parameters{columns(arena, m), columns(arena, m)},
          contacts(arena, m.nv),
          equalities(arena, m.nv),
          contact_rows(arena.take<double>(static_cast<std::size_t>(
              most(job, job.at.contact_starts) * ContactRows::size(m.nv)))),
          sweeps(arena, m.nv, m.width(), most(job, job.at.row_starts)) {}

    // The most in a state; 0 if there are no sweeps.
    static Index most(const mujoco::StepJob& job, const Index* starts) {
        Index out = 0;
        for (Index k = 0; job.sweeps.counts && k < job.at.n; ++k)
            out = std::max(out, starts[k + 1] - starts[k]);
        return out;
    }
    static double* square(Arena& arena, const mujoco::Constants& m) {
        return arena.take<double>(static_cast<std::size_t>(m.nv * m.nv));
    }
    static double* columns(Arena& arena, const mujoco::Constants& m) {
        return arena.take<double>(static_cast<std::size_t>(m.nv * m.parameters.columns));
    }
};

}  // namespace dtau::DTAU_VARIANT::mujoco_step
