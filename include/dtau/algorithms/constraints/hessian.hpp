// Computes the second derivatives of constrained dynamics contracted with weights, lam^T a +
// lam_f^T f, without a tensor: constrained_dynamics_hessian(). [Derivations] §23
//
// With F = 0 the equations (20.2), z = (a, f) and K = dF/dz, the weights y = (mu, nu) solve
//
//   M mu + J^T nu = lam,   -J mu = lam_f        y^T F = mu^T ID - f^T J mu + nu^T rows  (23.2)
//
// and are held constant while y^T F is differentiated. H contains the second derivatives of y^T F
// by q and v: second/hessian.hpp with the wrenches f, weighted_rows.hpp and relative_rows.hpp. The
// blocks G_a = H_aq = D_q (mu^T M + nu^T J) and G_f = H_fq = -D_q (J mu) multiply the first
// derivatives of z; one solve with the transpose of K replaces these. With W = M^-1 (G_a - J^T U),
// U = G^-1 (J M^-1 G_a + G_f) and c = -drows:
//
//   X_x = U^T c_x - W^T dID/dx              lam^T D_q D_q z = -H_qq - X_q - X_q^T
//   lam^T D_q D_v z = -H_qv - X_v           lam^T D_v D_v z = -H_vv
//   lam^T D_tau D_q z = -W                                                             (23.4)
//
// All forces are computed along the axes of frame a. The weights of forces along the world's axes
// turn against these axes, D_q lam_f = -ds x lam_f, which adds to G_f and H_qq. With a
// regularization, range_hessian.hpp adds the terms of dependent rows. O(n^2 (d + nrows)) for n
// velocities.
#pragma once

#include "dtau/algorithms/constraints/hessian_terms.hpp"

