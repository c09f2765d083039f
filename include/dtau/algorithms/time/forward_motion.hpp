// Keeps the motion that forward dynamics gives, and the forces across joints, as functions of time,
// for all bodies at once: forward_motion(). What variations and gradients of forward dynamics meet
// (forward_jvp.hpp, forward_vjp.hpp). O(N r^2) for order r.
//
// forward.hpp and mimic.hpp leave all of it but A' (variations.hpp), and what solves: the articulated
// inertias of order 0, or the factors of the mass matrix. Their sweeps then serve variations and
// gradients: the series that they write to (seen, force) are exchanged meanwhile.
#pragma once

#include "dtau/algorithms/time/mimic.hpp"
#include "dtau/algorithms/time/variations.hpp"

namespace dtau::DTAU_VARIANT {

// Series that sweeps of forward.hpp write to, `length` for a body.
template <class T>
struct SolverSeries {
    int length;
    TwoVectors<T>*seen, *force;

    SolverSeries(Arena& arena, const Tree& tree, int room)
        : length(room),
          seen(arena.take<TwoVectors<T>>(tree.nnodes * room)),
          force(arena.take<TwoVectors<T>>(tree.nnodes * room)) {}
    DTAU_INLINE SolverSeries(int room, TwoVectors<T>* at_seen, TwoVectors<T>* at_force)
        : length(room), seen(at_seen), force(at_force) {}
};

// Dynamics: HybridSeriesWorkspace, or MimicSeriesWorkspace for joints that mimic others.
template <class T, class Dynamics>
struct ForwardMotionWorkspace {
    Dynamics dynamics;
    SolverSeries<T> value;
    T *a, *zero;  // (order + 1, nv), (nv)

    ForwardMotionWorkspace(Arena& arena, const Tree& tree, const Options& options)
        : dynamics(arena, tree, one_more(options)),
          value(arena, tree, options.order + 3),
          a(arena.take<T>((options.order + 1) * tree.nv)),
          zero(arena.take_zeros<T>(tree.nv)) {
        dynamics.series.complete = true;
    }

    static Options one_more(Options options) {
        ++options.order;
        return options;
    }
    // Makes the sweeps write there.
    DTAU_INLINE void exchange(const Tree& tree, const SolverSeries<T>& series) const {
        for (int i = 0; i < tree.nnodes; ++i) {
            dynamics.series.bodies[i].seen = series.seen + std::ptrdiff_t(i) * series.length;
            dynamics.series.bodies[i].force = series.force + std::ptrdiff_t(i) * series.length;
        }
    }
    DTAU_INLINE BodyValue<T> of(int i) const {
        const ForwardBody<T>& b = dynamics.series.bodies[i];
        return {b.joint, b.omega, b.X, value.force + std::ptrdiff_t(i) * value.length};
    }
};

// Whether the mass matrix is factorized; mimic.hpp then takes all joints alike.
template <class Dynamics>
inline constexpr bool factorizes = false;
template <class T>
inline constexpr bool factorizes<MimicSeriesWorkspace<T>> = true;

// f<true>() for simple bodies, f<false>() for others, as the dynamics take them.
template <class Dynamics, class F>
DTAU_INLINE void by_joint_in(const Body& body, const F& f) {
    if constexpr (factorizes<Dynamics>)
        f.template operator()<false>();
    else
        by_joint(body, f);
}

// y and A' of a body up to `order`; of a simple joint without z.
template <bool simple, class T>
DTAU_INLINE void carried_series(const Body& body, int order, const ForwardBody<T>& b,
                                TwoVectors<T>* carried) {
    const JointSeries<T>& s = b.joint;
    for (int k = 0; k <= order + 1; ++k) {
        if (!simple && body.parent < 0) {
            carried[k].set(zero_vector<T>(), k == 0 ? zero_vector<T>() : b.gravity[k - 1]);
            continue;
        }
        Vec3<T> A = zero_vector<T>(), y = b.omega[k];
        for (int m = 0; m < k; ++m) {
            Vec3<T> a = b.seen[k - m].b();
            if (simple) a.z = T(0.0);
            A = rotate_add<false>(rotation_of<simple>(body), s, m, a, A);
        }
        if (!simple) y = y - s.omega[k];
        carried[k].set(y, A);
    }
}

// As hybrid_time_derivatives, without prescribed motion. carried: series of all bodies, of room
// order + 2. The sweeps that follow write to `next`.
template <class T, class Dynamics>
DTAU_INLINE void forward_motion(const Tree& tree, int order, const T* q, const T* v, const T* tau,
                                const T* f_ext, TwoVectors<T>* carried, const SolverSeries<T>& next,
                                const ForwardMotionWorkspace<T, Dynamics>& w) {
    const T* no_a = nullptr;
    T* no_torque = nullptr;
    w.exchange(tree, w.value);
    if constexpr (factorizes<Dynamics>)
        mimic_time_derivatives<T>(tree, order, q, v, no_a, tau, f_ext, nullptr, w.a, no_torque,
                                  w.dynamics);
    else
        hybrid_time_derivatives<T>(tree, order, q, v, no_a, tau, f_ext, nullptr, w.a, no_torque,
                                   w.dynamics);
    for (int i = 0; i < tree.nnodes; ++i) {
        const Body& body = tree.bodies[i];
        by_joint_in<Dynamics>(body, [&]<bool simple>() __attribute__((always_inline)) {
            carried_series<simple>(body, order, w.dynamics.series.bodies[i],
                                   carried + std::ptrdiff_t(i) * (order + 2));
        });
    }
    w.exchange(tree, next);
}

}  // namespace dtau::DTAU_VARIANT
