// Computes the second derivatives of impacts (impulse.hpp) contracted with weights of the velocity
// after and of the impulses: impulse_dynamics_hessian(). [Derivations] eq. 23.19
//
// At rest, without gravity and with a = v+ - v, an impact obeys the equations of hessian.hpp, with
// the velocities J v of the rows as an additional term:
//
//   F = (M a - J^T f;  J a + (1 + e) J v)      y^T F = (23.2) + (1 + e) nu^T J v
//
// This term adds to H_qq and H_qv. F and z are linear in v, and so is v+ = v + a.
#pragma once

#include "dtau/algorithms/constraints/hessian.hpp"
#include "dtau/algorithms/constraints/impulse.hpp"

namespace dtau::DTAU_VARIANT {

template <class T> struct ImpulseHessianWorkspace {
    ConstrainedHessianWorkspace<T> hessian;
    T *u, *rest, *weights;      // of the joints, and (nrows)
    Motion<T>*twists, *before;  // at u and at v
    T *dvdv, *dtaudq;           // (n, n), not wanted

    ImpulseHessianWorkspace(Arena& arena, const Tree& tree, const Options& options)
        : hessian(arena, tree, options, false),
          u(arena.take<T>(tree.nv)),
          rest(arena.take_zeros<T>(tree.nv)),
          weights(arena.take<T>(options.contacts->nrows)) {
        arena.take_each(tree.nnodes, twists, before);
        arena.take_each(tree.independent.n * tree.independent.n, dvdv, dtaudq);
    }
};

// Computes the impact, and what its second derivatives share. q, v: of the joints.
template <class T>
void impulse_hessian_value(const Tree& tree, const T* q, const T* v, T restitution, const T* active,
                           const ImpulseHessianWorkspace<T>& w) {
    const ConstrainedHessianWorkspace<T>& h = w.hessian;
    const IdsvaWorkspace<T>& idsva = h.dynamics.idsva;
    const RootFrame<T>& g = idsva.root_frame;
    const Constraints& constraints = *h.options.contacts;
    h.along_frames.update();
    const int nrows = constraints.nrows;
    impulse_dynamics(tree, q, v, restitution, active, w.u, h.forces, h.dynamics, h.equations);
    for (int i = 0; i < tree.nnodes; ++i) w.before[i] = g.v[i];
    impulse_partials(tree, restitution, active, h.forces,
                     stop_bodies(tree, v, restitution, w.u, w.twists, g), h.equations, h.columns);
    for (int r = 0; r < nrows; ++r) h.residual[r] = T(0.0);
    for (int k = 0; h.ranges.any && k < nrows * h.columns.padded; ++k) h.ranges.minus_e[k] = T(0.0);
    loop_factors(tree, constraints, h.equations.frames, g.S, h.dynamics.ltdl, h.columns);

    const T* const no_wrenches = nullptr;
    idsva_velocities(tree, q, w.rest, no_wrenches, idsva);
    subtract_constraint_wrenches(constraints, h.equations.frames, h.forces, idsva.f);
    idsva_accelerations(tree, h.dynamics.a, idsva);
}

// Runs after the value. lam, lam_impulses and results (nv, nv): of the independent velocities.
template <class T>
void impulse_hessian_blocks(const Tree& tree, const T* lam, const T* lam_impulses, T restitution,
                            const T* active, T* dqdq, T* dqdv, bool symmetric,
                            const ImpulseHessianWorkspace<T>& w) {
    const ConstrainedHessianWorkspace<T>& h = w.hessian;
    const IdsvaWorkspace<T>& idsva = h.dynamics.idsva;
    const Constraints& constraints = *h.options.contacts;
    const Blocks<T> H = h.joints.H, out = {dqdq, dqdv, w.dvdv, w.dtaudq, tree.independent.n};
    const T* const no_wrenches = nullptr;
    constrained_curvature(tree, lam, lam_impulses, active, no_wrenches, h);
    for (int k = 0; k < tree.nv * H.n; ++k) H.dqdv[k] = T(0.0);
    for (int k = 0; k < tree.nv; ++k)
        h.joints.dtau_dv[k * H.n + k] = T(0.0);  // no damping, no friction
    RootFrame<T> moving = idsva.root_frame;
    moving.v = w.before;
    for (int r = 0; r < constraints.nrows; ++r) w.weights[r] = -(T(1.0) + restitution) * h.nu[r];
    add_force_curvature(tree, constraints, h.equations.frames, h.equations.world, w.weights,
                        idsva.root_frame, idsva.a, moving, true, H, h.curvature);
    constrained_results(tree, active, out, symmetric, h);
}

template <class T>
void impulse_dynamics_hessian(const Tree& tree, const T* q, const T* v, const T* lam,
                              const T* lam_impulses, T restitution, const T* active, T* dqdq,
                              T* dqdv, bool symmetric, const ImpulseHessianWorkspace<T>& w) {
    impulse_hessian_value(tree, q, v, restitution, active, w);
    impulse_hessian_blocks(tree, lam, lam_impulses, restitution, active, dqdq, dqdv, symmetric, w);
}

}  // namespace dtau::DTAU_VARIANT
