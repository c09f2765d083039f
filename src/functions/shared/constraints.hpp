// Declares algorithms with constraints that several functions use, compiled once in
// shared/constraints.cpp.
#pragma once

#include "dtau/algorithms/constraints/derivatives.hpp"
#include "dtau/algorithms/constraints/jvp.hpp"
#include "dtau/algorithms/constraints/vjp.hpp"
#include "functions/shared/algorithms.hpp"

namespace dtau::DTAU_VARIANT {

extern template struct ConstraintCorrection<Alone>;
extern template struct ConstraintCorrection<Grouped>;
extern template decltype(factorize_constraints<Alone>) factorize_constraints<Alone>;
extern template decltype(factorize_constraints<Grouped>) factorize_constraints<Grouped>;
extern template decltype(constrained_dynamics<Alone>) constrained_dynamics<Alone>;
extern template decltype(constrained_dynamics<Grouped>) constrained_dynamics<Grouped>;
extern template decltype(constraint_columns<Alone>) constraint_columns<Alone>;
extern template decltype(constraint_columns<Grouped>) constraint_columns<Grouped>;
extern template decltype(range_columns<Alone>) range_columns<Alone>;
extern template decltype(range_columns<Grouped>) range_columns<Grouped>;
extern template decltype(range_velocities<Alone>) range_velocities<Alone>;
extern template decltype(range_velocities<Grouped>) range_velocities<Grouped>;
extern template decltype(loop_factors<Alone>) loop_factors<Alone>;
extern template decltype(loop_factors<Grouped>) loop_factors<Grouped>;
extern template decltype(turn_forces<Alone>) turn_forces<Alone>;
extern template decltype(turn_forces<Grouped>) turn_forces<Grouped>;
extern template decltype(constrained_dynamics_derivatives<Alone>)
    constrained_dynamics_derivatives<Alone>;
extern template decltype(constrained_dynamics_derivatives<Grouped>)
    constrained_dynamics_derivatives<Grouped>;
extern template decltype(constrained_dynamics_vjp<Alone>) constrained_dynamics_vjp<Alone>;
extern template decltype(constrained_dynamics_vjp<Grouped>) constrained_dynamics_vjp<Grouped>;

}  // namespace dtau::DTAU_VARIANT
