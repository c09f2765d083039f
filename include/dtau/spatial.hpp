// Spatial vectors and operators in one coordinate frame (Featherstone, Rigid Body Dynamics
// Algorithms, chapter 2). Angular part first: motion (ang; lin), force (moment; force).
//
// Everything is a plain struct of scalars. A and B below are the scalar types of the operands: a
// model constant is double where the state is Lane or complex.
#pragma once

#include "dtau/lane.hpp"

namespace dtau::DTAU_VARIANT {

// ---------------------------------------------------------------- 3-vectors and 3x3 matrices

template <class T>
struct Vec3 {
    T x, y, z;
    DTAU_INLINE Vec3& operator+=(const Vec3& b) { return *this = *this + b; }
};

template <class T>
DTAU_INLINE Vec3<T> operator+(const Vec3<T>& a, const Vec3<T>& b) {
    return {a.x + b.x, a.y + b.y, a.z + b.z};
}
template <class T>
DTAU_INLINE Vec3<T> operator-(const Vec3<T>& a, const Vec3<T>& b) {
    return {a.x - b.x, a.y - b.y, a.z - b.z};
}
template <class T>
DTAU_INLINE Vec3<T> operator-(const Vec3<T>& a) {
    return {-a.x, -a.y, -a.z};
}
template <class A, class T>
DTAU_INLINE Vec3<T> operator*(A s, const Vec3<T>& a) {
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
template <class A, class T>
DTAU_INLINE T dot(const Vec3<A>& a, const Vec3<T>& b) {
    return fma(a.x, b.x, fma(a.y, b.y, a.z * b.z));
}
template <class T>
DTAU_INLINE Vec3<T> cross(const Vec3<T>& a, const Vec3<T>& b) {
    return {fma(a.y, b.z, -(a.z * b.y)), fma(a.z, b.x, -(a.x * b.z)), fma(a.x, b.y, -(a.y * b.x))};
}
template <class T>
DTAU_INLINE Vec3<T> cross(const Vec3<T>& a, const Vec3<T>& b, const Vec3<T>& c) {  // a x b + c
    return {fma(a.y, b.z, fma(-a.z, b.y, c.x)), fma(a.z, b.x, fma(-a.x, b.z, c.y)),
            fma(a.x, b.y, fma(-a.y, b.x, c.z))};
}

// A matrix by columns. As a rotation it maps from the frame whose axes are x, y, z.
template <class T>
struct Mat3 {
    Vec3<T> x, y, z;
    static DTAU_INLINE Mat3 identity() {
        return {{T(1.0), T(0.0), T(0.0)}, {T(0.0), T(1.0), T(0.0)}, {T(0.0), T(0.0), T(1.0)}};
    }
    DTAU_INLINE Mat3& operator+=(const Mat3& b) {
        x += b.x, y += b.y, z += b.z;
        return *this;
    }
};

template <class T, class B>
DTAU_INLINE Vec3<T> operator*(const Mat3<T>& m, const Vec3<B>& a) {
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
template <class T, class B>
DTAU_INLINE Mat3<T> operator*(const Mat3<T>& a, const Mat3<B>& b) {
    return {a * b.x, a * b.y, a * b.z};
}

// Symmetric 3x3.
template <class T>
struct Sym3 {
    T xx, xy, xz, yy, yz, zz;
    DTAU_INLINE Sym3& operator+=(const Sym3& b) {
        xx += b.xx, xy += b.xy, xz += b.xz, yy += b.yy, yz += b.yz, zz += b.zz;
        return *this;
    }
};

template <class A, class T>
DTAU_INLINE Vec3<T> operator*(const Sym3<A>& s, const Vec3<T>& a) {
    return {fma(s.xx, a.x, fma(s.xy, a.y, s.xz * a.z)), fma(s.xy, a.x, fma(s.yy, a.y, s.yz * a.z)),
            fma(s.xz, a.x, fma(s.yz, a.y, s.zz * a.z))};
}

// R S R^T
template <class T, class A>
DTAU_INLINE Sym3<T> rotated(const Mat3<T>& R, const Sym3<A>& s) {
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

// ---------------------------------------------------------------- motions and forces

template <class T>
struct Motion {
    Vec3<T> ang, lin;
};
template <class T>
struct Force {
    Vec3<T> ang, lin;  // moment about the origin; force
    DTAU_INLINE Force& operator+=(const Force& b) {
        ang += b.ang, lin += b.lin;
        return *this;
    }
};

template <class T>
DTAU_INLINE Motion<T> operator+(const Motion<T>& a, const Motion<T>& b) {
    return {a.ang + b.ang, a.lin + b.lin};
}
template <class T>
DTAU_INLINE Force<T> operator+(const Force<T>& a, const Force<T>& b) {
    return {a.ang + b.ang, a.lin + b.lin};
}
template <class T>
DTAU_INLINE Force<T> operator-(const Force<T>& a, const Force<T>& b) {
    return {a.ang - b.ang, a.lin - b.lin};
}
template <class T>
DTAU_INLINE Motion<T> operator-(const Motion<T>& a) {
    return {-a.ang, -a.lin};
}
template <class T>
DTAU_INLINE Motion<T> fma(T s, const Motion<T>& a, const Motion<T>& b) {  // s a + b
    return {fma(s, a.ang, b.ang), fma(s, a.lin, b.lin)};
}
template <class T>
DTAU_INLINE Force<T> fma(T s, const Force<T>& a, const Force<T>& b) {
    return {fma(s, a.ang, b.ang), fma(s, a.lin, b.lin)};
}
template <class T>
DTAU_INLINE T dot(const Motion<T>& m, const Force<T>& f) {
    return dot(m.ang, f.ang, dot(m.lin, f.lin));
}
template <class T>
DTAU_INLINE T dot(const Force<T>& f, const Motion<T>& m) {
    return dot(m, f);
}
template <class T>
DTAU_INLINE T dot(const Force<T>& f, const Motion<T>& m, T c) {  // f . m + c
    return dot(m.ang, f.ang, dot(m.lin, f.lin, c));
}

// Motion cross product v x m, and force cross product v x* f ([RBDA] eqs. 2.31, 2.32).
template <class T>
DTAU_INLINE Motion<T> cross(const Motion<T>& v, const Motion<T>& m) {
    return {cross(v.ang, m.ang), cross(v.ang, m.lin, cross(v.lin, m.ang))};
}
template <class T>
DTAU_INLINE Motion<T> cross(const Motion<T>& v, const Motion<T>& m, const Motion<T>& c) {  // + c
    return {cross(v.ang, m.ang, c.ang), cross(v.ang, m.lin, cross(v.lin, m.ang, c.lin))};
}
template <class T>
DTAU_INLINE Force<T> cross_star(const Motion<T>& v, const Force<T>& f) {
    return {cross(v.ang, f.ang, cross(v.lin, f.lin)), cross(v.ang, f.lin)};
}
template <class T>
DTAU_INLINE Force<T> cross_star(const Motion<T>& v, const Force<T>& f, const Force<T>& c) {  // + c
    return {cross(v.ang, f.ang, cross(v.lin, f.lin, c.ang)), cross(v.ang, f.lin, c.lin)};
}

// ---------------------------------------------------------------- rigid-body inertia

// Mass, first moment h = m c and rotational inertia J, both about the common origin.
template <class T>
struct Inertia {
    T m;
    Vec3<T> h;
    Sym3<T> J;
    DTAU_INLINE Inertia& operator+=(const Inertia& b) {
        m += b.m, h += b.h, J += b.J;
        return *this;
    }
};

template <class A, class T>
DTAU_INLINE Force<T> operator*(const Inertia<A>& I, const Motion<T>& v) {
    const Vec3<T> h = {T(I.h.x), T(I.h.y), T(I.h.z)};  // A may be double
    return {cross(h, v.lin, I.J * v.ang), fma(I.m, v.lin, cross(v.ang, h))};
}

// Inertia of a body of mass m, centre of mass c and rotational inertia J about c (both in body
// axes) whose frame stands at (R, r): parallel axes to the common origin.
template <class T>
DTAU_INLINE Inertia<T> transformed(const Mat3<T>& R, const Vec3<T>& r, double m,
                                   const Vec3<double>& c, const Sym3<double>& J_com) {
    const Vec3<T> d = mul_add(R, c, r), h = m * d;
    Sym3<T> J = rotated(R, J_com);
    const T xx = h.x * d.x, yy = h.y * d.y, zz = h.z * d.z;
    J.xx += yy + zz;
    J.yy += xx + zz;
    J.zz += xx + yy;
    J.xy = fma(-h.x, d.y, J.xy);
    J.xz = fma(-h.x, d.z, J.xz);
    J.yz = fma(-h.y, d.z, J.yz);
    return {T(m), h, J};
}

// ---------------------------------------------------------------- body Coriolis operator

// 2 B = v x* I - I v x + (I v) xbar*, of [IDSVA] eq. 31 (there without the 2), has 12 numbers:
//     2B (w; u) = (A w; -2 p x w)   and   (2B)^T (n; f) = (A^T n + 2 p x f; 0)
// with the linear momentum p and A = w^ (2 J - tr(J) 1) - 2 v h^T + 2 (h . v) 1.
template <class T>
struct Coriolis {
    Mat3<T> A;
    Vec3<T> p2;  // 2 p
    DTAU_INLINE Coriolis& operator+=(const Coriolis& b) {
        A += b.A, p2 += b.p2;
        return *this;
    }
};

// momentum = I v
template <class T>
DTAU_INLINE Coriolis<T> coriolis(const Inertia<T>& I, const Motion<T>& v,
                                 const Force<T>& momentum) {
    const Sym3<T>& J = I.J;
    const T two(2.0), hv = two * dot(I.h, v.lin);
    const T xx = (J.xx - J.yy) - J.zz, yy = (J.yy - J.xx) - J.zz, zz = (J.zz - J.xx) - J.yy;
    const T xy = two * J.xy, xz = two * J.xz, yz = two * J.yz;
    const Vec3<T> u = T(-2.0) * v.lin;
    Coriolis<T> B;
    B.A.x = cross(v.ang, Vec3<T>{xx, xy, xz}, I.h.x * u);
    B.A.y = cross(v.ang, Vec3<T>{xy, yy, yz}, I.h.y * u);
    B.A.z = cross(v.ang, Vec3<T>{xz, yz, zz}, I.h.z * u);
    B.A.x.x += hv;
    B.A.y.y += hv;
    B.A.z.z += hv;
    B.p2 = two * momentum.lin;
    return B;
}

// 2B m + c
template <class T>
DTAU_INLINE Force<T> mul_add(const Coriolis<T>& B, const Motion<T>& m, const Force<T>& c) {
    return {mul_add(B.A, m.ang, c.ang), cross(m.ang, B.p2, c.lin)};
}
template <class T>
DTAU_INLINE Force<T> operator*(const Coriolis<T>& B, const Motion<T>& m) {
    return {B.A * m.ang, cross(m.ang, B.p2)};
}
// The angular part of (2B)^T m; its linear part is zero.
template <class T>
DTAU_INLINE Vec3<T> transposed_mul(const Coriolis<T>& B, const Motion<T>& m) {
    return cross(B.p2, m.lin, transposed_mul(B.A, m.ang));
}

// The same two products where B meets a single motion: its factors one after another, B not formed.
// momentum = I v
template <class T>
DTAU_INLINE Force<T> coriolis_mul_add(const Inertia<T>& I, const Motion<T>& v,
                                      const Force<T>& momentum, const Motion<T>& m,
                                      const Force<T>& c) {  // 2B m + c
    const Vec3<T> n = m.ang, n2 = n + n;
    const Vec3<T> k = fma(-(I.J.xx + I.J.yy + I.J.zz), n, I.J * n2);
    const Vec3<T> u = fma(dot(I.h, v.lin), n2, fma(-dot(I.h, n2), v.lin, c.ang));
    return {cross(v.ang, k, u), cross(n2, momentum.lin, c.lin)};
}
template <class T>
DTAU_INLINE Vec3<T> coriolis_transposed_mul(const Inertia<T>& I, const Motion<T>& v,
                                            const Force<T>& momentum, const Motion<T>& m) {
    const Vec3<T> n = m.ang, n2 = n + n, x = cross(n, v.ang);
    const Vec3<T> k = fma(-(I.J.xx + I.J.yy + I.J.zz), x, I.J * (x + x));
    const Vec3<T> u = fma(dot(I.h, v.lin), n2, fma(-dot(n2, v.lin), I.h, k));
    return cross(momentum.lin + momentum.lin, m.lin, u);
}

}  // namespace dtau::DTAU_VARIANT
