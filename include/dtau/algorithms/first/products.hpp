// Multiplies the first derivatives of inverse dynamics by vectors, without a matrix:
// inverse_dynamics_jvp(), inverse_dynamics_vjp(). O(N). In root-frame coordinates (kinematics.hpp),
// where passing from body to body is addition.
//
//   jvp   dtau = dtau/dq dq + dtau/dv dv + M da - sum of J_i^T df_ext_i
//   vjp   by_x = (dtau/dx)^T lam for x = q, v, a;   by_f_ext_i = -J_i lam
//
// [IDSVA] eqs. 30 and 32 give an entry for every pair of joints on a path, O(N d). A product sums over
// the columns (jvp) or the rows (vjp), so that no pairs are left: the forward pass carries the sum over
// the path from body to body, the backward pass the sum over the subtree. Each body's Coriolis
// operator B multiplies one motion only, and is not formed ([Derivations] §6; inertia.hpp).
//
// Symbols, for body i with parent p:
//   v, a        twist and spatial acceleration, gravity included
//   F           force across joint i: I a + v x* I v - f_ext, summed over the subtree
//   d, e        S_i dq and S_i dv, columns of joint i only
//   y           sum of Psi'_j dq_j + s_j dv_j over the path:            y_p + v_p x d + e
//   z           sum of Psi''_j dq_j + (Psi'_j + S'_j) dv_j + s_j da_j:  z_p + a_p x d
//                                                    + v_p x (v_p x d + e) + v_i x e + S_i da
//   dF          I z + 2B y - df_ext, summed over the subtree, with d x* F on the way to the parent
//   Lam         twist if lam were the joint rates:                      Lam_p + S_i lam
//   P, Z        I Lam and (2B)^T Lam, summed over the subtree; Z is a moment without force
//
//   dtau = S^T dF + stiffness dq + (damping + friction's slope) dv + armature da
//   by_q = -S^T (Lam_p x* F + a_p x* P + v_p x* (Z - v_p x* P)) + stiffness lam
//   by_v = S^T (Z - (v_p + v_i) x* P) + (damping + slope) lam      by_a = S^T P + armature lam
#pragma once

#include "dtau/kinematics.hpp"

