// Computes the time derivatives of the torques of the driven velocities and of the constraint forces of least
// norm along a motion: constrained_inverse_time_derivatives(). O(N r^2) for the tree. [Derivations] §27
//
// With H = J_u^T J_u of order 0, factorized once (constraints/inverse.hpp), order by order (27.6), for the
// velocities u that no input drives:
//
//   t_k = ID_k - sum of J_i^T f_{k-i}, i > 0       the torque at f_k = 0
//   d_k = sum of J_{u,i} y_{k-i}, i > 0
//   H_0 y_k = t_{u,k} - J_{u,0}^T d_k              as J_u^T f = ID_u and f = J_u y
//   f_k = d_k + J_{u,0} y_k,   tau_k = t_k - J_0^T f_k
//
// With a regularization the torques e = tau_u that are left have the least norm, J_u e = 0. So the part of e_k
// that H gives is known first, H_0 e_k = -J_{u,0}^T (sum of J_{u,i} e_{k-i}), and is subtracted from t_{u,k}.
#pragma once

#include "dtau/algorithms/constraints/inverse.hpp"
#include "dtau/algorithms/time/constraint_jacobians.hpp"
#include "dtau/algorithms/time/inverse_wrenches.hpp"
#include "dtau/algorithms/values/wrench_axes.hpp"

