// What the processor can do at most, and what was done.
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

// Multiplications, additions and divisions of this thread since the last call, for the scalar that
// counts them.
void take_operation_counts(long long* counts);

}  // namespace dtau::DTAU_VARIANT
