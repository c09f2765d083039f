// Computes the terms that hessian.hpp combines into second derivatives of constrained dynamics: the
// weights mu and nu, the columns G_f, and the terms of the constraints in H. Holds their workspace.
// [Derivations] eqs. 23.2, 23.3
#pragma once

#include "dtau/algorithms/constraints/range_hessian.hpp"
#include "dtau/algorithms/constraints/spatial_rows.hpp"
#include "dtau/algorithms/second/forward_hessian.hpp"

namespace dtau::DTAU_VARIANT {

// The constraints with forces along the axes of their frames a; gains of 0 if not wanted.
struct AlongFrames {
    const Constraints* given;
    bool gains;
    Constraint* at;
    Constraints* all;

    AlongFrames(Arena& arena, const Options& options, bool with_gains)
        : given(options.contacts),
          gains(with_gains),
          at(arena.take<Constraint>(given->count)),
          all(arena.take<Constraints>(1)) {
        if (at) update();
    }
    // Copies the given constraints, which may be others for each state (registry/active_constraints.hpp).
    void update() const {
        *all = *given;
        all->at = at;
        for (int c = 0; c < given->count; ++c) {
            at[c] = given->at[c];
            at[c].axes = Axes::body;
            if (gains) continue;
            at[c].kp = at[c].kd = 0.0;
            at[c].positions = at[c].spatial = false;
        }
    }
    Options in(Options options) const {
        if (all) options.contacts = all;
        return options;
    }
};

template <class T> struct ConstrainedHessianWorkspace {
    const Constraints* given;
    AlongFrames along_frames;
    Options options;  // of all calls on this workspace
    FactorizedWorkspace<T> dynamics;
    ConstraintEquations<T> equations;
    ConstraintColumns<T> columns, dual;  // c by q and v; G_f
    HessianWorkspace<T> hessian;
    WeightedRowsWorkspace<T> weighted;
    ForceCurvatureWorkspace<T> curvature;
    SpatialRowsWorkspace<T> spatial;
    RelatedMatrices<T> independent, joints;
    WrenchHessianWorkspace<T> wrenches;
    RangeHessianWorkspace<T> ranges;
    T *forces, *residual, *lam_forces, *nu;  // (nrows)
    T *mu, *joint_mu;
    T *U, *loop_products, *product;  // (nrows, n), (6, n), (n, n)
    bool relative, damped;           // some constraint has relative_rows.hpp; has kd

    ConstrainedHessianWorkspace(Arena& arena, const Tree& tree, const Options& taken,
                                bool gains = true);
    RangeState<T> range_state(const Tree& tree, const T* active) const {
        return {tree, equations.frames, equations.world, active,          forces,   residual,
                nu,   dynamics.idsva,   dynamics.ltdl,   equations.schur, curvature};
    }
    // G_f with the factors of loops.
    ConstraintColumns<T> dual_of_loops() const {
        ConstraintColumns<T> x = dual;
        x.loops = columns.loops;
        return x;
    }
    // Whether relative_rows.hpp or spatial_rows.hpp adds terms for this constraint.
    static bool is_relative(const Constraint& c) {
        return c.b.body >= 0 || c.positions || c.axes != Axes::body || c.spatial;
    }
};
// Outside of the class, so that it is not inline: it is compiled once.
template <class T>
ConstrainedHessianWorkspace<T>::ConstrainedHessianWorkspace(Arena& arena, const Tree& tree,
                                                            const Options& taken, bool gains)
    : given(taken.contacts),
      along_frames(arena, taken, gains),
      options(along_frames.in(taken)),
      dynamics(arena, tree, options),
      equations(arena, tree, options),
      columns(arena, tree, *options.contacts, 2),
      dual(arena, tree, *options.contacts, 1),
      hessian(arena, tree, options),
      weighted(arena, tree, options),
      curvature(arena, tree, options),
      spatial(arena, tree, options),
      independent(arena, tree.independent.n, whole_packs<T>(tree.independent.n)),
      joints(independent.of_joints(arena, tree)),
      wrenches(arena, tree, options),
      ranges(arena, tree, options),
      mu(arena.take<T>(tree.independent.n)),
      joint_mu(room_beside(arena, tree, mu, tree.nv)),
      U(arena.take<T>(given->nrows * tree.independent.n)),
      loop_products(arena.take<T>(6 * tree.independent.n)),
      product(arena.take<T>(tree.independent.n * tree.independent.n)),
      relative(false),
      damped(false) {
    arena.take_each(given->nrows, forces, residual, lam_forces, nu);
    for (int c = 0; c < given->count; ++c) {
        relative |= is_relative(given->at[c]);
        damped |= options.contacts->at[c].kd > 0.0 || given->at[c].spatial;
    }
}

// The weights of the forces along the axes of frames a; null: zero.
template <class T>
void turn_weights(const T* lam_forces, const T* active, const ConstrainedHessianWorkspace<T>& w) {
    for (int c = 0; c < w.given->count; ++c) {
        const Constraint& given = w.given->at[c];
        T* const to = w.lam_forces + given.first;
        for (int r = 0; r < given.count; ++r)
            to[r] = lam_forces ? if_active(active, c, lam_forces[given.first + r]) : T(0.0);
        if (given.axes == Axes::body) continue;
        const Mat3<T> E = transposed(w.equations.world[given.root].R);
        const Force<T> W = constraint_wrench(given, E, to);
        store_rows(given, w.equations.frames[c].E, Motion<T>{W.ang, W.lin}, to);
    }
}

// Solves for mu and nu of (23.2), and for rho = N lam_f of (23.16). No force gives rho: the solve would
// divide its rounding errors by R, so rho leaves the right-hand side before.
template <class T>
void constrained_weights(const Tree& tree, const T* lam, const ConstrainedHessianWorkspace<T>& w) {
    const int n = tree.independent.n, nrows = w.given->nrows;
    for (int k = 0; k < n; ++k) w.mu[k] = lam[k];
    for (int r = 0; r < nrows; ++r) w.nu[r] = -w.lam_forces[r];
    if (w.ranges.any) {
        for (int r = 0; r < nrows; ++r) w.ranges.rho[r] = w.lam_forces[r];
        project_unreachable<1>(w.ranges.rho, w.equations.schur);
        for (int r = 0; r < nrows; ++r) w.nu[r] = w.nu[r] + w.ranges.rho[r];
    }
    ltdl_solve_inwards(tree.independent, w.mu, w.dynamics.ltdl);
    solve_linearized(n, w.mu, w.nu, w.equations.schur);
    ltdl_solve_outwards(tree.independent, w.mu, w.dynamics.ltdl);
    for (int r = 0; r < nrows; ++r) w.nu[r] = -w.nu[r];
    expand_v(tree, w.mu, w.joint_mu);
}

// Returns a RootFrame with the twists that the bodies have if mu are the joint rates.
template <class T> RootFrame<T> weight_twists(const ConstrainedHessianWorkspace<T>& w) {
    RootFrame<T> g = w.dynamics.idsva.root_frame;
    g.v = w.hessian.Lam;
    return g;
}

// Writes G_f to the columns w.dual, and adds to G_a the terms that a tree without loops does not
// have: the turns of the forces nu of loops.
template <class T>
void dual_columns(const Tree& tree, const T* active, const ConstrainedHessianWorkspace<T>& w) {
    const Constraints& constraints = *w.options.contacts;
    const RootFrame<T> g = weight_twists(w);
    clear_columns(constraints, 1, w.dual);
    int loop = 0;
    for (int c = 0; c < constraints.count; ++c) {
        const Constraint& constraint = constraints.at[c];
        const ConstraintFrames<T>& f = w.equations.frames[c];
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
        for_moving_dofs(tree, constraint.a.body, [&](const Body&, int k) {
            const Vec3<T>& ds = g.S[k].ang;
            add_column(tree, c, constraint, f, active, 0, k,
                       Motion<T>{cross(lam.ang, ds), cross(lam.lin, ds)}, w.dual);
        });
    }
}

// Adds the terms of the constraints to H of (23.2), by joints, after the backward passes.
template <class T>
void add_constraint_curvature(const Tree& tree, const ConstrainedHessianWorkspace<T>& w) {
    const Constraints& constraints = *w.options.contacts;
    const IdsvaWorkspace<T>& idsva = w.dynamics.idsva;
    const RootFrame<T> g = weight_twists(w);
    add_row_curvature(tree, w.damped, idsva, w.joints.H, w.weighted);
    for (int c = 0; c < constraints.count && w.relative; ++c) {
        const Constraint& constraint = constraints.at[c];
        if (!w.is_relative(w.given->at[c])) continue;
        const ConstraintFrames<T>& f = w.equations.frames[c];
        const ConstraintPartials<T> partials(tree, constraint, f, idsva.root_frame, idsva.a,
                                             w.equations.world);
        const auto wrench = [&](const T* x) {
            return constraint_wrench(constraint, f.E, x + constraint.first);
        };
        Force<T> lam = zero_force<T>();
        if (w.given->at[c].axes != Axes::body) lam = wrench(w.lam_forces);
        add_relative_curvature<T>({tree, partials, wrench(w.nu), wrench(w.forces), lam, false,
                                   idsva.root_frame, g, idsva.a},
                                  w.joints.H, w.curvature.relative);
        if (constraint.spatial)
            add_spatial_curvature(tree, partials, wrench(w.nu), idsva.root_frame, idsva.a,
                                  w.joints.H, w.spatial);
    }
}

}  // namespace dtau::DTAU_VARIANT
