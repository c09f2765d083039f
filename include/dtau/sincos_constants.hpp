// Lists the constants of sine and cosine, for the core (sincos.hpp) and for generated code.
#pragma once

namespace dtau {

// [Cody-Waite] reduction by multiples of pi/2, in three parts of 33 bits. Adding the number leaves an
// integer in the low bits.
inline constexpr double reduction_limit = 1e5;
inline constexpr double reduction_number = 0x1.8p52, two_over_pi = 0x1.45f306dc9c883p-1;
inline constexpr double half_pi[3] = {0x1.921fb544p0, 0x1.0b4611a6p-34, 0x1.3198a2e037073p-69};

// The polynomials of FreeBSD's msun (k_sin.c, k_cos.c), by powers of the squared angle:
// x + x^3 (s[0] + s[1] x^2 + ...) and 1 - x^2 / 2 + x^4 (c[0] + c[1] x^2 + ...).
inline constexpr double sine_series[6] = {-1.66666666666666324348e-01, 8.33333333332248946124e-03,
                                          -1.98412698298579493134e-04, 2.75573137070700676789e-06,
                                          -2.50507602534068634195e-08, 1.58969099521155010221e-10};
inline constexpr double cosine_series[6] = {
    4.16666666666666019037e-02,  -1.38888888888741095749e-03, 2.48015872894767294178e-05,
    -2.75573143513906633035e-07, 2.08757232129817482790e-09,  -1.13596475577881948265e-11};

}  // namespace dtau
