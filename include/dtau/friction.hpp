// Computes the torques of Coulomb friction in joints and their derivatives. The user's smoothing speed
// v_s turns the jump at rest into a slope; beyond some v_s the torque is the constant F:
//
//   tau = ... + F y                       y = tanh(v / v_s)
//   dtau/dv = ... + slope                 slope = F / v_s w, on the diagonal;  w = 1 - y^2
//   d2tau/dv2 = ... + curvature           curvature = -2 y slope / v_s
//
// and along a motion, with Taylor coefficients (taylor.hpp) x_k of v / v_s:
//
//   k y_k = sum over j = 1 ... k of j x_j w_{k-j}       w_k = -sum of y_m y_{k-m},  k > 0
//   d tau_k = F / v_s sum over j = 0 ... k of w_{k-j} d v_j
//
// w is a result of tangent_and_slope(), as 1 - y^2 cancels where friction saturates.
//
// Functions of this header: friction_torques(); of springs and friction together, left_by_springs_and_friction()
// and others; friction_partials(), add_friction_diagonal(), add_friction_times(); FrictionSeries. Neighboring joints are
// computed together in packs. All arrays belong to the joints (nv). A model without friction computes
// nothing here.
#pragma once

#include "dtau/hyperbolic_tangent.hpp"
#include "dtau/springs.hpp"

