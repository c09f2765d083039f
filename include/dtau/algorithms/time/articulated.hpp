// Articulated inertias in body coordinates: a body's own, one as its parent sees it, and products.
#pragma once

#include "dtau/algorithms/time/joint_series.hpp"
#include "dtau/algorithms/values/aba.hpp"

namespace dtau::DTAU_VARIANT {

// A body's own about its origin, number by number: compilers copy whole ones slowly.
template <class T>
DTAU_INLINE void set_own_inertia(const Body& body, ArticulatedInertia<T>& I) {
    const double* J = body.own_inertia;
    const Vec3<double> h = body.mass * vec3(body.com);
    const T zero(0.0), m(body.mass);
    I.J.xx = T(J[0]), I.J.xy = T(J[1]), I.J.xz = T(J[2]);
    I.J.yy = T(J[3]), I.J.yz = T(J[4]), I.J.zz = T(J[5]);
    I.H.x.x = zero, I.H.x.y = T(h.z), I.H.x.z = T(-h.y);
    I.H.y.x = T(-h.z), I.H.y.y = zero, I.H.y.z = T(h.x);
    I.H.z.x = T(h.y), I.H.z.y = T(-h.x), I.H.z.z = zero;
    I.M.xx = m, I.M.xy = zero, I.M.xz = zero, I.M.yy = m, I.M.yz = zero, I.M.zz = m;
}

// I times the unit rotation about z.
template <class T>
DTAU_INLINE Force<T> z_column(const ArticulatedInertia<T>& I) {
    return {{I.J.xz, I.J.yz, I.J.zz}, {I.H.x.z, I.H.y.z, I.H.z.z}};
}

// In the axes and about the origin in which P is given, of what is given in those of P:
// [RBDA] eq. 2.66 for any symmetric inertia.
template <class T>
DTAU_INLINE ArticulatedInertia<T> transformed(const Placement<T>& P,
                                              const ArticulatedInertia<T>& I) {
    const Vec3<T>& r = P.r;
    const Sym3<T> M = rotated(P.R, I.M);
    const Mat3<T> H = P.R * I.H * transpose_of(P.R);
    const Mat3<T> moved = {cross(r, Vec3<T>{M.xx, M.xy, M.xz}, H.x),
                           cross(r, Vec3<T>{M.xy, M.yy, M.yz}, H.y),
                           cross(r, Vec3<T>{M.xz, M.yz, M.zz}, H.z)};
    const Mat3<T> rows = transpose_of(moved);  // H r^, and r^ on the transpose of what moved:
    const Mat3<T> back = {fma(-r.y, H.z, r.z * H.y), fma(-r.z, H.x, r.x * H.z),
                          fma(-r.x, H.y, r.y * H.x)};
    const Mat3<T> on = {cross(r, rows.x), cross(r, rows.y), cross(r, rows.z)};
    Sym3<T> J = rotated(P.R, I.J);
    J.xx += on.x.x - back.x.x, J.xy += on.y.x - back.y.x, J.xz += on.z.x - back.z.x;
    J.yy += on.y.y - back.y.y, J.yz += on.z.y - back.z.y, J.zz += on.z.z - back.z.z;
    return {J, moved, M};
}

// The articulated inertia that a body's parent meets, by columns; all 36 numbers, each of which is
// read once a product.
template <class T>
struct ArticulatedColumns {
    TwoVectors<T> columns[6];  // force, moment

    DTAU_INLINE void set(const ArticulatedInertia<T>& I) {
        using V = Vec3<T>;
        columns[0].set(V{I.H.x.x, I.H.y.x, I.H.z.x}, V{I.J.xx, I.J.xy, I.J.xz});
        columns[1].set(V{I.H.x.y, I.H.y.y, I.H.z.y}, V{I.J.xy, I.J.yy, I.J.yz});
        columns[2].set(V{I.H.x.z, I.H.y.z, I.H.z.z}, V{I.J.xz, I.J.yz, I.J.zz});
        columns[3].set(V{I.M.xx, I.M.xy, I.M.xz}, I.H.x);
        columns[4].set(V{I.M.xy, I.M.yy, I.M.yz}, I.H.y);
        columns[5].set(V{I.M.xz, I.M.yz, I.M.zz}, I.H.z);
    }
};

// sum + I m, apart: x and y of force and moment; z of one of them. The angular z of m may be zero.
template <bool zero_z, class T>
DTAU_INLINE Four<T> xy_mul_add(const ArticulatedColumns<T>& I, const Motion<T>& m, Four<T> sum) {
    const TwoVectors<T>* column = I.columns;
    sum.add(m.ang.x, &column[0].ax), sum.add(m.ang.y, &column[1].ax);
    if (!zero_z) sum.add(m.ang.z, &column[2].ax);
    sum.add(m.lin.x, &column[3].ax), sum.add(m.lin.y, &column[4].ax);
    sum.add(m.lin.z, &column[5].ax);
    return sum;
}
template <bool zero_z, class T>
DTAU_INLINE T z_mul_add(const ArticulatedColumns<T>& I, const Motion<T>& m, T TwoVectors<T>::* z,
                        T sum) {
    const TwoVectors<T>* column = I.columns;
    sum = fma(m.ang.y, column[1].*z, fma(m.ang.x, column[0].*z, sum));
    if (!zero_z) sum = fma(m.ang.z, column[2].*z, sum);
    return fma(m.lin.z, column[5].*z, fma(m.lin.y, column[4].*z, fma(m.lin.x, column[3].*z, sum)));
}

}  // namespace dtau::DTAU_VARIANT
