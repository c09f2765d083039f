// Computes Jacobian-vector products of the time derivatives of inverse dynamics without forming a
// matrix: inverse_time_derivatives_jvp(). O(N r^2) for order r. The passes of inverse.hpp carry the
// variations of body_variations.hpp with the values, body by body, in the memory of one path:
//
//   forward    omega, A, X, F of the body and their variations
//   backward   d tau_i = k! S_i^T dF_i + armature, damping, springs, friction;   F_i and dF_i + eta x* F_i to the parent
//
// [Derivations] eqs. 22.1 to 22.3. products.hpp has the products of order 0 alone.
#pragma once

#include "dtau/algorithms/time/body_variations.hpp"

namespace dtau::DTAU_VARIANT {

template <class T> struct InverseSeriesJvpWorkspace {
    InverseSeriesWorkspace<T> value;
    SeriesVariations<T> variation;

    InverseSeriesJvpWorkspace(Arena& arena, const Tree& tree, const Options& options)
        : value(arena, tree, options), variation(arena, tree.depth, value.length) {}

    DTAU_INLINE VariedBody<T> of(int place) const {
        return variation.of(place, value_at(place, value));
    }
};

// Motion and force of the value at a place of the workspace, and y and A' (body_variations.hpp).
template <bool simple, class T>
DTAU_INLINE void value_outwards(const Tree& tree, const Body& body, int order,
                                const Configuration<T>& x, const T* v, const T* f_ext, int place,
                                TwoVectors<T>* carried, const InverseSeriesWorkspace<T>& w) {
    const std::ptrdiff_t at = std::ptrdiff_t(place) * w.length;
    const bool root = !simple && body.parent < 0;
    const JointSeries<T> s = w.joints.of(place);
    joint_series<simple>(tree, body, x, v, order + 2, root ? 0 : order + 2, w.scale, s);
    carried_motion<simple>(Part::all, tree, body, order, order + 2, x, s, at, w);
    keep_carried(order, s, w.omega + at, w.A + at, carried);
    own_motion<simple>(Part::all, body, order, s, at, w);
    own_force(Part::all, tree, body, order, f_ext, at, w);
}

template <bool simple, class T>
DTAU_INLINE void vary_outwards(const Tree& tree, const Body& body, int order, const T* dq,
                               const T* dv, const T* df_ext, int place,
                               const InverseSeriesJvpWorkspace<T>& w) {
    const TaylorScale& scale = w.value.scale;
    const VariedBody<T> b = w.of(place);
    const VariedBody<T> p = w.of(place - 1);
    scaled_twist<simple>(body, T(1.0), dq, b.eta[0]);
    for (int k = 0; k <= order + 1; ++k)
        scaled_twist<simple>(body, T(scale.inverse_factorial[k]), dv + k * tree.nv, b.delta[k]);
    for (int k = 0; k <= order; ++k)
        extend_displacement<simple>(body, k, scale, b.joint, b.delta, b.eta);
    for (int k = 0; k <= order + 1; ++k) vary_motion<simple>(body, k, b, p);
    for (int k = 0; k <= order; ++k) {
        const Force<T> F = own_force_variation(body, k, df_ext, scale, b);
        b.d_force[k].set(F.lin, F.ang);
        if (df_ext) df_ext += 6 * tree.nbodies;
    }
}

template <bool simple, class T>
DTAU_INLINE void vary_inwards(const Tree& tree, const Body& body, int order, const T* dv, T* dtau,
                              int place, const InverseSeriesJvpWorkspace<T>& w) {
    const VariedBody<T> b = w.of(place);
    for (int k = 0; k <= order; ++k, dv += tree.nv, dtau += tree.nv) {
        T torque[6];
        series_torque<simple, T>(body, {b.d_force[k].b(), b.d_force[k].a()}, torque);
        for (int c = 0; c < (simple ? 1 : body.nv); ++c) {
            const int j = body.v + c;
            const T t = T(w.value.scale.factorial[k]) * torque[c];
            dtau[j] = fma(T(tree.damping[j]), dv[j], fma(T(tree.armature[j]), dv[tree.nv + j], t));
        }
    }
    if (!simple && body.parent < 0) return;
    const std::ptrdiff_t length = w.value.length, parent = (place - 1) * length;
    for (int k = 0; k <= order; ++k) {
        const TwoVectors<T> more = displaced_force(body, rotation_of<simple>(body), k, b);
        b.d_force[k].set(b.d_force[k].a() + more.a(), b.d_force[k].b() + more.b());
    }
    for (int k = 0; k <= order; ++k)
        pass_order<simple>(body, k, b.joint, b.force, w.value.force + parent, w.value.y);
    for (int k = 0; k <= order; ++k)
        pass_order<simple>(body, k, b.joint, b.d_force, w.variation.d_force + parent, w.value.y);
}

// v, dv (order + 2, nv); f_ext, df_ext (order + 1, nbodies, 6) may be null: zero. dtau (order + 1,
// nv).
template <class T>
void inverse_time_derivatives_jvp(const Tree& tree, int order, const T* q, const T* v, const T* dq,
                                  const T* dv, const T* f_ext, const T* df_ext, T* dtau,
                                  const InverseSeriesJvpWorkspace<T>& w) {
    const Configuration<T> x = configuration(tree, q, w.value.angles);
    along_paths(
        tree, w.value.path,
        [&]<bool simple>(const Body& body, int place) __attribute__((always_inline)) {
            value_outwards<simple>(tree, body, order, x, v, f_ext, place, w.of(place).carried,
                                   w.value);
            vary_outwards<simple>(tree, body, order, dq, dv, df_ext, place, w);
        },
        [&]<bool simple>(const Body& body, int place) __attribute__((always_inline)) {
            vary_inwards<simple>(tree, body, order, dv, dtau, place, w);
        });
    const TaylorScale& scale = w.value.scale;
    const SpringSeries<T>& springs = w.value.springs;
    const FrictionSeries<T>& friction = w.value.friction;
    for (int k = 0; k <= order; ++k, dtau += tree.nv) {
        springs.extend(tree, k, q, v, v + tree.nv, scale);
        springs.add_variations(tree, k, 1.0, dq, dv, dv + tree.nv, scale, dtau);
        if (!has_friction(tree)) continue;
        friction.extend(tree, k, v, v + tree.nv, scale.inverse_factorial);
        friction.add_variations(tree, k, scale.factorial[k], dv, dv + tree.nv,
                                scale.inverse_factorial, dtau);
    }
}

}  // namespace dtau::DTAU_VARIANT
