// Declares the groups of functions of the library of baselines; each group is a file of its own.
#pragma once

#include "registry/arguments.hpp"

namespace dtau::DTAU_VARIANT {

extern const FunctionGroup baseline_values, baseline_inverse, baseline_forward;

}  // namespace dtau::DTAU_VARIANT
