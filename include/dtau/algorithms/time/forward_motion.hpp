// Computes and keeps the motion that forward dynamics gives and the forces across joints, as
// functions of time, for all bodies: forward_motion(). forward_jvp.hpp and forward_vjp.hpp need
// them. O(N r^2) for order r.
//
// forward.hpp and mimic.hpp leave these series in their workspaces, except A'
// (body_variations.hpp), and also the articulated-body inertias of order 0 or the factorization of
// the mass matrix. Their passes then serve variations and gradients too, which replace the series
// that they write to (seen, force) meanwhile.
#pragma once

#include "dtau/algorithms/time/mimic.hpp"
#include "dtau/algorithms/time/wrench_variations.hpp"

namespace dtau::DTAU_VARIANT {

// Series that the passes of forward.hpp write to, `length` coefficients for each body.
template <class T> struct SolverSeries {
    int length;
    TwoVectors<T>*seen, *force;

    SolverSeries(Arena& arena, const Tree& tree, int room) : length(room) {
        arena.take_each(tree.nnodes * room, seen, force);
    }
    SolverSeries(int room, TwoVectors<T>* at_seen, TwoVectors<T>* at_force)
        : length(room), seen(at_seen), force(at_force) {}
};

// Dynamics: HybridSeriesWorkspace, or MimicSeriesWorkspace for joints that mimic others.
template <class T, class Dynamics> struct ForwardMotionWorkspace {
    Dynamics dynamics;
    WrenchSeriesWorkspace<T> wrenches;
    SolverSeries<T> value;
    T *a, *zero;  // (order + 1, nv), (nv)

    ForwardMotionWorkspace(Arena& arena, const Tree& tree, const Options& options)
        : dynamics(arena, tree, one_more(options)),
          wrenches(arena, tree, options),
          value(arena, tree, options.order + 3),
          a(arena.take<T>((options.order + 1) * tree.nv)),
          zero(arena.take_zeros<T>(tree.nv)) {
        dynamics.series.complete = true;
    }

    static Options one_more(Options options) {
        ++options.order;
        return options;
    }
    // Makes the passes write to these series.
    void exchange(const Tree& tree, const SolverSeries<T>& series) const {
        for (int i = 0; i < tree.nnodes; ++i) {
            dynamics.series.bodies[i].seen = series.seen + std::ptrdiff_t(i) * series.length;
            dynamics.series.bodies[i].force = series.force + std::ptrdiff_t(i) * series.length;
        }
    }
    BodyValue<T> of(int i) const {
        const ForwardBody<T>& b = dynamics.series.bodies[i];
        return {b.joint, b.omega, b.X, value.force + std::ptrdiff_t(i) * value.length};
    }
};

// Whether the mass matrix is factorized; mimic.hpp then takes all joints alike.
template <class Dynamics> inline constexpr bool factorizes = false;
template <class T> inline constexpr bool factorizes<MimicSeriesWorkspace<T>> = true;

// f<true>() for simple bodies, f<false>() for others, as the dynamics take them.
template <class Dynamics, class F> inline void by_joint_in(const Body& body, const F& f) {
    if constexpr (factorizes<Dynamics>)
        f.template operator()<false>();
    else
        by_joint(body, f);
}

// y and A' of a body up to `order`; of a simple joint without z.
template <bool simple, class T>
inline void carried_series(const Body& body, int order, const ForwardBody<T>& b,
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

// Adds wrenches along the world's axes to the forces across joints, along body axes. The passes of
// forward.hpp do not: they use the torques of these wrenches instead.
template <class T, class Dynamics>
inline void add_wrenches(const Tree& tree, int order,
                         const ForwardMotionWorkspace<T, Dynamics>& w) {
    const WrenchSeriesWorkspace<T>& s = w.wrenches;
    for (int i = 0; i < tree.nnodes; ++i)
        for (int k = 0; k <= order; ++k) {
            const Force<T>& W = s.W[s.at(i) + k];
            s.seen[s.at(i) + k].set(-W.lin, -W.ang);
        }
    for (int i = tree.nnodes - 1; i >= 0; --i) {
        const Body& body = tree.bodies[i];
        if (body.parent < 0) continue;
        const TwoVectors<T>* sum = s.seen + s.at(i);
        TwoVectors<T>* force = w.value.force + std::ptrdiff_t(i) * w.value.length;
        for (int k = 0; k <= order; ++k)
            pass_order<false>(body, k, s.bodies.joints.of(i), sum, s.seen + s.at(body.parent),
                              s.y + s.at(i));
        for (int k = 0; k <= order; ++k) {
            FourNumbers<T>& xy = force[k].xy;
            xy.x += sum[k].xy.x, xy.y += sum[k].xy.y, xy.z += sum[k].xy.z, xy.w += sum[k].xy.w;
            if (is_simple(body)) continue;
            force[k].az += sum[k].az, force[k].bz += sum[k].bz;
        }
    }
}

// As hybrid_time_derivatives, without prescribed motion. in_world: whether there are
// wrenches along the world's axes, or variations of them. carried: series of all bodies, with room
// for order + 2. The passes that follow write to `next`.
template <class T, class Dynamics>
inline void forward_motion(const Tree& tree, int order, const T* q, const T* v, const T* tau,
                           const T* f_ext, bool in_world, TwoVectors<T>* carried,
                           const SolverSeries<T>& next,
                           const ForwardMotionWorkspace<T, Dynamics>& w) {
    w.exchange(tree, w.value);
    accelerations(tree, order, q, v, tau, f_ext, w.a, w.dynamics);
    for (int i = 0; i < tree.nnodes; ++i) {
        const Body& body = tree.bodies[i];
        by_joint_in<Dynamics>(body, [&]<bool simple>() __attribute__((always_inline)) {
            carried_series<simple>(body, order, w.dynamics.series.bodies[i],
                                   carried + std::ptrdiff_t(i) * (order + 2));
        });
    }
    if (in_world) {
        const auto rates = [&](int k) { return k == 0 ? v : w.a + (k - 1) * tree.nv; };
        turn_wrenches(tree, order, q, rates, f_ext, w.wrenches);
        if (f_ext) add_wrenches(tree, order, w);
    }
    w.exchange(tree, next);
}

}  // namespace dtau::DTAU_VARIANT
