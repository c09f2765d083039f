// Computes the joint torques tau for given velocities v = q' and accelerations a = q'' of the joints, by
// the recursive Newton-Euler algorithm: rnea(). O(N). [RBDA] section 5.3, table 5.1; textbook/rnea.hpp
// has the algorithm as the book writes it.
//
// Body i has the parent p. Its quantities are along the axes of i, moments about the origin of i. E_i
// rotates from the axes of p to the axes of i; r_i is the origin of i in p. v_J = S_i q' and
// a_J = S_i q'' have an angular half, .ang, and a linear half, .lin. In this head `x` is the cross
// product, and u^ the matrix with u^ y = u x y.
//
//   forward    omega_i = E_i omega_p + v_J.ang
//              alpha_i = E_i alpha_p + (E_i omega_p) x v_J.ang + a_J.ang
//              A_i     = E_i (A_p + W_p r_i) + (E_i omega_p + omega_i) x v_J.lin + a_J.lin
//              W_i     = alpha_i^ + omega_i^ omega_i^
//              f_i     = (integral of r x (A_i + W_i r) dm;  m A_i + W_i h) - f_ext_i      (moment; force)
//   backward   tau_i   = S_i^T f_i + armature q'' + damping q' + stiffness (q - rest) + friction
//              f_p     = f_p + X_i^T f_i          X_i^T: to the axes and the origin of p
//   world      omega = alpha = 0,  A = -gravity,  W = 0
//
// The book has spatial velocities and accelerations, v_i and a_i, and f_i = I_i a_i + v_i x* I_i v_i.
// Here A is the classical acceleration of the body's origin, and the body's point r has the
// acceleration A + W r. So the parent's motion enters A_i through one matrix, W_p. The only linear
// velocity is the joint's, zero for a revolute joint. And f_i is two integrals over the mass,
// linear in A and W ([Derivations] eqs. 13.2 to 13.5 at order 0). Joint frames are modified
// Denavit-Hartenberg frames: E_i of a revolute joint is a rotation about its z after constant rotations
// about x and z, and is never formed as a matrix (turns.hpp). The workspace keeps the
// motions of one path from the root at a time. The base's position is never read.
//
// Symbols:
//   bodies[i].turn   E_i of a revolute joint
//   X[i]             placement of the body in its parent, for all other joints: E_i transposed, and r_i
//   omega, alpha     angular velocity and acceleration (3)
//   A, W             (3), (3, 3)
//   h, m             first moment and mass of the body
//   bodies[i].f      f_i; in the backward pass the force across joint i, which the parent applies to the
//                    body: the sum of the f_j over the subtree
#pragma once

#include "dtau/kinematics.hpp"
#include "dtau/turns.hpp"

