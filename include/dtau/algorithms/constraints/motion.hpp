// Computes constrained dynamics, and the accelerations a_i and forces F_i of the bodies at its solution:
// constrained_motion(). The products jvp.hpp and vjp.hpp begin with it.
//
//   a_i = a_p + v_p x v_J + S_i a        F_i = I_i a_i + v_i x* I_i v_i - f_ext_i - (constraint wrenches)
#pragma once

#include "dtau/algorithms/constraints/pseudo_inverse.hpp"
#include "dtau/algorithms/first/products.hpp"

namespace dtau::DTAU_VARIANT {

// The solution; in F the constraint forces count as external wrenches.
template <class T> struct ConstrainedMotionWorkspace {
    FactorizedWorkspace<T> dynamics;
    ConstraintEquations<T> equations;
    T *forces, *residual;
    Motion<T>* a;
    Force<T>*F, *momentum;
    RangeWorkspace<T> range;

    ConstrainedMotionWorkspace(Arena& arena, const Tree& tree, const Options& options)
        : dynamics(arena, tree, options),
          equations(arena, tree, options),
          range(arena, tree, options) {
        arena.take_each(options.contacts->nrows, forces, residual);
        arena.take_each(tree.nnodes, a, F, momentum);
    }
};
// Computes a and F from the solution and the forces at a = 0. Subtracts the wrenches of the constraints.
template <class T>
void body_motions(const Tree& tree, const T* v, const ConstrainedMotionWorkspace<T>& w) {
    const RootFrame<T>& g = w.dynamics.idsva.root_frame;
    for (int i = 0; i < tree.nnodes; ++i) {
        w.a[i] = body_acceleration(tree.bodies[i], i, v, w.dynamics.a, g, w.a);
        w.momentum[i] = g.I[i] * g.v[i];
        w.F[i] = w.dynamics.idsva.f[i] + g.I[i] * w.a[i];
    }
    subtract_constraint_wrenches(*w.equations.schur.constraints, w.equations.frames, w.forces, w.F);
}
template <class T>
void constrained_motion(const Tree& tree, const T* q, const T* v, const T* tau, const Hold<T>& hold,
                        const T* f_ext, const ConstrainedMotionWorkspace<T>& w) {
    constrained_dynamics(false, tree, q, v, tau, hold, f_ext, w.forces, w.residual, w.dynamics,
                         w.equations);
    body_motions(tree, v, w);
}

}  // namespace dtau::DTAU_VARIANT
