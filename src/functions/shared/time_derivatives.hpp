// Declares algorithms of time derivatives that several functions use, compiled once in
// shared/time_derivatives.cpp.
#pragma once

#include "dtau/algorithms/time/idsva.hpp"
#include "dtau/algorithms/time/mimic.hpp"
#include "functions/shared/algorithms.hpp"

namespace dtau::DTAU_VARIANT {

extern template decltype(hybrid_time_derivatives<Alone>) hybrid_time_derivatives<Alone>;
extern template decltype(hybrid_time_derivatives<Grouped>) hybrid_time_derivatives<Grouped>;
extern template decltype(mimic_time_derivatives<Alone>) mimic_time_derivatives<Alone>;
extern template decltype(mimic_time_derivatives<Grouped>) mimic_time_derivatives<Grouped>;
extern template decltype(idsva_time_derivatives<Alone>) idsva_time_derivatives<Alone>;
extern template decltype(idsva_time_derivatives<Grouped>) idsva_time_derivatives<Grouped>;

}  // namespace dtau::DTAU_VARIANT
