// Computes the velocities after an impact on contacts and loops, and their first derivatives:
// impulse_dynamics(), impulse_dynamics_derivatives(). [Derivations] eq. 20.13
//
//   M (v+ - v) = J^T f        J v+ = -e J v        e: restitution
//   G = J M^-1 J^T            f = -(1 + e) G^-1 J v          v+ = v + M^-1 J^T f
//
// Derivatives by q are derivatives of constrained dynamics (derivatives.hpp) at rest and without gravity,
// at the acceleration v+ - v. In place of drows/dq they take the derivative of J u at
// u = (v+ - v) + (1 + e) v, where J u = 0. By v, drows/dv is (1 + e) J. Rows that depend on each other
// cannot contradict each other here, because their right-hand side is J times a velocity.
#pragma once

#include "dtau/algorithms/constraints/pseudo_inverse.hpp"
#include "dtau/algorithms/first/idsva.hpp"
#include "dtau/algorithms/solve/factorized.hpp"

namespace dtau::DTAU_VARIANT {

template <class T> struct ImpulseWorkspace {
    FactorizedWorkspace<T> dynamics;
    ConstraintEquations<T> equations;

    ImpulseWorkspace(Arena& arena, const Tree& tree, const Options& options)
        : dynamics(arena, tree, options), equations(arena, tree, options) {}
};

// q, v, v_after: of the joints. v+ - v is left in w.a.
template <class T>
void impulse_dynamics(const Tree& tree, const T* q, const T* v, T restitution, const T* active,
                      T* v_after, T* impulses, const FactorizedWorkspace<T>& w,
                      const ConstraintEquations<T>& equations) {
    const Constraints& constraints = *equations.schur.constraints;
    const RootFrame<T>& g = w.idsva.root_frame;
    factorize_mass_matrix(tree, q, v, w);
    factorize_constraints(tree, q, Hold<T>{active, nullptr}, g, w.ltdl, equations);
    const T minus = -(T(1.0) + restitution);
    for (int c = 0; c < constraints.count; ++c) {
        const Constraint& constraint = constraints.at[c];
        const ConstraintFrames<T>& f = equations.frames[c];
        T* to = impulses + constraint.first;
        store_rows(constraint, f.E, constraint_velocities(constraint, f, g), to);
        for (int r = 0; r < constraint.count; ++r) to[r] = if_active(active, c, minus * to[r]);
    }
    T* const x = w.independent;
    for (int k = 0; k < tree.independent.n; ++k) x[k] = T(0.0);
    solve_constrained(tree.independent.n, x, impulses, equations.schur);
    ltdl_solve_outwards(tree.independent, x, w.ltdl);
    expand_v(tree, x, w.a);
    for (int k = 0; k < tree.nv; ++k) v_after[k] = v[k] + w.a[k];
}

// Runs after impulse_dynamics: brings the bodies to rest, without gravity. Returns root_frame with their
// twists at u, in `twists`; `after` has v+, and has u then.
template <class T>
RootFrame<T> stop_bodies(const Tree& tree, const T* v, T restitution, T* after, Motion<T>* twists,
                         const RootFrame<T>& root_frame) {
    RootFrame<T> moving = root_frame;
    moving.v = twists;
    for (int k = 0; k < tree.nv; ++k) after[k] = fma(restitution, v[k], after[k]);
    for (int i = 0; i < tree.nnodes; ++i) {
        twist_body(tree, i, after, moving);
        root_frame.v[i] = zero_motion<T>();
        root_frame.gravity[i] = zero_vector<T>();
    }
    return moving;
}

// Computes the derivatives of J u by q, and (1 + e) J by v; g.v are the bodies' twists at u.
template <class T>
void impulse_partials(const Tree& tree, T restitution, const T* active, const T* impulses,
                      const RootFrame<T>& g, const ConstraintEquations<T>& equations,
                      const ConstraintColumns<T>& columns) {
    const Constraints& constraints = *equations.schur.constraints;
    const T more = T(1.0) + restitution;
    clear_columns(constraints, 2, columns);
    int loop = 0;
    for (int c = 0; c < constraints.count; ++c) {
        const Constraint& constraint = constraints.at[c];
        const ConstraintFrames<T>& f = equations.frames[c];
        const int number = constraint.b.body < 0 ? -1 : loop++;
        const Force<T> W = constraint_wrench(constraint, f.E, impulses + constraint.first);
        for_velocity_partials(
            tree, constraint, f, g,
            [&](int k, const Motion<T>& s, const Motion<T>& by_q, const Vec3<T>& turn) {
                add_column(tree, c, constraint, f, active, 0, k, by_q, columns);
                add_column(tree, c, constraint, f, active, 1, k,
                           Motion<T>{more * s.ang, more * s.lin}, columns);
                if (number >= 0) add_turn(tree, number, k, turn, W, columns);
            });
    }
}

template <class T> struct ImpulseDerivativesWorkspace {
    ImpulseWorkspace<T> value;
    ConstraintColumns<T> columns;  // by q and v
    T *by_q, *by_v;  // (nv, padded) right-hand sides of the torques; by_v is not wanted
    JointMatrix<T> joint_q, joint_v;
    T *impulses, *u, *rest;
    Motion<T>* twists;  // at u
    RangeWorkspace<T> range;

    ImpulseDerivativesWorkspace(Arena& arena, const Tree& tree, const Options& options)
        : value(arena, tree, options),
          columns(arena, tree, *options.contacts, 2),
          by_q(arena.take_zeros<T>(tree.independent.n * columns.padded)),
          by_v(arena.take_zeros<T>(tree.independent.n * columns.padded)),
          joint_q(arena, tree),
          joint_v(arena, tree),
          impulses(arena.take<T>(options.contacts->nrows)),
          u(arena.take<T>(tree.nv)),
          rest(arena.take_zeros<T>(tree.nv)),
          twists(arena.take<Motion<T>>(tree.nnodes)),
          range(arena, tree, options) {}
};

// q, v: of the joints; results: of the independent velocities, (nv, nv) and (nrows, nv).
template <class T>
void impulse_dynamics_derivatives(const Tree& tree, const T* q, const T* v, T restitution,
                                  const T* active, T* dv_dq, T* dv_dv, T* dimpulses_dq,
                                  T* dimpulses_dv, const ImpulseDerivativesWorkspace<T>& w) {
    const ConstraintEquations<T>& equations = w.value.equations;
    const IdsvaWorkspace<T>& idsva = w.value.dynamics.idsva;
    const LtdlWorkspace<T>& ltdl = w.value.dynamics.ltdl;
    const Constraints& constraints = *equations.schur.constraints;
    const RootFrame<T>& g = idsva.root_frame;
    const Paths& dofs = tree.independent;
    const int n = dofs.n, padded = w.columns.padded;
    impulse_dynamics(tree, q, v, restitution, active, w.u, w.impulses, w.value.dynamics, equations);
    impulse_partials(tree, restitution, active, w.impulses,
                     stop_bodies(tree, v, restitution, w.u, w.twists, g), equations, w.columns);
    if (equations.schur.R > 0.0)
        range_columns(tree, constraints, equations.frames, active,
                      range_velocities(tree, w.impulses, g, ltdl, equations.schur, w.range),
                      w.columns);
    loop_factors(tree, constraints, equations.frames, g.S, ltdl, w.columns);

    T* const no_matrix = nullptr;
    const T* const no_wrenches = nullptr;
    idsva_velocities(tree, q, w.rest, no_wrenches, idsva);
    subtract_constraint_wrenches(constraints, equations.frames, w.impulses, idsva.f);
    idsva_accelerations(tree, w.value.dynamics.a, idsva);
    T *by_q = w.joint_q.place(w.by_q), *by_v = w.joint_v.place(w.by_v);
    idsva_backward(tree, {by_q, by_v, no_matrix, w.joint_q.stride(padded)}, idsva);
    reduce_matrix(tree, by_q, w.by_q, padded);

    const ConstraintCorrection<T> change = {
        tree, equations.schur, w.columns, {dimpulses_dq, dimpulses_dv, nullptr}, 0, -1.0};
    ltdl_solve<1>(dofs, T(-1.0), w.by_q, padded, {{dv_dq, n}}, ltdl, change);
    solve_constraint_columns(dofs, dv_dv, ltdl, change.of_matrix(1));
    for (int k = 0; k < n; ++k) dv_dv[k * n + k] = dv_dv[k * n + k] + T(1.0);
    turn_forces(tree, constraints, equations.frames, g.S, w.impulses, dimpulses_dq, n);
}

}  // namespace dtau::DTAU_VARIANT
