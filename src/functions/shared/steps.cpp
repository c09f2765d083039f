// Instantiates the products and time-step algorithms that functions/shared/algorithms.hpp declares.
#include "functions/shared/algorithms.hpp"

namespace dtau::DTAU_VARIANT {

#ifndef DTAU_LONE_STATES
template decltype(inverse_dynamics_vjp<Alone>) inverse_dynamics_vjp<Alone>;
template decltype(forward_dynamics_vjp<Alone>) forward_dynamics_vjp<Alone>;
template decltype(mimic_forward_dynamics_vjp<Alone>) mimic_forward_dynamics_vjp<Alone>;
template decltype(step_variation<Alone>) step_variation<Alone>;
#endif
#ifndef DTAU_NO_LANES
template decltype(inverse_dynamics_vjp<Grouped>) inverse_dynamics_vjp<Grouped>;
template decltype(forward_dynamics_vjp<Grouped>) forward_dynamics_vjp<Grouped>;
template decltype(mimic_forward_dynamics_vjp<Grouped>) mimic_forward_dynamics_vjp<Grouped>;
template decltype(step_variation<Grouped>) step_variation<Grouped>;
#endif

}  // namespace dtau::DTAU_VARIANT
