// Lists parts of Hessians that several functions use, compiled once in shared/hessians.cpp.
#pragma once

#include "dtau/algorithms/second/forward_hessian.hpp"
#include "functions/shared/algorithms.hpp"

#define DTAU_SHARED_HESSIANS(link, T)                \
    DTAU_SHARED(link, hessian_forward<T>)            \
    DTAU_SHARED(link, hessian_backward<T>)           \
    DTAU_SHARED(link, add_world_wrench_hessian<T>)   \
    DTAU_SHARED(link, related_transposed_product<T>) \
    DTAU_SHARED(link, forward_hessian_blocks<T>)

namespace dtau::DTAU_VARIANT {

DTAU_DECLARE(DTAU_SHARED_HESSIANS)

}  // namespace dtau::DTAU_VARIANT
