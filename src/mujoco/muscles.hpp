// Evaluates the curves of MuJoCo's muscles with their derivatives: muscle_gain(), muscle_bias(),
// muscle_rate(). MuJoCo's documentation, "Muscle actuators", has the model.
#pragma once

#include <algorithm>

#include "mujoco/step.hpp"

namespace dtau::DTAU_VARIANT::mujoco_step {

struct Curve {
    double value, slope, bend;
};

constexpr double smallest = 1e-15;  // mjMINVAL

// Four parabolas over the length, of value 1 at the length 1.
inline Curve length_curve(double x, double low, double high) {
    if (!(low <= x && x <= high)) return {};
    const double rises = 0.5 * (low + 1.0), falls = 0.5 * (1.0 + high);
    const bool inner = rises < x && x <= falls;
    const double origin = inner ? 1.0 : x <= rises ? low : high;
    const double end = x <= 1.0 ? rises : falls;
    const double width = std::max(smallest, end > origin ? end - origin : origin - end);
    const double y = (x - origin) / width, sign = inner ? -1.0 : 1.0;
    return {(inner ? 1.0 : 0.0) + sign * 0.5 * y * y, sign * y / width, sign / (width * width)};
}

// `most`: the value at high speeds of lengthening.
inline Curve velocity_curve(double x, double most) {
    const double end = most - 1.0, width = std::max(smallest, end), left = end - x;
    if (x <= -1.0) return {};
    if (x <= 0.0) return {(x + 1.0) * (x + 1.0), 2.0 * (x + 1.0), 2.0};
    if (x <= end) return {most - left * left / width, 2.0 * left / width, -2.0 / width};
    return {most, 0.0, 0.0};
}

// The slope of a parabola from the length 1 on, and of the line that goes on from it.
inline double passive_slope(double x, double high) {
    const double end = 0.5 * (1.0 + high), width = std::max(smallest, end - 1.0);
    return x <= 1.0 ? 0.0 : (std::min(x, end) - 1.0) / (width * width);
}

// Gain of a force  gain u  and its derivatives.
struct Gain {
    double value, by_length, by_velocity, by_velocity_and_length, by_velocity_twice;
};

inline Gain muscle_gain(const mujoco::Actuator& x, double length, double velocity) {
    if (x.active.force == 0.0) return {};
    const double a = x.active.scale, b = x.active.speed_scale;
    const Curve fl = length_curve(x.active.origin + a * length, x.active.low, x.active.high);
    const Curve fv = velocity_curve(b * velocity, x.active.most);
    const double force = -x.active.force;
    return {force * fl.value * fv.value, force * a * fl.slope * fv.value,
            force * b * fl.value * fv.slope, force * a * b * fl.slope * fv.slope,
            force * b * b * fl.value * fv.bend};
}

// The derivative of the bias by the length.
inline double muscle_bias(const mujoco::Actuator& x, double length) {
    if (x.passive.force == 0.0) return 0.0;
    const double at = x.passive.origin + x.passive.scale * length;
    return -x.passive.force * x.passive.scale * passive_slope(at, x.passive.high);
}

struct Rate {
    double by_state, by_control;
};

// Derivatives of  w' = (u - w) / tau  for the activation w and the control u, whose time constant
// tau varies with w and, where MuJoCo smooths it, with u - w.
inline Rate muscle_rate(const mujoco::Actuator& x, double control, double w) {
    const double s = 0.5 + 1.5 * std::clamp(w, 0.0, 1.0);
    const double s_by_w = 0.0 <= w && w <= 1.0 ? 1.5 : 0.0;
    const double on = x.times[0] * s, off = x.times[1] / s;
    const double excess = std::clamp(control, 0.0, 1.0) - w;
    double share = excess > 0.0 ? 1.0 : 0.0, share_by_excess = 0.0;
    if (x.times[2] >= smallest) {
        const double z = std::clamp(excess / x.times[2] + 0.5, 0.0, 1.0);
        share = z * z * z * (3.0 * z * (2.0 * z - 5.0) + 10.0);
        share_by_excess = 30.0 * z * z * (1.0 - z) * (1.0 - z) / x.times[2];
    }
    const double tau = off + (on - off) * share;
    if (tau < smallest) return {-1.0 / smallest, 1.0 / smallest};
    const double by_tau = -excess / (tau * tau);
    const double by_excess = 1.0 / tau + by_tau * (on - off) * share_by_excess;
    const double tau_by_w = s_by_w * (share * x.times[0] - (1.0 - share) * off / s);
    return {by_tau * tau_by_w - by_excess, 0.0 <= control && control <= 1.0 ? by_excess : 0.0};
}

}  // namespace dtau::DTAU_VARIANT::mujoco_step
