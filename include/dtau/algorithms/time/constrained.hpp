// Computes the time derivatives of the accelerations and forces of a robot whose contacts and loops hold:
// constrained_time_derivatives(). O(N r^2) for the tree, O(N d^2 + nrows^3) once. [Derivations] §27
//
// Order by order, with the factors of M and of G = J M^-1 J^T of order 0 (constraints/dynamics.hpp), (27.1):
//
//   M_0 a_k - J_0^T f_k = tau_k - (torque at a_k = 0) + sum of J_i^T f_{k-i}, i > 0       inverse_by_order.hpp
//   J_0 a_k + e_k       = -(rows at a_k = 0)                                              constraint_rows.hpp
//
// The accelerations up to order k - 1 give q up to order k + 1, so that everything else is known. The residual
// e is zero unless rows contradict each other.
//
// With a regularization, rows may depend on each other and may contradict each other. Then f is the shortest
// of the forces that bring J a nearest to aref (20.3):
//
//   J a + e = aref      J^T e = 0      f = J s                                                               (27.4)
//
// For some motion s: so f is orthogonal to forces that move nothing. Of each order (27.5),
//   J_0^T e_k = -(sum of J_i^T e_{k-i})            the part of e_k that forces give: G^+ J M^-1 of it
//   f_k = J_0 s_k + sum of J_i s_{k-i}             the part of f_k that moves nothing; then s_k
#pragma once

#include "dtau/algorithms/time/constraint_rows.hpp"
#include "dtau/algorithms/time/inverse_by_order.hpp"
#include "dtau/algorithms/values/wrench_axes.hpp"

