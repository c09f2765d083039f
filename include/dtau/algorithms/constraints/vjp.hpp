// Computes the product of weights lam of accelerations and lam_f of forces with the first derivatives of
// constrained dynamics, without a matrix (nv, nv): constrained_dynamics_vjp(). It takes the passes of
// first/products.hpp and one solve with the factors of the value. [Derivations] eq. 20.12
//
//   M mu + J^T nu = lam,  -J mu = lam_f;         by_tau = mu,
//   by_x = -(dID/dx)^T mu - (drows/dx)^T nu
//
// and the turns of forces as in derivatives.hpp.
#pragma once

#include "dtau/algorithms/constraints/motion.hpp"
#include "dtau/algorithms/first/joint_columns.hpp"

namespace dtau::DTAU_VARIANT {

template <class T> struct ConstrainedVjpWorkspace {
    ConstrainedMotionWorkspace<T> value;
    AdjointWorkspace<T> adjoint;
    T *independent, *weights;  // mu of the independent velocities; -nu
    JointColumns<T> of_joints;

    ConstrainedVjpWorkspace(Arena& arena, const Tree& tree, const Options& options)
        : value(arena, tree, options),
          adjoint(arena, tree, options),
          independent(arena.take<T>(tree.independent.n)),
          weights(arena.take<T>(options.contacts->nrows)),
          of_joints(arena, tree, options.joint_parameters) {}
};

// Returns the vector x for which w . (turn x W) = turn . x, for every turn.
template <class T> inline Vec3<T> turning(const Force<T>& W, const Motion<T>& w) {
    return cross(W.lin, w.lin, cross(W.ang, w.ang));
}

// With a regularization, adds to by_q the terms of (20.10) for lam . a + lam_forces . f; lam_forces may
// be null: zero. weights: -nu.
template <class T>
void gradient_of_ranges(const Tree& tree, const T* lam_forces, const T* weights, const T* active,
                        T* by_q, const ConstrainedMotionWorkspace<T>& w) {
    const SchurComplement<T>& schur = w.equations.schur;
    const Constraints& constraints = *schur.constraints;
    const auto velocities = [&](const T* forces) {
        return range_velocities(tree, forces, w.dynamics.idsva.root_frame, w.dynamics.ltdl, schur,
                                w.range);
    };
    add_row_gradient(tree, constraints, w.equations.frames, w.residual, velocities(weights), by_q);
    if (!lam_forces) return;
    const RootFrame<T> g = velocities(w.forces);
    T* const rows = w.range.h;
    for (int c = 0; c < constraints.count; ++c)
        for (int r = constraints.at[c].first; r < constraints.at[c].first + constraints.at[c].count;
             ++r)
            rows[r] = if_active(active, c, lam_forces[r]);
    project_unreachable<1>(rows, schur);
    add_row_gradient(tree, constraints, w.equations.frames, rows, g, by_q);
}

// Runs after the motion: computes mu of the joints and -nu, and the gradient by q and v without springs,
// damping and friction. a: accelerations of which the rows are; impact: see ConstraintPartials.
template <class T>
void motion_gradient(const Tree& tree, const T* lam, const T* lam_forces, const T* active,
                     const Motion<T>* a, bool impact, T* by_q, T* by_v, T* mu, T* by_f_ext,
                     const ConstrainedVjpWorkspace<T>& w) {
    const ConstrainedMotionWorkspace<T>& value = w.value;
    const Constraints& constraints = *value.equations.schur.constraints;
    const FactorizedWorkspace<T>& dynamics = value.dynamics;
    const RootFrame<T>& g = dynamics.idsva.root_frame;
    Motion<T>* Lam = w.adjoint.Lam;
    T *const x = w.independent, *const by_a = nullptr;
    for (int k = 0; k < tree.independent.n; ++k) x[k] = lam[k];
    for (int c = 0; c < constraints.count; ++c)
        for (int r = constraints.at[c].first; r < constraints.at[c].first + constraints.at[c].count;
             ++r)
            w.weights[r] = lam_forces ? if_active(active, c, -lam_forces[r]) : T(0.0);
    ltdl_solve_inwards(tree.independent, x, dynamics.ltdl);
    solve_linearized(tree.independent.n, x, w.weights, value.equations.schur);
    ltdl_solve_outwards(tree.independent, x, dynamics.ltdl);
    joint_velocities(tree, x, mu);

    for (int i = 0; i < tree.nnodes; ++i) {
        const Body& body = tree.bodies[i];
        Lam[i] = joint_motion(body, g.S, mu);
        if (body.parent >= 0) Lam[i] = Lam[i] + Lam[body.parent];
        adjoint_outwards(i, g, value.momentum[i], w.adjoint);
        if (acts_on(by_f_ext, body)) store_twist(body, seen_from(g.P[i], Lam[i]), by_f_ext);
    }
    for (int i = tree.nnodes - 1; i >= 0; --i) {
        const int p = tree.bodies[i].parent;
        adjoint_inwards(tree, i, g, value.a, value.F[i], by_q, by_v, by_a, w.adjoint);
        if (p >= 0) value.F[p] += value.F[i];
    }
    if (value.equations.schur.R > 0.0)
        gradient_of_ranges(tree, lam_forces, w.weights, active, by_q, value);

    for (int c = 0; c < constraints.count; ++c) {
        const Constraint& constraint = constraints.at[c];
        const ConstraintFrames<T>& f = value.equations.frames[c];
        const ConstraintPartials<T> partials(tree, constraint, f, g, a, value.equations.world,
                                             impact);
        const Force<T> W = constraint_wrench(constraint, f.E, value.forces + constraint.first);
        const Force<T> weight = constraint_wrench(constraint, f.E, w.weights + constraint.first);
        Vec3<T> turns = zero_vector<T>();
        if (constraint.b.body >= 0)
            turns = -turning(
                W, turned_to_a(constraint, f, at_point(f.b, w.adjoint.Lam[constraint.b.body])));
        for_constraint_partials(
            tree, partials, g, a,
            [&](int k, const Motion<T>& dq, const Motion<T>& dv, const Vec3<T>& turn) {
                by_q[k] = dot(weight, dq, dot(turns, turn, by_q[k]));
                by_v[k] = dot(weight, dv, by_v[k]);
            });
        if (constraint.axes == Axes::body || !lam_forces) continue;
        const Force<T> given = constraint_wrench(constraint, f.E, lam_forces + constraint.first);
        turns = turning(W, Motion<T>{given.ang, given.lin});
        for_moving_bodies(tree, constraint.a.body, [&](const Body& body, int) {
            for (int k = body.v; k < body.v + body.nv; ++k)
                by_q[k] = dot(turns, g.S[k].ang, by_q[k]);
        });
    }
}

// q, v and results: of the joints; tau, lam: of the independent velocities; lam_forces (nrows) may
// be null: zero.
template <class T>
void constrained_dynamics_vjp(const Tree& tree, const T* q, const T* v, const T* tau, const T* lam,
                              const T* lam_forces, const Hold<T>& hold, const T* f_ext, T* by_q,
                              T* by_v, T* by_tau, T* by_f_ext,
                              const ConstrainedVjpWorkspace<T>& w) {
    const bool impact = false;
    constrained_motion(tree, q, v, tau, hold, f_ext, w.value);
    motion_gradient(tree, lam, lam_forces, hold.active, w.value.a, impact, by_q, by_v, by_tau,
                    by_f_ext, w);
    for (int k = 0; k < tree.nv; ++k) by_v[k] = fma(-damping<T>(tree, k), by_tau[k], by_v[k]);
    add_spring_gradients(tree, -1.0, q, by_tau, by_q);
    add_friction_times(tree, -1.0, v, by_tau, by_v);
}

}  // namespace dtau::DTAU_VARIANT
