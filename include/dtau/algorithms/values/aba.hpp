// Computes the joint accelerations that torques give by the articulated-body algorithm: aba().
// O(N). [RBDA] section 7.3, table 7.1; as the book has it: textbook/aba.hpp.
//
// For body i with parent p and the columns s_k of its joint, in the axes of body i about its
// origin:
//
//   forward    f_i = force that body i takes if all joint accelerations are zero
//   backward   for the columns k of joint i, the last one first:
//                U = IA_i s_k        D = s_k . U + armature_k        W_k = U / D
//                u_k = (tau_k - damping_k v_k - s_k . f_i) / D     tau: without springs and friction
//                IA_i = IA_i - U W_k^T            f_i = f_i + u_k U
//              IA_p = IA_p + X_i^T IA_i X_i       f_p = f_p + X_i^T f_i
//   forward    m_i = X_i m_p
//              for the columns k of joint i, the first one first:
//                a_k = u_k - W_k . m_i            m_i = m_i + a_k s_k
//
// Three things differ from the book. The first pass is rnea.hpp's at zero joint accelerations, so
// that gravity and all velocities are in f_i: the book's c_i and a_i do not appear, and m_i is the part
// of the motion of body i that joint accelerations add. A joint of several columns is
// eliminated one column at a time, which factorizes D = S^T IA S without inverting a matrix. And
// the step is written once for any joint (eliminate_joint, accelerate_joint), with the joint as a
// parameter (aba_joints.hpp): if a joint turns about z or slides along z, most entries of s_k are
// zeros that are never multiplied. A leaf passes its inertia to the parent before its column is
// eliminated, while the inertia still has the 10 numbers of a rigid body.
//
// Symbols:
//   IA     articulated inertia; w.IA[level]: sum over the children of the body at that level of the path
//   f[i]   bias force: IA_i m_i + f_i is the force across the joint (w.bias.bodies[i].f)
//   m      (alpha; A) that joint accelerations add to the motion of a body (rnea.hpp)
//   W, u   of each column, kept for the last pass (nv)
#pragma once

#include "dtau/algorithms/values/aba_joints.hpp"
#include "dtau/free_root.hpp"