namespace dtau::DTAU_VARIANT {

// product (n, columns) += c^T U of matrix m, for U (nrows, columns): (23.4) transposed.
template <class T>
void add_row_products(const Tree& tree, int m, const T* U, int columns, T* product,
                      const ConstrainedHessianWorkspace<T>& w) {
    const Constraints& constraints = *w.options.contacts;
    const int n = tree.independent.n, stride = w.columns.width;
    const bool mixed = w.equations.schur.R > 0.0;  // residuals mix the rows of all constraints
    for (int c = 0; c < constraints.count; ++c) {
        const Constraint& constraint = constraints.at[c];
        const T* rows = w.columns.rows + constraint.first * stride + m * w.columns.padded;
        add_transposed_product(mixed ? nullptr : constraint.dofs, mixed ? n : constraint.ndofs,
                               rows, stride, constraint.count, U + constraint.first * columns,
                               columns, columns, product);
    }
}

// Adds the turns of loops' forces on b in dID/dq: product -= m^T J_b W, for minus_W (n, columns).
template <class T>
void add_turn_products(const Tree& tree, const T* minus_W, int columns, T* product,
                       const ConstrainedHessianWorkspace<T>& w) {
    for_loops(*w.options.contacts, [&](int c, const Constraint& constraint, int number) {
        const ConstraintFrames<T>& f = w.equations.frames[c];
        T* const of_b = w.loop_products;
        for (int k = 0; k < 6 * columns; ++k) of_b[k] = T(0.0);
        for_moving_dofs(tree, constraint.b.body, [&](const Body&, int k) {
            T m[6];
            const Motion<T>& s = w.dynamics.idsva.root_frame.S[k];
            store_motion(turned_to_a(constraint, f, at_point(f.b, s)), m);
            const T* const row = minus_W + independent_dof(tree, k) * columns;
            for (int r = 0; r < 6; ++r) {
                T share(0.0);
                add_share(tree, k, m[r], share);
                for (int j = 0; j < columns; ++j)
                    of_b[r * columns + j] = fma(share, row[j], of_b[r * columns + j]);
            }
        });
        add_transposed_product(constraint.dofs, constraint.ndofs,
                               w.columns.turns + number * 6 * w.columns.padded, w.columns.padded, 6,
                               of_b, columns, columns, product);
    });
}

// Computes the accelerations, into w.dynamics.a, the forces and the factors. Returns the wrenches
// along body axes. q, v: of the joints; the others: of the independent velocities. active may be
// null.
template <class T>
const T* constrained_hessian_value(const Tree& tree, const T* q, const T* v, const T* tau,
                                   const Hold<T>& hold, const T* f_ext,
                                   const ConstrainedHessianWorkspace<T>& w) {
    const T* body_f_ext = along_body_axes(tree, q, f_ext, w.wrenches.first.value);
    w.along_frames.update();
    constrained_dynamics(true, tree, q, v, tau, hold, body_f_ext, w.forces, w.residual, w.dynamics,
                         w.equations);
    return body_f_ext;
}

// Runs after the value: computes c, the first derivatives of the constraint rows by q and v.
template <class T>
void constrained_partials(const Tree& tree, const T* active,
                          const ConstrainedHessianWorkspace<T>& w) {
    const FactorizedWorkspace<T>& dynamics = w.dynamics;
    const IdsvaWorkspace<T>& idsva = dynamics.idsva;
    const Constraints& constraints = *w.options.contacts;
    subtract_constraint_wrenches(constraints, w.equations.frames, w.forces, idsva.f);
    idsva_accelerations(tree, dynamics.a, idsva);
    constraint_columns(tree, active, w.forces, idsva, w.equations, w.columns);
    if (w.ranges.any) {
        copy_rows(w.columns, constraints.nrows, w.ranges.minus_e);
        residual_columns(tree, w.equations.frames, w.residual, idsva.root_frame, dynamics.ltdl,
                         w.equations.schur, w.ranges.residual, w.columns);
        range_change(w.columns, constraints.nrows, w.ranges);
    }
    loop_factors(tree, constraints, w.equations.frames, idsva.root_frame.S, dynamics.ltdl,
                 w.columns);
}

// Computes the weights mu and nu, H and the first derivatives of inverse dynamics, by joints, without
// stiffness. lam_forces may be null.
template <class T>
void constrained_curvature(const Tree& tree, const T* lam, const T* lam_forces, const T* active,
                           const T* body_f_ext, const ConstrainedHessianWorkspace<T>& w) {
    const IdsvaWorkspace<T>& idsva = w.dynamics.idsva;
    const RelatedMatrices<T>& joints = w.joints;
    turn_weights(lam_forces, active, w);
    constrained_weights(tree, lam, w);
    hessian_forward(tree, w.joint_mu, idsva, w.hessian);
    add_weighted_rows(tree, *w.options.contacts, w.equations.frames, w.nu, idsva.root_frame,
                      w.hessian, w.weighted);
    T* const no_matrix = nullptr;
    if (w.relative || w.ranges.any) clear_blocks(joints.H, tree.nv);
    idsva_backward(tree, {joints.dtau_dq, joints.dtau_dv, no_matrix, joints.H.n}, idsva);
    hessian_backward(tree, joints.H, idsva, w.hessian);
    add_world_wrench_partials(tree, body_f_ext, idsva.root_frame, joints.dtau_dq, joints.H.n,
                              w.wrenches.first);
    add_world_wrench_hessian(tree, body_f_ext, idsva.root_frame, w.hessian, joints.H.dqdq,
                             joints.H.n, w.wrenches);
    add_constraint_curvature(tree, w);
    if (w.ranges.any) range_weights(w.range_state(tree, active), w.columns, joints.H, w.ranges);
}

// Adds springs to the first derivatives of inverse dynamics and to H.
template <class T>
void add_joint_stiffness(const Tree& tree, const ConstrainedHessianWorkspace<T>& w) {
    const RelatedMatrices<T>& joints = w.joints;
    const Stretch<T>* stretched = w.dynamics.idsva.stretched;
    add_stiffness(tree, stretched, joints.dtau_dq, joints.H.n);
    add_rotation_hessian(tree, stretched, w.joint_mu, joints.H.dqdq, joints.H.n);
}

// Runs last: combines all parts by (23.4).
template <class T>
void constrained_results(const Tree& tree, const T* active, const Blocks<T>& out, bool symmetric,
                         const ConstrainedHessianWorkspace<T>& w) {
    const Paths& dofs = tree.independent;
    const RelatedMatrices<T>&m = w.independent, &joints = w.joints;
    const int n = dofs.n, stride = m.H.n;
    reduce_matrix(tree, joints.dtau_dq, m.dtau_dq, stride);
    reduce_matrix(tree, joints.dtau_dv, m.dtau_dv, stride);
    reduce_blocks(tree, joints.H, m.H);
    dual_columns(tree, active, w);
    if (w.ranges.any) range_dual(w.range_state(tree, active), w.dual, w.ranges);
    const ConstraintColumns<T> dual = w.dual_of_loops();
    const ConstraintCorrection<T> change = {tree, w.equations.schur, dual, {w.U, w.U, w.U}, 0,
                                            -1.0};
    // Solve for -W and U.
    ltdl_solve<1>(dofs, T(-1.0), m.H.dadq, stride, {{out.dadq, n}}, w.dynamics.ltdl, change);

    const T* X = w.product;  // transposed, by v
    related_transposed_product(dofs, m.dtau_dq, stride, out.dadq, n, w.product);
    if (w.ranges.any) range_products(w.range_state(tree, active), w.dual, w.U, w.product, w.ranges);
    add_row_products(tree, 0, w.U, n, w.product, w);
    add_turn_products(tree, out.dadq, n, w.product, w);
    for (int k = 0; k < n; ++k)
        for (int j = 0; j < n; ++j)
            // [Derivations] eq. 23.4
            out.dqdq[k * n + j] = -m.H.dqdq[k * stride + j] - (X[k * n + j] + X[j * n + k]);
    related_transposed_product(dofs, m.dtau_dv, stride, out.dadq, n, w.product);
    add_row_products(tree, 1, w.U, n, w.product, w);
    for (int k = 0; k < n; ++k)
        for (int j = 0; j < n; ++j) {
            out.dqdv[k * n + j] = -m.H.dqdv[k * stride + j] - X[j * n + k];
            out.dvdv[k * n + j] = T(0.0) - m.H.dvdv[k * stride + j];
        }
    if (symmetric) symmetrize(out.dqdq, n, n);
}

// Runs after the value: contracts the second derivatives of accelerations and forces with weights,
// into blocks (nv, nv). dtaudq is in the place of dadq. lam_forces may be null.
template <class T>
void constrained_hessian_blocks(const Tree& tree, const T* lam, const T* lam_forces,
                                const T* active, const T* body_f_ext, const Blocks<T>& out,
                                bool symmetric, const ConstrainedHessianWorkspace<T>& w) {
    constrained_partials(tree, active, w);
    constrained_curvature(tree, lam, lam_forces, active, body_f_ext, w);
    add_joint_stiffness(tree, w);
    constrained_results(tree, active, out, symmetric, w);
}

template <class T>
void constrained_dynamics_hessian(const Tree& tree, const T* q, const T* v, const T* tau,
                                  const T* lam, const T* lam_forces, const Hold<T>& hold,
                                  const T* f_ext, const Blocks<T>& out, bool symmetric,
                                  const ConstrainedHessianWorkspace<T>& w) {
    const T* body_f_ext = constrained_hessian_value(tree, q, v, tau, hold, f_ext, w);
    constrained_hessian_blocks(tree, lam, lam_forces, hold.active, body_f_ext, out, symmetric, w);
}

// Runs after the blocks: computes the gradients by q, v and tau for other weights lam of the
// acceleration.
template <class T>
void constrained_hessian_gradient(const Tree& tree, const T* lam, T* by_q, T* by_v, T* by_tau,
                                  const ConstrainedHessianWorkspace<T>& w) {
    const Paths& dofs = tree.independent;
    const RelatedMatrices<T>& m = w.independent;
    for (int r = 0; r < w.given->nrows; ++r) w.lam_forces[r] = T(0.0);
    constrained_weights(tree, lam, w);
    for (int k = 0; k < dofs.n; ++k) {
        by_tau[k] = w.mu[k];
        w.mu[k] = -w.mu[k];
    }
    related_transposed_product(dofs, m.dtau_dq, m.H.n, w.mu, 1, by_q);
    related_transposed_product(dofs, m.dtau_dv, m.H.n, w.mu, 1, by_v);
    add_row_products(tree, 0, w.nu, 1, by_q, w);
    add_row_products(tree, 1, w.nu, 1, by_v, w);
    add_turn_products(tree, w.mu, 1, by_q, w);
}

}  // namespace dtau::DTAU_VARIANT
