// Compiles the algorithms that functions/shared/hessians.hpp lists.
#include "functions/shared/hessians.hpp"

namespace dtau::DTAU_VARIANT {

DTAU_COMPILE(DTAU_SHARED_HESSIANS)

}  // namespace dtau::DTAU_VARIANT
