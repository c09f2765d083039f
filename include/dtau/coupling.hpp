// Joints that mimic others: coordinates of all joints from independent ones, and back.
//
// With v_joint = G v for a constant G, torques reduce by G^T and matrices by G^T X G, and so does
// every derivative: the algorithms know nothing of it, but those that solve with the mass matrix.
// [Notes] §11.
#pragma once

#include "dtau/arena.hpp"
#include "dtau/lane.hpp"
#include "dtau/model.hpp"

namespace dtau::DTAU_VARIANT {

// All coordinates, all velocities.
template <class T>
DTAU_INLINE void expand_q(const Tree& tree, const T* q, T* joint_q) {
    const Coupling& c = *tree.coupling;
    for (int k = 0; k < tree.nq; ++k)
        joint_q[k] = fma(T(c.q_scale[k]), q[c.q_source[k]], T(c.q_offset[k]));
}
template <class T>
DTAU_INLINE void expand_v(const Tree& tree, const T* v, T* joint_v) {
    const Coupling& c = *tree.coupling;
    for (int k = 0; k < tree.nv; ++k) joint_v[k] = T(c.v_scale[k]) * v[c.v_source[k]];
}

// The independent ones among all.
template <class T>
DTAU_INLINE void pick_q(const Tree& tree, const T* joint_q, T* q) {
    for (int k = 0; k < tree.coupling->nq; ++k) q[k] = joint_q[tree.coupling->q_owner[k]];
}
template <class T>
DTAU_INLINE void pick_v(const Tree& tree, const T* joint_v, T* v) {
    for (int k = 0; k < tree.coupling->nv; ++k) v[k] = joint_v[tree.coupling->v_owner[k]];
}

// X G for `rows` rows of X, or G^T tau with one row.
template <class T>
DTAU_INLINE void reduce_columns(const Tree& tree, const T* X, std::ptrdiff_t rows, T* reduced) {
    const Coupling& c = *tree.coupling;
    for (std::ptrdiff_t r = 0; r < rows; ++r, X += tree.nv, reduced += c.nv) {
        for (int k = 0; k < c.nv; ++k) reduced[k] = T(0.0);
        for (int k = 0; k < tree.nv; ++k)
            reduced[c.v_source[k]] = fma(T(c.v_scale[k]), X[k], reduced[c.v_source[k]]);
    }
}

// G^T X G; rows of the result are `stride` apart.
template <class T>
DTAU_INLINE void reduce_matrix(const Tree& tree, const T* X, T* reduced, int stride) {
    const Coupling& c = *tree.coupling;
    for (int i = 0; i < c.nv; ++i)
        for (int j = 0; j < c.nv; ++j) reduced[i * stride + j] = T(0.0);
    for (int i = 0; i < tree.nv; ++i) {
        T* row = reduced + c.v_source[i] * stride;
        for (int j = 0; j < tree.nv; ++j) {
            const T scale(c.v_scale[i] * c.v_scale[j]);
            // [Notes] eq. 11.1
            row[c.v_source[j]] = fma(scale, X[i * tree.nv + j], row[c.v_source[j]]);
        }
    }
}

}  // namespace dtau::DTAU_VARIANT
