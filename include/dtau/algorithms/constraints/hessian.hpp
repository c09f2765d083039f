// Computes the second derivatives of constrained dynamics contracted with weights, lam^T a +
// lam_f^T f, without a tensor: constrained_dynamics_hessian(). [Derivations] §21
//
// With F = 0 the equations (20.2), z = (a, f) and K = dF/dz, the weights y = (mu, nu) solve
//
//   M mu + J^T nu = lam,   -J mu = lam_f        y^T F = mu^T ID - f^T J mu + nu^T rows  (21.2)
//
// and are held constant while y^T F is differentiated. H has its second derivatives by q and v:
// those of hessian.hpp with wrenches f, and weighted_rows.hpp, relative_rows.hpp. Beside
// G_a = H_aq = D_q (mu^T M + nu^T J) and G_f = H_fq = -D_q (J mu) stand the first derivatives of
// z, which one solve with the transposed of K replaces: with W = M^-1 (G_a - J^T U) and
// U = G^-1 (J M^-1 G_a + G_f), c = -drows,
//
//   X_x = U^T c_x - W^T dID/dx              lam^T D_q D_q z = -H_qq - X_q - X_q^T
//   lam^T D_q D_v z = -H_qv - X_v           lam^T D_v D_v z = -H_vv
//   lam^T D_tau D_q z = -W                                                             (21.4)
//
// Forces are computed along the axes of frame a, even those that are given along the world's: these
// have weights that turn, D_q lam_f = -ds x lam_f, which join G_f and H_qq. With a regularization,
// rows that depend on each other add range_hessian.hpp. O(n^2 (d + nrows)) for n velocities.
#pragma once

#include "dtau/algorithms/constraints/range_hessian.hpp"
#include "dtau/algorithms/second/forward_hessian.hpp"

namespace dtau::DTAU_VARIANT {

// The same constraints with forces along the axes of their frames a.
inline Options along_frames(Arena& arena, Options options) {
    const Constraints& given = *options.contacts;
    Constraint* const at = arena.take<Constraint>(given.count);
    Constraints* const all = arena.take<Constraints>(1);
    if (!at) return options;
    for (int c = 0; c < given.count; ++c) {
        at[c] = given.at[c];
        at[c].axes = Axes::body;
    }
    *all = given;
    all->at = at;
    options.contacts = all;
    return options;
}

template <class T>
struct ConstrainedHessianWorkspace {
    const Constraints* given;
    Options options;  // of all that follows
    FactorizedWorkspace<T> dynamics;
    ConstraintWorkspace<T> constraints;
    ConstraintColumns<T> columns, dual;  // c by q and v; G_f
    HessianWorkspace<T> hessian;
    WeightedRowsWorkspace<T> weighted;
    ForceCurvatureWorkspace<T> curvature;
    RelatedMatrices<T> independent, joints;
    WrenchHessianWorkspace<T> wrenches;
    RangeHessianWorkspace<T> ranges;
    T *forces, *residual, *lam_forces, *nu;  // (nrows)
    T *mu, *joint_mu;
    T *U, *loop_products, *product;  // (nrows, n), (6, n), (n, n)
    bool relative;                   // some constraint has relative_rows.hpp
    double most_damping;