namespace dtau::DTAU_VARIANT {

DTAU_INLINE bool has_friction(const Tree& tree) { return tree.friction.first < tree.friction.end; }

// Room for an array of the joints, if there is friction.
template <class T> DTAU_INLINE T* friction_room(Arena& arena, const Tree& tree, int rows = 1) {
    return has_friction(tree) ? arena.take<T>(rows * tree.nv) : nullptr;
}

// Calls f(k, count) for packs of the joints from the first with friction to the last.
template <class T, class F> DTAU_INLINE void for_friction(const Tree& tree, const F& f) {
    const int end = tree.friction.end;
    for (int k = tree.friction.first; k < end; k += Pack<T>::width) f(k, end - k);
}
// The same for results that may be written twice: the last pack is not cut, but begins earlier.
template <class T, class F>
DTAU_INLINE void for_friction_overlapping(const Tree& tree, const F& f) {
    constexpr int width = Pack<T>::width;
    const int end = tree.friction.end;
    if (end < width) return for_friction<T>(tree, f);
    for (int k = tree.friction.first; k < end; k += width)
        f(k + width > end ? end - width : k, width);
}
// The packs of y and w from joint k on.
template <class T> DTAU_INLINE auto smoothed(const Tree& tree, const T* v, int k, int count) {
    const auto rate = constants<T>(tree.friction.rate + k, count).value;
    return tangent_and_slope(rate * Pack<T>::load(v + k, count).value);
}
template <class T>
DTAU_INLINE Pack<T> smoothed_sign(const Tree& tree, const T* v, int k, int count) {
    return {smoothed(tree, v, k, count).tangent};
}

// The packs of y and of the slopes from joint k on.
template <class T> struct Smoothed {
    decltype(Pack<T>::value) y, slope;

    DTAU_INLINE Smoothed(const Tree& tree, const T* v, int k, int count) {
        const auto [tangent, w] = smoothed(tree, v, k, count);
        const auto force = friction_force<T>(tree, k, count).value;
        y = tangent;
        slope = force * constants<T>(tree.friction.rate + k, count).value * w;
    }
};

// tau += sign F y
template <class T>
DTAU_INLINE void add_friction_torques(const Tree& tree, double sign, const T* v, T* tau) {
    for_friction<T>(tree, [&](int k, int count) __attribute__((always_inline)) {
        const auto force = friction_force<T>(tree, k, count).value;
        const Pack<T> y = smoothed_sign(tree, v, k, count), sum = Pack<T>::load(tau + k, count);
        const Pack<T> torque = {fma(decltype(force)(sign) * force, y.value, sum.value)};
        torque.store(tau + k, count);
    });
}
// Writes y of the joints with friction.
template <class T> DTAU_INLINE void friction_signs(const Tree& tree, const T* v, T* y) {
    for_friction_overlapping<T>(tree, [&](int k, int count) __attribute__((always_inline)) {
        smoothed_sign(tree, v, k, count).store(y + k, count);
    });
}
// Writes F y of the joints with friction.
template <class T> DTAU_INLINE void friction_torques(const Tree& tree, const T* v, T* torque) {
    for_friction_overlapping<T>(tree, [&](int k, int count) __attribute__((always_inline)) {
        const auto force = friction_force<T>(tree, k, count).value;
        const Pack<T> product = {force * smoothed_sign(tree, v, k, count).value};
        product.store(torque + k, count);
    });
}

// ---------------------------------------------------------------- springs and friction

DTAU_INLINE bool has_springs_or_friction(const Tree& tree) {
    return tree.nsprings > 0 || tree.nrotation_springs > 0 || has_friction(tree);
}

template <class T>
DTAU_INLINE void subtract_springs_and_friction(const Tree& tree, const T* q, const T* v, T* tau) {
    subtract_spring_torques(tree, q, tau);
    add_friction_torques(tree, -1.0, v, tau);
}

// The torques that are left to drive the joints: tau without the torques of springs and friction, in
// `room` (room_for_drive) if there are any.
template <class T> DTAU_INLINE T* room_for_drive(Arena& arena, const Tree& tree) {
    return has_springs_or_friction(tree) ? arena.take<T>(tree.nv) : nullptr;
}
template <class T>
DTAU_INLINE const T* left_by_springs_and_friction(const Tree& tree, const T* q, const T* v,
                                                  const T* tau, T* room) {
    if (!has_springs_or_friction(tree)) return tau;
    friction_torques(tree, v, room);
    for (int k = 0; k < tree.friction.first; ++k) room[k] = tau[k];
    for (int k = tree.friction.first; k < tree.friction.end; ++k) room[k] = tau[k] - room[k];
    for (int k = tree.friction.end; k < tree.nv; ++k) room[k] = tau[k];
    subtract_spring_torques(tree, q, room);
    return room;
}

// ---------------------------------------------------------------- derivatives

// Computes the slopes and the curvatures.
template <class T>
DTAU_INLINE void friction_partials(const Tree& tree, const T* v, T* slope, T* curvature) {
    for_friction_overlapping<T>(tree, [&](int k, int count) __attribute__((always_inline)) {
        const Smoothed<T> x(tree, v, k, count);
        const auto rate = constants<T>(tree.friction.rate + k, count).value;
        Pack<T>{x.slope}.store(slope + k, count);
        // In this order a rate up to the largest number leaves 0 where y or the slope is 0.
        Pack<T>{decltype(rate)(-2.0) * (rate * x.y * x.slope)}.store(curvature + k, count);
    });
}

// Adds the numbers d (nv) of the joints with friction to the diagonal of X, whose rows are n apart.
template <class T>
DTAU_INLINE void add_friction_diagonal(const Tree& tree, const T* d, T* X, int n) {
    for (int k = tree.friction.first; k < tree.friction.end; ++k) X[k * n + k] += d[k];
}

// y += factor times the slopes times x.
template <class T>
DTAU_INLINE void add_friction_times(const Tree& tree, double factor, const T* v, const T* x, T* y) {
    for_friction<T>(tree, [&](int k, int count) __attribute__((always_inline)) {
        const auto slope = Smoothed<T>(tree, v, k, count).slope;
        const Pack<T> sum = {fma(decltype(slope)(factor) * slope, Pack<T>::load(x + k, count).value,
                                 Pack<T>::load(y + k, count).value)};
        sum.store(y + k, count);
    });
}

// ---------------------------------------------------------------- series

// Taylor coefficients of y and w along a motion, rows of nv.
template <class T> struct FrictionSeries {
    T *y, *w;

    FrictionSeries(Arena& arena, const Tree& tree, int count)
        : y(friction_room<T>(arena, tree, count)), w(friction_room<T>(arena, tree, count)) {}

    // Computes order k after all lower ones. v (nv): of order 0; rates: of orders 1, 2, ..., k, rows of nv.
    DTAU_INLINE void extend(const Tree& tree, int k, const T* v, const T* rates,
                            const double* inverse_factorial) const {
        const int nv = tree.nv;
        if (k == 0) {
            for_friction<T>(tree, [&](int j, int count) __attribute__((always_inline)) {
                const auto [tangent, slope] = smoothed(tree, v, j, count);
                Pack<T>{tangent}.store(y + j, count);
                Pack<T>{slope}.store(w + j, count);
            });
            return;
        }
        for (int j = tree.friction.first; j < tree.friction.end; ++j) {
            T sum(0.0);
            for (int m = 1; m <= k; ++m) {  // m x_m = v^(m) / ((m - 1)! v_s)
                const T by_v = T(tree.friction.rate[j] * inverse_factorial[m - 1]) *
                               w[(k - m) * nv + j];  // 0 where friction is constant, at any rate
                sum = fma(by_v, rates[(m - 1) * nv + j], sum);
            }
            y[k * nv + j] = T(1.0 / k) * sum;
            T square(0.0);
            for (int m = 0; m <= k; ++m) square = fma(y[m * nv + j], y[(k - m) * nv + j], square);
            w[k * nv + j] = -square;
        }
    }
    // tau += factor F y_k
    DTAU_INLINE void add_torques(const Tree& tree, int k, double factor, T* tau) const {
        for (int j = tree.friction.first; j < tree.friction.end; ++j)
            tau[j] = fma(T(factor * tree.friction.force[j]), y[k * tree.nv + j], tau[j]);
    }
    // torque -= derivative of order k, after all lower ones. rates: of orders 1, 2, ..., k; scale: TaylorScale.
    template <class Scale>
    DTAU_INLINE void subtract_next(const Tree& tree, int k, const T* v, const T* rates,
                                   const Scale& scale, T* torque) const {
        if (!has_friction(tree)) return;
        extend(tree, k, v, rates, scale.inverse_factorial);
        add_torques(tree, k, -scale.factorial[k], torque);
    }
    // The diagonal of the derivative by v, of order k.
    DTAU_INLINE void add_slopes(const Tree& tree, int k, double factor, T* dtau_dv, int n) const {
        for (int j = tree.friction.first; j < tree.friction.end; ++j)
            dtau_dv[j * n + j] += T(factor * slope(tree, j)) * w[k * tree.nv + j];
    }
    // tau += factor d tau_k for variations dv of order 0, and `rates` of orders 1, 2, ...; d v_j = dv^(j) / j!
    DTAU_INLINE void add_variations(const Tree& tree, int k, double factor, const T* dv,
                                    const T* rates, const double* inverse_factorial, T* tau) const {
        const int nv = tree.nv;
        for (int j = tree.friction.first; j < tree.friction.end; ++j) {
            T sum = w[k * nv + j] * dv[j];
            for (int m = 1; m <= k; ++m)
                sum = fma(w[(k - m) * nv + j], T(inverse_factorial[m]) * rates[(m - 1) * nv + j],
                          sum);
            tau[j] = fma(T(factor * slope(tree, j)), sum, tau[j]);
        }
    }
    // by += factor times the gradient of sum over k of lam^(k) tau^(k) by v_m, for k from m to `order`. lam:
    // of order m, and the higher orders behind it.
    DTAU_INLINE void add_gradients(const Tree& tree, int m, int order, double factor, const T* lam,
                                   const double* factorial, T* by) const {
        const int nv = tree.nv;
        for (int j = tree.friction.first; j < tree.friction.end; ++j) {
            T sum(0.0);
            for (int k = m; k <= order; ++k)
                sum = fma(w[(k - m) * nv + j], T(factorial[k]) * lam[(k - m) * nv + j], sum);
            by[j] = fma(T(factor * slope(tree, j)), sum, by[j]);
        }
    }

  private:
    static DTAU_INLINE double slope(const Tree& tree, int j) {  // F / v_s
        return tree.friction.force[j] * tree.friction.rate[j];
    }
};

}  // namespace dtau::DTAU_VARIANT
