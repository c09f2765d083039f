// Lists parts of Hessians with constraints that several functions use, compiled once in
// shared/constraints_hessians.cpp.
#pragma once

#include "dtau/algorithms/constraints/hessian.hpp"
#include "functions/shared/constraints.hpp"
#include "functions/shared/hessians.hpp"

#define DTAU_SHARED_CONSTRAINED_HESSIANS(link, T)                              \
    link template ConstrainedHessianWorkspace<T>::ConstrainedHessianWorkspace( \
        Arena&, const Tree&, const Options&, bool);                            \
    DTAU_SHARED(link, add_transposed_product<T>)                               \
    DTAU_SHARED(link, constrained_hessian_value<T>)                            \
    DTAU_SHARED(link, add_force_curvature<T>)                                  \
    DTAU_SHARED(link, constrained_curvature<T>)                                \
    DTAU_SHARED(link, constrained_results<T>)                                  \
    DTAU_SHARED(link, constrained_hessian_blocks<T>)

namespace dtau::DTAU_VARIANT {

DTAU_DECLARE(DTAU_SHARED_CONSTRAINED_HESSIANS)

}  // namespace dtau::DTAU_VARIANT
