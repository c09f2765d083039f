// Computes rotation vectors from quaternions: quaternion_log(), and the coefficients of the inverse of the
// right Jacobian: log_functions(). [Derivations] §16.
//
// A rotation vector w has the rotation's axis and angle, R = exp(w^). Its rate along a body's angular
// velocity is J_r(w)^-1 omega, with
//
//   J_r(w)^-1 = 1 + w^/2 + e w^ w^        e(t), t = |w|^2
#pragma once

#include <type_traits>

#include "dtau/sincos.hpp"
#include "dtau/spatial.hpp"

namespace dtau::DTAU_VARIANT {

// ---------------------------------------------------------------- power series

template <int terms> struct Coefficients {
    double at[terms];
};

// Coefficients of the derivative of a series.
template <int terms> constexpr Coefficients<terms - 1> derivative(const Coefficients<terms>& c) {
    Coefficients<terms - 1> d{};
    for (int k = 1; k < terms; ++k) d.at[k - 1] = k * c.at[k];
    return d;
}
template <int terms, class T> DTAU_INLINE T power_series(const Coefficients<terms>& c, T x) {
    T sum(c.at[terms - 1]);
    for (int k = terms - 2; k >= 0; --k) sum = fma(x, sum, T(c.at[k]));
    return sum;
}

// ---------------------------------------------------------------- quaternions

template <class T> struct Quaternion {
    Vec3<T> v;
    T w;
};

template <class T> DTAU_INLINE Quaternion<T> load_quaternion(const T* q) {
    return {{q[0], q[1], q[2]}, q[3]};
}
template <class T>
DTAU_INLINE Quaternion<T> operator*(const Quaternion<T>& a, const Quaternion<T>& b) {
    return {cross(a.v, b.v, fma(a.w, b.v, b.w * a.v)), a.w * b.w - dot(a.v, b.v)};
}

DTAU_INLINE Complex absolute(Complex x) { return x.real() < 0.0 ? -x : x; }
template <class T> DTAU_INLINE T absolute(T x) {
    return T(from_bits(to_bits(x) & 0x7fffffffffffffff));
}
// The angle of (x, y), neither negative, from the x axis: atan(t) for t = y / x below tan(pi / 8),
// else by the difference to pi / 4 or pi / 2. The polynomial of FreeBSD's msun (s_atan.c).
// [Derivations] eq. 16.5
template <class T> DTAU_INLINE T angle_of(T y, T x) {
    constexpr double eighth = 0x1.a827999fcef32p-2;  // tan(pi / 8)
    constexpr double high = 7.85398163397448278999e-01, low = 3.06161699786838301793e-17;  // pi / 4
    const auto steep = less(x - y, 0.0);
    const T a = select(steep, x, y), b = select(steep, y, x);
    const auto middle = less(fma(T(eighth), b, -a), 0.0);
    const T t = select(middle, a - b, a) / select(middle, a + b, b), z = t * t, z2 = z * z;
    T even = fma(z2, T(1.62858201153657823623e-02), T(4.97687799461593236017e-02));
    even = fma(z2, even, T(6.66107313738753120669e-02));
    even = fma(z2, even, T(9.09088713343650656196e-02));
    even = fma(z2, even, T(1.42857142725034663711e-01));
    even = z * fma(z2, even, T(3.33333333333329318027e-01));
    T odd = fma(z2, T(-3.65315727442169155270e-02), T(-5.83357013379057348645e-02));
    odd = fma(z2, odd, T(-7.69187620504482999495e-02));
    odd = fma(z2, odd, T(-1.11111104054623557880e-01));
    odd = z2 * fma(z2, odd, T(-1.99999999998764832476e-01));
    const T way = select(steep, T(-1.0), T(1.0));
    const T quarters = select(middle, T(1.0), select(steep, T(2.0), T(0.0)));
    const T rest = fma(-(t * way), even + odd, quarters * T(low));
    return quarters * T(high) + (rest + t * way);
}

// The rotation vector of a quaternion of any norm near one, of angle at most pi. x and -x are the same
// rotation. At an angle of pi the vector jumps to its opposite.
template <class T> DTAU_INLINE Vec3<T> quaternion_log(const Quaternion<T>& x) {
    const T t = dot(x.v, x.v), w = absolute(x.w);
    const auto tiny = less(t, 1e-20);
    const T n = square_root(select(tiny, T(1.0), t));  // the derivative of the root exists
    const T scale = T(2.0) * select(tiny, T(1.0), angle_of(n, w)) / select(tiny, w, n);
    return select(to_bits(x.w) < 0, -scale, scale) * x.v;
}

// Coefficients of the series of e (log_functions), from Bernoulli numbers: |B_2| / 2!, |B_4| / 4!, ...
inline constexpr Coefficients<13> log_series = {
    {1.0 / 12, 1.0 / 720, 1.0 / 30240, 1.0 / 1209600, 1.0 / 47900160, 5.284190138687493e-10,
     1.0 / 74724249600, 3.3896802963225827e-13, 8.586062056277845e-15, 2.174868698558062e-16,
     5.5090028283602295e-18, 1.3954464685812522e-19, 3.534707039629467e-21}};

// Coefficients of the inverse of the right Jacobian, with h = angle / 2: e = (1 - h cot h) / t, and
// its derivative by t.
template <class T> struct LogFunctions {
    T e, de;
};

// Below t = 1 by series, as in angle_functions. [Derivations] eq. 16.2
template <class T> DTAU_INLINE LogFunctions<T> log_functions(T t) {
    constexpr Coefficients<13> e = log_series;
    constexpr Coefficients<12> de = derivative(e);
    const auto small = less(t, 1.0);
    if constexpr (std::is_same_v<T, double>)
        if (small) return {power_series(e, t), power_series(de, t)};
    const T safe = select(small, T(1.0), t), inverse = T(1.0) / safe;
    const T h = T(0.5) * square_root(safe);
    T sine, cosine;
    sincos(h, sine, cosine);
    const T cotangent = cosine / sine;
    const T e1 = (T(1.0) - h * cotangent) * inverse;
    const T de1 = (T(0.125) * (T(1.0) / (sine * sine) - cotangent / h) - e1) * inverse;
    if constexpr (std::is_same_v<T, double>) return {e1, de1};
    return {select(small, power_series(e, t), e1), select(small, power_series(de, t), de1)};
}

}  // namespace dtau::DTAU_VARIANT
