// Computes tanh of every scalar of the core: hyperbolic_tangent(). A state has the same bits alone and in
// lanes, as with sincos() (lane.hpp).
//
//   |x|  = y,   t = exp(-2 y) - 1 in (-1, 0],   tanh y = -t / (t + 2)                 [Derivations] eq. 14.3
//   t    = 2^k (exp(r) - 1) + (2^k - 1),        -2 y = k ln 2 + r,  |r| <= ln(2) / 2
//
// For k = 0 nothing cancels, so that tiny arguments keep their digits; for k < 0, t is at most -0.29.
// exp(r) - 1 is r plus a Taylor polynomial, whose remainder is below 2e-17 of r. Beyond y = 20, tanh
// rounds to 1. Against exact values the result is within three units in the last place.
#pragma once

#include "dtau/lane.hpp"

namespace dtau::DTAU_VARIANT {

// 1/n! from n = 2 to 13
inline constexpr double exponential_series[12] = {
    1.0 / 2.0,       1.0 / 6.0,        1.0 / 24.0,        1.0 / 120.0,
    1.0 / 720.0,     1.0 / 5040.0,     1.0 / 40320.0,     1.0 / 362880.0,
    1.0 / 3628800.0, 1.0 / 39916800.0, 1.0 / 479001600.0, 1.0 / 6227020800.0};

template <class T>
DTAU_INLINE T hyperbolic_tangent(T x) {
    constexpr std::int64_t magnitude = 0x7fffffffffffffff;
    constexpr double log2_e = 0x1.71547652b82fep0,
                     ln2[2] = {0x1.62e42feep-1, 0x1.a39ef35793c76p-33};
    // Leaves k + 1023, the exponent of 2^k, in the low bits of the sum.
    constexpr double magic = 0x1.8p52 + 1023.0;
    const auto bits = to_bits(x);
    const T size = T(from_bits(bits & magnitude));
    const T y = select(less(-size, -20.0), T(20.0), size);  // NaN stays
    const T u = T(-2.0) * y;
    const T shifted = fma(u, T(log2_e), T(magic));
    const T k = shifted - T(magic), power = T(from_bits(to_bits(shifted) << 52));  // 2^k
    const T r = fma(k, T(-ln2[1]), fma(k, T(-ln2[0]), u));  // the inner one is exact
    // The polynomial by Estrin's scheme, in which few operations wait for each other.
    const auto pair = [r](int n) __attribute__((always_inline)) {
        return fma(r, T(exponential_series[n + 1]), T(exponential_series[n]));
    };
    const T r2 = r * r, r4 = r2 * r2;
    const T low = fma(r4, fma(r2, pair(6), pair(4)), fma(r2, pair(2), pair(0)));
    const T series = fma(r4 * r4, fma(r2, pair(10), pair(8)), low);
    const T t = fma(power, fma(r2, series, r), power - T(1.0));
    const T result = t / (t + T(2.0));
    return T(from_bits((to_bits(result) & magnitude) | (bits & ~magnitude)));
}

DTAU_INLINE Complex hyperbolic_tangent(Complex x) { return std::tanh(x); }

}  // namespace dtau::DTAU_VARIANT
