// Multiplies the first derivatives of forward dynamics by vectors, without a matrix:
// forward_dynamics_jvp(), forward_dynamics_vjp(). O(N). In root-frame coordinates, after the
// articulated-body algorithm (articulated_solve.hpp), whose factors solve with M.
//
//   jvp   da = M^-1 (dtau - product of inverse dynamics at a = FD(q, v, tau) with dq, dv, da = 0)
//   vjp   by_tau = mu = M^-1 lam;   by_x = -(dID/dx)^T mu for x = q, v;   by_f_ext = J mu
//
// [IDSVA] eq. 5, [Derivations] eq. 6.7. The textbook multiplies by the (nv, nv) derivatives. Here the
// passes of products.hpp are followed by one solve with the factors. The force across a joint is
// F = IA a + pA ([RBDA] eq. 7.2), known without a sum over the subtree, so that d x* F is added to dF
// already in the forward pass. The solve takes dF as forces on the bodies, together with dtau.
// Symbols: products.hpp, with mu in place of lam, and articulated_solve.hpp.
#pragma once

#include "dtau/algorithms/first/articulated_solve.hpp"
#include "dtau/algorithms/first/products.hpp"
#include "dtau/algorithms/solve/factorized.hpp"

namespace dtau::DTAU_VARIANT {

template <class T> struct ForwardJvpWorkspace {
    ArticulatedDynamicsWorkspace<T> value;
    TangentWorkspace<T> tangent;
    T *a, *torque;
    Motion<T>* motion;

    ForwardJvpWorkspace(Arena& arena, const Tree& tree, const Options& options)
        : value(arena, tree, options),
          tangent(arena, tree, options),
          motion(arena.take<Motion<T>>(tree.nnodes)) {
        arena.take_each(tree.nv, a, torque);
    }
};

// f_ext and df_ext may be null: zero.
template <class T>
void forward_dynamics_jvp(const Tree& tree, const T* q, const T* v, const T* tau, const T* dq,
                          const T* dv, const T* dtau, const T* f_ext, const T* df_ext, T* da,
                          const ForwardJvpWorkspace<T>& w) {
    const RootFrame<T>& g = w.value.root_frame;
    const ArticulatedFactors<T>& factors = w.value.factors;
    Force<T>* dF = w.tangent.dF;
    const T* zero = nullptr;
    articulated_dynamics(tree, q, v, tau, f_ext, w.a, w.value);
    for (int i = 0; i < tree.nnodes; ++i) {
        const int p = tree.bodies[i].parent;
        const Motion<T> d = tangent_outwards(tree, i, g, factors.a, g.I[i] * g.v[i], dq, dv, zero,
                                             df_ext, w.tangent);
        if (p >= 0) dF[p] = cross_star(d, factors.IA[i] * factors.a[i] + factors.pA[i], dF[p]);
    }
    for (int k = 0; k < tree.nv; ++k) w.torque[k] = fma(-damping<T>(tree, k), dv[k], dtau[k]);
    add_spring_variations(tree, -1.0, q, dq, w.torque);
    add_friction_times(tree, -1.0, v, dv, w.torque);
    // [Derivations] eqs. 6.7, 6.8
    articulated_solve(tree, g.S, w.torque, dF, da, w.motion, factors);
}

template <class T> struct ForwardVjpWorkspace {
    ArticulatedDynamicsWorkspace<T> value;
    AdjointWorkspace<T> adjoint;
    T* a;

    ForwardVjpWorkspace(Arena& arena, const Tree& tree, const Options& options)
        : value(arena, tree, options), adjoint(arena, tree, options), a(arena.take<T>(tree.nv)) {}
};

// f_ext may be null: zero; by_f_ext may be null: not wanted.
template <class T>
void forward_dynamics_vjp(const Tree& tree, const T* q, const T* v, const T* tau, const T* lam,
                          const T* f_ext, T* by_q, T* by_v, T* by_tau, T* by_f_ext,
                          const ForwardVjpWorkspace<T>& w) {
    const RootFrame<T>& g = w.value.root_frame;
    const ArticulatedFactors<T>& factors = w.value.factors;
    T* by_a = nullptr;
    articulated_dynamics(tree, q, v, tau, f_ext, w.a, w.value);
    for (int i = 0; i < tree.nnodes; ++i) w.adjoint.P[i] = zero_force<T>();
    articulated_solve(tree, g.S, lam, w.adjoint.P, by_tau, w.adjoint.Lam,
                      factors);  // [Derivations] eq. 6.8
    for (int i = 0; i < tree.nnodes; ++i) {
        adjoint_outwards(i, g, g.I[i] * g.v[i], w.adjoint);
        if (acts_on(by_f_ext, tree.bodies[i]))
            store_twist(tree.bodies[i], seen_from(g.P[i], w.adjoint.Lam[i]), by_f_ext);
    }
    for (int i = tree.nnodes - 1; i >= 0; --i)
        adjoint_inwards(tree, i, g, factors.a, factors.IA[i] * factors.a[i] + factors.pA[i], by_q,
                        by_v, by_a, w.adjoint);
    for (int k = 0; k < tree.nv; ++k) by_v[k] = fma(-damping<T>(tree, k), by_tau[k], by_v[k]);
    add_spring_gradients(tree, -1.0, q, by_tau, by_q);
    add_friction_times(tree, -1.0, v, by_tau, by_v);
}

// ---------------------------------------------------------------- joints that mimic others
//
// The articulated-body algorithm cannot eliminate joints that share a velocity. So solves take the
// factors of the independent velocities' mass matrix G^T M G (factorized.hpp), and the products of
// inverse dynamics stay unchanged. tau, dtau and lam: of the independent velocities; all else: of the
// joints.

template <class T> struct MimicForwardJvpWorkspace {
    FactorizedWorkspace<T> dynamics;
    InverseJvpWorkspace<T> inverse;
    T *a, *torque;

    MimicForwardJvpWorkspace(Arena& arena, const Tree& tree, const Options& options)
        : dynamics(arena, tree, options), inverse(arena, tree, options) {
        arena.take_each(tree.nv, a, torque);
    }
};

// f_ext and df_ext may be null: zero.
template <class T>
void mimic_forward_dynamics_jvp(const Tree& tree, const T* q, const T* v, const T* tau, const T* dq,
                                const T* dv, const T* dtau, const T* f_ext, const T* df_ext, T* da,
                                const MimicForwardJvpWorkspace<T>& w) {
    const T* zero = nullptr;
    T* x = w.dynamics.independent;
    mimic_forward_dynamics(tree, q, v, tau, f_ext, w.a, w.dynamics);
    inverse_dynamics_jvp(tree, q, v, w.a, dq, dv, zero, f_ext, df_ext, w.torque, w.inverse);
    reduce_columns(tree, w.torque, 1, x);
    for (int k = 0; k < tree.independent.n; ++k) x[k] = dtau[k] - x[k];
    ltdl_solve_vector(tree.independent, x, w.dynamics.ltdl);
    expand_v(tree, x, da);
}

template <class T> struct MimicForwardVjpWorkspace {
    FactorizedWorkspace<T> dynamics;
    InverseVjpWorkspace<T> inverse;
    T *a, *minus_mu;

    MimicForwardVjpWorkspace(Arena& arena, const Tree& tree, const Options& options)
        : dynamics(arena, tree, options), inverse(arena, tree, options) {
        arena.take_each(tree.nv, a, minus_mu);
    }
};

// f_ext may be null: zero; by_f_ext may be null: not wanted.
template <class T>
void mimic_forward_dynamics_vjp(const Tree& tree, const T* q, const T* v, const T* tau,
                                const T* lam, const T* f_ext, T* by_q, T* by_v, T* by_tau,
                                T* by_f_ext, const MimicForwardVjpWorkspace<T>& w) {
    T *mu = w.dynamics.independent, *by_a = nullptr;
    mimic_forward_dynamics(tree, q, v, tau, f_ext, w.a, w.dynamics);
    for (int k = 0; k < tree.independent.n; ++k) mu[k] = lam[k];
    ltdl_solve_vector(tree.independent, mu, w.dynamics.ltdl);
    expand_v(tree, mu, by_tau);
    for (int k = 0; k < tree.nv; ++k) w.minus_mu[k] = -by_tau[k];
    inverse_dynamics_vjp(tree, q, v, w.a, w.minus_mu, f_ext, by_q, by_v, by_a, by_f_ext, w.inverse);
}

}  // namespace dtau::DTAU_VARIANT
