// Computes torques that act on the joints beside the given ones, as functions of time: OuterTorques. They are
// torques of wrenches along world axes, of springs and of friction, which the recursions of inverse.hpp and
// forward.hpp do not have.
#pragma once

#include "dtau/algorithms/time/spring_series.hpp"
#include "dtau/algorithms/time/world_wrenches.hpp"

namespace dtau::DTAU_VARIANT {

template <class T> struct OuterTorques {
    WorldWrenchWorkspace<T> wrenches;
    SpringSeries<T> springs;
    FrictionSeries<T> friction;
    T* outer;  // (nv), of one order

    OuterTorques(Arena& arena, const Tree& tree, const Options& options)
        : wrenches(arena, tree, options),
          springs(arena, tree, options.order + 1),
          friction(arena, tree, options.order + 1),
          outer(arena.take<T>(tree.nv)) {}

    bool act(const Tree& tree, const T* f_ext) const {
        return wrenches.take(f_ext) || has_springs_or_friction(tree);
    }
    // Order k, after all lower ones. accelerations: rows of the orders below k; f_ext: of all orders.
    void compute(const Tree& tree, int k, const T* q, const T* v, const T* accelerations,
                 const T* f_ext, const TaylorScale& scale) const {
        for (int j = 0; j < tree.nv; ++j) outer[j] = T(0.0);
        if (wrenches.take(f_ext))
            world_wrench_torques(tree, k, k, q, k < 2 ? v : accelerations + (k - 2) * tree.nv,
                                 f_ext + k * 6 * tree.nbodies, wrenches,
                                 [&](int, int j, T torque) { outer[j] = torque; });
        springs.add_next(tree, -1.0, k, q, v, accelerations, scale, outer);
        friction.subtract_next(tree, k, v, accelerations, scale, outer);
    }
    // The wrenches of order k that act along body axes; null: none.
    const T* along_bodies(const Tree& tree, int k, const T* f_ext) const {
        return wrenches.take(f_ext) || !f_ext ? nullptr : f_ext + k * 6 * tree.nbodies;
    }
};

}  // namespace dtau::DTAU_VARIANT
