// The functions of the library of baselines: files of them, that compile side by side.
#pragma once

#include "registry/arguments.hpp"

namespace dtau::DTAU_VARIANT {

extern const FunctionGroup baseline_values, baseline_inverse, baseline_forward, baseline_chain;

}  // namespace dtau::DTAU_VARIANT
