// Computes the torques of joints for a unit of each of their parameters, the columns of the regressor behind
// the bodies' columns: JointColumns, for_joint_columns(). [Derivations] eq. 18.7
//
//   tau_k = ... + armature a_k + damping v_k + stiffness s_k + friction y_k      s = q - rest,  y = tanh(v / v_s)
//
// s of a spherical joint is the rotation vector from rest; its spring has one stiffness, the first of the joint's
// three numbers. Joints that can have no spring have s = 0.
#pragma once

#include "dtau/kinematics.hpp"
#include "dtau/mimic.hpp"

namespace dtau::DTAU_VARIANT {

template <class T> struct JointColumns {
    T *s, *y;  // (nv) of all joints; null: not wanted

    JointColumns(Arena& arena, const Tree& tree, bool wanted)
        : s(wanted ? arena.take<T>(tree.nv) : nullptr),
          y(wanted ? arena.take<T>(tree.nv) : nullptr) {}

    void compute(const Tree& tree, const T* q, const T* v) const {
        if (!s) return;
        const Tree& all = every_joint(tree);
        for (int j = 0; j < tree.nv; ++j) s[j] = T(0.0);
        for (int i = 0; i < all.nsprings; ++i)
            s[all.springs[i].v] = q[all.springs[i].q] - T(all.springs[i].rest);
        for (int i = 0; i < all.nrotation_springs; ++i) {
            const RotationSpring& spring = all.rotation_springs[i];
            add_angular_part(spring, T(1.0), rotation_from_rest(spring, q), s);
        }
        friction_signs(all, v, y);
    }
};

// The place of the stiffness that acts on velocity k of a joint.
inline int spring_place(const Body& body, int k) {
    return body.kind == JointKind::spherical ? body.v : k;
}

// Calls f(j, k, c, x) for the entries x of the columns: velocity j of the joints, which is the independent velocity
// k, and column c, counted from the first one of joints. a, v: of the joints.
template <class T, class F>
DTAU_INLINE void for_joint_columns(const Tree& tree, const T* a, const T* v,
                                   const JointColumns<T>& columns, const F& f) {
    const int n = tree.independent.n;
    for (int i = 0; i < tree.nnodes; ++i) {
        const Body& body = tree.bodies[i];
        for (int j = body.v; j < body.v + body.nv; ++j) {
            const int k = independent_dof(tree, j);
            if (owning_dof(tree, k) != j) continue;
            f(j, k, k, a[j]), f(j, k, n + k, v[j]);
            f(j, k, 2 * n + independent_dof(tree, spring_place(body, j)), columns.s[j]);
            f(j, k, 3 * n + k, columns.y[j]);
        }
    }
}

// tau += the columns times x, and by = the columns, transposed, times lam; at rest, where armature alone acts.
template <class T> void add_armature_torques(const Tree& tree, const T* a, const T* x, T* tau) {
    for (int k = 0; k < tree.independent.n; ++k) {
        const int j = owning_dof(tree, k);
        tau[j] = fma(x[k], a[j], tau[j]);
    }
}
template <class T> void armature_gradient(const Tree& tree, const T* a, const T* lam, T* by) {
    const int n = tree.independent.n;
    for (int k = 0; k < n; ++k) by[k] = lam[owning_dof(tree, k)] * a[owning_dof(tree, k)];
    for (int c = n; c < joint_parameter_kinds * n; ++c) by[c] = T(0.0);
}

// tau += the columns times x. tau, a, v: of the joints.
template <class T>
void add_joint_torques(const Tree& tree, const T* a, const T* v, const T* x,
                       const JointColumns<T>& columns, T* tau) {
    for_joint_columns(tree, a, v, columns,
                      [&](int j, int, int c, T entry) { tau[j] = fma(x[c], entry, tau[j]); });
}
// by = the columns, transposed, times lam, of the joints.
template <class T>
void joint_gradient(const Tree& tree, const T* a, const T* v, const T* lam,
                    const JointColumns<T>& columns, T* by) {
    for (int c = 0; c < joint_parameter_kinds * tree.independent.n; ++c) by[c] = T(0.0);
    for_joint_columns(tree, a, v, columns,
                      [&](int j, int, int c, T entry) { by[c] = fma(lam[j], entry, by[c]); });
}

}  // namespace dtau::DTAU_VARIANT