namespace dtau::DTAU_VARIANT {

// The series of e and s, if there is a regularization.
template <class T> struct DependentRows {
    TurnedSeries<T> residual, motion;  // e as forces, J s
    T *s, *along, *rows;               // (length, nv); of one order: (nv), (nrows)

    [[gnu::cold]] DependentRows(Arena& arena, const Tree& tree, const Options& options, int length)
        : residual(arena, options.contacts->count * length),
          motion(arena, options.contacts->count * length),
          s(arena.take<T>(length * tree.nv)),
          along(arena.take<T>(tree.independent.n)),
          rows(arena.take<T>(options.contacts->nrows)) {}
};

template <class T> struct ConstrainedSeriesWorkspace {
    FactorizedWorkspace<T> dynamics;
    ConstraintEquations<T> equations;
    WrenchAxesWorkspace<T> wrenches;
    InverseByOrder<T> inverse;
    ConstraintSeries<T> rows;
    TurnedSeries<T> forces;
    const DependentRows<T>* dependent;  // null: rows are independent
    T* v;                               // (length, nv) coefficients of the velocities
    T *f, *residual;                    // (nrows) of one order; residual: J a - aref = -e

    [[gnu::cold]] ConstrainedSeriesWorkspace(Arena& arena, const Tree& tree, const Options& options)
        : dynamics(arena, tree, options),
          equations(arena, tree, options),
          wrenches(arena, tree, options),
          inverse(arena, tree, options),
          rows(arena, tree, options, options.order + 2),
          forces(arena, options.contacts->count * rows.length),
          dependent(options.regularization > 0.0
                        ? arena.make<DependentRows<T>>(tree, options, rows.length)
                        : nullptr),
          v(arena.take<T>(rows.length * tree.nv)),
          f(arena.take<T>(options.contacts->nrows)),
          residual(arena.take<T>(options.contacts->nrows)) {}
};

// ---------------------------------------------------------------- rows that depend on each other

// w.f -= the part of e_k that forces give, before order k is solved.
template <class T>
[[gnu::cold]] void subtract_residual(const Tree& tree, int k,
                                     const ConstrainedSeriesWorkspace<T>& w) {
    const SchurComplement<T>& schur = w.equations.schur;
    const DependentRows<T>& d = *w.dependent;
    T *const torque = w.dynamics.a, *const x = w.dynamics.independent;
    extend_forces<T>(k, nullptr, d.residual, w.rows);
    for (int j = 0; j < tree.nv; ++j) torque[j] = T(0.0);
    add_torques_of_forces(tree, k, d.residual, torque, w.rows);
    reduce_columns(tree, torque, 1, x);
    ltdl_solve_inwards(tree.independent, x, w.dynamics.ltdl);
    for (int r = 0; r < schur.size(); ++r) d.rows[r] = T(0.0);
    subtract_acceleration(x, d.rows, schur);
    solve_forces<1>(d.rows, schur.more, schur.rest, schur);
    for (int r = 0; r < schur.size(); ++r) w.f[r] = w.f[r] - d.rows[r];
}
// After it: gives the forces f_k their part that moves nothing, and extends e and s.
template <class T>
[[gnu::cold]] void complete_forces(const Tree& tree, int k, const T* active,
                                   const ConstrainedSeriesWorkspace<T>& w) {
    const SchurComplement<T>& schur = w.equations.schur;
    const DependentRows<T>& d = *w.dependent;
    const int n = tree.independent.n, nrows = schur.size();
    for (int r = 0; r < nrows; ++r) d.rows[r] = T(0.0) - w.residual[r];
    extend_forces(k, d.rows, d.residual, w.rows);
    rows_of_motion(tree, k, active, d.s, d.motion, d.rows, w.rows);  // J s without J_0 s_k
    for (int r = 0; r < nrows; ++r) schur.more[r] = d.rows[r];
    replace_null_space<1>(w.f, schur.more, schur);
    for (int r = 0; r < nrows; ++r) d.rows[r] = w.f[r] - d.rows[r];
    for (int j = 0; j < n; ++j) d.along[j] = T(0.0);
    solve_linearized(n, d.along, d.rows, schur);  // s_k = M^-1 J^T G^+ of it
    ltdl_solve_outwards(tree.independent, d.along, w.dynamics.ltdl);
    joint_velocities(tree, d.along, d.s + k * tree.nv);
    for (int c = 0; c < w.rows.constraints->count; ++c)
        extend_motion_of(tree, c, true, k, d.s, d.motion, w.rows);
}

// ---------------------------------------------------------------- order by order

// Coefficient k of the accelerations (dynamics.independent), of the forces (w.f) and of the residual, after
// inverse.at() at a_k = 0. tau: derivative k.
template <class T>
[[gnu::cold]] void solve_order(const Tree& tree, int k, const T* active, const T* tau,
                               const ConstrainedSeriesWorkspace<T>& w) {
    const SchurComplement<T>& schur = w.equations.schur;
    const int n = tree.independent.n, nrows = schur.size();
    T *const torque = w.dynamics.a, *const x = w.dynamics.independent;
    const T factor(w.rows.bodies.scale.inverse_factorial[k]);
    rows_at_rest(tree, k, active, w.v, w.residual, w.rows);
    for (int r = 0; r < nrows; ++r) w.residual[r] = w.f[r] = T(0.0) - w.residual[r];
    if (w.dependent) subtract_residual(tree, k, w);
    extend_forces<T>(k, nullptr, w.forces, w.rows);
    for (int j = 0; j < tree.nv; ++j) torque[j] = -(factor * w.inverse.torque[j]);
    add_torques_of_forces(tree, k, w.forces, torque, w.rows);
    reduce_columns(tree, torque, 1, x);
    for (int j = 0; j < n; ++j) x[j] = fma(factor, tau[j], x[j]);
    ltdl_solve_inwards(tree.independent, x, w.dynamics.ltdl);
    solve_linearized(n, x, w.f, schur);
    subtract_acceleration(x, w.residual, schur);
    for (int r = 0; r < nrows; ++r) w.residual[r] = T(0.0) - w.residual[r];
    ltdl_solve_outwards(tree.independent, x, w.dynamics.ltdl);
}

// Orders 0 ... `order`. q, v and a: of the joints; tau: of the independent velocities; a (order + 1, nv), forces
// and residual (order + 1, nrows); f_ext (order + 1, nbodies, 6) may be null.
template <class T>
[[gnu::cold]] void constrained_time_derivatives(const Tree& tree, int order, const T* q, const T* v,
                                                const T* tau, const Hold<T>& hold, const T* f_ext,
                                                T* a, T* forces, T* residual,
                                                const ConstrainedSeriesWorkspace<T>& w) {
    const int n = tree.independent.n, nv = tree.nv, nrows = w.equations.schur.size();
    const TaylorScale& scale = w.rows.bodies.scale;
    constrained_dynamics(false, tree, q, v, tau, hold, along_body_axes(tree, q, f_ext, w.wrenches),
                         forces, residual, w.dynamics, w.equations);
    for (int j = 0; j < nv; ++j) a[j] = w.dynamics.a[j];
    for (int r = 0; r < nrows; ++r) w.f[r] = forces[r], w.residual[r] = residual[r];
    if (order == 0) return;
    const Configuration<T> angles = configuration(tree, q, w.rows.bodies.angles);
    extend_jacobians(tree, 0, angles, v, w.rows);
    start_errors(tree, w.equations, w.rows);
    w.inverse.start(tree, q, v);
    for (int k = 0; k <= order; ++k) {
        const T* const v_k = k == 0 ? v : a + (k - 1) * nv;
        T* const a_k = a + k * nv;
        for (int j = 0; j < nv; ++j) w.v[k * nv + j] = T(scale.inverse_factorial[k]) * v_k[j];
        extend_jacobians(tree, k + 1, angles, v_k, w.rows);
        extend_velocities(tree, k, w.v, w.rows);
        w.inverse.compute(tree, k, q, v, a, f_ext, w.inverse.series.scale);
        if (k > 0) {
            for (int j = 0; j < nv; ++j) a_k[j] = T(0.0);
            w.inverse.at(tree, k, v, a, f_ext, a_k);
            solve_order(tree, k, hold.active, tau + k * n, w);
            joint_velocities(tree, w.dynamics.independent, a_k);
            for (int j = 0; j < nv; ++j) a_k[j] = T(scale.factorial[k]) * a_k[j];
        }
        if (w.dependent) complete_forces(tree, k, hold.active, w);
        for (int r = 0; r < nrows && k > 0; ++r) {
            forces[k * nrows + r] = T(scale.factorial[k]) * w.f[r];
            residual[k * nrows + r] = T(scale.factorial[k]) * w.residual[r];
        }
        if (k == order) return;
        extend_forces(k, w.f, w.forces, w.rows);
        w.inverse.at(tree, k, v, a, f_ext, a_k);
        w.inverse.extend(tree, k, a_k);
    }
}

}  // namespace dtau::DTAU_VARIANT
