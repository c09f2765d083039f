// The configuration manifold: q (+) dq = T exp(S dq) joint by joint, its inverse, and
// normalization.
//
// Coordinates of revolute, prismatic, helical and cylindrical joints add; quaternions (x y z w) and
// the poses of free and planar joints move by the exponentials of SO(3), SE(3) and SE(2), increments
// in body axes, linear first. [Sola] for the exponentials. Not in the canonical frames of the tree:
// coordinates do not depend on them.
#pragma once

#include "dtau/joint.hpp"

namespace dtau::DTAU_VARIANT {

DTAU_INLINE bool has_quaternion(JointKind kind) {
    return kind == JointKind::spherical || kind == JointKind::free;
}

DTAU_INLINE double real_part(double x) { return x; }
DTAU_INLINE double real_part(Complex x) { return x.real(); }

template <class T>
struct Quaternion {
    Vec3<T> v;
    T w;
};

template <class T>
DTAU_INLINE Quaternion<T> load_quaternion(const T* q) {
    return {{q[0], q[1], q[2]}, q[3]};
}
template <class T>
DTAU_INLINE Quaternion<T> operator*(const Quaternion<T>& a, const Quaternion<T>& b) {
    return {cross(a.v, b.v, fma(a.w, b.v, b.w * a.v)), a.w * b.w - dot(a.v, b.v)};
}
// Writes x / |x|, for any norm but zero: nothing overflows on the way.
template <class T>
DTAU_INLINE void store_normalized(const Quaternion<T>& x, T* q) {
    double largest = std::fabs(real_part(x.w));
    const T parts[3] = {x.v.x, x.v.y, x.v.z};
    for (const T& c : parts)
        if (std::fabs(real_part(c)) > largest) largest = std::fabs(real_part(c));
    const T by(1.0 / largest);
    const Quaternion<T> u = {by * x.v, by * x.w};
    const T scale = T(1.0) / std::sqrt(dot(u.v, u.v, u.w * u.w));
    q[0] = scale * u.v.x, q[1] = scale * u.v.y, q[2] = scale * u.v.z, q[3] = scale * u.w;
}

// Below this squared angle the power series are exact to rounding.
inline constexpr double small_angle_squared = 1e-2;

// exp of a rotation vector.
template <class T>
DTAU_INLINE Quaternion<T> quaternion_exp(const Vec3<T>& w) {
    const T t = dot(w, w);
    if (std::fabs(real_part(t)) < small_angle_squared) {
        const T h = T(0.25) * t;  // half the angle, squared
        const T c =
            T(1.0) - h * (T(1.0 / 2) - h * (T(1.0 / 24) - h * (T(1.0 / 720) - h * T(1.0 / 40320))));
        const T s = T(1.0) - h * (T(1.0 / 6) -
                                  h * (T(1.0 / 120) - h * (T(1.0 / 5040) - h * T(1.0 / 362880))));
        return {(T(0.5) * s) * w, c};
    }
    const T angle = std::sqrt(t), half = T(0.5) * angle;
    return {(std::sin(half) / angle) * w, std::cos(half)};
}

// V(w) u with the left Jacobian V of SO(3): the translation of exp (w; u).
template <class T>
DTAU_INLINE Vec3<T> exp_translation(const Vec3<T>& w, const Vec3<T>& u) {
    const T t = dot(w, w);
    T b, c;  // (1 - cos) / angle^2, (angle - sin) / angle^3
    if (std::fabs(real_part(t)) < small_angle_squared) {
        b = T(1.0 / 2) -
            t * (T(1.0 / 24) - t * (T(1.0 / 720) - t * (T(1.0 / 40320) - t * T(1.0 / 3628800))));
        c = T(1.0 / 6) - t * (T(1.0 / 120) -
                              t * (T(1.0 / 5040) - t * (T(1.0 / 362880) - t * T(1.0 / 39916800))));
    } else {
        const T angle = std::sqrt(t), s = std::sin(T(0.5) * angle);
        b = T(2.0) * s * s / t;
        c = (angle - std::sin(angle)) / (t * angle);
    }
    const Vec3<T> wu = cross(w, u);
    return fma(b, wu, fma(c, cross(w, wu), u));
}

// The rotation vector of a unit quaternion, of angle at most pi.
DTAU_INLINE Vec3<double> quaternion_log(const Quaternion<double>& x) {
    const double n = std::sqrt(dot(x.v, x.v)), w = std::fabs(x.w);
    const double scale = n > 1e-10 ? 2.0 * std::atan2(n, w) / n : 2.0 / w;
    return std::copysign(scale, x.w) * x.v;
}

// V(w)^-1 p
DTAU_INLINE Vec3<double> log_translation(const Vec3<double>& w, const Vec3<double>& p) {
    const double t = dot(w, w);
    double d;
    if (t < small_angle_squared) {
        d = 1.0 / 12 + t * (1.0 / 720 + t * (1.0 / 30240 + t * (1.0 / 1209600)));
    } else {
        const double half = 0.5 * std::sqrt(t);
        d = (1.0 - half * std::cos(half) / std::sin(half)) / t;
    }
    const Vec3<double> wp = cross(w, p);
    return fma(-0.5, wp, fma(d, cross(w, wp), p));
}

template <class T>
void integrate(const Tree& tree, const T* q, const T* dq, T* result) {
    for (int i = 0; i < tree.nbodies; ++i) {
        const Body& body = tree.bodies[i];
        const T *x = q + body.q, *d = dq + body.v;
        T* y = result + body.q;
        if (body.kind == JointKind::spherical) {
            store_normalized(load_quaternion(x) * quaternion_exp(Vec3<T>{d[0], d[1], d[2]}), y);
        } else if (body.kind == JointKind::free) {
            const Vec3<T> w = {d[3], d[4], d[5]}, u = {d[0], d[1], d[2]};
            const Vec3<T> p = mul_add(quaternion_rotation(x + 3), exp_translation(w, u),
                                      Vec3<T>{x[0], x[1], x[2]});
            y[0] = p.x, y[1] = p.y, y[2] = p.z;
            store_normalized(load_quaternion(x + 3) * quaternion_exp(w), y + 3);
        } else if (body.kind == JointKind::planar) {
            const Vec3<T> u = exp_translation<T>({T(0.0), T(0.0), d[2]}, {d[0], d[1], T(0.0)});
            const T s = std::sin(x[2]), c = std::cos(x[2]);
            y[0] = x[0] + (c * u.x - s * u.y), y[1] = x[1] + (s * u.x + c * u.y);
            y[2] = x[2] + d[2];
        } else {
            for (int k = 0; k < body.nv; ++k) y[k] = x[k] + d[k];
        }
    }
}

// dq with q0 (+) dq = q1; the angle of a planar joint up to whole turns
inline void difference(const Tree& tree, const double* q0, const double* q1, double* dq) {
    for (int i = 0; i < tree.nbodies; ++i) {
        const Body& body = tree.bodies[i];
        const double *x = q0 + body.q, *y = q1 + body.q;
        double* d = dq + body.v;
        if (body.kind == JointKind::planar) {
            const double s = std::sin(x[2]), c = std::cos(x[2]), p = y[0] - x[0], r = y[1] - x[1];
            d[2] = std::remainder(y[2] - x[2], 2.0 * 3.14159265358979323846);
            const Vec3<double> u =
                log_translation({0.0, 0.0, d[2]}, {c * p + s * r, c * r - s * p, 0.0});
            d[0] = u.x, d[1] = u.y;
            continue;
        }
        if (!has_quaternion(body.kind)) {
            for (int k = 0; k < body.nv; ++k) d[k] = y[k] - x[k];
            continue;
        }
        const int k = body.kind == JointKind::free ? 3 : 0;  // where the quaternion is
        double unit[4];
        store_normalized(load_quaternion(x + k), unit);
        const Quaternion<double> inverse = {{-unit[0], -unit[1], -unit[2]}, unit[3]};
        store_normalized(load_quaternion(y + k), unit);
        const Vec3<double> w = quaternion_log(inverse * load_quaternion(unit));
        d[k] = w.x, d[k + 1] = w.y, d[k + 2] = w.z;
        if (body.kind == JointKind::free) {
            const Vec3<double> step = {y[0] - x[0], y[1] - x[1], y[2] - x[2]};
            const Vec3<double> u =
                log_translation(w, transposed_mul(quaternion_rotation(x + 3), step));
            d[0] = u.x, d[1] = u.y, d[2] = u.z;
        }
    }
}

// Unit quaternions; everything else unchanged.
inline void normalize(const Tree& tree, const double* q, double* result) {
    for (int k = 0; k < tree.nq; ++k) result[k] = q[k];
    for (int i = 0; i < tree.nbodies; ++i) {
        const Body& body = tree.bodies[i];
        if (!has_quaternion(body.kind)) continue;
        const int k = body.q + (body.kind == JointKind::free ? 3 : 0);
        store_normalized(load_quaternion(q + k), result + k);
    }
}

}  // namespace dtau::DTAU_VARIANT
