// Computes the weighted second derivatives of one joint's displacement in a time step (step.hpp):
// displacement_curvature(), rate_curvature(). They vanish for joints whose displacements commute.
// [Derivations] §24
//
// In exponential charts at both ends, a variation xi of the joint's pose X and a variation d of its
// displacement theta displace X exp(theta) by
//
//   log(exp(-theta) exp(xi) exp(theta + d)) = Ad xi + J d + (dJ[d] d + [Ad xi, J d]) / 2 + ...  (24.2)
//
// with J and Ad of step.hpp and dJ[d] the derivative of J along d. theta' = v + [theta, v] / 2 +
// [theta, [theta, v]] / 12 is linear in v and quadratic in theta.
#pragma once

#include "dtau/algorithms/steps/step.hpp"

namespace dtau::DTAU_VARIANT {

// Weighted second derivatives of a joint of n <= 6 velocities: symmetric between two of theta, and
// mixed with rows by xi, or by theta, and columns by theta, or by v.
template <class T> struct JointCurvature {
    T both[36], mixed[36];
};

// Second derivatives by t of b and c of exponential.hpp.
template <class T> struct SecondAngleFunctions {
    T ddb, ddc;
};
template <class T>
inline SecondAngleFunctions<T> second_angle_functions(const AngleFunctions<T>& f, T t) {
    constexpr Coefficients<10> b = alternating<10>(2), c = alternating<10>(3);
    constexpr Coefficients<8> ddb = derivative(derivative(b)), ddc = derivative(derivative(c));
    const auto small = less(t, 1.0);
    const T safe = select(small, T(1.0), t), inverse = T(1.0) / safe;
    // With s = sin x / x, x^2 = t: s' = (cos x - s) / 2t, s'' = -(s / 2 + 3 s') / 2t.
    const T s = T(2.0) * f.half_sine * f.half_cosine;
    const T cosine = fma(f.half_cosine, T(2.0) * f.half_cosine, T(-1.0));
    const T ds = T(0.5) * (cosine - s) * inverse;
    const T dds = T(-0.5) * fma(T(3.0), ds, T(0.5) * s) * inverse;
    const T closed_b = fma(T(0.5), ds, T(-2.0) * f.db) * inverse;
    const T closed_c = (T(-2.0) * f.dc - dds) * inverse;
    return {select(small, power_series(ddb, t), closed_b),
            select(small, power_series(ddc, t), closed_c)};
}

// The derivative of right_jacobian(x) along y. [Derivations] eq. 24.3
template <class T>
inline MotionMap<T> right_jacobian_rate(const Motion<T>& x, const AngleFunctions<T>& f,
                                        const SecondAngleFunctions<T>& g, const Motion<T>& y) {
    const Mat3<T> W = skew(x.ang), U = skew(x.lin), P = skew(y.ang), WW = W * W;
    const T two(2.0), wu = two * dot(x.ang, x.lin), wp = two * dot(x.ang, y.ang);
    const T pu_ws = two * dot(y.ang, x.lin, dot(x.ang, y.lin));
    const auto both = [](const Mat3<T>& a, const Mat3<T>& b) { return fma(T(1.0), a * b, b * a); };
    const Mat3<T> WP = both(W, P), WU = both(W, U);
    // E = 1 - b W + c W^2, along p and along s.
    const auto along = [&](const Mat3<T>& S, const Mat3<T>& WS, T ws) {
        return fma(-f.b, S, fma(f.c, WS, fma(-f.db * ws, W, (f.dc * ws) * WW)));
    };
    Mat3<T> Q = along(skew(y.lin), both(W, skew(y.lin)), pu_ws);
    Q = fma(-f.db * wp, U, fma(f.dc * wp, WU, fma(f.c, both(P, U), Q)));
    Q = fma(-f.db * wu, P, fma(f.dc * wu, WP, Q));
    return {along(P, WP, wp), fma(-g.ddb * wu * wp, W, fma(g.ddc * wu * wp, WW, Q))};
}

// Calls visit(k, twist) for the unit velocities of a joint.
template <class T, class Visit> inline void for_unit_twists(const Body& body, const Visit& visit) {
    for (int k = 0; k < body.nv; ++k) {
        T unit[6] = {T(0.0), T(0.0), T(0.0), T(0.0), T(0.0), T(0.0)};
        unit[k] = T(1.0);
        visit(k, joint_twist(body, unit));
    }
}
// Second derivatives of X exp(theta), weighted with x (n), by two displacements, and by xi and a
// displacement.
template <class T>
void displacement_curvature(const Body& body, const T* theta, const T* x, JointCurvature<T>& out) {
    const int n = body.nv;
    const Motion<T> at = joint_twist(body, theta), weights = joint_twist(body, x);
    const Force<T> lam = {weights.ang, weights.lin};
    const AngleFunctions<T> f = angle_functions(at.ang);
    const SecondAngleFunctions<T> g = second_angle_functions(f, dot(at.ang, at.ang));
    const MotionMap<T> J = right_jacobian(at), Ad = inverse_adjoint(at, J);
    const auto by = [](const MotionMap<T>& map, const Force<T>& w) -> Force<T> {  // map^T w
        return {transposed_mul(map.E, w.ang) + transposed_mul(map.Q, w.lin),
                transposed_mul(map.E, w.lin)};
    };
    for_unit_twists<T>(body, [&](int k, const Motion<T>& e) {
        const Force<T> row = by(right_jacobian_rate(at, f, g, e), lam);
        joint_coordinates(body, Motion<T>{row.ang, row.lin}, out.both + k * n);
        const Motion<T> moved = {Ad.E * e.ang, mul_add(Ad.Q, e.ang, Ad.E * e.lin)};
        const Force<T> mixed = by(J, T(-0.5) * cross_star(moved, lam));
        joint_coordinates(body, Motion<T>{mixed.ang, mixed.lin}, out.mixed + k * n);
    });
    symmetrize(out.both, n, n);
}

// Second derivatives of theta', weighted with x (n), by two displacements, and by a displacement
// and v.
template <class T>
void rate_curvature(const Body& body, const T* theta, const T* v, const T* x,
                    JointCurvature<T>& out) {
    const int n = body.nv;
    const Motion<T> t = joint_twist(body, theta), y = joint_twist(body, v);
    const Motion<T> weights = joint_twist(body, x);
    const Force<T> lam = {weights.ang, weights.lin};
    const T half(0.5), twelfth(1.0 / 12.0), sixth(1.0 / 6.0);
    // The gradient of (a x m) . w by m is -a x* w.
    const auto back = [](const Motion<T>& a, const Force<T>& w) -> Force<T> {
        const Force<T> gradient = cross_star(a, w);
        return {-gradient.ang, -gradient.lin};
    };
    const Force<T> along_t = back(t, lam);
    for_unit_twists<T>(body, [&](int k, const Motion<T>& e) {
        const Force<T> along_e = back(e, lam);
        const Force<T> by_v = fma(half, along_e, twelfth * (back(t, along_e) + back(e, along_t)));
        joint_coordinates(body, Motion<T>{by_v.ang, by_v.lin}, out.mixed + k * n);
        // [e, [d, v]] as a function of d; half of it with e and d exchanged.
        const Force<T> twice = sixth * cross_star(y, along_e);
        joint_coordinates(body, Motion<T>{twice.ang, twice.lin}, out.both + k * n);
    });
    symmetrize(out.both, n, n);
}

}  // namespace dtau::DTAU_VARIANT
