// Rotates vectors, symmetric matrices and inertias about coordinate axes (turned_z, turned_x), and
// passes forces and inertias to a body's parent through a joint that turns about z or slides along
// it: SimpleRotation, add_transformed(), moved(). [Derivations] eqs. 2.2 to 2.5.
//
//   E^T = Rz(lead) Rx(tilt) Rz(turn + q)      modified Denavit-Hartenberg; lead is zero for most joints
//
// The textbook forms the matrix E. Here the rotation is never a matrix: a vector takes 8 multiplications,
// against 9 and the cost of forming E, and R S R^T of a symmetric matrix takes 20.
#pragma once

#include "dtau/inertia.hpp"
#include "dtau/joint.hpp"

namespace dtau::DTAU_VARIANT {

// Rz a and Rz^T a, Rx a and Rx^T a: the rotation has the type of the state, or is constant.
template <class A, class T> DTAU_INLINE Vec3<T> turned_z(A sine, A cosine, const Vec3<T>& a) {
    return {fma(cosine, a.x, -(sine * a.y)), fma(sine, a.x, cosine * a.y), a.z};
}
template <class A, class T> DTAU_INLINE Vec3<T> turned_back_z(A sine, A cosine, const Vec3<T>& a) {
    return {fma(cosine, a.x, sine * a.y), fma(cosine, a.y, -(sine * a.x)), a.z};
}
template <class A, class T> DTAU_INLINE Vec3<T> turned_x(A sine, A cosine, const Vec3<T>& a) {
    return {a.x, fma(cosine, a.y, -(sine * a.z)), fma(sine, a.y, cosine * a.z)};
}
template <class A, class T> DTAU_INLINE Vec3<T> turned_back_x(A sine, A cosine, const Vec3<T>& a) {
    return {a.x, fma(cosine, a.y, sine * a.z), fma(cosine, a.z, -(sine * a.y))};
}

// R S R^T and R H R^T: 10 and 16 multiplications. [Derivations] eq. 2.3
template <class T> DTAU_INLINE Sym3<T> turned_z(T s, T c, const Sym3<T>& a) {
    const T q = fma(s, a.xx - a.yy, (c + c) * a.xy);
    return {fma(-s, q, a.xx), fma(c, q, -a.xy),       fma(c, a.xz, -(s * a.yz)),
            fma(s, q, a.yy),  fma(s, a.xz, c * a.yz), a.zz};
}
template <class T> DTAU_INLINE Sym3<T> turned_x(T s, T c, const Sym3<T>& a) {
    const T q = fma(s, a.yy - a.zz, (c + c) * a.yz);
    return {a.xx,
            fma(c, a.xy, -(s * a.xz)),
            fma(s, a.xy, c * a.xz),
            fma(-s, q, a.yy),
            fma(c, q, -a.yz),
            fma(s, q, a.zz)};
}
template <class T> DTAU_INLINE Mat3<T> turned_z(T s, T c, const Mat3<T>& a) {
    const T q = fma(s, a.x.x - a.y.y, c * (a.y.x + a.x.y));
    return {{fma(-s, q, a.x.x), fma(c, q, -a.y.x), fma(c, a.x.z, -(s * a.y.z))},
            {fma(c, q, -a.x.y), fma(s, q, a.y.y), fma(s, a.x.z, c * a.y.z)},
            {fma(c, a.z.x, -(s * a.z.y)), fma(s, a.z.x, c * a.z.y), a.z.z}};
}
template <class T> DTAU_INLINE Mat3<T> turned_x(T s, T c, const Mat3<T>& a) {
    const T q = fma(s, a.y.y - a.z.z, c * (a.z.y + a.y.z));
    return {{a.x.x, fma(c, a.x.y, -(s * a.x.z)), fma(s, a.x.y, c * a.x.z)},
            {fma(c, a.y.x, -(s * a.z.x)), fma(-s, q, a.y.y), fma(c, q, -a.z.y)},
            {fma(s, a.y.x, c * a.z.x), fma(c, q, -a.y.z), fma(s, q, a.z.z)}};
}
template <class T>
DTAU_INLINE ArticulatedInertia<T> turned_z(T s, T c, const ArticulatedInertia<T>& I) {
    return {turned_z(s, c, I.J), turned_z(s, c, I.H), turned_z(s, c, I.M)};
}
template <class T>
DTAU_INLINE ArticulatedInertia<T> turned_x(T s, T c, const ArticulatedInertia<T>& I) {
    return {turned_x(s, c, I.J), turned_x(s, c, I.H), turned_x(s, c, I.M)};
}

// Applies the constant rotations Rz(lead) Rx(tilt) of a joint to a vector, a symmetric matrix or an
// articulated inertia; and their inverse to a vector.
template <class T, class X> DTAU_INLINE X tilted(const Body& body, const X& a) {
    const X b = turned_x(T(body.tilt.sine), T(body.tilt.cosine), a);
    return body.leads ? turned_z(T(body.lead.sine), T(body.lead.cosine), b) : b;
}
template <class T> DTAU_INLINE Vec3<T> tilted_back(const Body& body, const Vec3<T>& a) {
    const Vec3<T> b = body.leads ? turned_back_z(T(body.lead.sine), T(body.lead.cosine), a) : a;
    return turned_back_x(T(body.tilt.sine), T(body.tilt.cosine), b);
}

// Rotation of a body in its parent: Rz(lead) Rx(tilt), then Rz(turn + q) with the joint's own angle. Never a
// matrix: a vector takes 8 multiplications. [Derivations] eq. 2.2
template <class T> struct SimpleRotation {
    T sine, cosine;  // about z

    template <class X> DTAU_INLINE X to_parent(const Body& body, const X& a) const {
        return tilted<T>(body, turned_z(sine, cosine, a));
    }
    DTAU_INLINE Vec3<T> from_parent(const Body& body, const Vec3<T>& a) const {
        return turned_back_z(sine, cosine, tilted_back(body, a));
    }
};
// The rotation of the body of a revolute joint.
template <class T>
DTAU_INLINE SimpleRotation<T> simple_rotation(const Body& body, const Configuration<T>& x) {
    const T s = x.sine[body.q], c = x.cosine[body.q];
    const T turn_s(body.turn.sine), turn_c(body.turn.cosine);
    return {fma(turn_c, s, turn_s * c), fma(turn_c, c, -(turn_s * s))};
}

// sum + f, where f is about the origin r of a body, and both are along the parent's axes.
template <class T>
DTAU_INLINE Force<T> add_transformed(const Body& body, const SimpleRotation<T>& R, const Vec3<T>& r,
                                     const Force<T>& f, const Force<T>& sum) {
    const Vec3<T> lin = R.to_parent(body, f.lin), ang = R.to_parent(body, f.ang);
    return {cross(r, lin, sum.ang + ang), sum.lin + lin};
}

// Moves an inertia from the body's origin r to the parent's origin; all along the parent's axes.
template <class T>
DTAU_INLINE ArticulatedInertia<T> moved(const Vec3<T>& r, const ArticulatedInertia<T>& I) {
    const Mat3<T> M = full(I.M);
    const Mat3<T>& H = I.H;
    const Sym3<T>& J = I.J;
    const Mat3<T> G = {cross(r, M.x, H.x), cross(r, M.y, H.y), cross(r, M.z, H.z)};
    return {{fma(r.y, G.z.x + H.z.x, fma(-r.z, G.y.x + H.y.x, J.xx)),
             fma(r.y, G.z.y, fma(-r.z, G.y.y, fma(-r.x, H.z.x, fma(r.z, H.x.x, J.xy)))),
             fma(r.y, G.z.z, fma(-r.z, G.y.z, fma(-r.y, H.x.x, fma(r.x, H.y.x, J.xz)))),
             fma(r.z, G.x.y + H.x.y, fma(-r.x, G.z.y + H.z.y, J.yy)),
             fma(r.z, G.x.z, fma(-r.x, G.z.z, fma(-r.y, H.x.y, fma(r.x, H.y.y, J.yz)))),
             fma(r.x, G.y.z + H.y.z, fma(-r.y, G.x.z + H.x.z, J.zz))},
            G,
            I.M};  // [Derivations] eq. 2.4
}

}  // namespace dtau::DTAU_VARIANT
