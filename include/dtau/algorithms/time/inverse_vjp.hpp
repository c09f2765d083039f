// Computes vector-Jacobian products of the time derivatives of inverse dynamics without forming a
// matrix: inverse_time_derivatives_vjp(), the adjoint of inverse_jvp.hpp. O(N r^2) for order r, in
// two passes and the memory of one path:
//
//   forward    omega, A, X, F of the body (inverse.hpp);   Lam, and gradients of the body's own force
//   backward   F_i, and the gradients by omega_i and A_i, to the parent;   by eta and by the rates:
//              by v^(k) = S_i^T (by delta)/k! + armature, damping;   by q = S_i^T (by eta)
//
// [Derivations] eqs. 22.4 to 22.7. This is reverse mode without a tape: only the coefficients of
// the series are kept.
#pragma once

#include "dtau/algorithms/time/gradients.hpp"
#include "dtau/algorithms/time/inverse_jvp.hpp"

namespace dtau::DTAU_VARIANT {

template <class T> struct InverseSeriesVjpWorkspace {
    InverseSeriesWorkspace<T> value;
    SeriesGradients<T> gradient;

    InverseSeriesVjpWorkspace(Arena& arena, const Tree& tree, const Options& options)
        : value(arena, tree, options), gradient(arena, tree.depth, value.length) {}

    DTAU_INLINE WeighedBody<T> of(int place) const {
        return gradient.of(place, value_at(place, value));
    }
};

template <bool simple, class T>
DTAU_INLINE void weigh_outwards(const Tree& tree, const Body& body, int order, const T* lam,
                                T* by_f_ext, int place, const InverseSeriesVjpWorkspace<T>& w) {
    const TaylorScale& scale = w.value.scale;
    const WeighedBody<T> b = w.of(place), p = w.of(place - 1);
    for (int l = 0; l <= order; ++l) {
        const int k = order - l;
        weigh<simple>(body, l, T(scale.factorial[k]), lam + k * tree.nv, b, p);
        start_gradient(body, order, l, b);
        if (!acts_on(by_f_ext, body)) continue;
        const T factor(-scale.inverse_factorial[k]);
        store_twist(body, {factor * b.Lam[l].ang, factor * b.Lam[l].lin},
                    by_f_ext + k * 6 * tree.nbodies);
    }
    b.by_motion[order + 1].set(zero_vector<T>(), zero_vector<T>());
}

template <bool simple, class T>
DTAU_INLINE void gather_inwards(const Tree& tree, const Body& body, int order, const T* lam,
                                T* by_q, T* by_v, int place,
                                const InverseSeriesVjpWorkspace<T>& w) {
    const TaylorScale& scale = w.value.scale;
    const WeighedBody<T> b = w.of(place), p = w.of(place - 1);
    const bool root = !simple && body.parent < 0;
    for (int l = 0; l <= order + 1; ++l) {
        const int k = order + 1 - l, nv = tree.nv;  // the order of the velocity's derivative
        TwoVectors<T>& W_A = b.by_motion[l];
        W_A.set(W_A.a() + lower_gradient<simple>(body, l, b), W_A.b());
        gather_displacement<simple, T>(body, order, l, scale, nullptr, b, p);
        const Force<T> lower = lower_rate_gradient<simple>(body, l, b);
        T gradient[6];
        series_torque<simple, T>(body, {W_A.a() + lower.ang, fma(T(k), W_A.b(), lower.lin)},
                                 gradient);
        for (int c = 0; c < (simple ? 1 : body.nv); ++c) {
            const int j = body.v + c;
            T sum = T(scale.inverse_factorial[k]) * gradient[c];
            if (k > 0) sum = fma(T(tree.armature[j]), lam[(k - 1) * nv + j], sum);
            if (k <= order) sum = fma(T(tree.damping[j]), lam[k * nv + j], sum);
            by_v[k * nv + j] = sum;
        }
        if (root) continue;
        pass_gradient<simple>(body, order, l,
                              rotated<true>(rotation_of<simple>(body), b.joint, l, b.by_motion), b,
                              p);
    }
    series_torque<simple>(body, b.by_eta[order + 1], by_q + body.v);
    TwoVectors<T>* force_p = w.value.force + std::ptrdiff_t(place - 1) * w.value.length;
    for (int k = 0; k <= order && !root; ++k)
        pass_order<simple>(body, k, b.joint, b.force, force_p, w.value.y);
}

// v (order + 2, nv), lam (order + 1, nv); f_ext (order + 1, nbodies, 6) may be null: zero. by_q
// (nv), by_v as v, by_f_ext as f_ext, which may be null: not wanted.
template <class T>
void inverse_time_derivatives_vjp(const Tree& tree, int order, const T* q, const T* v, const T* lam,
                                  const T* f_ext, T* by_q, T* by_v, T* by_f_ext,
                                  const InverseSeriesVjpWorkspace<T>& w) {
    const Configuration<T> x = configuration(tree, q, w.value.angles);
    along_paths(
        tree, w.value.path,
        [&]<bool simple>(const Body& body, int place) __attribute__((always_inline)) {
            value_outwards<simple>(tree, body, order, x, v, f_ext, place, w.of(place).carried,
                                   w.value);
            weigh_outwards<simple>(tree, body, order, lam, by_f_ext, place, w);
        },
        [&]<bool simple>(const Body& body, int place) __attribute__((always_inline)) {
            gather_inwards<simple>(tree, body, order, lam, by_q, by_v, place, w);
        });
    const TaylorScale& scale = w.value.scale;
    const SpringSeries<T>& springs = w.value.springs;
    const FrictionSeries<T>& friction = w.value.friction;
    for (int k = 0; k <= order && has_friction(tree); ++k)
        friction.extend(tree, k, v, v + tree.nv, scale.inverse_factorial);
    for (int k = 0; k <= order; ++k) {
        springs.extend(tree, k, q, v, v + tree.nv, scale);
        friction.add_gradients(tree, k, order, scale.inverse_factorial[k], lam + k * tree.nv,
                               scale.factorial, by_v + k * tree.nv);
    }
    for (int k = order; k >= 0; --k)
        springs.add_gradients(tree, k, order, 1.0, lam + k * tree.nv, scale,
                              k > 0 ? by_v + (k - 1) * tree.nv : by_q);
}

}  // namespace dtau::DTAU_VARIANT
