// The configuration manifold: q (+) dq = T exp(S dq) joint by joint, its inverse, and
// normalization.
//
// Coordinates of revolute, prismatic, helical and cylindrical joints add; quaternions (x y z w) and
// the poses of free and planar joints move by the exponentials of SO(3), SE(3) and SE(2), increments
// in body axes, linear first. [Sola] for the exponentials. Not in the canonical frames of the tree:
// coordinates do not depend on them.
#pragma once

#include <type_traits>

#include "dtau/algorithms/steps/exponential.hpp"

namespace dtau::DTAU_VARIANT {

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
// x / |x| for a norm near one, which is all that rounding leaves of a product of unit quaternions.
template <class T>
DTAU_INLINE void store_unit(const Quaternion<T>& x, T* q) {
    const T scale = T(1.0) / square_root(dot(x.v, x.v, x.w * x.w));
    q[0] = scale * x.v.x, q[1] = scale * x.v.y, q[2] = scale * x.v.z, q[3] = scale * x.w;
}

// Writes x / |x|, for any norm but zero: nothing overflows on the way.
DTAU_INLINE void store_normalized(const Quaternion<double>& x, double* q) {
    double largest = std::fabs(x.w);
    const double parts[3] = {x.v.x, x.v.y, x.v.z};
    for (const double c : parts)
        if (std::fabs(c) > largest) largest = std::fabs(c);
    const double by = 1.0 / largest;
    store_unit(Quaternion<double>{by * x.v, by * x.w}, q);
}

// exp of a rotation vector.
template <class T>
DTAU_INLINE Quaternion<T> quaternion_exp(const AngleFunctions<T>& f, const Vec3<T>& w) {
    return {f.half_sine * w, f.half_cosine};
}
// The rotation vector of a unit quaternion, of angle at most pi.
DTAU_INLINE Vec3<double> quaternion_log(const Quaternion<double>& x) {
    const double n = std::sqrt(dot(x.v, x.v)), w = std::fabs(x.w);
    const double scale = n > 1e-10 ? 2.0 * std::atan2(n, w) / n : 2.0 / w;
    return std::copysign(scale, x.w) * x.v;
}

// Of the inverse of the right Jacobian, with h = angle / 2: e = (1 - h cot h) / t, and its derivative
// by t.
template <class T>
struct LogFunctions {
    T e, de;
};

// Below t = 1 by series, as in angle_functions. [Notes] eq. 16.2
template <class T>
DTAU_INLINE LogFunctions<T> log_functions(T t) {
    constexpr Coefficients<13> e = {
        {// of Bernoulli numbers: |B_2| / 2!, |B_4| / 4!, ...
         1.0 / 12, 1.0 / 720, 1.0 / 30240, 1.0 / 1209600, 1.0 / 47900160, 5.284190138687493e-10,
         1.0 / 74724249600, 3.3896802963225827e-13, 8.586062056277845e-15, 2.174868698558062e-16,
         5.5090028283602295e-18, 1.3954464685812522e-19, 3.534707039629467e-21}};
    constexpr Coefficients<12> de = derivative(e);
    const auto small = less(t, 1.0);
    if constexpr (std::is_same_v<T, double>)
        if (small) return {power_series(e, t), power_series(de, t)};
    const T safe = select(small, T(1.0), t), inverse = T(1.0) / safe;
    const T h = T(0.5) * square_root(safe);
    T sine, cosine;
    sincos(h, sine, cosine);
    const T cotangent = cosine / sine;
    const T e1 = (T(1.0) - h * cotangent) * inverse;
    const T de1 = (T(0.125) * (T(1.0) / (sine * sine) - cotangent / h) - e1) * inverse;
    if constexpr (std::is_same_v<T, double>) return {e1, de1};
    return {select(small, power_series(e, t), e1), select(small, power_series(de, t), de1)};
}

// V(w)^-1 p
DTAU_INLINE Vec3<double> log_translation(const Vec3<double>& w, const Vec3<double>& p) {
    const Vec3<double> wp = cross(w, p);
    return fma(-0.5, wp, fma(log_functions(dot(w, w)).e, cross(w, wp), p));
}

// Calls add(first, last) for joints one after the other whose coordinates move by adding, and
// move(body) for each of the others.
template <class Add, class Move>
DTAU_INLINE void for_runs_of_joints(const Tree& tree, Add add, Move move) {
    for (int i = 0; i < tree.nbodies;) {
        const int first = i;
        while (i < tree.nbodies && traits(tree.bodies[i].kind).commutes) ++i;
        if (i > first) add(tree.bodies[first], tree.bodies[i - 1]);
        if (i < tree.nbodies) move(tree.bodies[i++]);
    }
}

template <class T>
void integrate(const Tree& tree, const T* q, const T* dq, T* result) {
    const auto add = [&](const Body& first, const Body& last) {
        const T *x = q + first.q, *d = dq + first.v;
        T* y = result + first.q;
        const int count = last.v + last.nv - first.v;
        for (int k = 0; k < count; ++k) y[k] = x[k] + d[k];
    };
    for_runs_of_joints(tree, add, [&](const Body& body) {
        const T *x = q + body.q, *d = dq + body.v;
        T* y = result + body.q;
        const Motion<T> m = joint_twist(body, d);
        const AngleFunctions<T> f = angle_functions(m.ang);
        if (body.kind == JointKind::spherical) {
            store_unit(load_quaternion(x) * quaternion_exp(f, m.ang), y);
        } else if (body.kind == JointKind::free) {
            const Vec3<T> p = mul_add(quaternion_rotation(x + 3), exp_translation(f, m.ang, m.lin),
                                      Vec3<T>{x[0], x[1], x[2]});
            y[0] = p.x, y[1] = p.y, y[2] = p.z;
            store_unit(load_quaternion(x + 3) * quaternion_exp(f, m.ang), y + 3);
        } else {
            const Vec3<T> u = exp_translation(f, m.ang, m.lin);
            T s, c;
            sincos(x[2], s, c);
            y[0] = x[0] + fma(c, u.x, -(s * u.y)), y[1] = x[1] + fma(s, u.x, c * u.y);
            y[2] = x[2] + d[2];
        }
    });
}

// The displacement of a joint whose displacements do not add, from its coordinates x to y; the angle of
// a planar joint up to multiples of 2 pi.
inline void joint_difference(const Body& body, const double* x, const double* y, double* d) {
    if (body.kind == JointKind::planar) {
        const double s = std::sin(x[2]), c = std::cos(x[2]), p = y[0] - x[0], r = y[1] - x[1];
        d[2] = std::remainder(y[2] - x[2], 2.0 * 3.14159265358979323846);
        const Vec3<double> u =
            log_translation({0.0, 0.0, d[2]}, {c * p + s * r, c * r - s * p, 0.0});
        d[0] = u.x, d[1] = u.y;
        return;
    }
    const int k = body.quaternion - body.q;
    double unit[4];
    store_normalized(load_quaternion(x + k), unit);
    const Quaternion<double> inverse = {{-unit[0], -unit[1], -unit[2]}, unit[3]};
    store_normalized(load_quaternion(y + k), unit);
    const Vec3<double> w = quaternion_log(inverse * load_quaternion(unit));
    d[k] = w.x, d[k + 1] = w.y, d[k + 2] = w.z;
    if (body.kind == JointKind::free) {
        const Vec3<double> step = {y[0] - x[0], y[1] - x[1], y[2] - x[2]};
        const Vec3<double> u = log_translation(w, transposed_mul(quaternion_rotation(x + 3), step));
        d[0] = u.x, d[1] = u.y, d[2] = u.z;
    }
}

// dq with q0 (+) dq = q1
inline void difference(const Tree& tree, const double* q0, const double* q1, double* dq) {
    const auto subtract = [&](const Body& first, const Body& last) {
        const double *x = q0 + first.q, *y = q1 + first.q;
        double* d = dq + first.v;
        const int count = last.v + last.nv - first.v;
        for (int k = 0; k < count; ++k) d[k] = y[k] - x[k];
    };
    for_runs_of_joints(tree, subtract, [&](const Body& body) {
        joint_difference(body, q0 + body.q, q1 + body.q, dq + body.v);
    });
}

// Unit quaternions; everything else unchanged.
inline void normalize(const Tree& tree, const double* q, double* result) {
    for (int k = 0; k < tree.nq; ++k) result[k] = q[k];
    for (int i = 0; i < tree.nbodies; ++i) {
        const Body& body = tree.bodies[i];
        if (body.quaternion < 0) continue;
        store_normalized(load_quaternion(q + body.quaternion), result + body.quaternion);
    }
}

}  // namespace dtau::DTAU_VARIANT
