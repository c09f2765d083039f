// Carries derivatives by six inputs through arithmetic: Dual.
#pragma once

#include <cmath>

#include "dtau/lane.hpp"

namespace dtau::DTAU_VARIANT::mujoco_step {

struct Dual {
    double value, by[6];
};

// The result `value` of x and y, whose derivatives by them are given.
inline Dual chained(double value, double by_x, const Dual& x, double by_y, const Dual& y) {
    Dual out = {value, {}};
    for (int i = 0; i < 6; ++i) out.by[i] = fma(by_x, x.by[i], by_y * y.by[i]);
    return out;
}

inline Dual operator+(const Dual& x, const Dual& y) {
    return chained(x.value + y.value, 1.0, x, 1.0, y);
}
inline Dual operator-(const Dual& x, const Dual& y) {
    return chained(x.value - y.value, 1.0, x, -1.0, y);
}
inline Dual operator*(const Dual& x, const Dual& y) {
    return chained(x.value * y.value, y.value, x, x.value, y);
}
inline Dual operator*(double x, const Dual& y) { return chained(x * y.value, x, y, 0.0, y); }
inline Dual operator+(double x, const Dual& y) { return chained(x + y.value, 1.0, y, 0.0, y); }
inline Dual operator/(const Dual& x, const Dual& y) {
    const double quotient = x.value / y.value;
    return chained(quotient, 1.0 / y.value, x, -quotient / y.value, y);
}
inline Dual absolute(const Dual& x) { return x.value < 0.0 ? -1.0 * x : x; }
// The derivative at 0 is 0: forces have factors that vanish there, too.
inline Dual square_root(const Dual& x) {
    const double root = std::sqrt(x.value);
    return chained(root, root > 0.0 ? 0.5 / root : 0.0, x, 0.0, x);
}
inline Dual at_least(double low, const Dual& x) { return x.value < low ? Dual{low, {}} : x; }

}  // namespace dtau::DTAU_VARIANT::mujoco_step
