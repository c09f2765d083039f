// Lists algorithms of time derivatives that several functions use, compiled once in
// shared/time_derivatives.cpp.
#pragma once

#include "dtau/algorithms/time/idsva.hpp"
#include "dtau/algorithms/time/inverse_wrenches.hpp"
#include "dtau/algorithms/time/mimic.hpp"
#include "dtau/algorithms/time/wrench_variations.hpp"
#include "functions/shared/algorithms.hpp"

#define DTAU_SHARED_TIME_DERIVATIVES(link, T)                                                      \
    link template void relative_body<any_order>(                                                   \
        const Tree&, int, int, int, const Configuration<T>&, const T*, const RootFrameSeries<T>&); \
    link template void carried_motion<false>(Part, const Tree&, const Body&, int, int,             \
                                             const Configuration<T>&, const JointSeries<T>&,       \
                                             std::ptrdiff_t, const InverseSeriesWorkspace<T>&);    \
    link template void pass_order<false>(const Body&, int, const JointSeries<T>&,                  \
                                         const TwoVectors<T>*, TwoVectors<T>*, Vec3<T>*);          \
    link template void move_body(const Tree&, int, int, const Configuration<T>&, const T*,         \
                                 const MovingBodies<T>&);                                          \
    link template void extend_pose(const Body&, int, const JointSeries<T>&, const Mat3<T>*,        \
                                   const PoseSeries<T>&);                                          \
    link template struct SpringSeries<T>;                                                          \
    link template struct OuterTorques<T>;                                                          \
    link template struct InverseByOrder<T>;                                                        \
    DTAU_SHARED(link, inverse_time_derivatives<T>)                                                 \
    DTAU_SHARED(link, inverse_with_wrenches<T>)                                                    \
    DTAU_SHARED(link, vary_wrenches<T>)                                                            \
    DTAU_SHARED(link, turn_gradients<T>)                                                           \
    DTAU_SHARED(link, hybrid_time_derivatives<T>)                                                  \
    DTAU_SHARED(link, mimic_time_derivatives<T>)                                                   \
    DTAU_SHARED(link, idsva_time_derivatives<T>)

namespace dtau::DTAU_VARIANT {

DTAU_DECLARE(DTAU_SHARED_TIME_DERIVATIVES)

}  // namespace dtau::DTAU_VARIANT
