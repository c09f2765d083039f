// Computes with poses and rotations: exp(), log(), their Jacobians and the derivatives of these,
// composition, interpolation. [Sola]; [Derivations] §25.
//
//   exp (w; u) = (exp w, V(w) u)                 V, J and J^-1: exponential.hpp, manifold.hpp
//   exp(x + d) = exp(x) exp(J(x) d)              J: right Jacobian; the left one is J(-x)
//   log(X exp(d)) = x + J(x)^-1 d                x = log X
//   d J(x)^-1 = -J^-1 dJ J^-1                    along X exp(d) it is dJ along J^-1 d
//   X(t) = X exp(t log(X^-1 Y))                  from X at t = 0 to Y at t = 1
//
// Every twist is (angular; linear) here and linear first in arrays. A pose in an array is a position and
// a quaternion x y z w.
#pragma once

#include "dtau/algorithms/poses/rotations.hpp"
#include "dtau/algorithms/steps/chart_curvature.hpp"
#include "dtau/algorithms/steps/manifold_jacobians.hpp"
#include "dtau/algorithms/values/placements.hpp"

namespace dtau::DTAU_VARIANT {

template <class T> struct Pose {
    Quaternion<T> rotation;  // of any norm but zero, unless it is a result
    Vec3<T> translation;
};

// ---------------------------------------------------------------- arrays

template <class T> inline Vec3<T> load_vector(const T* x) { return {x[0], x[1], x[2]}; }
template <class T> inline Motion<T> load_twist(const T* x) {
    return {load_vector(x + 3), load_vector(x)};
}
template <class T> inline void store_twist(const Motion<T>& m, T* x) {
    store_vector(m.lin, x), store_vector(m.ang, x + 3);
}
template <class T> inline Pose<T> load_pose(const T* x) {
    return {load_quaternion(x + 3), load_vector(x)};
}
// Normalizes the quaternion.
template <class T> inline void store_pose(const Pose<T>& X, T* x) {
    store_vector(X.translation, x), store_unit(X.rotation, x + 3);
}
// A matrix by rows, `width` numbers each.
template <class T> inline Mat3<T> load_rows(const T* m, int width = 3) {
    const T *x = m, *y = m + width, *z = y + width;
    return {{x[0], y[0], z[0]}, {x[1], y[1], z[1]}, {x[2], y[2], z[2]}};
}
template <class T> inline void store_matrix(const MotionMap<T>& map, T* rows) {
    joint_matrix(JointKind::free, map, rows);
}

// ---------------------------------------------------------------- the group

template <class T> inline Pose<T> operator*(const Pose<T>& X, const Pose<T>& Y) {
    return {X.rotation * Y.rotation,
            mul_add(rotation_matrix(X.rotation), Y.translation, X.translation)};
}
template <class T> inline Pose<T> inverse(const Pose<T>& X) {
    return {conjugate(X.rotation), -transposed_mul(rotation_matrix(X.rotation), X.translation)};
}
// X^-1 Y, with the difference of the positions before any rounding.
template <class T> inline Pose<T> relative(const Pose<T>& X, const Pose<T>& Y) {
    return {conjugate(X.rotation) * Y.rotation,
            transposed_mul(rotation_matrix(X.rotation), Y.translation - X.translation)};
}

template <class T> inline Quaternion<T> exp(const Vec3<T>& w) {
    return quaternion_exp(angle_functions(w), w);
}
template <class T> inline Pose<T> exp(const Motion<T>& x) {
    const AngleFunctions<T> f = angle_functions(x.ang);
    return {quaternion_exp(f, x.ang), exp_translation(f, x.ang, x.lin)};
}
template <class T> inline Motion<T> log(const Pose<T>& X) {
    const Vec3<T> w = rotation_vector(X.rotation);
    return {w, log_translation(w, X.translation)};
}

template <class T>
inline Quaternion<T> interpolated(const Quaternion<T>& X, const Quaternion<T>& Y, T t) {
    return X * exp(t * rotation_vector(conjugate(X) * Y));
}
template <class T> inline Pose<T> interpolated(const Pose<T>& X, const Pose<T>& Y, T t) {
    const Motion<T> x = log(relative(X, Y));
    return X * exp(Motion<T>{t * x.ang, t * x.lin});
}

// The map of twists from the frame that X places to the frame in which it does.
template <class T> inline MotionMap<T> adjoint(const Pose<T>& X) {
    const Mat3<T> R = rotation_matrix(X.rotation);
    return {R, skew(X.translation) * R};
}

// ---------------------------------------------------------------- derivatives of Jacobians

template <class T> inline Motion<T> operator*(const MotionMap<T>& map, const Motion<T>& m) {
    return {map.E * m.ang, mul_add(map.Q, m.ang, map.E * m.lin)};
}

// The derivative of J(x) along d.
template <class T>
inline MotionMap<T> exp_jacobian_derivative(const Motion<T>& x, const Motion<T>& d) {
    const AngleFunctions<T> f = angle_functions(x.ang);
    return right_jacobian_rate(x, f, second_angle_functions(f, dot(x.ang, x.ang)), d);
}
// The derivative of J(x)^-1 along exp(x) exp(eps d).
template <class T>
inline MotionMap<T> log_jacobian_derivative(const Motion<T>& x, const Motion<T>& d) {
    const MotionMap<T> inverse = inverse_right_jacobian(x);
    return -(inverse * exp_jacobian_derivative(x, inverse * d) * inverse);
}

}  // namespace dtau::DTAU_VARIANT