    ConstrainedHessianWorkspace(Arena& arena, const Tree& tree, const Options& taken)
        : given(taken.contacts),
          options(along_frames(arena, taken)),
          dynamics(arena, tree, options),
          constraints(arena, tree, options),
          columns(arena, tree, *options.contacts, 2),
          dual(arena, tree, *options.contacts, 1),
          hessian(arena, tree, options),
          weighted(arena, tree, options),
          curvature(arena, tree, options),
          independent(arena, tree.independent.n, whole_packs<T>(tree.independent.n)),
          joints(independent.of_joints(arena, tree)),
          wrenches(arena, tree, options),
          ranges(arena, tree, options),
          forces(arena.take<T>(given->nrows)),
          residual(arena.take<T>(given->nrows)),
          lam_forces(arena.take<T>(given->nrows)),
          nu(arena.take<T>(given->nrows)),
          mu(arena.take<T>(tree.independent.n)),
          joint_mu(room_beside(arena, tree, mu, tree.nv)),
          U(arena.take<T>(given->nrows * tree.independent.n)),
          loop_products(arena.take<T>(6 * tree.independent.n)),
          product(arena.take<T>(tree.independent.n * tree.independent.n)),
          relative(false),
          most_damping(0.0) {
        for (int c = 0; c < given->count; ++c) {
            relative |= is_relative(given->at[c]);
            most_damping = given->at[c].kd > most_damping ? given->at[c].kd : most_damping;
        }
    }
    RangeState<T> range_state(const Tree& tree, const T* active) const {
        return {tree,     constraints.frames, constraints.world, active,
                forces,   residual,           nu,                lam_forces,
                dynamics.idsva, dynamics.ltdl,      constraints.schur, curvature};
    }
    // G_f with the factors of loops.
    ConstraintColumns<T> dual_of_loops() const {
        ConstraintColumns<T> x = dual;
        x.loops = columns.loops;
        return x;
    }
    // Whether relative_rows.hpp has something for it.
    static bool is_relative(const Constraint& c) {
        return c.b.body >= 0 || c.positions || c.axes != Axes::body;
    }
};

// The weights of the forces along the axes of frames a; null: zero.
template <class T>
void turn_weights(const Tree& tree, const T* lam_forces, const T* active,
                  const ConstrainedHessianWorkspace<T>& w) {
    for (int c = 0; c < w.given->count; ++c) {
        const Constraint& given = w.given->at[c];
        T* const to = w.lam_forces + given.first;
        for (int r = 0; r < given.count; ++r)
            to[r] = lam_forces ? if_active(active, c, lam_forces[given.first + r]) : T(0.0);
        if (given.axes == Axes::body) continue;
        const Mat3<T> E = transposed(w.constraints.world[tree.bodies[given.a.body].root].R);
        const Force<T> W = constraint_wrench(given, E, to);
        store_rows(given, w.constraints.frames[c].E, Motion<T>{W.ang, W.lin}, to);
    }
}

// mu and nu of (21.2).
template <class T>
void constrained_weights(const Tree& tree, const T* lam, const ConstrainedHessianWorkspace<T>& w) {
    const int n = tree.independent.n, nrows = w.given->nrows;
    for (int k = 0; k < n; ++k) w.mu[k] = lam[k];
    for (int r = 0; r < nrows; ++r) w.nu[r] = -w.lam_forces[r];
    ltdl_solve_inwards(tree.independent, w.mu, w.dynamics.ltdl);
    solve_constrained(n, w.mu, w.nu, w.constraints.schur);
    ltdl_solve_outwards(tree.independent, w.mu, w.dynamics.ltdl);
    for (int r = 0; r < nrows; ++r) w.nu[r] = -w.nu[r];
    expand_v(tree, w.mu, w.joint_mu);
}

// RootFrame, with the twists of the bodies if mu were the joint rates.
template <class T>
RootFrame<T> weight_twists(const ConstrainedHessianWorkspace<T>& w) {
    RootFrame<T> g = w.dynamics.idsva.root_frame;
    g.v = w.hessian.Lam;
    return g;
}

// G_f to the columns w.dual, and what is unlike the tree in G_a: turns of forces nu of loops.
template <class T>
void dual_columns(const Tree& tree, const T* active, const ConstrainedHessianWorkspace<T>& w) {
    const Constraints& constraints = *w.options.contacts;
    const RootFrame<T> g = weight_twists(w);
    clear_columns(constraints, 1, w.dual);
    int loop = 0;
    for (int c = 0; c < constraints.count; ++c) {
        const Constraint& constraint = constraints.at[c];
        const ConstraintFrames<T>& f = w.constraints.frames[c];
        const int number = constraint.b.body < 0 ? -1 : loop++;
        const Force<T> W = constraint_wrench(constraint, f.E, w.nu + constraint.first);
        for_velocity_partials(
            tree, constraint, f, g,
            [&](int k, const Motion<T>&, const Motion<T>& by_q, const Vec3<T>& turn) {
                add_column(tree, c, constraint, f, active, 0, k, by_q, w.dual);
                if (number >= 0) add_turn(tree, number, k, -turn, W, w.dual);
            });
        if (w.given->at[c].axes == Axes::body) continue;
        const Force<T> lam = constraint_wrench(constraint, f.E, w.lam_forces + constraint.first);
        for_moving_bodies(tree, constraint.a.body, [&](const Body& body, int) {
            for (int k = body.v; k < body.v + body.nv; ++k) {
                const Vec3<T>& ds = g.S[k].ang;
                add_column(tree, c, constraint, f, active, 0, k,
                           Motion<T>{cross(lam.ang, ds), cross(lam.lin, ds)}, w.dual);
            }
        });
    }
}

// H of (21.2), by joints, after the backward sweeps.
template <class T>
void add_constraint_curvature(const Tree& tree, const ConstrainedHessianWorkspace<T>& w) {
    const Constraints& constraints = *w.options.contacts;
    const IdsvaWorkspace<T>& idsva = w.dynamics.idsva;
    const RootFrame<T> g = weight_twists(w);
    add_row_curvature(tree, w.most_damping > 0.0, idsva, w.joints.H, w.weighted);
    for (int c = 0; c < constraints.count && w.relative; ++c) {
        const Constraint& constraint = constraints.at[c];
        if (!w.is_relative(w.given->at[c])) continue;
        const ConstraintFrames<T>& f = w.constraints.frames[c];
        const ConstraintPartials<T> rows(tree, constraint, f, idsva.root_frame, idsva.a,
                                         w.constraints.world);
        const auto wrench = [&](const T* x) {
            return constraint_wrench(constraint, f.E, x + constraint.first);
        };
        Force<T> lam = zero_force<T>();
        if (w.given->at[c].axes != Axes::body) lam = wrench(w.lam_forces);
        add_relative_curvature<T>({tree, rows, wrench(w.nu), wrench(w.forces), lam,
                                   idsva.root_frame, g, idsva.a},
                                  w.joints.H, w.curvature.relative);
    }
}

// product += c^T U of matrix m, transposed X_x of (21.4).
template <class T>
void add_row_products(const Tree& tree, int m, const ConstrainedHessianWorkspace<T>& w) {
    const Constraints& constraints = *w.options.contacts;
    const int n = tree.independent.n, stride = w.columns.width;
    const bool mixed = w.constraints.schur.R > 0.0;  // residuals mix the rows of all constraints
    for (int c = 0; c < constraints.count; ++c) {
        const Constraint& constraint = constraints.at[c];
        add_transposed_product(mixed ? nullptr : constraint.dofs, mixed ? n : constraint.ndofs,
                               w.columns.rows + constraint.first * stride + m * w.columns.padded,
                               stride, constraint.count, w.U + constraint.first * n, n, n,
                               w.product);
    }
}

// The turns of loops' forces on b, in dID/dq: product -= m^T J_b W, for minus_W.
template <class T>
void add_turn_products(const Tree& tree, const T* minus_W,
                       const ConstrainedHessianWorkspace<T>& w) {
    const int n = tree.independent.n;
    for_loops(*w.options.contacts, [&](int c, const Constraint& constraint, int number) {
        const ConstraintFrames<T>& f = w.constraints.frames[c];
        for (int k = 0; k < 6 * n; ++k) w.loop_products[k] = T(0.0);
        for_moving_bodies(tree, constraint.b.body, [&](const Body& body, int) {
            for (int k = body.v; k < body.v + body.nv; ++k) {
                T m[6];
                const Motion<T>& s = w.dynamics.idsva.root_frame.S[k];
                store_motion(turned_to_a(constraint, f, at_point(f.b, s)), m);
                const T* const row = minus_W + independent_dof(tree, k) * n;
                for (int r = 0; r < 6; ++r) {
                    T share(0.0);
                    add_share(tree, k, m[r], share);
                    for (int j = 0; j < n; ++j)
                        w.loop_products[r * n + j] = fma(share, row[j], w.loop_products[r * n + j]);
                }
            }
        });
        add_transposed_product(constraint.dofs, constraint.ndofs,
                               w.columns.turns + number * 6 * w.columns.padded, w.columns.padded, 6,
                               w.loop_products, n, n, w.product);
    });
}

// The accelerations, the first derivatives of the equations, and H, by joints and reduced.
template <class T>
void constrained_equations(const Tree& tree, const T* q, const T* v, const T* tau, const T* lam,
                           const T* lam_forces, const T* active, const T* f_ext,
                           const ConstrainedHessianWorkspace<T>& w) {
    const FactorizedWorkspace<T>& dynamics = w.dynamics;
    const IdsvaWorkspace<T>& idsva = dynamics.idsva;
    const Constraints& constraints = *w.options.contacts;
    const RelatedMatrices<T>&joints = w.joints, &m = w.independent;
    const T* body_f_ext = along_body_axes(tree, q, f_ext, w.wrenches.first.value);
    constrained_dynamics(true, tree, q, v, tau, active, body_f_ext, w.forces, w.residual, dynamics,
                         w.constraints);
    subtract_constraint_wrenches(constraints, w.constraints.frames, w.forces, idsva.f);
    idsva_accelerations(tree, dynamics.a, idsva);
    constraint_columns(tree, active, w.forces, idsva, w.constraints, w.columns);
    if (w.ranges.any) {
        copy_rows(w.columns, constraints.nrows, w.ranges.e);
        residual_columns(tree, w.constraints.frames, w.residual, idsva.root_frame, dynamics.ltdl,
                         w.constraints.schur, w.ranges.residual, w.columns);
        range_change(w.columns, constraints.nrows, w.ranges);
    }
    loop_factors(tree, constraints, w.constraints.frames, idsva.root_frame.S, dynamics.ltdl,
                 w.columns);
    turn_weights(tree, lam_forces, active, w);
    constrained_weights(tree, lam, w);

    hessian_forward(tree, w.joint_mu, idsva, w.hessian);
    add_weighted_rows(tree, constraints, w.constraints.frames, w.nu, idsva.root_frame, w.hessian,
                      w.weighted);
    T* const no_matrix = nullptr;
    if (w.relative || w.ranges.any) clear_blocks(joints.H, tree.nv);
    idsva_backward(tree, {joints.dtau_dq, joints.dtau_dv, no_matrix, joints.H.n}, idsva);
    hessian_backward(tree, joints.H, idsva, w.hessian);
    add_world_wrench_partials(tree, body_f_ext, idsva.root_frame, joints.dtau_dq, joints.H.n,
                              w.wrenches.first);
    add_world_wrench_hessian(tree, body_f_ext, idsva.root_frame, w.hessian, joints.H.dqdq,
                             joints.H.n, w.wrenches);
    add_constraint_curvature(tree, w);
    if (w.ranges.any)
        range_weights(w.range_state(tree, active), w.columns, joints.H, w.ranges);
    const auto reduce = [&](const T* X, T* reduced) { reduce_matrix(tree, X, reduced, m.H.n); };
    reduce(joints.dtau_dq, m.dtau_dq), reduce(joints.dtau_dv, m.dtau_dv);
    reduce_blocks(tree, joints.H, m.H);
}

// Weights of accelerations and forces times their second derivatives: (nv, nv), d2a_dtaudq in the
// place of dadq. q, v: of the joints; the others: of the independent velocities. lam_forces and
// active may be null.
template <class T>
void constrained_dynamics_hessian(const Tree& tree, const T* q, const T* v, const T* tau,
                                  const T* lam, const T* lam_forces, const T* active,
                                  const T* f_ext, const Blocks<T>& out, bool symmetric,
                                  const ConstrainedHessianWorkspace<T>& w) {
    const Paths& dofs = tree.independent;
    const LtdlWorkspace<T>& ltdl = w.dynamics.ltdl;
    const RelatedMatrices<T>& m = w.independent;
    const int n = dofs.n, stride = m.H.n;
    constrained_equations(tree, q, v, tau, lam, lam_forces, active, f_ext, w);
    dual_columns(tree, active, w);
    if (w.ranges.any) range_dual(w.range_state(tree, active), w.dual, w.ranges);
    const ConstraintColumns<T> dual = w.dual_of_loops();
    const ConstraintCorrection<T> change = {
        tree, w.constraints.schur, dual, {w.U, w.U, w.U}, 0, -1.0};
    ltdl_solve<1>(dofs, T(-1.0), m.H.dadq, stride, {{out.dadq, n}}, ltdl, change);  // -W, and U

    const T* X = w.product;  // transposed, by v
    related_transposed_product(dofs, m.dtau_dq, stride, out.dadq, w.product);
    if (w.ranges.any)
        range_products(w.range_state(tree, active), w.dual, w.U, w.product, w.ranges);
    add_row_products(tree, 0, w);
    add_turn_products(tree, out.dadq, w);
    for (int k = 0; k < n; ++k)
        for (int j = 0; j < n; ++j)
            // [Derivations] eq. 21.4
            out.dqdq[k * n + j] = -m.H.dqdq[k * stride + j] - (X[k * n + j] + X[j * n + k]);
    related_transposed_product(dofs, m.dtau_dv, stride, out.dadq, w.product);
    add_row_products(tree, 1, w);
    for (int k = 0; k < n; ++k)
        for (int j = 0; j < n; ++j) {
            out.dqdv[k * n + j] = -m.H.dqdv[k * stride + j] - X[j * n + k];
            out.dvdv[k * n + j] = T(0.0) - m.H.dvdv[k * stride + j];
        }
    if (symmetric) symmetrize(out.dqdq, n);
}

}  // namespace dtau::DTAU_VARIANT
