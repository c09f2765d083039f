// Adds the remaining second derivatives of the rows (20.19) of a spatial contact: add_spatial_curvature().
// O(d^2) for a contact at depth d. [Derivations] eqs. 23.20 to 23.22
//
// With the weights W = (M; F), a spatial acceleration differs from what weighted_rows.hpp differentiates by
// -F . (w x u), a quadratic function of the frame's twist (w; u). weighted_rows.hpp adds the part with
// second derivatives of the twist. This file adds the bilinear part
//
//   D_k D_j += -F . (D_k w x D_j u + D_j w x D_k u)                                    (23.20)
//
// and the second derivatives of xi = log6 with the weight kp W. These are (23.12) with the algebra of
// motions in place of vectors' algebra: a motion is a vector of dual numbers, and (w; u) x (w'; u') is
// its cross product, so that e and e' take the dual number of phi . phi + 2 phi . rho.
#pragma once

#include "dtau/algorithms/constraints/relative_rows.hpp"

namespace dtau::DTAU_VARIANT {

// A column of the path of a: its twist s and D V by q, at a, and the motions with which s is multiplied.
template <class T> struct SpatialColumn {
    int k, joint;
    Motion<T> s, dV;
    Force<T> curve;
};

template <class T> struct SpatialRowsWorkspace {
    SpatialColumn<T>* columns;

    SpatialRowsWorkspace(Arena& arena, const Tree& tree, const Options&)
        : columns(arena.take<SpatialColumn<T>>(tree.dofs.max_depth + 1)) {}
};

// A number x + eps y of the dual numbers, eps^2 = 0.
template <class T> struct Dual {
    T x, y;
};
template <class T>
inline Motion<T> fma(const Dual<T>& a, const Motion<T>& m, const Motion<T>& c) {  // a m + c
    return {fma(a.x, m.ang, c.ang), fma(a.y, m.ang, fma(a.x, m.lin, c.lin))};
}
template <class T> inline Motion<T> dual_vector(const Force<T>& W) { return {W.lin, W.ang}; }
template <class T> inline Force<T> dual_force(const Motion<T>& m) { return {m.lin, m.ang}; }

// The second derivative of `e` (log_functions) by t. [Derivations] eq. 23.22
template <class T> inline T log_function_curvature(T t) {
    constexpr Coefficients<11> dde = derivative(derivative(log_series));
    const auto small = less(t, 1.0);
    const T safe = select(small, T(1.0), t), inverse = T(1.0) / safe;
    const T h = T(0.5) * square_root(safe);
    T sine, cosine;
    sincos(h, sine, cosine);
    const T cotangent = cosine / sine, csc2 = T(1.0) / (sine * sine), by_h = T(1.0) / h;
    const T rate = fma(T(-2.0) * cotangent, csc2, by_h * fma(by_h, cotangent, csc2));
    const T curvature = fma(T(1.0 / 64) * by_h, rate, T(-2.0) * log_functions(safe).de) * inverse;
    return select(small, power_series(dde, t), curvature);
}

// Second derivatives of the logarithm xi, weighted with W, without the term in D_k s_j. [Derivations]
// eq. 23.12 in dual numbers
template <class T>
inline Force<T> log_curvature(const Motion<T>& xi, const Force<T>& W, const Motion<T>& s) {
    const Vec3<T>&phi = xi.ang, &rho = xi.lin;
    const Motion<T> w = dual_vector(W), none = zero_motion<T>();
    const T t = dot(phi, phi), more = T(2.0) * dot(phi, rho);
    const LogFunctions<T> log = log_functions(t);
    const Motion<T> rate = log_rate(xi, s), twice = cross(xi, w);
    const Motion<T> even = cross(xi, cross(rate, w), cross(rate, twice));
    const Dual<T> e = {log.e, more * log.de};
    const T change = T(2.0) * dot(phi, rate.ang);
    const T change_y = T(2.0) * dot(phi, rate.lin, dot(rho, rate.ang));
    const Dual<T> de = {log.de * change,
                        fma(more * log_function_curvature(t), change, log.de * change_y)};
    return dual_force(fma(T(0.5), cross(w, rate), fma(de, cross(xi, twice), fma(e, even, none))));
}

// Adds to the blocks of second derivatives, of the joints. W: weights of the rows. state, a: of the
// bodies, gravity included.
template <class T>
void add_spatial_curvature(const Tree& tree, const ConstraintPartials<T>& partials,
                           const Force<T>& W, const RootFrame<T>& state, const Motion<T>* a,
                           const Blocks<T>& out, const SpatialRowsWorkspace<T>& w) {
    const Constraint& constraint = partials.constraint;
    const Motion<T>& xi = partials.at.e;
    const Force<T> kp_W = partials.kp * W;
    const Force<T> turned = dual_force(log_rate(-xi, dual_vector(kp_W)));
    int count = 0;
    for_frame_partials(tree, constraint.a.body, partials.frames.a, state, a, true,
                       [&](int k, const FramePartials<T>& d) {
                           SpatialColumn<T>& c = w.columns[count++];
                           c = {k, 0, d.s, d.dV, zero_force<T>()};
                           if (constraint.positions) c.curve = log_curvature(xi, kp_W, d.s);
                       });
    count = 0;
    for_moving_dofs(tree, constraint.a.body,
                    [&](const Body& body, int) { w.columns[count++].joint = body.v; });
    const auto bilinear = [&](const Motion<T>& x, const Motion<T>& y) {
        return dot(W.lin, cross(x.lin, y.ang, cross(y.lin, x.ang)));
    };
    for (int outer = 0; outer < count; ++outer)
        for (int inner = 0; inner < count; ++inner) {
            const SpatialColumn<T>&k = w.columns[outer], &j = w.columns[inner];
            T qq = bilinear(k.dV, j.dV);
            if (constraint.positions) {
                qq = dot(k.curve, j.s, qq);
                if (k.joint > j.joint) qq = qq - dot(cross(k.s, j.s), turned);
            }
            add_entry(out.dqdq[j.k * out.n + k.k], qq);
            add_entry(out.dqdv[k.k * out.n + j.k], bilinear(k.dV, j.s));
            add_entry(out.dvdv[k.k * out.n + j.k], bilinear(k.s, j.s));
        }
}

}  // namespace dtau::DTAU_VARIANT
