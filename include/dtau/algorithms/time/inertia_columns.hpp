// Multiplies the articulated inertia Ia, which a body passes to its parent, by motions: InertiaColumns,
// unit_column().
#pragma once

#include "dtau/algorithms/time/joint_series.hpp"
#include "dtau/inertia.hpp"

namespace dtau::DTAU_VARIANT {

// I times column c of a free joint, in the order of its velocity.
template <class T> DTAU_INLINE Force<T> unit_column(const ArticulatedInertia<T>& I, int c) {
    const Mat3<T> J = full(I.J), M = full(I.M), H = transposed(I.H);
    const Force<T> columns[6] = {{I.H.x, M.x}, {I.H.y, M.y}, {I.H.z, M.z},
                                 {J.x, H.x},   {J.y, H.y},   {J.z, H.z}};
    return columns[c];
}

// Ia by columns: all 36 numbers, each of which a product reads once.
template <class T> struct InertiaColumns {
    TwoVectors<T> columns[6];  // force, moment

    DTAU_INLINE void set(const ArticulatedInertia<T>& I) {
        const Mat3<T> J = full(I.J), M = full(I.M), rows = transposed(I.H);
        columns[0].set(rows.x, J.x), columns[1].set(rows.y, J.y), columns[2].set(rows.z, J.z);
        columns[3].set(M.x, I.H.x), columns[4].set(M.y, I.H.y), columns[5].set(M.z, I.H.z);
    }
};

// sum + I m in parts: x and y of force and moment; z of force or moment.
template <class T>
DTAU_INLINE Vec4<T> xy_mul_add(const InertiaColumns<T>& I, const Motion<T>& m, Vec4<T> sum) {
    const TwoVectors<T>* column = I.columns;
    sum.add(m.ang.x, column[0].xy), sum.add(m.ang.y, column[1].xy);
    sum.add(m.ang.z, column[2].xy), sum.add(m.lin.x, column[3].xy);
    sum.add(m.lin.y, column[4].xy), sum.add(m.lin.z, column[5].xy);
    return sum;
}
template <class T>
DTAU_INLINE T z_mul_add(const InertiaColumns<T>& I, const Motion<T>& m, T TwoVectors<T>::* z,
                        T sum) {
    const TwoVectors<T>* column = I.columns;
    sum = fma(m.ang.z, column[2].*z, fma(m.ang.y, column[1].*z, fma(m.ang.x, column[0].*z, sum)));
    return fma(m.lin.z, column[5].*z, fma(m.lin.y, column[4].*z, fma(m.lin.x, column[3].*z, sum)));
}

}  // namespace dtau::DTAU_VARIANT
