// What the processor can do at most, and what was done.
#pragma once

#include "functions/signature.hpp"

namespace dtau::DTAU_VARIANT {

PeakRate peak_rate();

// Multiplications, additions and divisions of this thread since the last call, for the scalar that
// counts them.
void take_operation_counts(long long* counts);

}  // namespace dtau::DTAU_VARIANT
