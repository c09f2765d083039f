// Measures the peak rate of fused multiply-adds: peak_rate().
#pragma once

#include "dtau/lane.hpp"

namespace dtau {

// Multiply-adds a second on one core.
struct PeakRate {
    double alone, in_lanes;
};

}  // namespace dtau

namespace dtau::DTAU_VARIANT {

PeakRate peak_rate();

}  // namespace dtau::DTAU_VARIANT
