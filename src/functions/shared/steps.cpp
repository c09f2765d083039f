// Compiles the products and parts of time steps that functions/shared/algorithms.hpp lists.
#include "functions/shared/algorithms.hpp"

namespace dtau::DTAU_VARIANT {

DTAU_COMPILE(DTAU_SHARED_PRODUCTS)

}  // namespace dtau::DTAU_VARIANT
