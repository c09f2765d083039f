// Computes the rates of logarithms of rotations and placements, log_rate().
#pragma once

#include "dtau/algorithms/poses/rotations.hpp"

namespace dtau::DTAU_VARIANT {

// The change of the rotation vector phi, in its own axes, when the rotated frame turns by `turn` in
// that frame's axes. [Derivations] eq. 16.1
template <class T> inline Vec3<T> log_rate(const Vec3<T>& phi, const Vec3<T>& turn) {
    const Vec3<T> x = cross(phi, turn);
    return fma(T(0.5), x, fma(log_functions(dot(phi, phi)).e, cross(phi, x), turn));
}

// The same for xi = (phi; rho), the logarithm of a placement in b, when a moves by s. [Derivations]
// eq. 20.20
template <class T> inline Motion<T> log_rate(const Motion<T>& xi, const Motion<T>& s) {
    const LogFunctions<T> log = log_functions(dot(xi.ang, xi.ang));
    const Motion<T> x = cross(xi, s), xx = cross(xi, x);
    Motion<T> rate = fma(T(0.5), x, fma(log.e, xx, s));
    rate.lin = fma(T(2.0) * log.de * dot(xi.ang, xi.lin), xx.ang, rate.lin);
    return rate;
}

}  // namespace dtau::DTAU_VARIANT