namespace dtau::DTAU_VARIANT {

// Motion of a body.
template <class T> struct RneaMotion {
    Vec3<T> omega, alpha, A;
    Mat3<T> W;
};

// Per-body data kept for the backward pass.
template <class T> struct RneaBody {
    SimpleRotation<T> turn;
    Force<T> f;
};

template <class T> struct RneaWorkspace {
    Configuration<T> angles;
    Placement<T>* X;
    RneaMotion<T>*
        motion;  // [0]: the world; [level + 1]: the body at that level of the current path
    RneaBody<T>* bodies;
    T* friction;  // torques of friction (nv); null if there is none

    RneaWorkspace(Arena& arena, const Tree& tree, const Options&)
        : angles(arena, tree),
          X(arena.take<Placement<T>>(tree.nnodes)),
          motion(arena.take<RneaMotion<T>>(tree.depth + 1)),
          bodies(arena.take<RneaBody<T>>(tree.nnodes)),
          friction(friction_room<T>(arena, tree)) {}
};

// W = alpha^ + omega^ omega^ for omega = w.
template <class T> DTAU_INLINE Mat3<T> point_accelerations(const Vec3<T>& w, const Vec3<T>& alpha) {
    const T xx = w.x * w.x, yy = w.y * w.y, zz = w.z * w.z;
    return {{-(yy + zz), fma(w.x, w.y, alpha.z), fma(w.x, w.z, -alpha.y)},
            {fma(w.x, w.y, -alpha.z), -(xx + zz), fma(w.y, w.z, alpha.x)},
            {fma(w.x, w.z, alpha.y), fma(w.y, w.z, -alpha.x), -(xx + yy)}};
}

// The force that accelerates a body: integrals of r x a and a over its mass, for a = A + W r.
// [Derivations] eq. 13.4
template <class T>
DTAU_INLINE Force<T> moving_force(const Body& body, const Vec3<T>& A, const Mat3<T>& W) {
    const Vec3<double> h = vec3(body.first_moment);
    const Sym3<double> S = sym3(body.second_moment);
    const Vec3<double> x = {S.xx, S.xy, S.xz}, y = {S.xy, S.yy, S.yz}, z = {S.xz, S.yz, S.zz};
    const auto [a, b, c] = transposed(W);
    const T hx(h.x), hy(h.y), hz(h.z);
    return {{dot(y, c, fma(hy, A.z, negated(dot(z, b, hz * A.y)))),
             dot(z, a, fma(hz, A.x, negated(dot(x, c, hx * A.z)))),
             dot(x, b, fma(hx, A.y, negated(dot(y, a, hy * A.x))))},
            mul_add(W, h, T(body.mass) * A)};
}
// The force of a body with W = 0.
template <class T> DTAU_INLINE Force<T> moving_force(const Body& body, const Vec3<T>& A) {
    return {cross(lift<T>(vec3(body.first_moment)), A), T(body.mass) * A};
}
// The same of an inertia that the call gives: (h x A + J alpha + omega x J omega; m A + W h). Not inlined,
// so that it takes no registers from bodies with inertias of the model.
template <bool moving, class T>
__attribute__((noinline)) Force<T> given_force(const Inertia<T>& I, const RneaMotion<T>& m) {
    if constexpr (!moving) return {cross(I.h, m.A), I.m * m.A};
    return {cross(I.h, m.A, cross(m.omega, I.J * m.omega, I.J * m.alpha)),
            mul_add(m.W, I.h, I.m * m.A)};
}

// The motion of body i from the motion of its parent. moving = false: all joint velocities and
// accelerations are zero, and only A is computed.
template <bool moving, class T>
DTAU_INLINE RneaMotion<T> next_motion(const Tree& tree, int i, const Configuration<T>& x,
                                      const T* v, const T* a, const RneaWorkspace<T>& w) {
    const Body& body = tree.bodies[i];
    RneaMotion<T> m;
    const RneaMotion<T>& p = w.motion[body.level];
    if (body.kind == JointKind::revolute) {
        const SimpleRotation<T> R = w.bodies[i].turn = simple_rotation(body, x);
        if constexpr (moving) {
            const T rate = v[body.v];
            m.omega = R.from_parent(body, p.omega);
            m.alpha = R.from_parent(body, p.alpha);
            m.alpha.x = fma(m.omega.y, rate, m.alpha.x);
            m.alpha.y = fma(-m.omega.x, rate, m.alpha.y);
            if (a) m.alpha.z = m.alpha.z + a[body.v];
            m.omega.z = m.omega.z + rate;
            m.A = R.from_parent(body, mul_add(p.W, vec3(body.translation), p.A));
        } else {
            m.A = R.from_parent(body, p.A);
        }
    } else {
        const Placement<T> X = w.X[i] = joint_placement(body, constant_placement<T>(body), x);
        const bool root = body.parent < 0;  // W_p = 0: X.r, the base's position, is not read
        m.A = p.A;
        if constexpr (moving) {
            const Motion<T> vJ = joint_twist(body, v + body.v);
            const Motion<T> aJ = a ? joint_twist(body, a + body.v) : zero_motion<T>();
            const Vec3<T> omega = root ? p.omega : transposed_mul(X.R, p.omega);
            const Vec3<T> alpha = root ? p.alpha : transposed_mul(X.R, p.alpha);
            if (!root) m.A = mul_add(p.W, X.r, m.A);
            m.omega = omega + vJ.ang;
            m.alpha = cross(omega, vJ.ang, alpha + aJ.ang);
            m.A = transposed_mul(X.R, m.A) + cross(omega + m.omega, vJ.lin, aJ.lin);
        } else {
            m.A = transposed_mul(X.R, m.A);
        }
    }
    if constexpr (moving) m.W = point_accelerations(m.omega, m.alpha);
    return m;
}

// Forward pass: the motions of the bodies, and the forces f_i that accelerate them.
template <bool moving, class T>
DTAU_INLINE void forces_of_motion(const Tree& tree, const T* q, const T* v, const T* a,
                                  const T* f_ext, const RneaWorkspace<T>& w) {
    const Configuration<T> x = configuration(tree, q, w.angles);
    const Vec3<T> zero = zero_vector<T>();
    w.motion[0] = {zero, zero, -lift<T>(vec3(tree.gravity)), zero_matrix<T>()};
    for (int i = 0; i < tree.nnodes; ++i) {
        const Body& body = tree.bodies[i];
        const RneaMotion<T> m = next_motion<moving>(tree, i, x, v, a, w);
        w.motion[body.level + 1] = m;
        Force<T> f;
        if (tree.inertias)
            f = given_force<moving>(given_inertias<T>(tree)[i], w.motion[body.level + 1]);
        else if constexpr (moving)
            f = moving_force(body, m.A, m.W);
        else
            f = moving_force(body, m.A);
        if (acts_on(f_ext, body)) f = f - body_wrench(body, f_ext);
        w.bodies[i].f = f;
    }
}

template <bool moving, class T>
DTAU_INLINE void newton_euler(const Tree& tree, const T* q, const T* v, const T* a, const T* f_ext,
                              T* tau, const RneaWorkspace<T>& w) {
    // First, so that they overlap with the latency-bound passes.
    if constexpr (moving) friction_torques(tree, v, w.friction);
    forces_of_motion<moving>(tree, q, v, a, f_ext, w);
    for (int i = tree.nnodes - 1; i >= 0; --i) {
        const Body& body = tree.bodies[i];
        const RneaBody<T>& m = w.bodies[i];
        const Force<T> f = m.f;
        if (body.kind == JointKind::revolute) {
            tau[body.v] = f.ang.z;
            if (body.parent < 0) continue;
            Force<T>& p = w.bodies[body.parent].f;
            p = add_transformed(body, m.turn, lift<T>(vec3(body.translation)), f, p);
        } else {
            joint_torque(body, f, tau + body.v);
            if (body.parent >= 0) w.bodies[body.parent].f += transformed(w.X[i], f);
        }
    }
    for (int k = 0; k < tree.nv; ++k) {
        if (a) tau[k] = fma(armature<T>(tree, k), a[k], tau[k]);
        if (v) tau[k] = fma(damping<T>(tree, k), v[k], tau[k]);
    }
    add_spring_torques(tree, q, tau);
    if constexpr (moving)
        for (int k = tree.friction.first; k < tree.friction.end; ++k)
            tau[k] = tau[k] + w.friction[k];
}

// A null v, a or f_ext stands for zeros. If v is null, a is not read.
template <class T>
void rnea(const Tree& tree, const T* q, const T* v, const T* a, const T* f_ext, T* tau,
          const RneaWorkspace<T>& w) {
    if (v)
        newton_euler<true>(tree, q, v, a, f_ext, tau, w);
    else
        newton_euler<false, T>(tree, q, nullptr, nullptr, f_ext, tau, w);
}

}  // namespace dtau::DTAU_VARIANT