namespace dtau::DTAU_VARIANT {

template <class T> struct AbaColumn {
    Force<T> W;
    T u;
};

template <class T> struct AbaWorkspace {
    RneaWorkspace<T> bias;
    ArticulatedInertia<T>* IA;  // sums over children, by level of a path (tree.depth)
    Motion<T>* m;               // of the world, and of the bodies on a path (tree.depth + 1)
    AbaColumn<T>* columns;
    T* torque;  // tau without the torques of springs and friction, if there are any

    AbaWorkspace(Arena& arena, const Tree& tree, const Options& options)
        : bias(arena, tree, options),
          IA(arena.take<ArticulatedInertia<T>>(tree.depth)),
          m(arena.take<Motion<T>>(tree.depth + 1)),
          columns(arena.take<AbaColumn<T>>(tree.nv)),
          torque(room_for_drive<T>(arena, tree)) {}
};

// ---------------------------------------------------------------- elimination of a column

// 1 / D; inertia = s . U
template <class T> DTAU_INLINE T inverse_inertia(const Tree& tree, int k, T inertia) {
    return T(1.0) / (inertia + armature<T>(tree, k));
}
// u D; force = s . f
template <class T>
DTAU_INLINE T torque_left(const Tree& tree, int k, const T* v, const T* tau, T force) {
    return fma(-damping<T>(tree, k), v[k], tau[k]) - force;
}
// IA - U W^T, and f + u U
template <class T>
DTAU_INLINE void eliminate(const Force<T>& U, const Force<T>& W, T u, ArticulatedInertia<T>& IA,
                           Force<T>& f) {
    subtract_outer(IA, U, W);
    f = fma(u, U, f);
}
// u - W . m
template <class T> DTAU_INLINE T joint_acceleration(const AbaColumn<T>& c, const Motion<T>& m) {
    const Vec3<T>&n = c.W.ang, &l = c.W.lin;
    const T u = fma(-n.x, m.ang.x, fma(-n.y, m.ang.y, fma(-n.z, m.ang.z, c.u)));
    return fma(-l.x, m.lin.x, fma(-l.y, m.lin.y, fma(-l.z, m.lin.z, u)));
}

// ---------------------------------------------------------------- one step

// Computes U, W, 1 / D and u of column c of a joint; keeps W and u.
template <class T> struct EliminatedColumn {
    Force<T> U, W;
    T d_inverse, u;
};
template <class Joint, class T>
DTAU_INLINE EliminatedColumn<T> column_of(const Tree& tree, const Joint& joint, int c,
                                          const ArticulatedInertia<T>& IA, const Force<T>& f,
                                          const T* v, const T* tau, const AbaWorkspace<T>& w) {
    const int k = joint.body.v + c;
    const Force<T> U = joint.times_column(IA, c);
    const T d_inverse = inverse_inertia(tree, k, joint.dot_column(U, c));
    const T u = d_inverse * torque_left(tree, k, v, tau, joint.dot_column(f, c));
    const Force<T> W = d_inverse * U;
    w.columns[k] = {W, u};
    return {U, W, d_inverse, u};
}

// Inwards: eliminates joint i of a body with the articulated inertia IA, and passes IA and f to the
// parent.
template <class Joint, class T>
DTAU_INLINE void eliminate_joint(const Tree& tree, int i, const Joint& joint,
                                 ArticulatedInertia<T> IA, const T* v, const T* tau,
                                 const AbaWorkspace<T>& w) {
    const Body& body = tree.bodies[i];
    Force<T> f = w.bias.bodies[i].f;
    for (int c = joint.columns() - 1; c >= 0; --c) {
        const auto [U, W, d_inverse, u] = column_of(tree, joint, c, IA, f, v, tau, w);
        if (c == 0 && body.parent < 0) return;  // no parent to pass IA and f to
        eliminate(U, W, u, IA, f);
    }
    Force<T>& f_p = w.bias.bodies[body.parent].f;
    f_p = joint.add_force(f, f_p);
    carry_inertia(body, joint.to_parent(IA), w.IA);
}
// The same for a leaf, a rigid body with inertia I and a joint of one column: X^T (I - U W^T) X =
// X^T I X - (X^T U) (X^T W)^T, and X^T I X of a rigid body costs less.
template <class Joint, class T>
DTAU_INLINE void eliminate_joint(const Tree& tree, int i, const Joint& joint, const Inertia<T>& I,
                                 const T* v, const T* tau, const AbaWorkspace<T>& w) {
    static_assert(Joint::columns() == 1);
    const Body& body = tree.bodies[i];
    const Force<T> f = w.bias.bodies[i].f;
    const auto [U, W, d_inverse, u] = column_of(tree, joint, 0, articulated(I), f, v, tau, w);
    if (body.parent < 0) return;
    ArticulatedInertia<T> IA = articulated(joint.to_parent(I));
    Force<T>& f_p = w.bias.bodies[body.parent].f;
    Force<T> sum = joint.add_force(f, f_p);
    const Force<T> U_p = joint.add_force(U, zero_force<T>());
    eliminate(U_p, d_inverse * U_p, u, IA, sum);
    f_p = sum;
    carry_inertia(body, IA, w.IA);
}

// Outwards: computes the accelerations of joint i, in a; returns m of its body.
template <class Joint, class T>
DTAU_INLINE Motion<T> accelerate_joint(const Tree& tree, int i, const Joint& joint, T* a,
                                       const AbaWorkspace<T>& w) {
    const Body& body = tree.bodies[i];
    Motion<T> m = joint.from_parent(w.m[body.level]);
    for (int c = 0; c < joint.columns(); ++c) {
        const T x = joint_acceleration(w.columns[body.v + c], m);
        m = joint.add_column(x, c, m);
        a[body.v + c] = x;
    }
    return m;
}

// ---------------------------------------------------------------- the step by kinds of joints

// The step for revolute joints is inlined in both passes; the step for all other joints is compiled once,
// here.
template <bool slides, class T>
DTAU_INLINE void eliminate_on_z(const Tree& tree, int i, bool leaf, const T* v, const T* tau,
                                const AbaWorkspace<T>& w) {
    const Body& body = tree.bodies[i];
    const JointOnZ<slides, T> joint(body, i, w.bias);
    if (leaf)
        eliminate_joint(tree, i, joint, own_inertia<T>(tree, i), v, tau, w);
    else
        eliminate_joint(tree, i, joint, articulated_inertia(tree, i, false, w.IA), v, tau, w);
}
template <class T>
__attribute__((noinline)) void eliminate_other(const Tree& tree, int i, bool leaf, const T* v,
                                               const T* tau, const AbaWorkspace<T>& w) {
    const Body& body = tree.bodies[i];
    if (body.kind == JointKind::prismatic) return eliminate_on_z<true>(tree, i, leaf, v, tau, w);
    const AnyJoint<T> joint(body, i, w.bias);
    eliminate_joint(tree, i, joint, articulated_inertia(tree, i, leaf, w.IA), v, tau, w);
}
template <class T>
__attribute__((noinline)) void accelerate_other(const Tree& tree, int i, T* a, Motion<T>& m,
                                                const AbaWorkspace<T>& w) {
    const Body& body = tree.bodies[i];
    if (body.kind == JointKind::prismatic)
        m = accelerate_joint(tree, i, JointOnZ<true, T>(body, i, w.bias), a, w);
    else
        m = accelerate_joint(tree, i, AnyJoint<T>(body, i, w.bias), a, w);
}
// Both steps at once for a free root, whose D is its whole articulated inertia; m of the world is zero.
template <class T>
__attribute__((noinline)) void accelerate_free_root(const Tree& tree, int i, bool leaf, const T* v,
                                                    const T* tau, T* a, const AbaWorkspace<T>& w) {
    const Body& body = tree.bodies[i];
    T x[6];
    store_components(w.bias.bodies[i].f, x);
    unrolled<6>([&](int k) __attribute__((always_inline)) {
        x[k] = torque_left(tree, body.v + k, v, tau, x[k]);
    });
    solve_free_root(tree, body, articulated_inertia(tree, i, leaf, w.IA), x);
    unrolled<6>([&](int k) __attribute__((always_inline)) { a[body.v + k] = x[k]; });
    w.m[1] = {{x[3], x[4], x[5]}, {x[0], x[1], x[2]}};
}

// ---------------------------------------------------------------- passes

// f_ext may be null: zero.
template <class T>
void aba(const Tree& tree, const T* q, const T* v, const T* tau, const T* f_ext, T* a,
         const AbaWorkspace<T>& w) {
    const T* const no_accelerations = nullptr;
    tau = left_by_springs_and_friction(tree, q, v, tau, w.torque);
    forces_of_motion<true>(tree, q, v, no_accelerations, f_ext, w.bias);
    w.m[0] = zero_motion<T>();
    for (int end = tree.nnodes; end > 0;) {  // one tree after the other
        const int root = tree.bodies[end - 1].root;
        const auto leaf = [&](int i) { return i + 1 == end || tree.bodies[i + 1].parent != i; };
        const int begin = is_free_root(tree.bodies[root]) ? root + 1 : root;
        for (int i = end - 1; i >= begin; --i)
            if (tree.bodies[i].kind == JointKind::revolute)
                eliminate_on_z<false>(tree, i, leaf(i), v, tau, w);
            else
                eliminate_other(tree, i, leaf(i), v, tau, w);
        if (begin > root) accelerate_free_root(tree, root, leaf(root), v, tau, a, w);
        for (int i = begin; i < end; ++i) {
            const Body& body = tree.bodies[i];
            Motion<T>& m = w.m[body.level + 1];
            if (body.kind == JointKind::revolute)
                m = accelerate_joint(tree, i, JointOnZ<false, T>(body, i, w.bias), a, w);
            else
                accelerate_other(tree, i, a, m, w);
        }
        end = root;
    }
}

}  // namespace dtau::DTAU_VARIANT
