// Computes vector-Jacobian products of the time derivatives of forward dynamics without forming a
// matrix: forward_time_derivatives_vjp(), the adjoint of forward_jvp.hpp. O(N r^2) for order r.
//
// The motion and its forces are known (forward_motion.hpp). The gradients of inverse dynamics
// (gradients.hpp) are solved for its weights mu, from the highest order down, so that the gradient
// by a^(k) equals lam^(k):
//
//   M mu^(k) = lam^(k) - (gradient by a^(k) of mu of higher orders . inverse dynamics)
//
//   by tau^(k) = mu^(k)      by_x = -gradient of mu . inverse dynamics, for x = q, v
//
// The articulated-body inertias of order 0, or the factors of the mass matrix, solve this. Each order takes one
// backward pass and one forward pass. The forward pass adds the terms of this order's mu to Lam; their
// contributions to other gradients pass backward with the next order. [Derivations] eq. 22.9
#pragma once

#include "dtau/algorithms/time/forward_motion.hpp"
#include "dtau/algorithms/time/gradients.hpp"

namespace dtau::DTAU_VARIANT {

// Dynamics as in forward_motion.hpp.
template <class T, class Dynamics> struct ForwardSeriesVjpWorkspace {
    ForwardMotionWorkspace<T, Dynamics> motion;
    SeriesGradients<T> gradient;
    SolverSeries<T> solver;
    Vec3<T>* lower;         // lower_gradient() of this order, by body
    TwoVectors<T>* higher;  // sum of E_m^T (W, A)_{l-m} for m from 1
    T *rest, *mu;           // (nv), of this order: right-hand side after mu of higher orders; k! mu
    T* weights;             // (nv), lam of this order without the gradients of springs and friction

    ForwardSeriesVjpWorkspace(Arena& arena, const Tree& tree, const Options& options)
        : motion(arena, tree, options),
          gradient(arena, tree.nnodes, options.order + 2),
          solver(arena, tree, 2),
          weights(room_for_drive<T>(arena, tree)) {
        arena.take_each(tree.nnodes, lower, higher);
        arena.take_each(tree.nv, rest, mu);
    }

    DTAU_INLINE const ForwardSeriesWorkspace<T>& series() const { return motion.dynamics.series; }
    DTAU_INLINE const TwoVectors<T>* turning(int i) const {
        const WrenchSeriesWorkspace<T>& s = motion.wrenches;
        return s.length > 0 ? s.seen + s.at(i) : nullptr;
    }
    DTAU_INLINE WeighedBody<T> of(int i) const { return gradient.of(i, motion.of(i)); }
    DTAU_INLINE WeighedBody<T> parent_of(const Body& body, int i) const {
        return of(body.parent < 0 ? i : body.parent);
    }
};

// The momentum of a body that moves with a twist.
template <class T> DTAU_INLINE Force<T> momentum(const Body& body, const Motion<T>& v) {
    const Vec3<T> h = lift<T>(vec3(body.first_moment));
    const Sym3<double> S = sym3(body.second_moment);
    const T trace(S.xx + S.yy + S.zz);
    return {cross(h, v.lin, fma(trace, v.ang, -(S * v.ang))),
            cross(v.ang, h, T(body.mass) * v.lin)};
}

// Coefficient l of Lam, and of the gradients that the solver takes as forces, before the terms of
// this order's mu are added.
template <bool simple, class T, class Workspace>
DTAU_INLINE void start_weights(const Tree& tree, int i, int l, const Workspace& w) {
    const Body& body = tree.bodies[i];
    const WeighedBody<T> b = w.of(i);
    weigh<simple>(body, l, T(0.0), w.motion.zero, b, w.parent_of(body, i));
    ForwardBody<T>& solved = w.series().bodies[i];
    const Force<T> P = momentum(body, b.Lam[l]);
    solved.p.set(P.lin, P.ang);
    solved.seen[1].set(zero_vector<T>(), zero_vector<T>());  // takes what Lam of the parent gets
}

// The sum over lower coefficients of (W, A), along the axes of the joint's frame.
template <bool simple, class T, class Workspace>
DTAU_INLINE void add_higher(const Body& body, int i, int l, const Workspace& w) {
    if (!simple && body.parent < 0) return;
    const WeighedBody<T> b = w.of(i);
    w.higher[i].set(zero_vector<T>(), zero_vector<T>());
    rotated_by_higher<true>(rotation_of<simple>(body), b.joint, l, b.by_motion, w.higher[i]);
}

// Completes coefficient l, after the children.
template <bool simple, class T, class Workspace>
DTAU_INLINE void settle(const Tree& tree, int i, int order, int l, const Workspace& w) {
    const Body& body = tree.bodies[i];
    const WeighedBody<T> b = w.of(i), p = w.parent_of(body, i);
    gather_displacement<simple>(body, order, l, w.series().scale, w.turning(i), b, p);
    if (!simple && body.parent < 0) return;
    const TwoVectors<T> both =
        rotate_add<true>(rotation_of<simple>(body), b.joint, 0, b.by_motion[l], w.higher[i]);
    pass_gradient<simple>(body, order, l, both, b, p);
    if (slides_on<simple>(body) && l <= order)
        w.series().bodies[i].back[l] = into_joint<false>(body, b.back[l]);
}

// Coefficient l of the force that the solver takes, and the part of the gradient by a^(order - l),
// unscaled, that is not a force (rest).
template <bool simple, class T, class Workspace>
DTAU_INLINE void gather_body(const Tree& tree, int i, int order, int l, const T* higher_mu,
                             const Workspace& w) {
    const Body& body = tree.bodies[i];
    const TaylorScale& scale = w.series().scale;
    const WeighedBody<T> b = w.of(i);
    ForwardBody<T>& solved = w.series().bodies[i];
    const T inverse(scale.inverse[order + 1 - l]);
    w.lower[i] = lower_gradient<simple>(body, l, b);
    solved.p.set(solved.p.a(), fma(inverse, w.lower[i], solved.p.b()));
    add_higher<simple, T>(body, i, l, w);
    if (simple || body.parent >= 0) {
        Vec3<T> moment = inverse * w.higher[i].a();
        if (slides_on<simple>(body)) moment = cross_sum(1, l, b.joint.r, solved.back, moment);
        solved.lower.set(w.higher[i].b(), moment);
    }
    T torque[6];
    const Force<T> rest = lower_rate_gradient<simple>(body, l, b);
    series_torque<simple>(body, rest, torque);
    for (int c = 0; c < (simple ? 1 : body.nv); ++c) {
        const int j = body.v + c;
        w.rest[j] = inverse * torque[c];
        if (l == 0) continue;
        const T damping(tree.damping[j] * scale.factorial[order - l]);
        w.rest[j] = fma(damping, higher_mu[j], w.rest[j]);
    }
}

// Gradients of the body's own force with all of Lam of coefficient l.
template <class T, class Workspace>
DTAU_INLINE void finish_weights(const Tree& tree, int i, int order, int l, const Workspace& w) {
    const WeighedBody<T> b = w.of(i);
    start_gradient(tree.bodies[i], order, l, b);
    b.by_motion[l].set(b.by_motion[l].a() + w.lower[i], b.by_motion[l].b());
}

// ---------------------------------------------------------------- one order

// by_a += factor times the gradient by a^(order - l) of the torques of springs and friction. higher_mu: of
// order order - l + 1, and the higher orders behind it.
template <class T, class Workspace>
DTAU_INLINE void add_passive_gradient(const Tree& tree, int order, int l, double factor,
                                      const T* higher_mu, T* by_a, const Workspace& w) {
    const TaylorScale& scale = w.series().scale;
    const int next = order - l + 1;
    if (l > 1)
        w.motion.dynamics.springs.add_gradients(tree, next + 1, order, factor, higher_mu + tree.nv,
                                                scale, by_a);
    if (l > 0)
        w.motion.dynamics.friction.add_gradients(tree, next, order,
                                                 factor * scale.inverse_factorial[next], higher_mu,
                                                 scale.factorial, by_a);
}

// Solves one order and starts the next coefficient. lam: of order k = order - l; higher_mu: of
// orders k + 1, k + 2, ..., up to `order`. The springs' torques of order k + 2 depend on a^(k),
// and friction's of order k + 1 and above.
template <class T>
DTAU_INLINE void solve_order(const Tree& tree, int order, int l, const T* lam, const T* higher_mu,
                             const ForwardSeriesVjpWorkspace<T, HybridSeriesWorkspace<T>>& w) {
    const ForwardSeriesWorkspace<T>& s = w.series();
    const Prescribed none = {nullptr, false};
    const T factor(s.scale.factorial[order - l]), *no_a = nullptr;
    if (l > 0 && has_springs_or_friction(tree)) {
        for (int j = 0; j < tree.nv; ++j) w.weights[j] = lam[j];
        add_passive_gradient(tree, order, l, -1.0, higher_mu, w.weights, w);
        lam = w.weights;
    }
    for (int i = tree.nnodes - 1; i >= 0; --i)
        by_joint(tree.bodies[i], [&]<bool simple>() __attribute__((always_inline)) {
            const Body& body = tree.bodies[i];
            if (l > 0) settle<simple, T>(tree, i, order, l - 1, w);
            gather_body<simple>(tree, i, order, l, higher_mu, w);
            for (int j = body.v; j < body.v + body.nv; ++j)
                w.rest[j] = fma(factor, lam[j], -w.rest[j]);
            bias_force<simple, T>(tree, i, 0, w.motion.zero, w.rest, none, s);
        });
    for (int i = 0; i < tree.nnodes; ++i)
        by_joint(tree.bodies[i], [&]<bool simple>() __attribute__((always_inline)) {
            const Body& body = tree.bodies[i];
            const WeighedBody<T> b = w.of(i);
            accelerate<simple>(tree, i, 0, false, no_a, w.mu, none, s);
            const ForwardBody<T>& solved = s.bodies[i];
            if (simple || body.parent >= 0)
                b.seen[l].set(b.seen[l].a() + solved.seen[1].a(),
                              b.seen[l].b() + solved.seen[1].b());
            b.Lam[l] = b.Lam[l] + solved.passed->m;
            if (!simple) {
                Motion<T> own;
                scaled_twist<false>(body, T(1.0), w.mu, own);
                b.L[l].set(b.Lam[l].ang - own.ang, b.Lam[l].lin - own.lin);
            }
            finish_weights<T>(tree, i, order, l, w);
            if (l < order) start_weights<simple, T>(tree, i, l + 1, w);
        });
}

template <class T>
DTAU_INLINE void solve_order(const Tree& tree, int order, int l, const T* lam, const T* higher_mu,
                             const ForwardSeriesVjpWorkspace<T, MimicSeriesWorkspace<T>>& w) {
    const ForwardSeriesWorkspace<T>& s = w.series();
    const Prescribed all = {nullptr, true};
    const T factor(s.scale.factorial[order - l]);
    T *x = w.motion.dynamics.x, *torque = w.motion.dynamics.torque;
    for (int i = tree.nnodes - 1; i >= 0; --i) {
        const Body& body = tree.bodies[i];
        if (l > 0) settle<false, T>(tree, i, order, l - 1, w);
        gather_body<false>(tree, i, order, l, higher_mu, w);
        bias_force<false, T>(tree, i, 0, w.motion.zero, w.rest, all, s);
        joint_torque(body, {s.bodies[i].p.b(), s.bodies[i].p.a()}, torque + body.v);
    }
    for (int j = 0; j < tree.nv; ++j) torque[j] = torque[j] + w.rest[j];
    add_passive_gradient(tree, order, l, s.scale.factorial[order - l], higher_mu, torque, w);
    reduce_columns(tree, torque, 1, x);
    for (int j = 0; j < tree.independent.n; ++j) x[j] = fma(factor, lam[j], -x[j]);
    ltdl_solve_vector(tree.independent, x, w.motion.dynamics.ltdl);
    expand_v(tree, x, w.mu);
    for (int i = 0; i < tree.nnodes; ++i) {
        const Body& body = tree.bodies[i];
        weigh<false>(body, l, T(1.0), w.mu, w.of(i), w.parent_of(body, i));
        finish_weights<T>(tree, i, order, l, w);
        if (l < order) start_weights<false, T>(tree, i, l + 1, w);
    }
}

// The gradients by q and v, from coefficient order + 1 of all; mu: of order 0.
template <bool simple, class T, class Workspace>
DTAU_INLINE void finish_gradient(const Tree& tree, int i, int order, const T* mu, T* by_q, T* by_v,
                                 const Workspace& w) {
    const Body& body = tree.bodies[i];
    const WeighedBody<T> b = w.of(i);
    TwoVectors<T>& W_A = b.by_motion[order + 1];
    settle<simple, T>(tree, i, order, order, w);
    W_A.set(W_A.a() + lower_gradient<simple>(body, order + 1, b), zero_vector<T>());
    add_higher<simple, T>(body, i, order + 1, w);
    settle<simple, T>(tree, i, order, order + 1, w);
    const Force<T> rest = lower_rate_gradient<simple>(body, order + 1, b);
    const Force<T> by_rates = {W_A.a() + rest.ang, rest.lin}, by_eta = b.by_eta[order + 1];
    T rates[6], displacement[6];
    series_torque<simple>(body, by_rates, rates);
    series_torque<simple>(body, by_eta, displacement);
    for (int c = 0; c < (simple ? 1 : body.nv); ++c) {
        const int j = body.v + c;
        by_v[j] = fma(T(-tree.damping[j]), mu[j], -rates[c]);
        by_q[j] = -displacement[c];
    }
}

// q, v as of joints; tau, lam (order + 1, independent nv); f_ext (order + 1, nbodies, 6) may be
// null: zero. by_q, by_v (nv), by_tau (order + 1, nv); by_f_ext as f_ext, may be null: not wanted.
template <class T, class Dynamics>
void forward_time_derivatives_vjp(const Tree& tree, int order, const T* q, const T* v, const T* tau,
                                  const T* lam, const T* f_ext, T* by_q, T* by_v, T* by_tau,
                                  T* by_f_ext, const ForwardSeriesVjpWorkspace<T, Dynamics>& w) {
    const TaylorScale& scale = w.series().scale;
    const WrenchSeriesWorkspace<T>& wrenches = w.motion.wrenches;
    const bool in_world = wrenches.take(f_ext);
    forward_motion(tree, order, q, v, tau, f_ext, in_world, w.gradient.carried, w.solver, w.motion);
    for (int j = 0; j < tree.nnodes * wrenches.length && !f_ext; ++j)
        wrenches.seen[j].set(zero_vector<T>(), zero_vector<T>());
    for (int i = 0; i < tree.nnodes; ++i)
        by_joint_in<Dynamics>(tree.bodies[i], [&]<bool simple>() __attribute__((always_inline)) {
            start_weights<simple, T>(tree, i, 0, w);
        });
    for (int l = 0; l <= order; ++l) {
        const int k = order - l;
        T* mu = by_tau + k * tree.nv;
        const T factor(scale.inverse_factorial[k]);
        const T* higher_mu = mu + tree.nv;
        solve_order(tree, order, l, lam + k * tree.independent.n, higher_mu, w);
        for (int j = 0; j < tree.nv; ++j) mu[j] = factor * w.mu[j];
        for (int i = 0; i < tree.nnodes && by_f_ext; ++i) {
            const Motion<T>& Lam = w.of(i).Lam[l];
            if (acts_on(by_f_ext, tree.bodies[i]))
                store_twist(tree.bodies[i], {factor * Lam.ang, factor * Lam.lin},
                            by_f_ext + k * 6 * tree.nbodies);
        }
        if (in_world) turn_gradients(tree, order, l, by_f_ext + k * 6 * tree.nbodies, wrenches);
    }
    for (int i = 0; i < tree.nnodes; ++i)
        w.of(i).by_motion[order + 1].set(zero_vector<T>(), zero_vector<T>());
    for (int i = tree.nnodes - 1; i >= 0; --i)
        by_joint_in<Dynamics>(tree.bodies[i], [&]<bool simple>() __attribute__((always_inline)) {
            finish_gradient<simple>(tree, i, order, by_tau, by_q, by_v, w);
        });
    const SpringSeries<T>& springs = w.motion.dynamics.springs;
    if (order > 0) springs.add_gradients(tree, 1, order, -1.0, by_tau + tree.nv, scale, by_v);
    springs.add_gradients(tree, 0, order, -1.0, by_tau, scale, by_q);
    w.motion.dynamics.friction.add_gradients(tree, 0, order, -1.0, by_tau, scale.factorial, by_v);
}

}  // namespace dtau::DTAU_VARIANT
