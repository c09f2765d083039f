// Algorithms with contacts that several functions use: compiled once, in constraints.cpp.
#pragma once

#include "dtau/algorithms/contacts/derivatives.hpp"
#include "dtau/algorithms/contacts/jvp.hpp"
#include "dtau/algorithms/contacts/vjp.hpp"
#include "functions/shared/algorithms.hpp"

namespace dtau::DTAU_VARIANT {

extern template struct ContactChange<Alone>;
extern template struct ContactChange<Grouped>;
extern template decltype(factorize_state<Alone>) factorize_state<Alone>;
extern template decltype(factorize_state<Grouped>) factorize_state<Grouped>;
extern template decltype(constrained_dynamics<Alone>) constrained_dynamics<Alone>;
extern template decltype(constrained_dynamics<Grouped>) constrained_dynamics<Grouped>;
extern template decltype(constraint_partials<Alone>) constraint_partials<Alone>;
extern template decltype(constraint_partials<Grouped>) constraint_partials<Grouped>;
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
