// Compiles the algorithms of dynamics that functions/shared/algorithms.hpp lists.
#include "functions/shared/algorithms.hpp"

namespace dtau::DTAU_VARIANT {

DTAU_COMPILE(DTAU_SHARED_DYNAMICS)

}  // namespace dtau::DTAU_VARIANT
