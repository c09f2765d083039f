// Converts rotations: matrices, quaternions, rotation vectors, and roll, pitch, yaw. The main functions
// are unit_quaternion(), rotation_vector() and roll_pitch_yaw().
//
//   rotation vector   w = 2 atan2(|v|, |w|) v / |v| of a quaternion (v; w), of angle at most pi
//   matrix            R = Rz(yaw) Ry(pitch) Rx(roll)
//
// The textbook takes the angle of a matrix from its trace, which loses half of the digits near 0 and pi.
// Here it comes from the products of the quaternion's parts. [Derivations] eqs. 16.5, 25.1
#pragma once

#include "dtau/algorithms/steps/manifold.hpp"

namespace dtau::DTAU_VARIANT {

// The quaternion of a rotation matrix, times four times the largest of its parts: no part loses digits.
template <class T> inline Quaternion<T> quaternion_products(const Mat3<T>& R) {
    const T &xx = R.x.x, &yy = R.y.y, &zz = R.z.z, one(1.0);
    const T xy = R.x.y + R.y.x, yz = R.y.z + R.z.y, zx = R.z.x + R.x.z;
    const T xw = R.y.z - R.z.y, yw = R.z.x - R.x.z, zw = R.x.y - R.y.x;
    T most = one + xx + yy + zz;
    Quaternion<T> x = {{xw, yw, zw}, most};
    const auto take = [&](T square, const Quaternion<T>& by) {
        const auto larger = less(most - square, 0.0);
        x.v.x = select(larger, by.v.x, x.v.x), x.v.y = select(larger, by.v.y, x.v.y);
        x.v.z = select(larger, by.v.z, x.v.z), x.w = select(larger, by.w, x.w);
        most = select(larger, square, most);
    };
    const T x2 = one + xx - yy - zz, y2 = one - xx + yy - zz, z2 = one - xx - yy + zz;
    take(x2, {{x2, xy, zx}, xw});
    take(y2, {{xy, y2, yz}, yw});
    take(z2, {{zx, yz, z2}, zw});
    return x;
}

// The rotation vector of a quaternion of any norm but zero. Near zero half the angle cannot be told from
// its sine.
template <class T> inline Vec3<T> rotation_vector(const Quaternion<T>& x) {
    const auto back = less(x.w, 0.0);
    const T n = square_root(dot(x.v, x.v)), w = select(back, -x.w, x.w);
    const auto tiny = less(n, 1e-10);
    const T scale = T(2.0) * select(tiny, T(1.0), angle_of(n, w)) / select(tiny, w, n);
    return select(back, -scale, scale) * x.v;
}

// The rotation vector of a rotation matrix.
template <class T> Vec3<T> rotation_log(const Mat3<T>& R) {
    return rotation_vector(quaternion_products(R));
}

// The unit quaternion of a rotation matrix, with w >= 0.
template <class T> inline Quaternion<T> unit_quaternion(const Mat3<T>& R) {
    const Quaternion<T> x = quaternion_products(R);
    const T scale = T(1.0) / square_root(dot(x.v, x.v, x.w * x.w));
    const T by = select(less(x.w, 0.0), -scale, scale), zero(0.0);
    return {{fma(by, x.v.x, zero), fma(by, x.v.y, zero), fma(by, x.v.z, zero)},
            fma(by, x.w, zero)};  // without the sign of a zero
}

// The angle of (x, y) from the x axis, from -pi to pi; zero for x = y = 0.
template <class T> inline T any_angle_of(T y, T x) {
    constexpr double pi = 3.141592653589793116, rest = 1.2246467991473532e-16;
    const auto below = less(y, 0.0), behind = less(x, 0.0);
    const T height = select(below, -y, y), width = select(behind, -x, x);
    const auto none = less(height + width, 1e-300);
    const T angle = angle_of(height, select(none, T(1.0), width));
    const T turned = select(behind, (T(pi) - angle) + T(rest), angle);
    return select(below, -turned, turned);
}

// Roll, pitch and yaw of a rotation matrix. Roll comes from the rotation without yaw, so that the angles
// fit together where only their sum or difference is determined.
template <class T> inline Vec3<T> roll_pitch_yaw(const Mat3<T>& R) {
    const T yaw = any_angle_of(R.x.y, R.x.x);
    T sine, cosine;
    sincos(yaw, sine, cosine);
    const T roll =
        any_angle_of(fma(sine, R.z.x, -(cosine * R.z.y)), fma(cosine, R.y.y, -(sine * R.y.x)));
    const T flat = square_root(fma(R.x.x, R.x.x, R.x.y * R.x.y));
    return {roll, any_angle_of(negated(R.x.z), flat), yaw};
}

// The unit quaternion of roll, pitch and yaw.
template <class T> inline Quaternion<T> quaternion_of_angles(const Vec3<T>& rpy) {
    T sr, cr, sp, cp, sy, cy;
    sincos(T(0.5) * rpy.x, sr, cr);
    sincos(T(0.5) * rpy.y, sp, cp);
    sincos(T(0.5) * rpy.z, sy, cy);
    return {{fma(sr, cp * cy, -(cr * sp * sy)), fma(cr, sp * cy, sr * cp * sy),
             fma(cr, cp * sy, -(sr * sp * cy))},
            fma(cr, cp * cy, sr * sp * sy)};
}

template <class T> inline Mat3<T> rotation_matrix(const Quaternion<T>& x) {
    const T numbers[4] = {x.v.x, x.v.y, x.v.z, x.w};
    return quaternion_rotation(numbers);
}
template <class T> inline Quaternion<T> conjugate(const Quaternion<T>& x) { return {-x.v, x.w}; }

}  // namespace dtau::DTAU_VARIANT
