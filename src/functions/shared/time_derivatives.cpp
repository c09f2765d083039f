// Compiles the algorithms that functions/shared/time_derivatives.hpp lists.
#include "functions/shared/time_derivatives.hpp"

namespace dtau::DTAU_VARIANT {

DTAU_COMPILE(DTAU_SHARED_TIME_DERIVATIVES)

}  // namespace dtau::DTAU_VARIANT
