// Derivatives of what was recorded, recorded in turn.
#pragma once

#include <vector>

#include "codegen/tape.hpp"

namespace dtau {

// The gradient of the sum of seeds times outputs by the inputs, on the tape of this thread: one sweep
// back.
void adjoints(const std::vector<double>& outputs, const std::vector<double>& seeds,
              const std::vector<double>& inputs, double* result);

}  // namespace dtau
