// The two scalars of an instruction set: Alone, for a lone state, and Grouped, for a group of states.
// With DTAU_SCALAR there is one, which computes lone states: Recorded in dtau._recorder, Complex and Counted in
// benchmarks/baselines.
#pragma once

#include "dtau/counted.hpp"
#include "dtau/lane.hpp"
#include "dtau/recorded.hpp"

namespace dtau::DTAU_VARIANT {

#ifdef DTAU_SCALAR
using Alone = DTAU_SCALAR;
#else
using Alone = double;
using Grouped = Lane;
#endif

}  // namespace dtau::DTAU_VARIANT
