// Defines vectors, 3x3 matrices, and spatial vectors in one coordinate frame: Vec3, Mat3, Motion, Force,
// Placement ([RBDA] chapter 2). Angular part first: motion (ang; lin), force (moment; force).
//
// Everything is a plain struct of scalars. A and B below are the scalar types of the operands: a
// model constant is double where the state is Lane or complex.
#pragma once

#include "dtau/lane.hpp"

namespace dtau::DTAU_VARIANT {

// ---------------------------------------------------------------- 3-vectors and 3x3 matrices

template <class T> struct Vec3 {
    T x, y, z;

    // Written out so that vectors are copied number by number. Compilers copy structs in blocks, and a load
    // of a block waits for the stores of its numbers.
    Vec3() = default;
    DTAU_INLINE Vec3(T a, T b, T c) : x(a), y(b), z(c) {}
    DTAU_INLINE Vec3(const Vec3& a) : x(a.x), y(a.y), z(a.z) {}
    DTAU_INLINE Vec3& operator=(const Vec3& a) {
        x = a.x, y = a.y, z = a.z;
        return *this;
    }
    DTAU_INLINE Vec3& operator+=(const Vec3& b) { return *this = *this + b; }
};

template <class T> DTAU_INLINE Vec3<T> zero_vector() { return {T(0.0), T(0.0), T(0.0)}; }
template <class T> DTAU_INLINE Vec3<T> operator+(const Vec3<T>& a, const Vec3<T>& b) {
    return {a.x + b.x, a.y + b.y, a.z + b.z};
}
template <class T> DTAU_INLINE Vec3<T> operator-(const Vec3<T>& a, const Vec3<T>& b) {
    return {a.x - b.x, a.y - b.y, a.z - b.z};
}
template <class T> DTAU_INLINE Vec3<T> operator-(const Vec3<T>& a) {
    return {negated(a.x), negated(a.y), negated(a.z)};
}
template <class A, class T> DTAU_INLINE Vec3<T> operator*(A s, const Vec3<T>& a) {
    return {s * a.x, s * a.y, s * a.z};
}
template <class A, class T>
DTAU_INLINE Vec3<T> fma(A s, const Vec3<T>& a, const Vec3<T>& b) {  // s a + b
    return {fma(s, a.x, b.x), fma(s, a.y, b.y), fma(s, a.z, b.z)};
}
template <class A, class T>
DTAU_INLINE T dot(const Vec3<A>& a, const Vec3<T>& b, T c) {  // a . b + c
    return fma(a.x, b.x, fma(a.y, b.y, fma(a.z, b.z, c)));
}
template <class A, class T> DTAU_INLINE T dot(const Vec3<A>& a, const Vec3<T>& b) {
    return fma(a.x, b.x, fma(a.y, b.y, a.z * b.z));
}
template <class T> DTAU_INLINE Vec3<T> cross(const Vec3<T>& a, const Vec3<T>& b) {
    return {fma(a.y, b.z, -(a.z * b.y)), fma(a.z, b.x, -(a.x * b.z)), fma(a.x, b.y, -(a.y * b.x))};
}
template <class T>
DTAU_INLINE Vec3<T> cross(const Vec3<T>& a, const Vec3<T>& b, const Vec3<T>& c) {  // a x b + c
    return {fma(a.y, b.z, fma(-a.z, b.y, c.x)), fma(a.z, b.x, fma(-a.x, b.z, c.y)),
            fma(a.x, b.y, fma(-a.y, b.x, c.z))};
}

// A matrix by columns. As a rotation it maps from the frame whose axes are x, y, z.
template <class T> struct Mat3 {
    Vec3<T> x, y, z;
    static DTAU_INLINE Mat3 identity() {
        return {{T(1.0), T(0.0), T(0.0)}, {T(0.0), T(1.0), T(0.0)}, {T(0.0), T(0.0), T(1.0)}};
    }
    DTAU_INLINE Mat3& operator+=(const Mat3& b) {
        x += b.x, y += b.y, z += b.z;
        return *this;
    }
};

template <class T, class B> DTAU_INLINE Vec3<T> operator*(const Mat3<T>& m, const Vec3<B>& a) {
    return fma(a.x, m.x, fma(a.y, m.y, a.z * m.z));
}
template <class T, class B>
DTAU_INLINE Vec3<T> mul_add(const Mat3<T>& m, const Vec3<B>& a, const Vec3<T>& b) {  // m a + b
    return fma(a.x, m.x, fma(a.y, m.y, fma(a.z, m.z, b)));
}
template <class A, class T>
DTAU_INLINE Vec3<T> transposed_mul(const Mat3<A>& m, const Vec3<T>& a) {  // m^T a
    return {dot(m.x, a), dot(m.y, a), dot(m.z, a)};
}
template <class T, class B> DTAU_INLINE Mat3<T> operator*(const Mat3<T>& a, const Mat3<B>& b) {
    return {a * b.x, a * b.y, a * b.z};
}
template <class T> DTAU_INLINE Mat3<T> operator*(T s, const Mat3<T>& a) {
    return {s * a.x, s * a.y, s * a.z};
}
template <class T> DTAU_INLINE Mat3<T> fma(T s, const Mat3<T>& a, const Mat3<T>& b) {  // s a + b
    return {fma(s, a.x, b.x), fma(s, a.y, b.y), fma(s, a.z, b.z)};
}
template <class T> DTAU_INLINE Mat3<T> zero_matrix() {
    return {zero_vector<T>(), zero_vector<T>(), zero_vector<T>()};
}
template <class T> DTAU_INLINE Mat3<T> transposed(const Mat3<T>& m) {
    return {{m.x.x, m.y.x, m.z.x}, {m.x.y, m.y.y, m.z.y}, {m.x.z, m.y.z, m.z.z}};
}
// a^, with a^ b = a x b
template <class T> DTAU_INLINE Mat3<T> skew(const Vec3<T>& a) {
    const T zero(0.0);
    return {{zero, a.z, -a.y}, {-a.z, zero, a.x}, {a.y, -a.x, zero}};
}

// Symmetric 3x3.
template <class T> struct Sym3 {
    T xx, xy, xz, yy, yz, zz;

    Sym3() = default;
    DTAU_INLINE Sym3(T a, T b, T c, T d, T e, T f) : xx(a), xy(b), xz(c), yy(d), yz(e), zz(f) {}
    DTAU_INLINE Sym3(const Sym3& a) : xx(a.xx), xy(a.xy), xz(a.xz), yy(a.yy), yz(a.yz), zz(a.zz) {}
    DTAU_INLINE Sym3& operator=(const Sym3& a) {
        xx = a.xx, xy = a.xy, xz = a.xz, yy = a.yy, yz = a.yz, zz = a.zz;
        return *this;
    }
    DTAU_INLINE Sym3& operator+=(const Sym3& b) {
        xx += b.xx, xy += b.xy, xz += b.xz, yy += b.yy, yz += b.yz, zz += b.zz;
        return *this;
    }
};

template <class T> DTAU_INLINE Mat3<T> full(const Sym3<T>& s) {
    return {{s.xx, s.xy, s.xz}, {s.xy, s.yy, s.yz}, {s.xz, s.yz, s.zz}};
}
template <class A, class T> DTAU_INLINE Vec3<T> operator*(const Sym3<A>& s, const Vec3<T>& a) {
    return {fma(s.xx, a.x, fma(s.xy, a.y, s.xz * a.z)), fma(s.xy, a.x, fma(s.yy, a.y, s.yz * a.z)),
            fma(s.xz, a.x, fma(s.yz, a.y, s.zz * a.z))};
}

// R S R^T
template <class T, class A> DTAU_INLINE Sym3<T> rotated(const Mat3<T>& R, const Sym3<A>& s) {
    const Vec3<T> u = fma(s.xx, R.x, fma(s.xy, R.y, s.xz * R.z));  // columns of R S
    const Vec3<T> v = fma(s.xy, R.x, fma(s.yy, R.y, s.yz * R.z));
    const Vec3<T> w = fma(s.xz, R.x, fma(s.yz, R.y, s.zz * R.z));
    const auto entry = [&](T Vec3<T>::* i, T Vec3<T>::* j) {
        return fma(u.*i, R.x.*j, fma(v.*i, R.y.*j, (w.*i) * (R.z.*j)));
    };
    using V = Vec3<T>;
    return {entry(&V::x, &V::x), entry(&V::x, &V::y), entry(&V::x, &V::z),
            entry(&V::y, &V::y), entry(&V::y, &V::z), entry(&V::z, &V::z)};
}

// Constants of the model, matrices by columns.
DTAU_INLINE Mat3<double> mat3(const double* m) {
    return {{m[0], m[1], m[2]}, {m[3], m[4], m[5]}, {m[6], m[7], m[8]}};
}
DTAU_INLINE Vec3<double> vec3(const double* v) { return {v[0], v[1], v[2]}; }
DTAU_INLINE Sym3<double> sym3(const double* s) { return {s[0], s[1], s[2], s[3], s[4], s[5]}; }

template <class T>
DTAU_INLINE void store_vector(const Vec3<T>& x, T* to, std::ptrdiff_t stride = 1) {
    to[0] = x.x, to[stride] = x.y, to[2 * stride] = x.z;
}

// A constant in T.
template <class T> DTAU_INLINE Vec3<T> lift(const Vec3<double>& a) {
    return {T(a.x), T(a.y), T(a.z)};
}
template <class T> DTAU_INLINE Mat3<T> lift(const Mat3<double>& m) {
    return {lift<T>(m.x), lift<T>(m.y), lift<T>(m.z)};
}

// ---------------------------------------------------------------- motions and forces

template <class T> struct Motion {
    Vec3<T> ang, lin;
};
template <class T> struct Force {
    Vec3<T> ang, lin;  // moment about the origin; force
    DTAU_INLINE Force& operator+=(const Force& b) {
        ang += b.ang, lin += b.lin;
        return *this;
    }
};

template <class T> DTAU_INLINE Motion<T> in_register(const Motion<T>& m) {
    return {{in_register(m.ang.x), in_register(m.ang.y), in_register(m.ang.z)},
            {in_register(m.lin.x), in_register(m.lin.y), in_register(m.lin.z)}};
}

template <class T> DTAU_INLINE Motion<T> zero_motion() {
    return {zero_vector<T>(), zero_vector<T>()};
}
template <class T> DTAU_INLINE Force<T> zero_force() {
    return {zero_vector<T>(), zero_vector<T>()};
}
template <class T> DTAU_INLINE Motion<T> operator+(const Motion<T>& a, const Motion<T>& b) {
    return {a.ang + b.ang, a.lin + b.lin};
}
template <class T> DTAU_INLINE Force<T> operator+(const Force<T>& a, const Force<T>& b) {
    return {a.ang + b.ang, a.lin + b.lin};
}
template <class T> DTAU_INLINE Force<T> operator-(const Force<T>& a, const Force<T>& b) {
    return {a.ang - b.ang, a.lin - b.lin};
}
template <class T> DTAU_INLINE Motion<T> operator-(const Motion<T>& a) { return {-a.ang, -a.lin}; }
template <class T> DTAU_INLINE Force<T> operator*(T s, const Force<T>& a) {
    return {s * a.ang, s * a.lin};
}
template <class T>
DTAU_INLINE Motion<T> fma(T s, const Motion<T>& a, const Motion<T>& b) {  // s a + b
    return {fma(s, a.ang, b.ang), fma(s, a.lin, b.lin)};
}
template <class T> DTAU_INLINE Force<T> fma(T s, const Force<T>& a, const Force<T>& b) {
    return {fma(s, a.ang, b.ang), fma(s, a.lin, b.lin)};
}
template <class T> DTAU_INLINE T dot(const Motion<T>& m, const Force<T>& f) {
    return dot(m.ang, f.ang, dot(m.lin, f.lin));
}
template <class T> DTAU_INLINE T dot(const Force<T>& f, const Motion<T>& m) { return dot(m, f); }
template <class T> DTAU_INLINE T dot(const Force<T>& f, const Motion<T>& m, T c) {  // f . m + c
    return dot(m.ang, f.ang, dot(m.lin, f.lin, c));
}

template <class T>
DTAU_INLINE Motion<T> mul_add(const Mat3<T>& R, const Motion<T>& m,
                              const Motion<T>& c) {  // R m + c
    return {mul_add(R, m.ang, c.ang), mul_add(R, m.lin, c.lin)};
}
template <class T>
DTAU_INLINE Force<T> mul_add(const Mat3<T>& R, const Force<T>& f, const Force<T>& c) {
    return {mul_add(R, f.ang, c.ang), mul_add(R, f.lin, c.lin)};
}

// Motion cross product v x m, and force cross product v x* f ([RBDA] eqs. 2.31, 2.32).
template <class T> DTAU_INLINE Motion<T> cross(const Motion<T>& v, const Motion<T>& m) {
    return {cross(v.ang, m.ang), cross(v.ang, m.lin, cross(v.lin, m.ang))};
}
template <class T>
DTAU_INLINE Motion<T> cross(const Motion<T>& v, const Motion<T>& m, const Motion<T>& c) {  // + c
    return {cross(v.ang, m.ang, c.ang), cross(v.ang, m.lin, cross(v.lin, m.ang, c.lin))};
}
template <class T> DTAU_INLINE Force<T> cross_star(const Motion<T>& v, const Force<T>& f) {
    return {cross(v.ang, f.ang, cross(v.lin, f.lin)), cross(v.ang, f.lin)};
}
template <class T>
DTAU_INLINE Force<T> cross_star(const Motion<T>& v, const Force<T>& f, const Force<T>& c) {  // + c
    return {cross(v.ang, f.ang, cross(v.lin, f.lin, c.ang)), cross(v.ang, f.lin, c.lin)};
}

// ---------------------------------------------------------------- placements

// Pose of a body: its axes by columns, and its origin.
template <class T> struct Placement {
    Mat3<T> R;
    Vec3<T> r;
};

// A motion given where P is, seen from P.
template <class T> DTAU_INLINE Motion<T> seen_from(const Placement<T>& P, const Motion<T>& m) {
    return {transposed_mul(P.R, m.ang), transposed_mul(P.R, cross(m.ang, P.r, m.lin))};
}
// A force given in the axes and at the origin of P.
template <class T> DTAU_INLINE Force<T> transformed(const Placement<T>& P, const Force<T>& f) {
    const Vec3<T> lin = P.R * f.lin;
    return {cross(P.r, lin, P.R * f.ang), lin};
}

}  // namespace dtau::DTAU_VARIANT
