// Computes tanh of every scalar of the core, and its slope: hyperbolic_tangent(), tangent_and_slope(). A
// state has the same bits alone and in lanes, as with sincos() (sincos.hpp).
//
//   |x|  = y,   t = exp(-2 y) - 1 in (-1, 0],   tanh y = -t / (t + 2)                 [Derivations] eq. 14.3
//   t    = 2^k (exp(r) - 1) + (2^k - 1),        -2 y = k ln 2 + r,  |r| <= ln(2) / 2
//   exp(r) - 1 = 2 p / d,   d = q - p,   p and q below, to 4e-19: the polynomials of Cephes (exp.c)
//
// Both quotients are one: tanh y = -n / (n + d), n = 2^k p + (2^k - 1)/2 d. For k = 0 nothing cancels, so that
// tiny arguments keep their digits; for k < 0, t is at most -0.29. Beyond y = 20, tanh rounds to 1, and
// 1 - tanh^2 has no digits. So the slope comes from the exponential:
//
//   1 - tanh^2 x = 4 exp(-2 y) / (1 + exp(-2 y))^2 = 2^k (q + p) d / (n + d)^2        [Derivations] eq. 14.4
//
// Beyond y = 354 it is below 1e-306 and counts as 0. Against exact values tanh is within four units in
// the last place, its slope within five: one in a million is above four.
#pragma once

#include "dtau/lane.hpp"

namespace dtau::DTAU_VARIANT {

// p = r + r^3 (P_0 + P_1 r^2),  q = 2 + r^2 (Q_0 + Q_1 r^2 + Q_2 r^4)
inline constexpr double tangent_p[2] = {3.02994407707441961300e-2, 1.26177193074810590878e-4},
                        tangent_q[3] = {2.27265548208155028766e-1, 2.52448340349684104192e-3,
                                        3.00198505138664455042e-6};

template <class T> struct TangentAndSlope {
    T tangent, slope;
};

template <class T> DTAU_INLINE TangentAndSlope<T> tangent_and_slope(T x) {
    constexpr std::int64_t magnitude = 0x7fffffffffffffff;
    constexpr double last = -354.0, log2_e = 0x1.71547652b82fep0,
                     ln2[2] = {0x1.62e42feep-1, 0x1.a39ef35793c76p-33};
    // Leaves k + 1023, the exponent of 2^k, in the low bits of the sum.
    constexpr double magic = 0x1.8p52 + 1023.0;
    const auto bits = to_bits(x);
    const T minus = T(from_bits(bits | ~magnitude));                 // -|x|
    const T u = T(2.0) * select(less(minus, last), T(last), minus);  // NaN stays
    const T shifted = fma(u, T(log2_e), T(magic));
    const T k = shifted - T(magic), power = T(from_bits(to_bits(shifted) << 52));  // 2^k
    const T r = fma(k, T(-ln2[1]), fma(k, T(-ln2[0]), u));  // the inner one is exact
    const T r2 = r * r;
    const T p = fma(r * r2, fma(r2, T(tangent_p[1]), T(tangent_p[0])), r);
    const T q =
        fma(r2, fma(r2, fma(r2, T(tangent_q[2]), T(tangent_q[1])), T(tangent_q[0])), T(2.0));
    const T d = q - p, n = fma(fma(T(0.5), power, T(-0.5)), d, power * p);
    const T whole = n + d, result = n / whole;
    // Two roundings fewer than 2 (n + d): the product with a power of two is exact.
    const T both = q + p, sum = fma(power, both, d);
    const T slope = T(4.0) * power * both * d / (sum * sum);
    return {T(from_bits((to_bits(result) & magnitude) | (bits & ~magnitude))),
            select(less(minus, last), T(0.0), slope)};
}
DTAU_INLINE TangentAndSlope<Complex> tangent_and_slope(Complex x) {
    const Complex secant = 1.0 / std::cosh(x);
    return {std::tanh(x), secant * secant};
}

template <class T> DTAU_INLINE T hyperbolic_tangent(T x) { return tangent_and_slope(x).tangent; }

}  // namespace dtau::DTAU_VARIANT
