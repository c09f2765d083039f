// Computes sine and cosine of every scalar of the core: sincos(). A state has the same bits alone and in
// lanes. [Derivations] §14; within two units in the last place for |x| < 1e5.
#pragma once

#include "dtau/lane.hpp"
#include "dtau/sincos_constants.hpp"

namespace dtau::DTAU_VARIANT {

template <class T> DTAU_INLINE void sincos_reduced(T x, T& sine, T& cosine) {
    constexpr double magic = reduction_number;
    const T shifted = fma(x, T(two_over_pi), T(magic));
    const auto quadrant = to_bits(shifted);
    const T k = T(magic) - shifted;  // minus the multiple
    const T part = T(half_pi[1]);
    const T first = fma(k, T(half_pi[0]), x);  // exact
    const T second = fma(k, part, first);
    const T tail = fma(k, T(half_pi[2]), fma(k, part, first - second));
    // to twice the digits, [Derivations] eq. 14.1
    const T r = second + tail, low = (second - r) + tail;

    const T z = r * r;
    T s = fma(z, T(sine_series[5]), T(sine_series[4]));
    s = fma(z, s, T(sine_series[3]));
    s = fma(z, s, T(sine_series[2]));
    s = fma(z, s, T(sine_series[1]));
    s = fma(z, s, T(sine_series[0]));
    s = r + fma(z * r, s, low);  // [Derivations] eq. 14.2

    T c = fma(z, T(cosine_series[5]), T(cosine_series[4]));
    c = fma(z, c, T(cosine_series[3]));
    c = fma(z, c, T(cosine_series[2]));
    c = fma(z, c, T(cosine_series[1]));
    c = fma(z, c, T(cosine_series[0]));
    const T half = T(0.5) * z, w = T(1.0) - half;
    c = w + (((T(1.0) - w) - half) + fma(z, z * c, -(r * low)));  // [Derivations] eq. 14.2

    const auto odd = quadrant & 1;
    sine = T(from_bits(to_bits(select(odd, c, s)) ^ ((quadrant & 2) << 62)));
    cosine = T(from_bits(to_bits(select(odd, s, c)) ^ (((quadrant + 1) & 2) << 62)));
}

DTAU_INLINE void sincos(double x, double& sine, double& cosine) {
    if (__builtin_expect(std::fabs(x) < reduction_limit, 1)) {
        sincos_reduced(x, sine, cosine);
    } else {  // huge, infinite or not a number
        sine = std::sin(x);
        cosine = std::cos(x);
    }
}

DTAU_INLINE void sincos(Lane x, Lane& sine, Lane& cosine) {
    sincos_reduced(x, sine, cosine);
    bool huge = false;
    for (int l = 0; l < lanes; ++l) huge |= !(std::fabs(x.value[l]) < reduction_limit);
    if (__builtin_expect(huge, 0)) {
        for (int l = 0; l < lanes; ++l) {
            double s, c;
            sincos(x.value[l], s, c);
            sine.value[l] = s;
            cosine.value[l] = c;
        }
    }
}

DTAU_INLINE void sincos(Complex x, Complex& sine, Complex& cosine) {
    sine = std::sin(x);
    cosine = std::cos(x);
}

}  // namespace dtau::DTAU_VARIANT
