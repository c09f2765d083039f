// Differentiates a recorded computation in reverse, recording the derivative in turn: adjoints().
#pragma once

#include <vector>

#include "codegen/tape.hpp"

namespace dtau {

// Computes the gradient of the sum of seeds times outputs by the inputs, on this thread's tape, in
// one backward pass.
void adjoints(const std::vector<double>& outputs, const std::vector<double>& seeds,
              const std::vector<double>& inputs, double* result);

}  // namespace dtau
