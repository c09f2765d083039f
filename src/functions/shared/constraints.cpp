// Instantiates the algorithms that functions/shared/constraints.hpp declares.
#include "functions/shared/constraints.hpp"

namespace dtau::DTAU_VARIANT {

#ifndef DTAU_LONE_STATES
template struct ConstraintCorrection<Alone>;
template decltype(factorize_constraints<Alone>) factorize_constraints<Alone>;
template decltype(constrained_dynamics<Alone>) constrained_dynamics<Alone>;
template decltype(constraint_columns<Alone>) constraint_columns<Alone>;
template decltype(range_columns<Alone>) range_columns<Alone>;
template decltype(range_velocities<Alone>) range_velocities<Alone>;
template decltype(loop_factors<Alone>) loop_factors<Alone>;
template decltype(turn_forces<Alone>) turn_forces<Alone>;
template decltype(constrained_dynamics_derivatives<Alone>) constrained_dynamics_derivatives<Alone>;
template decltype(constrained_dynamics_vjp<Alone>) constrained_dynamics_vjp<Alone>;
#endif
#ifndef DTAU_NO_LANES
template struct ConstraintCorrection<Grouped>;
template decltype(factorize_constraints<Grouped>) factorize_constraints<Grouped>;
template decltype(constrained_dynamics<Grouped>) constrained_dynamics<Grouped>;
template decltype(constraint_columns<Grouped>) constraint_columns<Grouped>;
template decltype(range_columns<Grouped>) range_columns<Grouped>;
template decltype(range_velocities<Grouped>) range_velocities<Grouped>;
template decltype(loop_factors<Grouped>) loop_factors<Grouped>;
template decltype(turn_forces<Grouped>) turn_forces<Grouped>;
template decltype(constrained_dynamics_derivatives<Grouped>)
    constrained_dynamics_derivatives<Grouped>;
template decltype(constrained_dynamics_vjp<Grouped>) constrained_dynamics_vjp<Grouped>;
#endif

}  // namespace dtau::DTAU_VARIANT
