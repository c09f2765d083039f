// Computes exponentials of SO(3), SE(3) and SE(2) and their derivatives, for every scalar, without
// branches. [Sola] appendices B to D (there: the right Jacobian J_r; the adjoint matrix Ad);
// [Derivations] §12.
//
// Derivatives are left-trivialized: a variation of the pose X is X exp(eps), eps in body axes.
// With a twist x = (w; u) of angle |w|, t = |w|^2,
//   exp(x + d) = exp(x) exp(J(x) d),   J(x) = 1 - ad/2! + ad^2/3! - ...,   ad = x cross
//   X exp(d) exp(x) = X exp(x) exp(Ad d),   Ad = exp(-ad) = 1 - ad J(x)
// Such maps of twists have two 3x3 blocks: (ang; lin) -> (E ang; Q ang + E lin).
#pragma once

#include "dtau/joint.hpp"
#include "dtau/rotation_vector.hpp"

namespace dtau::DTAU_VARIANT {

// ---------------------------------------------------------------- functions of the angle

// (-1)^k / (2 k + shift)!
template <int terms> constexpr Coefficients<terms> alternating(int shift) {
    Coefficients<terms> c{};
    double factorial = 1.0;
    for (int n = 2; n <= shift; ++n) factorial *= n;
    for (int k = 0; k < terms; ++k) {
        c.at[k] = (k % 2 ? -1.0 : 1.0) / factorial;
        factorial *= (2 * k + shift + 1) * (2 * k + shift + 2);
    }
    return c;
}

// Even functions of an angle, by its square t.
template <class T> struct AngleFunctions {
    T half_sine, half_cosine;  // sin(angle / 2) / angle, cos(angle / 2)
    T b, c;                    // (1 - cos angle) / t, (angle - sin angle) / (angle t)
    T db, dc;                  // their derivatives by t
};

// Below t = 1 by series, which are exact to rounding there; the closed forms cancel for small t.
template <class T> DTAU_INLINE AngleFunctions<T> angle_functions(const Vec3<T>& w) {
    constexpr Coefficients<9> sine = alternating<9>(1), cosine = alternating<9>(0);
    constexpr Coefficients<10> b = alternating<10>(2), c = alternating<10>(3);
    constexpr Coefficients<9> db = derivative(b), dc = derivative(c);
    const T t = dot(w, w), quarter = T(0.25) * t;
    const auto small = less(t, 1.0);
    const T safe = select(small, T(1.0), t), angle = square_root(safe), inverse = T(1.0) / safe;
    T s, half_cosine;
    sincos(T(0.5) * angle, s, half_cosine);
    const T half_sine = s / angle;
    const T sinc = T(2.0) * half_sine * half_cosine, versine = T(2.0) * s * s;  // 1 - cos
    const T b1 = versine * inverse, c1 = (T(1.0) - sinc) * inverse;
    const T db1 = fma(T(0.5), sinc, -b1) * inverse;
    const T dc1 = fma(T(-0.5) * inverse, (T(1.0) - versine) - sinc, -c1) * inverse;
    return {select(small, T(0.5) * power_series(sine, quarter), half_sine),
            select(small, power_series(cosine, quarter), half_cosine),
            select(small, power_series(b, t), b1),
            select(small, power_series(c, t), c1),
            select(small, power_series(db, t), db1),
            select(small, power_series(dc, t), dc1)};
}

// The translation of exp (w; u): V(w) u with the left Jacobian V of SO(3).
template <class T>
DTAU_INLINE Vec3<T> exp_translation(const AngleFunctions<T>& f, const Vec3<T>& w,
                                    const Vec3<T>& u) {
    const Vec3<T> wu = cross(w, u);
    return fma(f.b, wu, fma(f.c, cross(w, wu), u));  // [Derivations] eq. 12.4
}

// ---------------------------------------------------------------- maps of twists

template <class T> struct MotionMap {
    Mat3<T> E, Q;
};

template <class T> DTAU_INLINE MotionMap<T> identity_map() {
    return {Mat3<T>::identity(), zero_matrix<T>()};
}
template <class T> DTAU_INLINE MotionMap<T> fma(T s, const MotionMap<T>& a, const MotionMap<T>& b) {
    return {fma(s, a.E, b.E), fma(s, a.Q, b.Q)};
}
template <class T> DTAU_INLINE MotionMap<T> operator*(T s, const MotionMap<T>& a) {
    return {s * a.E, s * a.Q};
}
template <class T> DTAU_INLINE MotionMap<T> operator-(const MotionMap<T>& a) {
    return {{-a.E.x, -a.E.y, -a.E.z}, {-a.Q.x, -a.Q.y, -a.Q.z}};
}
template <class T>
DTAU_INLINE MotionMap<T> operator*(const MotionMap<T>& a, const MotionMap<T>& b) {
    return {a.E * b.E, fma(T(1.0), a.E * b.Q, a.Q * b.E)};
}
template <class T> DTAU_INLINE MotionMap<T> ad(const Motion<T>& x) {
    return {skew(x.ang), skew(x.lin)};
}

// J(x); its block Q is the derivative of J(w) along u.
template <class T> DTAU_INLINE MotionMap<T> right_jacobian(const Motion<T>& x) {
    const AngleFunctions<T> f = angle_functions(x.ang);
    const Mat3<T> W = skew(x.ang), U = skew(x.lin), WW = W * W;
    const T rate = T(2.0) * dot(x.ang, x.lin);  // [Derivations] eq. 12.5
    const Mat3<T> Q =
        fma(f.c, fma(T(1.0), W * U, U * W), fma(-(rate * f.db), W, fma(rate * f.dc, WW, -f.b * U)));
    return {fma(f.c, WW, fma(-f.b, W, Mat3<T>::identity())), Q};
}

// Ad = 1 - ad J, with J = right_jacobian(x).
template <class T>
DTAU_INLINE MotionMap<T> inverse_adjoint(const Motion<T>& x, const MotionMap<T>& J) {
    return fma(T(-1.0), ad(x) * J, identity_map<T>());  // [Derivations] eq. 12.6
}

// Writes a map of twists as a matrix (nv, nv) in the coordinates of a joint that does not commute, linear
// first.
template <class T>
DTAU_INLINE void joint_matrix(JointKind kind, const MotionMap<T>& map, T* matrix) {
    const Mat3<T>&E = map.E, &Q = map.Q;
    const T zero(0.0);
    if (kind == JointKind::spherical) {
        const T rows[9] = {E.x.x, E.y.x, E.z.x, E.x.y, E.y.y, E.z.y, E.x.z, E.y.z, E.z.z};
        for (int k = 0; k < 9; ++k) matrix[k] = rows[k];
    } else if (kind == JointKind::planar) {
        const T rows[9] = {E.x.x, E.y.x, Q.z.x, E.x.y, E.y.y, Q.z.y, zero, zero, E.z.z};
        for (int k = 0; k < 9; ++k) matrix[k] = rows[k];
    } else {
        const Vec3<T> none = zero_vector<T>();
        const Vec3<T> columns[6][2] = {{E.x, none}, {E.y, none}, {E.z, none},
                                       {Q.x, E.x},  {Q.y, E.y},  {Q.z, E.z}};
        for (int c = 0; c < 6; ++c)
            for (int half = 0; half < 2; ++half) {
                const Vec3<T>& v = columns[c][half];
                matrix[18 * half + c] = v.x;
                matrix[18 * half + 6 + c] = v.y;
                matrix[18 * half + 12 + c] = v.z;
            }
    }
}

// The coordinates of a twist of such a joint; S^T S = 1.
template <class T> DTAU_INLINE void joint_coordinates(const Body& body, const Motion<T>& m, T* x) {
    joint_torque(body, Force<T>{m.ang, m.lin}, x);
}

}  // namespace dtau::DTAU_VARIANT
