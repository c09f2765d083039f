// Maps between the coordinates of all joints and the independent ones, which the user gives: expand_q(),
// expand_v(), reduce_columns(), reduce_matrix(). They differ if there are mimic joints. An independent
// velocity belongs to a joint that mimics no other.
//
//   q_joint = scale q + offset        v_joint = G v          G constant, one entry a row
//   tau = G^T tau_joint               X = G^T X_joint G      torques, matrices and all derivatives
//
// Algorithms compute with all joints and do not know which of them are mimic joints. The exception are
// solves with the mass matrix, which belongs to the independent velocities. Without mimic joints both
// kinds of coordinates are the same numbers in the same memory, and nothing is copied. [Derivations] §11.
#pragma once

#include "dtau/arena.hpp"
#include "dtau/lane.hpp"
#include "dtau/model.hpp"

namespace dtau {

// The number of independent coordinates; the independent velocity that moves a joint's degree of freedom.
// Shared by all instruction sets, so always inlined.
inline __attribute__((always_inline)) int independent_nq(const Tree& tree) {
    return tree.mimic ? tree.mimic->nq : tree.nq;
}
inline __attribute__((always_inline)) int independent_dof(const Tree& tree, int k) {
    return tree.mimic ? tree.mimic->v_source[k] : k;
}
// The inverse: the degree of freedom of the joint to which an independent velocity belongs.
inline __attribute__((always_inline)) int owning_dof(const Tree& tree, int k) {
    return tree.mimic ? tree.mimic->v_owner[k] : k;
}

// The number of inertial parameters of a body, of kinds of parameters of a joint (JointParameter), and of all
// parameters. Each independent velocity has one of each kind.
inline constexpr int body_parameters = 10, joint_parameter_kinds = 4;
inline __attribute__((always_inline)) int parameter_count(const Tree& tree, bool of_joints) {
    return body_parameters * tree.nbodies +
           (of_joints ? joint_parameter_kinds * tree.independent.n : 0);
}

}  // namespace dtau

namespace dtau::DTAU_VARIANT {

// ---------------------------------------------------------------- room

// New room if arrays of joints and of independent velocities differ; else `same`.
template <class T> DTAU_INLINE T* room_beside(Arena& arena, const Tree& tree, T* same, int count) {
    return tree.mimic ? arena.take<T>(count) : same;
}

// Room for the matrix X of all joints before it becomes G^T X G. Without mimic joints there is none, and X
// is written to the result directly.
template <class T> class JointMatrix {
  public:
    JointMatrix(Arena& arena, const Tree& tree)
        : nv_(tree.nv), zeros_(tree.mimic ? arena.take_zeros<T>(tree.nv * tree.nv) : nullptr) {}

    // Where to write X, and the distance of its rows; arguments: the same of the result.
    T* place(T* reduced) const { return zeros_ ? zeros_ : reduced; }
    int stride(int reduced) const { return zeros_ ? nv_ : reduced; }

  private:
    int nv_;
    T* zeros_;
};

// ---------------------------------------------------------------- from independent coordinates

template <class T> DTAU_INLINE void expand_q(const Tree& tree, const T* q, T* joint_q) {
    if (!tree.mimic) return;
    const Mimics& c = *tree.mimic;
    for (int k = 0; k < tree.nq; ++k)
        joint_q[k] = fma(T(c.q_scale[k]), q[c.q_source[k]], T(c.q_offset[k]));
}
template <class T> DTAU_INLINE void expand_v(const Tree& tree, const T* v, T* joint_v) {
    if (!tree.mimic) return;
    const Mimics& c = *tree.mimic;
    for (int k = 0; k < tree.nv; ++k) joint_v[k] = T(c.v_scale[k]) * v[c.v_source[k]];
}

// Copies weights of independent velocities to the joints that own them; zero for mimic joints.
template <class T> DTAU_INLINE void to_owners(const Tree& tree, const T* weights, T* joint) {
    for (int k = 0; k < tree.nv; ++k) joint[k] = tree.mimic ? T(0.0) : weights[k];
    if (!tree.mimic) return;
    for (int k = 0; k < tree.mimic->nv; ++k) joint[tree.mimic->v_owner[k]] = weights[k];
}

// ---------------------------------------------------------------- to independent coordinates

// Copies the independent coordinates or velocities out of the arrays of all joints.
template <class T> DTAU_INLINE void pick_q(const Tree& tree, const T* joint_q, T* q) {
    for (int k = 0; k < tree.mimic->nq; ++k) q[k] = joint_q[tree.mimic->q_owner[k]];
}
template <class T> DTAU_INLINE void pick_v(const Tree& tree, const T* joint_v, T* v) {
    for (int k = 0; k < tree.mimic->nv; ++k) v[k] = joint_v[tree.mimic->v_owner[k]];
}

// X G for `rows` rows of X, or G^T tau with one row.
template <class T>
DTAU_INLINE void reduce_columns(const Tree& tree, const T* X, std::ptrdiff_t rows, T* reduced) {
    if (!tree.mimic) return;
    const Mimics& c = *tree.mimic;
    for (std::ptrdiff_t r = 0; r < rows; ++r, X += tree.nv, reduced += c.nv) {
        for (int k = 0; k < c.nv; ++k) reduced[k] = T(0.0);
        for (int k = 0; k < tree.nv; ++k)
            reduced[c.v_source[k]] = fma(T(c.v_scale[k]), X[k], reduced[c.v_source[k]]);
    }
}

// G^T X G; rows of the result are `stride` apart.
template <class T>
DTAU_INLINE void reduce_matrix(const Tree& tree, const T* X, T* reduced, int stride) {
    if (!tree.mimic) return;
    const Mimics& c = *tree.mimic;
    for (int i = 0; i < c.nv; ++i)
        for (int j = 0; j < c.nv; ++j) reduced[i * stride + j] = T(0.0);
    for (int i = 0; i < tree.nv; ++i) {
        T* row = reduced + c.v_source[i] * stride;
        for (int j = 0; j < tree.nv; ++j) {
            const T scale(c.v_scale[i] * c.v_scale[j]);
            // [Derivations] eq. 11.1
            row[c.v_source[j]] = fma(scale, X[i * tree.nv + j], row[c.v_source[j]]);
        }
    }
}

// The entry of the lower triangle of G^T X G to which an entry of a symmetric X is added, and the factor.
// One triangle of X is given.
struct ReducedEntry {
    int row, column;
    double scale;
};
DTAU_INLINE ReducedEntry reduced_entry(const Mimics& c, int k, int j) {
    const int r = c.v_source[k], s = c.v_source[j];
    // Two joints of one velocity add to its diagonal entry twice: X_kj and X_jk, [Derivations] §11.
    const double scale = c.v_scale[k] * c.v_scale[j] * (k != j && r == s ? 2.0 : 1.0);
    return {r > s ? r : s, r > s ? s : r, scale};
}

}  // namespace dtau::DTAU_VARIANT
