// Computes the accelerations of a robot whose contacts and loops hold, and their forces:
// constrained_dynamics(). O(N d^2) for the tree, O(d^2 + nrows d) for each constraint, O(nrows^3) for
// the factors of G. [RBDA] chapter 8, [Derivations] eq. 20.2:
//
//   M a - J^T f = tau - bias                       equations of motion, a: accelerations
//   J a         = aref                             constraints: aref = -J' v - kd J v - kp e
//
//   M = L^T D L                                    factorize_mass_matrix (solve/factorized.hpp)
//   x = L^-T (tau - bias)                          ltdl_solve_inwards (solve/ltdl.hpp)
//   J, Y = L^-T J^T, G = J M^-1 J^T = Y^T D^-1 Y   factorize_constraints (below, schur_complement.hpp)
//   f = G^-1 (aref - Y^T D^-1 x),  x = x + Y f     solve_constrained (forces.hpp)
//   a = L^-1 D^-1 x                                ltdl_solve_outwards (solve/ltdl.hpp)
//
// The direct way forms M^-1 J^T, and solves with M once more for the forces. Here columns of J^T go
// through the first triangular solve only: Y has the zeros of the paths, which M^-1 J^T has not, and
// x + Y f takes the forces into the one solve for a.
//
// Symbols, of this state; "rows" are the equations J a = aref, 1 to 6 for each constraint:
//   e          how far the frames of a constraint are apart; kp, kd: Baumgarte's gains (rows.hpp)
//   aref       minus the rows (20.1) at a = 0; MuJoCo's efc_aref, but for J' v, which MuJoCo leaves out
//   J, f, G    MuJoCo's efc_J, efc_force, and efc_AR without the regularization R (its efc_R)
//   residual   J a - aref: rounding errors, unless rows contradict each other, which a
//              regularization allows
//   x          (nv) independent velocities; a of all joints follows at the end (mimic.hpp)
#pragma once

#include "dtau/algorithms/constraints/forces.hpp"
#include "dtau/algorithms/solve/factorized.hpp"

namespace dtau::DTAU_VARIANT {

// The equations J a = aref of a state, with their factors, beside the dynamics of the tree.
template <class T> struct ConstraintEquations {
    SchurComplement<T> schur;
    Placement<T>* world;
    ConstraintFrames<T>* frames;
    T* aref;  // (nrows) the value that J a must have

    ConstraintEquations(Arena& arena, const Tree& tree, const Options& options)
        : schur(arena, tree, options),
          world(arena.take<Placement<T>>(tree.nnodes)),
          frames(arena.take<ConstraintFrames<T>>(options.contacts->count)),
          aref(arena.take<T>(options.contacts->nrows)) {}
};

// Computes the frames, J, and the factors of G, given the factors of M. Reads placements and
// subspaces of root_frame.
template <class T>
void factorize_constraints(const Tree& tree, const T* q, const Hold<T>& hold,
                           const RootFrame<T>& root_frame, const LtdlWorkspace<T>& ltdl,
                           const ConstraintEquations<T>& w) {
    const Constraints& constraints = *w.schur.constraints;
    const int stride = w.schur.stride();
    place_constraints_in_world(tree, constraints, Configuration<T>(q, root_frame.angles), w.world);
    for_constraints<T>(constraints, [&](int c, const Constraint& constraint, int column) {
        w.frames[c] = constraint_frames(tree, c, constraint, hold.positions, root_frame.P, w.world);
        T* const Y = w.schur.Y + column;
        constraint_jacobian(tree, c, constraint, w.frames[c], root_frame.S, hold.active, Y, stride);
        if (w.schur.R == 0.0)
            least_pivots(constraint, w.frames[c], Y, stride, w.schur.least + constraint.first);
    });
    factorize_schur_complement(tree, hold.active, ltdl, w.schur);
}

// Velocities of all joints from the independent ones.
template <class T> void joint_velocities(const Tree& tree, const T* x, T* joint) {
    for (int k = 0; k < tree.nv && !tree.mimic; ++k) joint[k] = x[k];
    expand_v(tree, x, joint);
}

// The forces and accelerations at a = 0, as idsva_velocities computes them, without the columns that
// only derivatives need.
template <class T>
void bias_velocities(const Tree& tree, const T* v, const T* f_ext, const IdsvaWorkspace<T>& w) {
    const RootFrame<T>& g = w.root_frame;
    for (int i = 0; i < tree.nnodes; ++i) {
        const Body& body = tree.bodies[i];
        w.a[i] = zero_motion<T>();
        if (body.parent >= 0)
            w.a[i] = cross(g.v[body.parent], subspace_times(body, g.S, v, zero_motion<T>()));
        w.f[i] = cross_star(g.v[i], g.I[i] * g.v[i]);
        if (acts_on(f_ext, body)) w.f[i] = w.f[i] - transformed(g.P[i], body_wrench(body, f_ext));
    }
}

// q, v: of the joints; tau: of the independent velocities.
// The result is left in the workspace: accelerations of the joints in w.a, of the independent
// velocities in w.independent. With `derivatives`, w.idsva has the columns that these need.
template <class T>
void constrained_dynamics(bool derivatives, const Tree& tree, const T* q, const T* v, const T* tau,
                          const Hold<T>& hold, const T* f_ext, T* forces, T* residual,
                          const FactorizedWorkspace<T>& w,
                          const ConstraintEquations<T>& equations) {
    const Constraints& constraints = *equations.schur.constraints;
    const RootFrame<T>& root_frame = w.idsva.root_frame;
    T* x = w.independent;
    factorize_mass_matrix(tree, q, v, w);  // M = L^T D L
    if (derivatives)
        idsva_velocities(tree, q, v, f_ext, w.idsva);
    else
        bias_velocities(tree, v, f_ext, w.idsva);
    independent_torque(tree, q, v, tau, w);
    ltdl_solve_inwards(tree.independent, x, w.ltdl);                      // x = L^-T (tau - bias)
    factorize_constraints(tree, q, hold, root_frame, w.ltdl, equations);  // G = J M^-1 J^T
    for (int c = 0; c < constraints.count; ++c) {
        const Constraint& constraint = constraints.at[c];
        const ConstraintFrames<T>& f = equations.frames[c];
        const Motion<T> at_rest =
            constraint_accelerations(tree, constraint, f, root_frame, w.bias_a, equations.world);
        T* aref = equations.aref + constraint.first;
        store_active_rows(c, constraint, f.E, -at_rest, hold.active, aref);
        for (int r = 0; r < constraint.count; ++r) forces[constraint.first + r] = aref[r];
    }
    solve_constrained(tree.independent.n, x, forces, equations.schur);  // f, and x + Y f
    for (int r = 0; r < constraints.nrows; ++r) residual[r] = equations.aref[r];
    subtract_acceleration(x, residual, equations.schur);
    for (int r = 0; r < constraints.nrows; ++r) residual[r] = T(0.0) - residual[r];
    ltdl_solve_outwards(tree.independent, x, w.ltdl);  // a = L^-1 D^-1 x
    expand_v(tree, x, w.a);
}

}  // namespace dtau::DTAU_VARIANT
