// Computes the first derivatives of constrained dynamics: constrained_dynamics_derivatives().
// [Derivations] eqs. 20.6 to 20.9. With the wrenches of the constraints among the external ones, constant
// along body axes, and a the solution:
//
//   [M  -J^T] [da]     [dID/dx (q, v, a)]                  [1]
//   [J    0 ] [df] = - [drows/dx        ],  and for tau:   [0]
//
// The solve is FDSVA's (fdsva.hpp). The forces of the constraints are corrected between the two
// triangular solves (correction.hpp):
//
//   X = L^-T dID/dx,   df = G^-1 (Z^T X - drows/dx),   X <- X - Y df,   da = -L^-1 D^-1 X
//
// The textbook inverts the whole matrix of the system. Here only G is factorized beside M, and the
// zeros of the tree are kept in X and Y. If rows depend on each other, which only a regularization
// allows, G^-1 is G^+ and has a derivative of its own: pseudo_inverse.hpp, [Derivations] eq. 20.10.
//
// Two terms are added, because the forces are given along axes that move. The force W of a loop
// on its frame b turns with frame a: with m = turn x W (columns.hpp), J_b^T m is added to dID/dq.
// Forces along the world's axes do not turn with a: their turn is added to df/dq.
#pragma once

#include "dtau/algorithms/constraints/pseudo_inverse.hpp"
#include "dtau/algorithms/first/fdsva.hpp"

namespace dtau::DTAU_VARIANT {

template <class T> struct ConstrainedDerivativesWorkspace {
    FdsvaWorkspace<T> fdsva;
    ConstraintEquations<T> equations;
    ConstraintColumns<T> columns;  // by q, v and tau
    T *forces, *residual;
    RangeWorkspace<T> range;

    ConstrainedDerivativesWorkspace(Arena& arena, const Tree& tree, const Options& options)
        : fdsva(arena, tree, options),
          equations(arena, tree, options),
          columns(arena, tree, *options.contacts, 3),
          forces(arena.take<T>(options.contacts->nrows)),
          residual(arena.take<T>(options.contacts->nrows)),
          range(arena, tree, options) {}
};

// Computes -drows/dx of all constraints, and m of the loops.
template <class T>
void constraint_columns(const Tree& tree, const T* active, const T* forces,
                        const IdsvaWorkspace<T>& idsva, const ConstraintEquations<T>& equations,
                        const ConstraintColumns<T>& columns) {
    const Constraints& constraints = *equations.schur.constraints;
    const RootFrame<T>& g = idsva.root_frame;
    const Motion<T>* a = idsva.a;
    clear_columns(constraints, 2, columns);
    int loop = 0;
    for (int c = 0; c < constraints.count; ++c) {
        const Constraint& constraint = constraints.at[c];
        const ConstraintFrames<T>& f = equations.frames[c];
        const int number = constraint.b.body < 0 ? -1 : loop++;
        const Force<T> W = constraint_wrench(constraint, f.E, forces + constraint.first);
        const ConstraintPartials<T> partials(tree, constraint, f, g, a, equations.world);
        for_constraint_partials(
            tree, partials, g, a,
            [&](int k, const Motion<T>& by_q, const Motion<T>& by_v, const Vec3<T>& turn) {
                add_column(tree, c, constraint, f, active, 0, k, by_q, columns);
                add_column(tree, c, constraint, f, active, 1, k, by_v, columns);
                if (number >= 0) add_turn(tree, number, k, turn, W, columns);
            });
    }
}

// q, v: of the joints; tau and all results: of the independent velocities. Rows of da_dq and da_dv
// are `stride` apart. The derivatives of the forces may be null: not wanted. The residual is left in w.
template <class T>
void constrained_dynamics_derivatives(const Tree& tree, const T* q, const T* v, const T* tau,
                                      const Hold<T>& hold, const T* f_ext, T* da_dq, T* da_dv,
                                      int stride, T* da_dtau, T* dforces_dq, T* dforces_dv,
                                      T* dforces_dtau,
                                      const ConstrainedDerivativesWorkspace<T>& w) {
    const FactorizedWorkspace<T>& dynamics = w.fdsva.dynamics;
    const Constraints& constraints = *w.equations.schur.constraints;
    const T* body_f_ext = along_body_axes(tree, q, f_ext, w.fdsva.wrenches.value);
    constrained_dynamics(true, tree, q, v, tau, hold, body_f_ext, w.forces, w.residual, dynamics,
                         w.equations);
    subtract_constraint_wrenches(constraints, w.equations.frames, w.forces, dynamics.idsva.f);
    idsva_accelerations(tree, dynamics.a, dynamics.idsva);
    constraint_columns(tree, hold.active, w.forces, dynamics.idsva, w.equations, w.columns);
    if (w.equations.schur.R > 0.0)
        residual_columns(tree, w.equations.frames, w.residual, dynamics.idsva.root_frame,
                         dynamics.ltdl, w.equations.schur, w.range, w.columns);
    if (w.equations.schur.R > 0.0 && dforces_dq)
        range_columns(tree, constraints, w.equations.frames, hold.active,
                      range_velocities(tree, w.forces, dynamics.idsva.root_frame, dynamics.ltdl,
                                       w.equations.schur, w.range),
                      w.columns);
    loop_factors(tree, constraints, w.equations.frames, dynamics.idsva.root_frame.S, dynamics.ltdl,
                 w.columns);
    fdsva_matrices(
        tree, body_f_ext, da_dq, da_dv, stride, da_dtau, w.fdsva,
        ConstraintCorrection<T>{
            tree, w.equations.schur, w.columns, {dforces_dq, dforces_dv, dforces_dtau}, 0, -1.0});
    if (dforces_dq)
        turn_forces(tree, constraints, w.equations.frames, dynamics.idsva.root_frame.S, w.forces,
                    dforces_dq, tree.independent.n);
}

}  // namespace dtau::DTAU_VARIANT
