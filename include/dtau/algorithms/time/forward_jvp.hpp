// Computes Jacobian-vector products of the time derivatives of forward dynamics without forming a
// matrix: forward_time_derivatives_jvp(). O(N r^2) for order r.
//
// The motion and its forces are known (forward_motion.hpp). The variation of inverse dynamics
// (body_variations.hpp) is solved for the variation of the accelerations, order by order, as
// forward.hpp solves for the accelerations. At order k
//
//   M d a^(k) = d tau^(k) - (variation of order k that eta, d v and lower orders of d a alone give)
//
// Every order uses the articulated-body inertias of order 0, or, with mimic joints, the
// factorization of the mass matrix. [Derivations] eq. 22.8.
#pragma once

#include "dtau/algorithms/time/forward_motion.hpp"

namespace dtau::DTAU_VARIANT {

// Dynamics as in forward_motion.hpp.
template <class T, class Dynamics> struct ForwardSeriesJvpWorkspace {
    ForwardMotionWorkspace<T, Dynamics> motion;
    SeriesVariations<T> variation;
    TwoVectors<T>* turn;  // eta x* F of this order, by body
    T* torque;            // (nv), of this order

    ForwardSeriesJvpWorkspace(Arena& arena, const Tree& tree, const Options& options)
        : motion(arena, tree, options),
          variation(arena, tree.nnodes, options.order + 2),
          turn(arena.take<TwoVectors<T>>(tree.nnodes)),
          torque(arena.take<T>(tree.nv)) {}

    DTAU_INLINE const ForwardSeriesWorkspace<T>& series() const { return motion.dynamics.series; }
    DTAU_INLINE VariedBody<T> of(int i) const {
        VariedBody<T> b = variation.of(i, motion.of(i));
        b.step = series().sliding;
        return b;
    }
    DTAU_INLINE VariedBody<T> parent_of(const Body& body, int i) const {
        return of(body.parent < 0 ? i : body.parent);
    }
};

// Order k of the variation of body i, after its parent, from delta of order k + 1: its motion and
// the force that it needs.
template <bool simple, class T, class Workspace>
DTAU_INLINE void vary_body(const Tree& tree, int i, int k, const T* df_ext, const Workspace& w) {
    const Body& body = tree.bodies[i];
    const VariedBody<T> b = w.of(i);
    vary_motion<simple>(body, k + 1, b, w.parent_of(body, i));
    const Force<T> F = own_force_variation(body, k, df_ext, w.series().scale, b);
    w.series().bodies[i].p.set(F.lin, F.ang);
}

// Order k of the displacement and of a part of the force to the parent, from delta up to order k.
template <bool simple, class T, class Workspace>
DTAU_INLINE void displace_body(const Tree& tree, int i, int k, const Workspace& w) {
    const Body& body = tree.bodies[i];
    const Rotation how = rotation_of<simple>(body);
    const VariedBody<T> b = w.of(i);
    extend_displacement<simple>(body, k, w.series().scale, b.joint, b.delta, b.eta);
    scaled_twist<simple>(body, T(0.0), w.motion.zero, b.delta[k + 1]);
    if (!simple && body.parent < 0) return;
    ForwardBody<T>& solved = w.series().bodies[i];
    TwoVectors<T>& lower = solved.lower;
    w.turn[i] = displaced_force(body, how, k, b);
    lower.az = lower.bz = T(0.0);
    rotated_by_higher<true>(how, b.joint, k, b.d_force, lower);
    lower = rotate_add<true>(how, b.joint, 0, w.turn[i], lower);
    if (slides_on<simple>(body))
        lower.set(lower.a(), cross_sum(1, k, b.joint.r, solved.back, lower.b()));
}

// The force across the joint of order k, F, in the form that the next orders take to the parent.
template <bool simple, class T, class Workspace>
DTAU_INLINE void keep_force(const Body& body, int i, int k, const TwoVectors<T>& F,
                            const Workspace& w) {
    if (!simple && body.parent < 0) return;
    const VariedBody<T> b = w.of(i);
    const ForwardBody<T>& solved = w.series().bodies[i];
    if (slides_on<simple>(body))
        solved.back[k] =
            rotate_add<true>(rotation_of<simple>(body), b.joint, 0, F.a(), solved.lower.a());
    const TwoVectors<T>& turn = w.turn[i];
    TwoVectors<T>& sum = b.d_force[k];  // nothing reads z of a simple joint
    sum.xy = {F.xy.x + turn.xy.x, F.xy.y + turn.xy.y, F.xy.z + turn.xy.z, F.xy.w + turn.xy.w};
    if (!simple) sum.az = F.az + turn.az, sum.bz = F.bz + turn.bz;
}

// ---------------------------------------------------------------- one order

// dv, dtau, df_ext: of order k. add_passive(factor, torque) adds the variations of the torques of springs and
// friction.
template <class T, class Passive>
DTAU_INLINE void solve_order(const Tree& tree, int k, const Passive& add_passive, const T* dv,
                             const T* dtau, const T* df_ext, T* da,
                             const ForwardSeriesJvpWorkspace<T, HybridSeriesWorkspace<T>>& w) {
    const ForwardSeriesWorkspace<T>& s = w.series();
    const Prescribed none = {nullptr, false};
    const T* no_a = nullptr;
    const bool passive = has_springs_or_friction(tree);
    for (int j = 0; j < tree.nv && passive; ++j) w.torque[j] = dtau[j];
    add_passive(-1.0, w.torque);
    const T* const drive = passive ? w.torque : dtau;
    for (int i = 0; i < tree.nnodes; ++i)
        by_joint(tree.bodies[i], [&]<bool simple>() __attribute__((always_inline)) {
            displace_body<simple, T>(tree, i, k, w);
            vary_body<simple>(tree, i, k, df_ext, w);
        });
    for (int i = tree.nnodes - 1; i >= 0; --i)
        by_joint(tree.bodies[i], [&]<bool simple>() __attribute__((always_inline)) {
            bias_force<simple>(tree, i, k, dv, drive, none, s);
        });
    for (int i = 0; i < tree.nnodes; ++i)
        by_joint(tree.bodies[i], [&]<bool simple>() __attribute__((always_inline)) {
            const Body& body = tree.bodies[i];
            const VariedBody<T> b = w.of(i);
            accelerate<simple>(tree, i, k, true, no_a, da, none, s);
            const Motion<T>& m = s.bodies[i].passed->m;  // that d a^(k) adds
            b.d_omega[k + 1] = fma(T(s.scale.inverse[k + 1]), m.ang, b.d_omega[k + 1]);
            if (s.sliding) b.dX[k] += skew(m.ang);
            scaled_twist<simple>(body, T(s.scale.inverse_factorial[k + 1]), da, b.delta[k + 1]);
            keep_force<simple>(body, i, k, b.d_force[k], w);
        });
}

template <class T, class Passive>
DTAU_INLINE void solve_order(const Tree& tree, int k, const Passive& add_passive, const T* dv,
                             const T* dtau, const T* df_ext, T* da,
                             const ForwardSeriesJvpWorkspace<T, MimicSeriesWorkspace<T>>& w) {
    const ForwardSeriesWorkspace<T>& s = w.series();
    const Prescribed all = {nullptr, true};
    T* x = w.motion.dynamics.x;
    for (int i = 0; i < tree.nnodes; ++i) {
        displace_body<false, T>(tree, i, k, w);
        vary_body<false>(tree, i, k, df_ext, w);
    }
    for (int i = tree.nnodes - 1; i >= 0; --i) {
        const Body& body = tree.bodies[i];
        bias_force<false>(tree, i, k, dv, dtau, all, s);
        joint_torque(body, {s.bodies[i].p.b(), s.bodies[i].p.a()}, w.torque + body.v);
    }
    for (int j = 0; j < tree.nv; ++j)
        w.torque[j] = fma(T(tree.damping[j]), dv[j], T(s.scale.factorial[k]) * w.torque[j]);
    add_passive(1.0, w.torque);
    reduce_columns(tree, w.torque, 1, x);
    for (int j = 0; j < tree.independent.n; ++j) x[j] = dtau[j] - x[j];
    ltdl_solve_vector(tree.independent, x, w.motion.dynamics.ltdl);
    expand_v(tree, x, da);
    for (int i = 0; i < tree.nnodes; ++i) {
        scaled_twist<false>(tree.bodies[i], T(s.scale.inverse_factorial[k + 1]), da,
                            w.of(i).delta[k + 1]);
        vary_body<false>(tree, i, k, df_ext, w);
    }
    for (int i = tree.nnodes - 1; i >= 0; --i) {
        bias_force<false>(tree, i, k, dv, dtau, all, s);
        keep_force<false>(tree.bodies[i], i, k, s.bodies[i].p, w);
    }
}

// dq, dv (nv); tau, dtau (order + 1, independent nv); f_ext, df_ext (order + 1, nbodies, 6) may be
// null: zero. da (order + 1, nv).
template <class T, class Dynamics>
void forward_time_derivatives_jvp(const Tree& tree, int order, const T* q, const T* v, const T* tau,
                                  const T* dq, const T* dv, const T* dtau, const T* f_ext,
                                  const T* df_ext, T* da,
                                  const ForwardSeriesJvpWorkspace<T, Dynamics>& w) {
    const WrenchSeriesWorkspace<T>& wrenches = w.motion.wrenches;
    const bool in_world = wrenches.take(f_ext) || wrenches.take(df_ext);
    forward_motion(tree, order, q, v, tau, f_ext, in_world, w.variation.carried,
                   {w.variation.length, w.variation.seen, w.variation.d_force}, w.motion);
    for (int i = 0; i < tree.nnodes; ++i)
        by_joint_in<Dynamics>(tree.bodies[i], [&]<bool simple>() __attribute__((always_inline)) {
            const Body& body = tree.bodies[i];
            const VariedBody<T> b = w.of(i);
            scaled_twist<simple>(body, T(1.0), dq, b.eta[0]);
            scaled_twist<simple>(body, T(1.0), dv, b.delta[0]);
            vary_motion<simple>(body, 0, b, w.parent_of(body, i));
        });
    for (int k = 0; k <= order; ++k) {
        const T *rates = k == 0 ? dv : da + (k - 1) * tree.nv, *wrench_rates = df_ext;
        if (in_world) {
            const T* before = k < 2 ? dv : rates - tree.nv;  // of order k - 1
            vary_wrenches(tree, k, dq, before, f_ext, df_ext, wrenches);
            wrench_rates = wrenches.df_ext + k * 6 * tree.nbodies;
        }
        const auto add_passive = [&](double factor, T* torque) __attribute__((always_inline)) {
            const TaylorScale& scale = w.series().scale;
            w.motion.dynamics.springs.add_variations(tree, k, factor, dq, dv, da, scale, torque);
            w.motion.dynamics.friction.add_variations(tree, k, factor * scale.factorial[k], dv, da,
                                                      scale.inverse_factorial, torque);
        };
        solve_order(tree, k, add_passive, rates, dtau + k * tree.independent.n, wrench_rates,
                    da + k * tree.nv, w);
        if (df_ext) df_ext += 6 * tree.nbodies;
    }
}

}  // namespace dtau::DTAU_VARIANT
