// Computes products with the first derivatives of impacts (impulse.hpp): impulse_dynamics_jvp(),
// impulse_dynamics_vjp(). [Derivations] eqs. 20.11 to 20.13
//
// They are the products of constrained dynamics (jvp.hpp, vjp.hpp) at rest and without gravity, at the
// acceleration v+ - v, with the rows of an impact. The velocity v and the restitution e enter the rows as
// w = (1 + e) v, and v is a part of v+:
//
//   jvp   dw = (1 + e) dv + v de,            dv+ = da + dv
//   vjp   by_v = (1 + e) by_w + lam,         by_e = v . by_w
#pragma once

#include "dtau/algorithms/constraints/impulse.hpp"
#include "dtau/algorithms/constraints/jvp.hpp"
#include "dtau/algorithms/constraints/vjp.hpp"

namespace dtau::DTAU_VARIANT {

// Leaves in w what constrained_motion does, at rest; in `twists` the bodies' twists at u.
template <class T>
void impulse_motion(const Tree& tree, const T* q, const T* v, T restitution, const T* active, T* u,
                    Motion<T>* twists, const ConstrainedMotionWorkspace<T>& w) {
    impulse_dynamics(tree, q, v, restitution, active, u, w.forces, w.dynamics, w.equations);
    stop_bodies(tree, v, restitution, u, twists, w.dynamics.idsva.root_frame);
    for (int i = 0; i < tree.nnodes; ++i) w.dynamics.idsva.f[i] = zero_force<T>();
    for (int r = 0; r < w.equations.schur.constraints->nrows; ++r) w.residual[r] = T(0.0);
    body_motions(tree, v, w);
}

template <class T> struct ImpulseJvpWorkspace {
    ConstrainedJvpWorkspace<T> product;
    T *u, *dw;
    Motion<T>* twists;

    ImpulseJvpWorkspace(Arena& arena, const Tree& tree, const Options& options)
        : product(arena, tree, options), twists(arena.take<Motion<T>>(tree.nnodes)) {
        arena.take_each(tree.nv, u, dw);
    }
};

// q, v, dq, dv and dv_after: of the joints. dparameters may be null: zero.
template <class T>
void impulse_dynamics_jvp(const Tree& tree, const T* q, const T* v, T restitution, const T* dq,
                          const T* dv, T drestitution, const T* dparameters, const T* active,
                          T* dv_after, T* dimpulses, const ImpulseJvpWorkspace<T>& w) {
    const T* const none = nullptr;
    const bool impact = true;
    impulse_motion(tree, q, v, restitution, active, w.u, w.twists, w.product.value);
    for (int k = 0; k < tree.nv; ++k)
        w.dw[k] = fma(T(1.0) + restitution, dv[k], drestitution * v[k]);
    motion_variation(tree, dq, w.dw, none, dparameters, active, w.twists, impact, dimpulses,
                     w.product);
    if (dparameters && w.product.of_joints.s)
        add_armature_torques(tree, w.product.value.dynamics.a,
                             dparameters + body_parameters * tree.nbodies, w.product.torque);
    solve_variation(tree, dq, none, active, dv_after, dimpulses, w.product);
    for (int k = 0; k < tree.nv; ++k) dv_after[k] = dv_after[k] + dv[k];
}

template <class T> struct ImpulseVjpWorkspace {
    ConstrainedVjpWorkspace<T> product;
    T *u, *mu;
    Motion<T>* twists;

    ImpulseVjpWorkspace(Arena& arena, const Tree& tree, const Options& options)
        : product(arena, tree, options), twists(arena.take<Motion<T>>(tree.nnodes)) {
        arena.take_each(tree.nv, u, mu);
    }
};

// q, v and results: of the joints; lam: of the independent velocities.
template <class T>
void impulse_dynamics_vjp(const Tree& tree, const T* q, const T* v, T restitution, const T* lam,
                          const T* lam_impulses, const T* active, T* by_q, T* by_v,
                          T& by_restitution, const ImpulseVjpWorkspace<T>& w) {
    T* const by_f_ext = nullptr;
    const bool impact = true;
    impulse_motion(tree, q, v, restitution, active, w.u, w.twists, w.product.value);
    motion_gradient(tree, lam, lam_impulses, active, w.twists, impact, by_q, by_v, w.mu, by_f_ext,
                    w.product);
    by_restitution = T(0.0);
    for (int k = 0; k < tree.nv; ++k) {
        by_restitution = fma(v[k], by_v[k], by_restitution);
        by_v[k] = (T(1.0) + restitution) * by_v[k];
    }
    for (int k = 0; k < tree.independent.n; ++k)
        by_v[owning_dof(tree, k)] = by_v[owning_dof(tree, k)] + lam[k];
}

}  // namespace dtau::DTAU_VARIANT
