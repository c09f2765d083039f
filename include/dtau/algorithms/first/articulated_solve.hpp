// Factorizes the mass matrix by the articulated-body algorithm and solves with it in O(N):
// articulated_factors(), articulated_solve(); articulated_dynamics() is forward dynamics that
// leaves the factors. [RBDA] section 7.3; in the coordinates of the root frame. For body i with
// parent p:
//
//   forward    c_i = v_p x v_J        IA_i = I_i        pA_i = v_i x* I_i v_i - f_ext_i
//   backward   for the columns k of joint i, the last one first:
//                U_k = IA_i s_k     d_k = s_k . U_k + armature     u_k = tau_k - damping v_k - s_k . pA_i
//                IA_i = IA_i - U_k U_k^T / d_k      pA_i = pA_i + U_k u_k / d_k
//              IA_p = IA_p + IA_i       pA_p = pA_p + pA_i + IA_i c_i
//   forward    a_i = a_p + c_i;  for the columns k:   a_k = (u_k - U_k . a_i) / d_k,   a_i = a_i + a_k s_k
//
// Products (forward_products.hpp) reuse the factors U and d, the accelerations and the forces. So all
// are in the root frame, where an articulated inertia passes to the parent without a transform.
// Forward dynamics alone is faster in body coordinates: aba.hpp. A joint of several columns is
// eliminated one column at a time, which factorizes D = S^T IA S without inverting a matrix.
//
// Symbols:
//   IA[i], pA[i]   articulated inertia, bias force (nnodes)
//   c[i], a[i]     velocity-product acceleration, acceleration of the body (nnodes)
//   U[k], d_inverse[k], u[k]   of each column (nv)
#pragma once

#include "dtau/kinematics.hpp"

namespace dtau::DTAU_VARIANT {

template <class T> struct ArticulatedFactors {
    ArticulatedInertia<T>* IA;
    Force<T>*pA, *U;
    Motion<T>*c, *a;
    T *d_inverse, *u;

    ArticulatedFactors(Arena& arena, const Tree& tree, const Options&) {
        arena.take_each(tree.nnodes, IA, pA, c, a);
        arena.take_each(tree.nv, U, d_inverse, u);
    }
};

// root_frame holds the placements, twists and inertias of the bodies (root_frame_sweep).
template <class T>
void articulated_factors(const Tree& tree, const T* v, const T* tau, const T* f_ext, T* a,
                         const RootFrame<T>& root_frame, const ArticulatedFactors<T>& w) {
    const Motion<T>* S = root_frame.S;
    for (int i = 0; i < tree.nnodes; ++i) {
        const Body& body = tree.bodies[i];
        const Motion<T> vi = root_frame.v[i];
        const Motion<T> vJ = subspace_times(body, S, v, zero_motion<T>());
        w.c[i] = body.parent < 0 ? zero_motion<T>() : cross(root_frame.v[body.parent], vJ);
        w.IA[i] = articulated(root_frame.I[i]);
        w.pA[i] = cross_star(vi, root_frame.I[i] * vi);
        if (acts_on(f_ext, body))
            w.pA[i] = w.pA[i] - transformed(root_frame.P[i], body_wrench(body, f_ext));
    }
    for (int i = tree.nnodes - 1; i >= 0; --i) {
        const Body& body = tree.bodies[i];
        ArticulatedInertia<T> IA = w.IA[i];
        Force<T> pA = w.pA[i];
        for (int k = body.v + body.nv - 1; k >= body.v; --k) {
            const Force<T> U = IA * S[k];
            const T d_inverse = T(1.0) / (dot(S[k], U) + armature<T>(tree, k));
            const T u = fma(-damping<T>(tree, k), v[k], tau[k]) - dot(S[k], pA);
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
        Motion<T> ai =
            (body.parent < 0 ? world_acceleration(root_frame.gravity[i]) : w.a[body.parent]);
        ai = ai + w.c[i];
        for (int k = body.v; k < body.v + body.nv; ++k) {
            a[k] = (w.u[k] - dot(w.U[k], ai)) * w.d_inverse[k];
            ai = fma(a[k], S[k], ai);
        }
        w.a[i] = ai;
    }
}

// Solves M x = b - (joint torques of the forces p on the bodies) with the factors in w: the last two
// passes of the algorithm, without velocities. p (nnodes) becomes the forces that the subtrees pass
// to their parents; motion (nnodes) the twists that the bodies would have at the joint rates x.
template <class T>
void articulated_solve(const Tree& tree, const Motion<T>* S, const T* b, Force<T>* p, T* x,
                       Motion<T>* motion, const ArticulatedFactors<T>& w) {
    for (int i = tree.nnodes - 1; i >= 0; --i) {
        const Body& body = tree.bodies[i];
        Force<T> force = p[i];
        for (int k = body.v + body.nv - 1; k >= body.v; --k) {
            x[k] = (b[k] - dot(S[k], force)) * w.d_inverse[k];  // [Derivations] eq. 6.8
            force = fma(x[k], w.U[k], force);
        }
        if (body.parent >= 0) p[body.parent] += force;
    }
    for (int i = 0; i < tree.nnodes; ++i) {
        const Body& body = tree.bodies[i];
        Motion<T> m = body.parent < 0 ? zero_motion<T>() : motion[body.parent];
        for (int k = body.v; k < body.v + body.nv; ++k) {
            x[k] = fma(negated(dot(w.U[k], m)), w.d_inverse[k], x[k]);  // [Derivations] eq. 6.8
            m = fma(x[k], S[k], m);
        }
        motion[i] = m;
    }
}

template <class T> struct ArticulatedDynamicsWorkspace {
    RootFrame<T> root_frame;
    ArticulatedFactors<T> factors;
    T* torque;  // tau without the torques of springs and friction, if there are any

    ArticulatedDynamicsWorkspace(Arena& arena, const Tree& tree, const Options& options)
        : root_frame(arena, tree),
          factors(arena, tree, options),
          torque(room_for_drive<T>(arena, tree)) {}
};

// Forward dynamics that leaves its factors in w.
template <class T>
void articulated_dynamics(const Tree& tree, const T* q, const T* v, const T* tau, const T* f_ext,
                          T* a, const ArticulatedDynamicsWorkspace<T>& w) {
    root_frame_sweep(tree, q, v, w.root_frame);
    articulated_factors(tree, v, left_by_springs_and_friction(tree, q, v, tau, w.torque), f_ext, a,
                        w.root_frame, w.factors);
}

}  // namespace dtau::DTAU_VARIANT
