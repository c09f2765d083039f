// What second derivatives need beside spatial.hpp: the transposed Coriolis operator as a function of
// its twist, and how the inertia and the Coriolis operator of a subtree change when the joint that
// carries it moves. All keep the 12 or 10 numbers of their kind.
#pragma once

#include "dtau/spatial.hpp"

namespace dtau::DTAU_VARIANT {

// The operator D of a twist w for which D u = (2B[u])^T w, with B[u] the Coriolis operator of the
// twist u. Like (2B)^T it gives moments only:  D (n; l) = (E n + e x l; 0).  Its skew part is that of
// a momentum:  (D - D^T) u = 2 u x* I w.
template <class T>
struct CoriolisDual {
    Mat3<T> E;
    Vec3<T> e;
    DTAU_INLINE CoriolisDual& operator+=(const CoriolisDual& b) {
        E += b.E, e += b.e;
        return *this;
    }
};

// momentum = I w.  E = (2 J - tr(J) 1) w^ + 2 v^ h^,  e = -2 (linear momentum),  w = (w; v).
template <class T>
DTAU_INLINE CoriolisDual<T> coriolis_dual(const Inertia<T>& I, const Motion<T>& w,
                                          const Force<T>& momentum) {
    const Sym3<T>& J = I.J;
    const T two(2.0), zero(0.0);
    const Sym3<T> K = {(J.xx - J.yy) - J.zz, two * J.xy, two * J.xz,
                       (J.yy - J.xx) - J.zz, two * J.yz, (J.zz - J.xx) - J.yy};
    const Vec3<T> v2 = w.lin + w.lin, &n = w.ang, &h = I.h;
    const auto column = [&](const Vec3<T>& turn, const Vec3<T>& shift) {  // w x e, h x e
        return cross(v2, shift, K * turn);
    };
    return {
        {column({zero, n.z, -n.y}, {zero, h.z, -h.y}), column({-n.z, zero, n.x}, {-h.z, zero, h.x}),
         column({n.y, -n.x, zero}, {h.y, -h.x, zero})},
        T(-2.0) * momentum.lin};
}

// The angular part of D u + (c; 0).
template <class T>
DTAU_INLINE Vec3<T> mul_add(const CoriolisDual<T>& D, const Motion<T>& u, const Vec3<T>& c) {
    return cross(D.e, u.lin, mul_add(D.E, u.ang, c));
}
template <class T>
DTAU_INLINE Vec3<T> operator*(const CoriolisDual<T>& D, const Motion<T>& u) {
    return cross(D.e, u.lin, D.E * u.ang);
}

// s x* I - I s x: the rate of an inertia that moves with twist s. Its mass is zero.
template <class T>
DTAU_INLINE Inertia<T> moving(const Motion<T>& s, const Inertia<T>& I) {
    const Sym3<T>& J = I.J;
    const Vec3<T>&n = s.ang, &h = I.h, v2 = s.lin + s.lin;
    const Vec3<T> x = cross(n, {J.xx, J.xy, J.xz}), y = cross(n, {J.xy, J.yy, J.yz}),
                  z = cross(n, {J.xz, J.yz, J.zz});  // columns of n^ J
    const T along = dot(h, v2);
    return {
        T(0.0),
        fma(I.m, s.lin, cross(n, h)),
        {fma(-h.x, v2.x, along) + (x.x + x.x), fma(-h.x, s.lin.y, -h.y * s.lin.x) + (y.x + x.y),
         fma(-h.x, s.lin.z, -h.z * s.lin.x) + (z.x + x.z), fma(-h.y, v2.y, along) + (y.y + y.y),
         fma(-h.y, s.lin.z, -h.z * s.lin.y) + (z.y + y.z), fma(-h.z, v2.z, along) + (z.z + z.z)}};
}

// s x* 2B - 2B s x + 2B[u]: the rate of a subtree's Coriolis operator when it moves with s and u is
// what its bodies' twists change by, beside that motion. Inertia and Coriolis operator are composites.
template <class T>
DTAU_INLINE Coriolis<T> moving(const Motion<T>& s, const Coriolis<T>& B, const Inertia<T>& I,
                               const Motion<T>& u) {
    const Vec3<T>&n = s.ang, &p2 = B.p2;
    const T along = dot(s.lin, p2);
    Coriolis<T> rate = coriolis(I, u, I * u);
    // n^ A - A n^ - v^ p2^, where A n^ has the columns A (n x e), and v^ p2^ = p2 v^T - (v . p2) 1.
    const auto column = [&](const Vec3<T>& Ae, const Vec3<T>& turn, T v) {
        return cross(n, Ae, fma(-v, p2, -(B.A * turn)));
    };
    const T zero(0.0);
    rate.A += {column(B.A.x, {zero, n.z, -n.y}, s.lin.x), column(B.A.y, {-n.z, zero, n.x}, s.lin.y),
               column(B.A.z, {n.y, -n.x, zero}, s.lin.z)};
    rate.A.x.x += along, rate.A.y.y += along, rate.A.z.z += along;
    rate.p2 = cross(n, p2, rate.p2);
    return rate;
}

}  // namespace dtau::DTAU_VARIANT
