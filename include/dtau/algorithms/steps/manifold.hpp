// Moves along the configuration manifold: integrate(), difference(), normalize(). [Sola] for the
// exponentials.
//
//   integrate    T+ = T exp(S dq), joint by joint
//     joints whose displacements add    q + dq       revolute, prismatic, helical, cylindrical
//     spherical                         R exp(w^)
//     free, planar                      (R exp(w^), p + R V(w) u)        dq = (u; w), V of exponential.hpp
//   difference   S dq = log(T0^-1 T1), the inverse: w = log(R0^T R1), u = V(w)^-1 R0^T (p1 - p0)
//   normalize    x / |x| for quaternions x y z w
//
// Increments are in body axes, linear first. Textbooks branch to a series near zero. Here lanes
// compute the series and the closed form and select one of them; a lone state gets the same bits.
// The canonical frames of the tree are not read, because coordinates do not depend on them.
#pragma once

#include "dtau/algorithms/steps/exponential.hpp"

namespace dtau::DTAU_VARIANT {

// x / |x| for a norm near one, which is all that rounding leaves of a product of unit quaternions.
template <class T> DTAU_INLINE void store_unit(const Quaternion<T>& x, T* q) {
    const T scale = T(1.0) / square_root(dot(x.v, x.v, x.w * x.w));
    q[0] = scale * x.v.x, q[1] = scale * x.v.y, q[2] = scale * x.v.z, q[3] = scale * x.w;
}

// Writes x / |x|, for any norm but zero: nothing overflows on the way.
template <class T> DTAU_INLINE void store_normalized(const Quaternion<T>& x, T* q) {
    const T parts[3] = {x.v.x, x.v.y, x.v.z};
    T largest = absolute(x.w);
    for (const T& part : parts) {
        const T size = absolute(part);
        largest = select(less(largest - size, 0.0), size, largest);
    }
    const T by = T(1.0) / largest;
    store_unit(Quaternion<T>{by * x.v, by * x.w}, q);
}

// exp of a rotation vector.
template <class T>
DTAU_INLINE Quaternion<T> quaternion_exp(const AngleFunctions<T>& f, const Vec3<T>& w) {
    return {f.half_sine * w, f.half_cosine};
}
// V(w)^-1 p
template <class T> DTAU_INLINE Vec3<T> log_translation(const Vec3<T>& w, const Vec3<T>& p) {
    const Vec3<T> wp = cross(w, p);
    return fma(T(-0.5), wp, fma(log_functions(dot(w, w)).e, cross(w, wp), p));
}

// Calls add(first, last) for every run of consecutive joints whose displacements add, and move(body)
// for each other joint.
template <class Add, class Move>
DTAU_INLINE void for_runs_of_joints(const Tree& tree, Add add, Move move) {
    for (int i = 0; i < tree.nnodes;) {
        const int first = i;
        while (i < tree.nnodes && traits(tree.bodies[i].kind).commutes) ++i;
        if (i > first) add(tree.bodies[first], tree.bodies[i - 1]);
        if (i < tree.nnodes) move(tree.bodies[i++]);
    }
}

template <class T> void integrate(const Tree& tree, const T* q, const T* dq, T* result) {
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

// The same angle within half a turn, exactly however large the angle is. Lanes are taken one by one.
DTAU_INLINE double within_half_turn(double angle) {
    return std::remainder(angle, 2.0 * 3.14159265358979323846);
}
DTAU_INLINE Lane within_half_turn(Lane angle) {
    for (int l = 0; l < lanes; ++l) angle.value[l] = within_half_turn(angle.value[l]);
    return angle;
}

// The displacement from coordinates x to y of a joint whose displacements do not add. The angle of a
// planar joint may be off by multiples of 2 pi.
template <class T>
DTAU_INLINE void joint_difference(const Body& body, const T* x, const T* y, T* d) {
    if (body.kind == JointKind::planar) {
        T s, c;
        sincos(x[2], s, c);
        const T p = y[0] - x[0], r = y[1] - x[1], zero(0.0);
        d[2] = within_half_turn(y[2] - x[2]);
        const Vec3<T> u =
            log_translation<T>({zero, zero, d[2]}, {fma(c, p, s * r), fma(c, r, -(s * p)), zero});
        d[0] = u.x, d[1] = u.y;
        return;
    }
    const int k = body.quaternion - body.q;
    T unit[4];
    store_normalized(load_quaternion(x + k), unit);
    const Quaternion<T> inverse = {{-unit[0], -unit[1], -unit[2]}, unit[3]};
    store_normalized(load_quaternion(y + k), unit);
    const Vec3<T> w = quaternion_log(inverse * load_quaternion(unit));
    d[k] = w.x, d[k + 1] = w.y, d[k + 2] = w.z;
    if (body.kind == JointKind::free) {
        const Vec3<T> step = {y[0] - x[0], y[1] - x[1], y[2] - x[2]};
        const Vec3<T> u = log_translation(w, transposed_mul(quaternion_rotation(x + 3), step));
        d[0] = u.x, d[1] = u.y, d[2] = u.z;
    }
}

// dq with q0 (+) dq = q1
template <class T> void difference(const Tree& tree, const T* q0, const T* q1, T* dq) {
    const auto subtract = [&](const Body& first, const Body& last) {
        const T *x = q0 + first.q, *y = q1 + first.q;
        T* d = dq + first.v;
        const int count = last.v + last.nv - first.v;
        for (int k = 0; k < count; ++k) d[k] = y[k] - x[k];
    };
    for_runs_of_joints(tree, subtract, [&](const Body& body) {
        joint_difference(body, q0 + body.q, q1 + body.q, dq + body.v);
    });
}

// Unit quaternions; everything else unchanged.
template <class T> void normalize(const Tree& tree, const T* q, T* result) {
    for (int k = 0; k < tree.nq; ++k) result[k] = q[k];
    for (int i = 0; i < tree.nnodes; ++i) {
        const Body& body = tree.bodies[i];
        if (body.quaternion < 0) continue;
        store_normalized(load_quaternion(q + body.quaternion), result + body.quaternion);
    }
}

}  // namespace dtau::DTAU_VARIANT
