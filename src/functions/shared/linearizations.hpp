// Lists parts of the linearization of a time step that several functions use, compiled once in
// shared/linearizations.cpp.
#pragma once

#include "dtau/algorithms/constraints/discrete_linearization.hpp"
#include "functions/shared/constraints.hpp"

#define DTAU_SHARED_LINEARIZATIONS(link, T)                                                     \
    DTAU_SHARED(link, stage_partials<T>)                                                        \
    DTAU_SHARED(link, displace<T>)                                                              \
    DTAU_SHARED(link, add_units<T>)                                                             \
    DTAU_SHARED(link, add_torques<T>)                                                           \
    DTAU_SHARED(link, add_wrenches<T>)                                                          \
    DTAU_SHARED(link, add_length<T>)                                                            \
    DTAU_SHARED(link, joint_product<T>)                                                         \
    DTAU_SHARED(link, constrained_stage<T>)                                                     \
    DTAU_SHARED(link, minus_transposed_jacobians<T>)                                            \
    DTAU_SHARED(link, linearize_discrete<T, FreeStages<T>>)                                     \
    DTAU_SHARED(link, linearize_discrete<T, HeldStages<T>>)                                     \
    link template DiscreteWorkspace<T>::DiscreteWorkspace(Arena&, const Tree&, const Options&); \
    link template struct StageChange<T>;

namespace dtau::DTAU_VARIANT {

DTAU_DECLARE(DTAU_SHARED_LINEARIZATIONS)

}  // namespace dtau::DTAU_VARIANT
