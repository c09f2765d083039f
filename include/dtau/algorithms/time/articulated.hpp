// Articulated inertias in body coordinates: a body's own, and products with what its parent meets.
#pragma once

#include "dtau/algorithms/time/joint_series.hpp"
#include "dtau/inertia.hpp"

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

// The articulated inertia that a body's parent meets, by columns; all 36 numbers, each of which is
// read once a product.
template <class T>
struct ArticulatedColumns {
    TwoVectors<T> columns[6];  // force, moment

    DTAU_INLINE void set(const ArticulatedInertia<T>& I) {
        const Mat3<T> J = full(I.J), M = full(I.M), rows = transposed(I.H);
        columns[0].set(rows.x, J.x), columns[1].set(rows.y, J.y), columns[2].set(rows.z, J.z);
        columns[3].set(M.x, I.H.x), columns[4].set(M.y, I.H.y), columns[5].set(M.z, I.H.z);
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
