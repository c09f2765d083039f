// Measures the peak rate of fused multiply-adds, and counts operations: take_operation_counts().
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

// Counts multiplications, additions and divisions on this thread since the last call, for the
// counting scalar.
void take_operation_counts(long long* counts);

}  // namespace dtau::DTAU_VARIANT
