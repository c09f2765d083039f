// Joints that mimic others: between the coordinates of all joints and the independent ones, those
// that the user gives.
//
// With v_joint = G v for a constant G, torques reduce by G^T and matrices by G^T X G, and so does
// every derivative. Algorithms compute with all joints and know nothing of it, but those that solve
// with the mass matrix, which is that of the independent velocities. Where no joint mimics another
// both are the same numbers in the same place: the rooms below are one, and nothing is copied.
// [Notes] §11.
#pragma once

#include "dtau/arena.hpp"
#include "dtau/lane.hpp"
#include "dtau/model.hpp"

namespace dtau {

// How many coordinates the user gives, and the independent velocity of a joint's degree of freedom.
// For all instruction sets: always inlined.
inline __attribute__((always_inline)) int independent_nq(const Tree& tree) {
    return tree.coupling ? tree.coupling->nq : tree.nq;
}
inline __attribute__((always_inline)) int independent_dof(const Tree& tree, int k) {
    return tree.coupling ? tree.coupling->v_source[k] : k;
}
// The other way: the joint's degree of freedom that an independent velocity is of.
inline __attribute__((always_inline)) int owning_dof(const Tree& tree, int k) {
    return tree.coupling ? tree.coupling->v_owner[k] : k;
}

// Inertial parameters of a body, and how many parameters there are; those of joints are armature and
// damping of each independent velocity.
inline constexpr int body_parameters = 10;
inline __attribute__((always_inline)) int parameter_count(const Tree& tree, bool of_joints) {
    return body_parameters * tree.nbodies + (of_joints ? 2 * tree.independent.n : 0);
}

}  // namespace dtau

namespace dtau::DTAU_VARIANT {

// ---------------------------------------------------------------- room

// Room of its own for what differs between joints and independent velocities; else `same`.
template <class T>
DTAU_INLINE T* room_beside(Arena& arena, const Tree& tree, T* same, int count) {
    return tree.coupling ? arena.take<T>(count) : same;
}

// Room for a matrix of all joints on its way to G^T X G. Without, it is written there at once.
template <class T>
class JointMatrix {
  public:
    JointMatrix(Arena& arena, const Tree& tree)
        : nv_(tree.nv), zeros_(tree.coupling ? arena.take_zeros<T>(tree.nv * tree.nv) : nullptr) {}

    // Where it is written, and how far apart its rows are, given the same of the result.
    T* place(T* reduced) const { return zeros_ ? zeros_ : reduced; }
    int stride(int reduced) const { return zeros_ ? nv_ : reduced; }

  private:
    int nv_;
    T* zeros_;
};

// ---------------------------------------------------------------- from independent coordinates

template <class T>
DTAU_INLINE void expand_q(const Tree& tree, const T* q, T* joint_q) {
    if (!tree.coupling) return;
    const Coupling& c = *tree.coupling;
    for (int k = 0; k < tree.nq; ++k)
        joint_q[k] = fma(T(c.q_scale[k]), q[c.q_source[k]], T(c.q_offset[k]));
}
template <class T>
DTAU_INLINE void expand_v(const Tree& tree, const T* v, T* joint_v) {
    if (!tree.coupling) return;
    const Coupling& c = *tree.coupling;
    for (int k = 0; k < tree.nv; ++k) joint_v[k] = T(c.v_scale[k]) * v[c.v_source[k]];
}

// Weights of independent velocities, each on the joint that it is the velocity of.
template <class T>
DTAU_INLINE void to_owners(const Tree& tree, const T* weights, T* joint) {
    for (int k = 0; k < tree.nv; ++k) joint[k] = tree.coupling ? T(0.0) : weights[k];
    if (!tree.coupling) return;
    for (int k = 0; k < tree.coupling->nv; ++k) joint[tree.coupling->v_owner[k]] = weights[k];
}

// ---------------------------------------------------------------- to independent coordinates

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
    if (!tree.coupling) return;
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
    if (!tree.coupling) return;
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

// Where an entry of a symmetric matrix X, of which one triangle is given, adds to the lower triangle
// of G^T X G, and by how much.
struct ReducedEntry {
    int row, column;
    double scale;
};
DTAU_INLINE ReducedEntry reduced_entry(const Coupling& c, int k, int j) {
    const int r = c.v_source[k], s = c.v_source[j];
    // Two joints of one velocity add to its diagonal entry twice: X_kj and X_jk, [Notes] §11.
    const double scale = c.v_scale[k] * c.v_scale[j] * (k != j && r == s ? 2.0 : 1.0);
    return {r > s ? r : s, r > s ? s : r, scale};
}

}  // namespace dtau::DTAU_VARIANT
