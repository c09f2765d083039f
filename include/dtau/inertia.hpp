// Applies and moves linear operators from motions to forces: Inertia, ArticulatedInertia, Coriolis,
// CoriolisDual; and computes their rates when a joint moves the bodies, moving(). Each is held in the fewest
// numbers: 10, 21, 12 and 12.
#pragma once

#include "dtau/spatial.hpp"

namespace dtau::DTAU_VARIANT {

// ---------------------------------------------------------------- rigid-body inertia

// Mass, first moment h = m c and rotational inertia J, both about the common origin.
template <class T> struct Inertia {
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
    // [Derivations] eq. 1.2
    return {cross(h, v.lin, I.J * v.ang), fma(I.m, v.lin, cross(v.ang, h))};
}

// Inertia of a body of mass m, center of mass c and rotational inertia J about c (both in body
// axes) whose frame stands at (R, r): parallel axes to the common origin.
template <class T, class C>
DTAU_INLINE Inertia<T> transformed(const Mat3<T>& R, const Vec3<T>& r, C m, const Vec3<C>& c,
                                   const Sym3<C>& J_com) {
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

// Moves an inertia from the origin r to the origin that r is given from; all along the same axes.
template <class T> DTAU_INLINE Inertia<T> moved(const Vec3<T>& r, const Inertia<T>& I) {
    const Vec3<T>& h = I.h;
    const Sym3<T>& J = I.J;
    const Vec3<T> k = fma(I.m, r, h), s = k + h;
    const T x = r.x * s.x, y = r.y * s.y, z = r.z * s.z;
    return {
        I.m,
        k,
        {J.xx + (y + z), fma(-r.x, h.y, fma(-k.x, r.y, J.xy)), fma(-r.x, h.z, fma(-k.x, r.z, J.xz)),
         // [Derivations] eq. 2.5
         J.yy + (x + z), fma(-r.y, h.z, fma(-k.y, r.z, J.yz)), J.zz + (x + y)}};
}

// Moves an inertia from the frame P to the frame that P is given in. Linear in I, unlike the above.
template <class T> DTAU_INLINE Inertia<T> transformed(const Placement<T>& P, const Inertia<T>& I) {
    return moved(P.r, Inertia<T>{I.m, P.R * I.h, rotated(P.R, I.J)});
}

// ---------------------------------------------------------------- articulated inertia

// [J H; H^T M]: 21 numbers.
template <class T> struct ArticulatedInertia {
    Sym3<T> J;
    Mat3<T> H;
    Sym3<T> M;
    DTAU_INLINE ArticulatedInertia& operator+=(const ArticulatedInertia& b) {
        J += b.J, H += b.H, M += b.M;
        return *this;
    }
};

// The inertia of a rigid body as an articulated inertia.
template <class T> DTAU_INLINE ArticulatedInertia<T> articulated(const Inertia<T>& I) {
    const T zero(0.0);
    return {I.J, skew(I.h), {I.m, zero, zero, I.m, zero, I.m}};
}
template <class T>
DTAU_INLINE Force<T> operator*(const ArticulatedInertia<T>& I, const Motion<T>& a) {
    return {mul_add(I.H, a.lin, I.J * a.ang), transposed_mul(I.H, a.ang) + I.M * a.lin};
}
template <class T> DTAU_INLINE void subtract_outer(Sym3<T>& s, const Vec3<T>& a, const Vec3<T>& b) {
    s.xx = fma(-a.x, b.x, s.xx), s.xy = fma(-a.x, b.y, s.xy), s.xz = fma(-a.x, b.z, s.xz);
    s.yy = fma(-a.y, b.y, s.yy), s.yz = fma(-a.y, b.z, s.yz), s.zz = fma(-a.z, b.z, s.zz);
}
// IA - U W^T for parallel U and W.
template <class T>
DTAU_INLINE void subtract_outer(ArticulatedInertia<T>& IA, const Force<T>& U, const Force<T>& W) {
    subtract_outer(IA.J, U.ang, W.ang);
    subtract_outer(IA.M, U.lin, W.lin);
    IA.H = {fma(-W.lin.x, U.ang, IA.H.x), fma(-W.lin.y, U.ang, IA.H.y),
            fma(-W.lin.z, U.ang, IA.H.z)};
}
// IA - U U^T / d
template <class T>
DTAU_INLINE void subtract_rank_one(ArticulatedInertia<T>& IA, const Force<T>& U, T d_inverse) {
    subtract_outer(IA, U, d_inverse * U);
}

// Moves I from the frame P to the frame that P is given in: axes and origin. [RBDA] eq. 2.66, for any
// symmetric inertia.
template <class T>
DTAU_INLINE ArticulatedInertia<T> transformed(const Placement<T>& P,
                                              const ArticulatedInertia<T>& I) {
    const Vec3<T>& r = P.r;
    const Sym3<T> M = rotated(P.R, I.M);
    const Mat3<T> H = P.R * I.H * transposed(P.R);
    const Mat3<T> F = full(M);
    const Mat3<T> moved = {cross(r, F.x, H.x), cross(r, F.y, H.y), cross(r, F.z, H.z)};
    const Mat3<T> rows = transposed(moved);  // for H r^, and r^ times the transpose of `moved`:
    const Mat3<T> back = {fma(-r.y, H.z, r.z * H.y), fma(-r.z, H.x, r.x * H.z),
                          fma(-r.x, H.y, r.y * H.x)};
    const Mat3<T> on = {cross(r, rows.x), cross(r, rows.y), cross(r, rows.z)};
    Sym3<T> J = rotated(P.R, I.J);
    J.xx += on.x.x - back.x.x, J.xy += on.y.x - back.y.x, J.xz += on.z.x - back.z.x;
    J.yy += on.y.y - back.y.y, J.yz += on.z.y - back.z.y, J.zz += on.z.z - back.z.z;
    return {J, moved, M};
}

// ---------------------------------------------------------------- body Coriolis operator

// 2 B = v x* I - I v x + (I v) xbar*, of [IDSVA] eq. 28, has 12 numbers ([Derivations] §3):
//     2B (w; u) = (A w; -2 p x w)   and   (2B)^T (n; f) = (A^T n + 2 p x f; 0)
// with the linear momentum p and A = w^ (2 J - tr(J) 1) - 2 v h^T + 2 (h . v) 1.
template <class T> struct Coriolis {
    Mat3<T> A;
    Vec3<T> p2;  // 2 p
    DTAU_INLINE Coriolis& operator+=(const Coriolis& b) {
        A += b.A, p2 += b.p2;
        return *this;
    }
};

// 2 J - tr(J) 1
template <class T> DTAU_INLINE Sym3<T> twice_less_trace(const Sym3<T>& J) {
    const T two(2.0);
    return {(J.xx - J.yy) - J.zz, two * J.xy, two * J.xz,
            (J.yy - J.xx) - J.zz, two * J.yz, (J.zz - J.xx) - J.yy};
}

// momentum = I v
template <class T>
DTAU_INLINE Coriolis<T> coriolis(const Inertia<T>& I, const Motion<T>& v,
                                 const Force<T>& momentum) {
    const T two(2.0), hv = two * dot(I.h, v.lin);
    const Mat3<T> K = full(twice_less_trace(I.J));
    const Vec3<T> u = T(-2.0) * v.lin;
    Coriolis<T> B;
    B.A.x = cross(v.ang, K.x, I.h.x * u);
    B.A.y = cross(v.ang, K.y, I.h.y * u);
    B.A.z = cross(v.ang, K.z, I.h.z * u);
    B.A.x.x += hv;
    B.A.y.y += hv;
    B.A.z.z += hv;
    B.p2 = two * momentum.lin;  // [Derivations] eq. 3.2
    return B;
}

// 2B m + c
template <class T>
DTAU_INLINE Force<T> mul_add(const Coriolis<T>& B, const Motion<T>& m, const Force<T>& c) {
    return {mul_add(B.A, m.ang, c.ang), cross(m.ang, B.p2, c.lin)};  // [Derivations] eq. 3.2
}
template <class T> DTAU_INLINE Force<T> operator*(const Coriolis<T>& B, const Motion<T>& m) {
    return {B.A * m.ang, cross(m.ang, B.p2)};
}
// The angular part of (2B)^T m; its linear part is zero.
template <class T> DTAU_INLINE Vec3<T> transposed_mul(const Coriolis<T>& B, const Motion<T>& m) {
    return cross(B.p2, m.lin, transposed_mul(B.A, m.ang));  // [Derivations] eq. 3.3
}

// The same two products without forming B, for operators that multiply a single motion. momentum = I v
template <class T>
DTAU_INLINE Force<T> coriolis_mul_add(const Inertia<T>& I, const Motion<T>& v,
                                      const Force<T>& momentum, const Motion<T>& m,
                                      const Force<T>& c) {  // 2B m + c
    const Vec3<T> n = m.ang, n2 = n + n;
    const Vec3<T> k = fma(-(I.J.xx + I.J.yy + I.J.zz), n, I.J * n2);
    const Vec3<T> u = fma(dot(I.h, v.lin), n2, fma(negated(dot(I.h, n2)), v.lin, c.ang));
    return {cross(v.ang, k, u), cross(n2, momentum.lin, c.lin)};  // [Derivations] eq. 3.4
}
template <class T>
DTAU_INLINE Vec3<T> coriolis_transposed_mul(const Inertia<T>& I, const Motion<T>& v,
                                            const Force<T>& momentum, const Motion<T>& m) {
    const Vec3<T> n = m.ang, n2 = n + n, x = cross(n, v.ang);
    const Vec3<T> k = fma(-(I.J.xx + I.J.yy + I.J.zz), x, I.J * (x + x));
    const Vec3<T> u = fma(dot(I.h, v.lin), n2, fma(negated(dot(n2, v.lin)), I.h, k));
    return cross(momentum.lin + momentum.lin, m.lin, u);  // [Derivations] eq. 3.4
}

// ---------------------------------------------------------------- dual of the Coriolis operator

// The operator D of a twist w for which D u = (2B[u])^T w, with B[u] the Coriolis operator of the
// twist u. Like (2B)^T it gives moments only:  D (n; l) = (E n + e x l; 0).  Its skew part is a
// momentum's:  (D - D^T) u = 2 u x* I w.
template <class T> struct CoriolisDual {
    Mat3<T> E;
    Vec3<T> e;
    DTAU_INLINE CoriolisDual& operator+=(const CoriolisDual& b) {
        E += b.E, e += b.e;
        return *this;
    }
};

// momentum = I w.  E = (2 J - tr(J) 1) w^ + 2 v^ h^,  e = -2 (linear momentum),  w = (w; v):
// [Derivations] eq. 5.2.
template <class T>
DTAU_INLINE CoriolisDual<T> coriolis_dual(const Inertia<T>& I, const Motion<T>& w,
                                          const Force<T>& momentum) {
    const Sym3<T> K = twice_less_trace(I.J);
    const Mat3<T> n = skew(w.ang), h = skew(I.h);
    const Vec3<T> v2 = w.lin + w.lin;
    return {{cross(v2, h.x, K * n.x), cross(v2, h.y, K * n.y), cross(v2, h.z, K * n.z)},
            T(-2.0) * momentum.lin};
}

// The angular part of D u + (c; 0).
template <class T>
DTAU_INLINE Vec3<T> mul_add(const CoriolisDual<T>& D, const Motion<T>& u, const Vec3<T>& c) {
    return cross(D.e, u.lin, mul_add(D.E, u.ang, c));  // [Derivations] eq. 5.1
}
template <class T> DTAU_INLINE Vec3<T> operator*(const CoriolisDual<T>& D, const Motion<T>& u) {
    return cross(D.e, u.lin, D.E * u.ang);  // [Derivations] eq. 5.1
}

// s x* I - I s x: the rate of an inertia that moves with twist s. Its mass is zero.
// [Derivations] eq. 5.4.
template <class T> DTAU_INLINE Inertia<T> moving(const Motion<T>& s, const Inertia<T>& I) {
    const Mat3<T> J = full(I.J);
    const Vec3<T>&n = s.ang, &h = I.h, v2 = s.lin + s.lin;
    const Vec3<T> x = cross(n, J.x), y = cross(n, J.y), z = cross(n, J.z);  // columns of n^ J
    const T along = dot(h, v2);
    return {
        T(0.0),
        fma(I.m, s.lin, cross(n, h)),
        {fma(-h.x, v2.x, along) + (x.x + x.x), fma(-h.x, s.lin.y, -h.y * s.lin.x) + (y.x + x.y),
         fma(-h.x, s.lin.z, -h.z * s.lin.x) + (z.x + x.z), fma(-h.y, v2.y, along) + (y.y + y.y),
         fma(-h.y, s.lin.z, -h.z * s.lin.y) + (z.y + y.z), fma(-h.z, v2.z, along) + (z.z + z.z)}};
}

// s x* 2B - 2B s x + 2B[u]: the rate of a subtree's Coriolis operator. The subtree moves with s, and
// besides its bodies' twists change by u. I and B are composites.
template <class T>
DTAU_INLINE Coriolis<T> moving(const Motion<T>& s, const Coriolis<T>& B, const Inertia<T>& I,
                               const Motion<T>& u) {
    const Vec3<T>&n = s.ang, &p2 = B.p2;
    const T along = dot(s.lin, p2);
    Coriolis<T> rate = coriolis(I, u, I * u);
    // [Derivations] eq. 5.6: n^ A - A n^ - v^ p2^, where v^ p2^ = p2 v^T - (v . p2) 1.
    const Mat3<T> N = skew(n);
    rate.A += {cross(n, B.A.x, fma(-s.lin.x, p2, -(B.A * N.x))),
               cross(n, B.A.y, fma(-s.lin.y, p2, -(B.A * N.y))),
               cross(n, B.A.z, fma(-s.lin.z, p2, -(B.A * N.z)))};
    rate.A.x.x += along, rate.A.y.y += along, rate.A.z.z += along;
    rate.p2 = cross(n, p2, rate.p2);
    return rate;
}

}  // namespace dtau::DTAU_VARIANT