namespace dtau::DTAU_VARIANT {

template <class T> struct ConstrainedInverseSeriesWorkspace {
    ConstrainedInverseWorkspace<T> value;
    WrenchAxesWorkspace<T> wrenches;
    InverseAndWrenchesWorkspace<T> inverse;
    ConstraintJacobians<T> jacobians;
    TurnedSeries<T> forces, y_motion, e_motion;
    T *torque, *y, *e;  // (order + 1, nv), of the joints: ID; coefficients
    T *x, *f, *rows;    // of one order: (nv) of the independent velocities, (nrows), (nrows)

    [[gnu::cold]] ConstrainedInverseSeriesWorkspace(Arena& arena, const Tree& tree,
                                                    const Options& options)
        : value(arena, tree, options),
          wrenches(arena, tree, options),
          inverse(arena, tree, options),
          jacobians(arena, tree, options, options.order + 1),
          forces(arena, options.contacts->count * jacobians.length),
          y_motion(arena, options.contacts->count * jacobians.length),
          e_motion(arena, options.contacts->count * jacobians.length),
          x(arena.take<T>(tree.independent.n)) {
        arena.take_each(jacobians.length * tree.nv, torque, y, e);
        arena.take_each(options.contacts->nrows, f, rows);
    }
};

// (J_0^T rows)_u of entry i.
template <class T>
inline T loose_torque(int i, const T* rows, const ConstrainedInverseWorkspace<T>& w) {
    const T* J = w.J + w.loose[i] * w.stride;
    T sum(0.0);
    for (int r = 0; r < w.constraints->nrows; ++r) sum = fma(J[r], rows[r], sum);
    return sum;
}
// Order k of a series of motions from its numbers at the velocities u.
template <class T>
[[gnu::cold]] void set_loose_motion(const Tree& tree, int k, const T* loose, T* series,
                                    const TurnedSeries<T>& motion,
                                    const ConstrainedInverseSeriesWorkspace<T>& w) {
    for (int j = 0; j < tree.independent.n; ++j) w.x[j] = T(0.0);
    for (int i = 0; i < w.value.count; ++i) w.x[w.value.loose[i]] = loose[i];
    joint_velocities(tree, w.x, series + k * tree.nv);
    for (int c = 0; c < w.value.constraints->count; ++c)
        extend_motion_of(tree, c, true, k, series, motion, w.jacobians);
}

// Order k > 0: f_k in w.f, tau_k of the independent velocities in w.value.torque.
template <class T>
[[gnu::cold]] void solve_inverse_order(const Tree& tree, int k, const T* active,
                                       const ConstrainedInverseSeriesWorkspace<T>& w) {
    const ConstrainedInverseWorkspace<T>& u = w.value;
    const int nrows = u.constraints->nrows;
    const T factor(w.jacobians.bodies.scale.inverse_factorial[k]);
    extend_forces<T>(k, nullptr, w.forces, w.jacobians);
    for (int j = 0; j < tree.nv; ++j) u.joint_torque[j] = T(0.0);
    add_torques_of_forces(tree, k, w.forces, u.joint_torque, w.jacobians);
    for (int j = 0; j < tree.nv; ++j)
        u.joint_torque[j] = fma(factor, w.torque[k * tree.nv + j], -u.joint_torque[j]);
    reduce_columns(tree, u.joint_torque, 1, u.torque);
    rows_of_motion(tree, k, active, w.y, w.y_motion, w.f, w.jacobians);  // d_k
    for (int i = 0; i < u.count; ++i) u.y[i] = u.torque[u.loose[i]] - loose_torque(i, w.f, u);
    if (u.R > 0.0) {
        rows_of_motion(tree, k, active, w.e, w.e_motion, w.rows, w.jacobians);
        T* const e = w.x;
        for (int i = 0; i < u.count; ++i) e[i] = loose_torque(i, w.rows, u);
        solve_forces<1>(e, u.more, u.rest, u);
        for (int i = 0; i < u.count; ++i) u.y[i] = u.y[i] + e[i];
    }
    solve_forces<1>(u.y, u.more, u.rest, u);
    for (int i = 0; i < u.count; ++i) {
        const T* J = u.J + u.loose[i] * u.stride;
        for (int r = 0; r < nrows; ++r) w.f[r] = fma(J[r], u.y[i], w.f[r]);
    }
    for (int j = 0; j < tree.independent.n; ++j) {
        const T* J = u.J + j * u.stride;
        for (int r = 0; r < nrows; ++r) u.torque[j] = fma(-J[r], w.f[r], u.torque[j]);
    }
}

// Orders 0 ... `order`. q, v (order + 2, nv) and tau (order + 1, nv): of the joints; mimic joints have no torque.
// forces (order + 1, nrows); f_ext (order + 1, nbodies, 6) may be null.
template <class T>
[[gnu::cold]] void constrained_inverse_time_derivatives(
    const Tree& tree, int order, const T* q, const T* v, const T* active, const T* f_ext, T* tau,
    T* forces, const ConstrainedInverseSeriesWorkspace<T>& w) {
    const ConstrainedInverseWorkspace<T>& u = w.value;
    const TaylorScale& scale = w.jacobians.bodies.scale;
    const int nv = tree.nv, nrows = u.constraints->nrows;
    constrained_inverse_dynamics(tree, q, v, v + nv, active,
                                 along_body_axes(tree, q, f_ext, w.wrenches), tau, forces, u);
    if (order == 0) return;
    inverse_with_wrenches(Part::all, tree, order, q, v, f_ext, w.torque, w.inverse);
    const Configuration<T> angles = configuration(tree, q, w.jacobians.bodies.angles);
    for (int r = 0; r < nrows; ++r) w.f[r] = forces[r];
    for (int k = 0;; ++k) {
        extend_jacobians(tree, k, angles, k == 0 ? v : v + (k - 1) * nv, w.jacobians);
        if (k > 0) solve_inverse_order(tree, k, active, w);
        if (k > 0) {
            for (int r = 0; r < nrows; ++r) forces[k * nrows + r] = T(scale.factorial[k]) * w.f[r];
            to_owners(tree, u.torque, tau + k * nv);
            for (int j = 0; j < nv; ++j) tau[k * nv + j] = T(scale.factorial[k]) * tau[k * nv + j];
        }
        if (k == order) return;
        extend_forces(k, w.f, w.forces, w.jacobians);
        set_loose_motion(tree, k, u.y, w.y, w.y_motion, w);
        if (u.R == 0.0) continue;
        for (int i = 0; i < u.count; ++i) u.y[i] = u.torque[u.loose[i]];  // e_k
        set_loose_motion(tree, k, u.y, w.e, w.e_motion, w);
    }
}

}  // namespace dtau::DTAU_VARIANT
