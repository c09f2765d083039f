// Compiles the algorithms that functions/shared/constraints_hessians.hpp lists.
#include "functions/shared/constraints_hessians.hpp"

namespace dtau::DTAU_VARIANT {

DTAU_COMPILE(DTAU_SHARED_CONSTRAINED_HESSIANS)

}  // namespace dtau::DTAU_VARIANT
