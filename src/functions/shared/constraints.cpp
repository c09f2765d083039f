// Compiles the algorithms that functions/shared/constraints.hpp lists.
#include "functions/shared/constraints.hpp"

namespace dtau::DTAU_VARIANT {

DTAU_COMPILE(DTAU_SHARED_CONSTRAINTS)

}  // namespace dtau::DTAU_VARIANT
