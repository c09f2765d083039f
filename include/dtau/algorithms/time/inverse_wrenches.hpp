// Computes the time derivatives of inverse dynamics under wrenches along any axes: inverse_with_wrenches().
// inverse.hpp takes wrenches along body axes; the torques of others are subtracted after it.
#pragma once

#include "dtau/algorithms/time/inverse.hpp"
#include "dtau/algorithms/time/world_wrenches.hpp"

namespace dtau::DTAU_VARIANT {

template <class T> struct InverseAndWrenchesWorkspace {
    InverseSeriesWorkspace<T> series;
    WorldWrenchWorkspace<T> wrenches;

    InverseAndWrenchesWorkspace(Arena& arena, const Tree& tree, const Options& options)
        : series(arena, tree, options), wrenches(arena, tree, options) {}
};

// Arguments as of inverse_time_derivatives.
template <class T>
void inverse_with_wrenches(Part part, const Tree& tree, int order, const T* q, const T* v,
                           const T* f_ext, T* tau, const InverseAndWrenchesWorkspace<T>& w) {
    const bool in_world = w.wrenches.take(f_ext);
    const T* no_wrenches = nullptr;
    inverse_time_derivatives(part, tree, order, q, v, in_world ? no_wrenches : f_ext, tau,
                             w.series);
    if (in_world)
        world_wrench_torques(tree, 0, order, q, v, f_ext, w.wrenches,
                             [&](int k, int j, T torque) __attribute__((always_inline)) {
                                 tau[k * tree.nv + j] = tau[k * tree.nv + j] - torque;
                             });
}

}  // namespace dtau::DTAU_VARIANT
