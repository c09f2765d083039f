// Compiles the algorithms that functions/shared/linearizations.hpp lists.
#include "functions/shared/linearizations.hpp"

namespace dtau::DTAU_VARIANT {

DTAU_COMPILE(DTAU_SHARED_LINEARIZATIONS)

}  // namespace dtau::DTAU_VARIANT
