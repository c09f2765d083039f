// Lists algorithms with constraints that several functions use, compiled once in
// shared/constraints.cpp.
#pragma once

#include "dtau/algorithms/constraints/derivatives.hpp"
#include "dtau/algorithms/constraints/impulse.hpp"
#include "dtau/algorithms/constraints/inverse.hpp"
#include "dtau/algorithms/constraints/jvp.hpp"
#include "dtau/algorithms/constraints/vjp.hpp"
#include "functions/shared/algorithms.hpp"

#define DTAU_SHARED_CONSTRAINTS(link, T)                                  \
    link template struct ConstraintCorrection<T>;                         \
    DTAU_SHARED(link, constraint_frames<T>)                               \
    DTAU_SHARED(link, position_error<T>)                                  \
    link template Vec3<T> log_rate(const Vec3<T>&, const Vec3<T>&);       \
    link template Motion<T> log_rate(const Motion<T>&, const Motion<T>&); \
    DTAU_SHARED(link, frame_partials<T>)                                  \
    DTAU_SHARED(link, subtract_constraint_wrenches<T>)                    \
    DTAU_SHARED(link, factorize_schur_complement<T>)                      \
    DTAU_SHARED(link, lost_forces<T>)                                     \
    DTAU_SHARED(link, solve_remaining<T>)                                 \
    DTAU_SHARED(link, solve_constrained<T>)                               \
    DTAU_SHARED(link, factorize_constraints<T>)                           \
    DTAU_SHARED(link, constrained_dynamics<T>)                            \
    DTAU_SHARED(link, constrained_motion<T>)                              \
    DTAU_SHARED(link, constraint_columns<T>)                              \
    DTAU_SHARED(link, response_velocities<T>)                             \
    DTAU_SHARED(link, add_row_gradient<T>)                                \
    DTAU_SHARED(link, residual_columns<T>)                                \
    DTAU_SHARED(link, range_columns<T>)                                   \
    DTAU_SHARED(link, range_velocities<T>)                                \
    DTAU_SHARED(link, loop_factors<T>)                                    \
    DTAU_SHARED(link, turn_forces<T>)                                     \
    DTAU_SHARED(link, constrained_inverse_dynamics<T>)                    \
    DTAU_SHARED(link, impulse_dynamics<T>)                                \
    DTAU_SHARED(link, impulse_partials<T>)                                \
    DTAU_SHARED(link, stop_bodies<T>)                                     \
    DTAU_SHARED(link, body_motions<T>)                                    \
    DTAU_SHARED(link, motion_variation<T>)                                \
    DTAU_SHARED(link, solve_variation<T>)                                 \
    DTAU_SHARED(link, motion_gradient<T>)                                 \
    DTAU_SHARED(link, constrained_dynamics_derivatives<T>)                \
    DTAU_SHARED(link, constrained_dynamics_jvp<T>)                        \
    DTAU_SHARED(link, constrained_dynamics_vjp<T>)

namespace dtau::DTAU_VARIANT {

DTAU_DECLARE(DTAU_SHARED_CONSTRAINTS)

}  // namespace dtau::DTAU_VARIANT
