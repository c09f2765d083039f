// Computes a recording again, in complex numbers and for many states: replay(). It is how tests
// differentiate a function by complex step.
#pragma once

#include <complex>
#include <cstddef>
#include <vector>

#include "codegen/tape.hpp"

namespace dtau {

// `given` and `results` have a row for each state: the inputs in the order in which they were taken, and
// the values of the recorded numbers `outputs`.
void replay(const std::vector<Node>& nodes, const std::vector<double>& outputs, std::size_t states,
            const std::complex<double>* given, std::complex<double>* results);

}  // namespace dtau
