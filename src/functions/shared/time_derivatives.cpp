// Instantiates the algorithms that functions/shared/time_derivatives.hpp declares.
#include "functions/shared/time_derivatives.hpp"

namespace dtau::DTAU_VARIANT {

#ifndef DTAU_LONE_STATES
template decltype(hybrid_time_derivatives<Alone>) hybrid_time_derivatives<Alone>;
template decltype(mimic_time_derivatives<Alone>) mimic_time_derivatives<Alone>;
template decltype(idsva_time_derivatives<Alone>) idsva_time_derivatives<Alone>;
#endif
#ifndef DTAU_NO_LANES
template decltype(hybrid_time_derivatives<Grouped>) hybrid_time_derivatives<Grouped>;
template decltype(mimic_time_derivatives<Grouped>) mimic_time_derivatives<Grouped>;
template decltype(idsva_time_derivatives<Grouped>) idsva_time_derivatives<Grouped>;
#endif

}  // namespace dtau::DTAU_VARIANT