namespace dtau::DTAU_VARIANT {

// S x and S^T f of one joint. For a root body, root frame and body frame are the same.
template <class T> inline Motion<T> joint_motion(const Body& body, const Motion<T>* S, const T* x) {
    if (body.parent < 0) return joint_twist(body, x + body.v);
    return subspace_times(body, S, x, zero_motion<T>());
}
template <class T>
inline void joint_force(const Body& body, const Motion<T>* S, const Force<T>& f, T* tau) {
    if (body.parent < 0) return joint_torque(body, f, tau + body.v);
    for (int k = body.v; k < body.v + body.nv; ++k) tau[k] = dot(S[k], f);
}

// ------------------------------------------------ steps that forward dynamics shares

template <class T> struct TangentWorkspace {
    Motion<T>*y, *z;
    Force<T>* dF;

    TangentWorkspace(Arena& arena, const Tree& tree, const Options&) {
        arena.take_each(tree.nnodes, y, z, dF);
    }
};

// Computes y, z and the body's own part of dF; returns d. momentum = I v. da and df_ext may be null:
// zero.
template <class T>
Motion<T> tangent_outwards(const Tree& tree, int i, const RootFrame<T>& g, const Motion<T>* a,
                           const Force<T>& momentum, const T* dq, const T* dv, const T* da,
                           const T* df_ext, const TangentWorkspace<T>& w) {
    const Body& body = tree.bodies[i];
    const Motion<T> vi = g.v[i];
    const Motion<T> d = joint_motion(body, g.S, dq), e = joint_motion(body, g.S, dv);
    Motion<T> y = e, z = da ? joint_motion(body, g.S, da) : zero_motion<T>();
    if (body.parent < 0) {
        z = cross(world_acceleration(g.gravity[i]), d, cross(vi, e, z));
    } else {
        const Motion<T> vp = g.v[body.parent], t = cross(vp, d, e);
        y = w.y[body.parent] + t;  // [Derivations] eq. 6.2
        z = cross(a[body.parent], d, w.z[body.parent] + z);
        // v_i x e = v_p x e where the joint has one column
        z = body.nv == 1 ? cross(vp, t + e, z) : cross(vp, t, cross(vi, e, z));
    }
    w.y[i] = y, w.z[i] = z;
    w.dF[i] = coriolis_mul_add(g.I[i], vi, momentum, y, g.I[i] * z);  // [Derivations] eq. 6.3
    if (acts_on(df_ext, body)) w.dF[i] = w.dF[i] - transformed(g.P[i], body_wrench(body, df_ext));
    return d;
}

// The change of the joint torques of the forces F on the bodies, along a displacement d. dF: the
// changes of F beside the rigid motion. Overwrites F and dF.
template <class T>
DTAU_INLINE void vary_torques(const Tree& tree, const Motion<T>* S, const Motion<T>* d, Force<T>* F,
                              Force<T>* dF, T* torque) {
    for (int i = tree.nnodes - 1; i >= 0; --i) {
        const Body& body = tree.bodies[i];
        joint_force(body, S, dF[i], torque);
        if (body.parent < 0) continue;
        F[body.parent] += F[i];
        dF[body.parent] += cross_star(d[i], F[i], dF[i]);  // [Derivations] eq. 6.3
    }
}

template <class T> struct AdjointWorkspace {
    Motion<T>* Lam;
    Force<T>* P;
    Vec3<T>* Z;

    AdjointWorkspace(Arena& arena, const Tree& tree, const Options&) {
        arena.take_each(tree.nnodes, Lam, P, Z);
    }
};

// Computes the body's own parts of P and Z from Lam. momentum = I v.
template <class T>
inline void adjoint_outwards(int i, const RootFrame<T>& g, const Force<T>& momentum,
                             const AdjointWorkspace<T>& w) {
    w.P[i] = g.I[i] * w.Lam[i];
    w.Z[i] = coriolis_transposed_mul(g.I[i], g.v[i], momentum, w.Lam[i]);  // [Derivations] eq. 6.4
}

// Computes -by_q and -by_v of joint i, without springs, damping and friction, and by_a without armature, unless by_a is null.
// Passes P and Z of its subtree to the parent.
template <class T>
void adjoint_inwards(const Tree& tree, int i, const RootFrame<T>& g, const Motion<T>* a,
                     const Force<T>& F, T* minus_by_q, T* minus_by_v, T* by_a,
                     const AdjointWorkspace<T>& w) {
    const Body& body = tree.bodies[i];
    const int p = body.parent;
    const Force<T> P = w.P[i];
    const Vec3<T> Z = w.Z[i];
    if (by_a) joint_force(body, g.S, P, by_a);
    if (p < 0) {
        const Force<T> R = cross_star(g.v[i], P);
        joint_force(body, g.S, {R.ang - Z, R.lin}, minus_by_v);
        joint_force(body, g.S, cross_star(world_acceleration(g.gravity[i]), P), minus_by_q);
        return;
    }
    // v_p x* P and v_i x* P; for a joint of one column, S^T gives the same for both
    const Force<T> Q = cross_star(g.v[p], P), R = body.nv == 1 ? Q : cross_star(g.v[i], P);
    const Force<T> D = {Z - Q.ang, -Q.lin};
    const Force<T> force = cross_star(w.Lam[p], F, cross_star(a[p], P, cross_star(g.v[p], D)));
    joint_force(body, g.S, force, minus_by_q);  // [Derivations] eq. 6.6
    joint_force(body, g.S, R - D, minus_by_v);  // [Derivations] eq. 6.6
    w.P[p] += P;
    w.Z[p] += Z;
}

// ---------------------------------------------------------------- inverse dynamics

template <class T> struct MotionWorkspace {
    RootFrame<T> root_frame;
    Motion<T>* a;
    Force<T>* F;

    MotionWorkspace(Arena& arena, const Tree& tree, const Options&) : root_frame(arena, tree) {
        arena.take_each(tree.nnodes, a, F);
    }
};

// The acceleration of body i; its parent comes first.
template <class T>
inline Motion<T> body_acceleration(const Body& body, int i, const T* v, const T* a,
                                   const RootFrame<T>& g, const Motion<T>* before) {
    const Motion<T> own = joint_motion(body, g.S, a);
    if (body.parent < 0) return world_acceleration(g.gravity[i]) + own;
    const Motion<T> vJ = joint_motion(body, g.S, v);
    return cross(g.v[body.parent], vJ, before[body.parent] + own);
}

// Computes a and the body's own part of F, after root_frame_sweep; returns I v.
template <class T>
inline Force<T> motion_outwards(const Tree& tree, int i, const T* v, const T* a, const T* f_ext,
                                const MotionWorkspace<T>& w) {
    const Body& body = tree.bodies[i];
    const RootFrame<T>& g = w.root_frame;
    w.a[i] = body_acceleration(body, i, v, a, g, w.a);
    const Force<T> momentum = g.I[i] * g.v[i];
    w.F[i] = cross_star(g.v[i], momentum, g.I[i] * w.a[i]);
    if (acts_on(f_ext, body)) w.F[i] = w.F[i] - transformed(g.P[i], body_wrench(body, f_ext));
    return momentum;
}

template <class T> struct InverseJvpWorkspace {
    MotionWorkspace<T> motion;
    TangentWorkspace<T> tangent;
    Motion<T>* d;

    InverseJvpWorkspace(Arena& arena, const Tree& tree, const Options& options)
        : motion(arena, tree, options),
          tangent(arena, tree, options),
          d(arena.take<Motion<T>>(tree.nnodes)) {}
};

// da, f_ext and df_ext may be null: zero.
template <class T>
void inverse_dynamics_jvp(const Tree& tree, const T* q, const T* v, const T* a, const T* dq,
                          const T* dv, const T* da, const T* f_ext, const T* df_ext, T* dtau,
                          const InverseJvpWorkspace<T>& w) {
    const RootFrame<T>& g = w.motion.root_frame;
    root_frame_sweep(tree, q, v, g);
    for (int i = 0; i < tree.nnodes; ++i) {
        const Force<T> momentum = motion_outwards(tree, i, v, a, f_ext, w.motion);
        w.d[i] = tangent_outwards(tree, i, g, w.motion.a, momentum, dq, dv, da, df_ext, w.tangent);
    }
    vary_torques(tree, g.S, w.d, w.motion.F, w.tangent.dF, dtau);
    for (int k = 0; k < tree.nv; ++k) {
        dtau[k] = fma(damping<T>(tree, k), dv[k], dtau[k]);
        if (da) dtau[k] = fma(armature<T>(tree, k), da[k], dtau[k]);
    }
    add_spring_variations(tree, 1.0, q, dq, dtau);
    add_friction_times(tree, 1.0, v, dv, dtau);
}

template <class T> struct InverseVjpWorkspace {
    MotionWorkspace<T> motion;
    AdjointWorkspace<T> adjoint;

    InverseVjpWorkspace(Arena& arena, const Tree& tree, const Options& options)
        : motion(arena, tree, options), adjoint(arena, tree, options) {}
};

// f_ext may be null: zero; by_a and by_f_ext may be null: not wanted.
template <class T>
void inverse_dynamics_vjp(const Tree& tree, const T* q, const T* v, const T* a, const T* lam,
                          const T* f_ext, T* by_q, T* by_v, T* by_a, T* by_f_ext,
                          const InverseVjpWorkspace<T>& w) {
    const RootFrame<T>& g = w.motion.root_frame;
    Motion<T>* Lam = w.adjoint.Lam;
    Force<T>* F = w.motion.F;
    root_frame_sweep(tree, q, v, g);
    for (int i = 0; i < tree.nnodes; ++i) {
        const Body& body = tree.bodies[i];
        Lam[i] = joint_motion(body, g.S, lam);
        if (body.parent >= 0) Lam[i] = Lam[i] + Lam[body.parent];
        adjoint_outwards(i, g, motion_outwards(tree, i, v, a, f_ext, w.motion), w.adjoint);
        // [Derivations] eq. 6.5
        if (acts_on(by_f_ext, body)) store_twist(body, seen_from(g.P[i], -Lam[i]), by_f_ext);
    }
    for (int i = tree.nnodes - 1; i >= 0; --i) {
        const int p = tree.bodies[i].parent;
        adjoint_inwards(tree, i, g, w.motion.a, F[i], by_q, by_v, by_a, w.adjoint);
        if (p >= 0) F[p] += F[i];
    }
    for (int k = 0; k < tree.nv; ++k) {
        by_q[k] = -by_q[k];
        by_v[k] = fma(damping<T>(tree, k), lam[k], -by_v[k]);
        if (by_a) by_a[k] = fma(armature<T>(tree, k), lam[k], by_a[k]);
    }
    add_spring_gradients(tree, 1.0, q, lam, by_q);
    add_friction_times(tree, 1.0, v, lam, by_v);
}

}  // namespace dtau::DTAU_VARIANT
