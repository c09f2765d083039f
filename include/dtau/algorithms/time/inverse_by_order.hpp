// Computes inverse dynamics one order at a time, for solvers that find the accelerations of an order before
// the next one begins: InverseByOrder. O(N r^2) for order r. It is the recursion of forward.hpp with all
// motion prescribed: order k needs the motion up to velocities of order k, and gives the torque at any
// accelerations of order k, with which extend() then goes on.
#pragma once

#include "dtau/algorithms/time/forward.hpp"

namespace dtau::DTAU_VARIANT {

template <class T> struct InverseByOrder : OuterTorques<T> {
    ForwardSeriesWorkspace<T> series;
    T* torque;  // (nv), of one order

    InverseByOrder(Arena& arena, const Tree& tree, const Options& options)
        : OuterTorques<T>(arena, tree, options),
          series(arena, tree, options),
          torque(arena.take<T>(tree.nv)) {}

    void start(const Tree& tree, const T* q, const T* v) const {
        const Configuration<T> angles = configuration(tree, q, series.angles);
        for (int i = 0; i < tree.nnodes; ++i) {
            start_body<false>(tree, i, angles, v, series);
            series.passed[tree.bodies[i].level].m = zero_motion<T>();  // nothing is solved for
        }
    }
    // Computes the torque of order k at these accelerations of order k, after the outer torques: compute().
    void at(const Tree& tree, int k, const T* v, const T* accelerations, const T* f_ext,
            const T* acceleration) const {
        const Prescribed all = {nullptr, true};
        const T* const along_body = this->along_bodies(tree, k, f_ext);
        const T* const rates = k == 0 ? v : accelerations + (k - 1) * tree.nv;
        const T* const no_torque = nullptr;
        for (int i = 0; i < tree.nnodes; ++i)
            bias_motion<false, T>(tree, i, k, acceleration, along_body, all, series);
        for (int i = tree.nnodes - 1; i >= 0; --i) {
            const ForwardBody<T>& b = series.bodies[i];
            bias_force<false>(tree, i, k, rates, no_torque, all, series);
            b.force[k].set(b.p.a(), b.p.b());
            prescribed_torque(tree, tree.bodies[i], i, k, rates, acceleration, torque, series);
        }
        for (int j = 0; j < tree.nv; ++j) torque[j] = torque[j] - this->outer[j];
    }
    // Ends order k, with the accelerations for which at() was called last.
    void extend(const Tree& tree, int k, const T* acceleration) const {
        for (int i = 0; i < tree.nnodes; ++i)
            extend_motion<false>(tree, i, k, acceleration, series);
    }
};

}  // namespace dtau::DTAU_VARIANT
