// The articulated-body algorithm in ground coordinates, O(N): for products, which go on with its
// factors, accelerations and forces, all in ground coordinates, and with the placements and inertias
// that it takes. (Forward dynamics alone takes less in body coordinates: aba.hpp. With those
// placements and inertias it would take as much as this, before a factor is moved to ground.)
//
// [RBDA] section 7.3. An articulated inertia passes to the parent without a transform here. A joint
// of several degrees of freedom is eliminated one column at a time, from its last to its first, which
// factorises D = S^T IA S without a matrix inverse.
//
// Symbols, for body i with parent p and its column k:
//   IA[i]   articulated inertia
//   pA[i]   bias force
//   c[i]    velocity-product acceleration, v_p x v_J
//   U[k]    IA s_k
//   d[k]    s_k . U_k + armature
//   u[k]    tau_k - damping v_k - s_k . pA
#pragma once

#include "dtau/kinematics.hpp"

namespace dtau::DTAU_VARIANT {

template <class T>
struct AbaWorkspace {
    ArticulatedInertia<T>* IA;
    Force<T>*pA, *U;
    Motion<T>*c, *a;
    T *d_inverse, *u;

    AbaWorkspace(Arena& arena, const Tree& tree, const Options&)
        : IA(arena.take<ArticulatedInertia<T>>(tree.nnodes)),
          pA(arena.take<Force<T>>(tree.nnodes)),
          U(arena.take<Force<T>>(tree.nv)),
          c(arena.take<Motion<T>>(tree.nnodes)),
          a(arena.take<Motion<T>>(tree.nnodes)),
          d_inverse(arena.take<T>(tree.nv)),
          u(arena.take<T>(tree.nv)) {}
};

// ground holds the placements, twists and inertias of the bodies (ground_sweep).
template <class T>
DTAU_INLINE void aba(const Tree& tree, const T* v, const T* tau, const T* f_ext, T* a,
                     const Ground<T>& ground, const AbaWorkspace<T>& w) {
    const Motion<T>* S = ground.S;
    for (int i = 0; i < tree.nnodes; ++i) {
        const Body& body = tree.bodies[i];
        const Motion<T> vi = ground.v[i];
        const Motion<T> vJ = subspace_times(body, S, v, zero_motion<T>());
        w.c[i] = body.parent < 0 ? zero_motion<T>() : cross(ground.v[body.parent], vJ);
        w.IA[i] = articulated(ground.I[i]);
        w.pA[i] = cross_star(vi, ground.I[i] * vi);
        if (acts_on(f_ext, body))
            w.pA[i] = w.pA[i] - transformed(ground.P[i], body_wrench(body, f_ext));
    }
    for (int i = tree.nnodes - 1; i >= 0; --i) {
        const Body& body = tree.bodies[i];
        ArticulatedInertia<T> IA = w.IA[i];
        Force<T> pA = w.pA[i];
        for (int k = body.v + body.nv - 1; k >= body.v; --k) {
            const Force<T> U = IA * S[k];
            const T d_inverse = T(1.0) / (dot(S[k], U) + T(tree.armature[k]));
            const T u = fma(T(-tree.damping[k]), v[k], tau[k]) - dot(S[k], pA);
            subtract_rank_one(IA, U, d_inverse);
            pA = fma(u * d_inverse, U, pA);
            w.U[k] = U, w.d_inverse[k] = d_inverse, w.u[k] = u;
        }
        if (body.parent >= 0) {
            w.IA[body.parent] += IA;
            w.pA[body.parent] += pA + IA * w.c[i];
        }
    }
    for (int i = 0; i < tree.nnodes; ++i) {
        const Body& body = tree.bodies[i];
        Motion<T> ai = (body.parent < 0 ? world_acceleration(ground.gravity[i]) : w.a[body.parent]);
        ai = ai + w.c[i];
        for (int k = body.v; k < body.v + body.nv; ++k) {
            a[k] = (w.u[k] - dot(w.U[k], ai)) * w.d_inverse[k];
            ai = fma(a[k], S[k], ai);
        }
        w.a[i] = ai;
    }
}

// Solves M x = b - (joint torques of the forces p on the bodies), in the factors that aba left in w:
// its two last sweeps without velocities. p (nnodes) becomes what the subtrees pass on, and motion
// (nnodes) the twists of the bodies if x were the joint rates.
template <class T>
DTAU_INLINE void articulated_solve(const Tree& tree, const Motion<T>* S, const T* b, Force<T>* p,
                                   T* x, Motion<T>* motion, const AbaWorkspace<T>& w) {
    for (int i = tree.nnodes - 1; i >= 0; --i) {
        const Body& body = tree.bodies[i];
        Force<T> force = p[i];
        for (int k = body.v + body.nv - 1; k >= body.v; --k) {
            x[k] = (b[k] - dot(S[k], force)) * w.d_inverse[k];  // [Notes] eq. 6.8
            force = fma(x[k], w.U[k], force);
        }
        if (body.parent >= 0) p[body.parent] += force;
    }
    for (int i = 0; i < tree.nnodes; ++i) {
        const Body& body = tree.bodies[i];
        Motion<T> m = body.parent < 0 ? zero_motion<T>() : motion[body.parent];
        for (int k = body.v; k < body.v + body.nv; ++k) {
            x[k] = fma(negated(dot(w.U[k], m)), w.d_inverse[k], x[k]);  // [Notes] eq. 6.8
            m = fma(x[k], S[k], m);
        }
        motion[i] = m;
    }
}

template <class T>
struct GroundDynamicsWorkspace {
    Ground<T> ground;
    AbaWorkspace<T> aba;

    GroundDynamicsWorkspace(Arena& arena, const Tree& tree, const Options& options)
        : ground(arena, tree), aba(arena, tree, options) {}
};

// Forward dynamics, with the factors.
template <class T>
void ground_dynamics(const Tree& tree, const T* q, const T* v, const T* tau, const T* f_ext, T* a,
                     const GroundDynamicsWorkspace<T>& w) {
    ground_sweep(tree, q, v, w.ground);
    aba(tree, v, tau, f_ext, a, w.ground, w.aba);
}

}  // namespace dtau::DTAU_VARIANT
