// Takes time steps of a robot whose contacts and loops hold at every stage, constrained_step(), and
// has the dynamics for their gradients: ConstrainedDynamics, for step_vjp().
//
//   a_i = constrained_dynamics(q_i, v_i, tau)        for the stages i of steps/step.hpp
//
// The step is that of steps/step.hpp, whose dynamics are an argument. Constraints hold at the
// accelerations of every stage, not at the end of the step: kp and kd pull back what drifts away.
#pragma once

#include "dtau/algorithms/constraints/vjp.hpp"
#include "dtau/algorithms/steps/step_products.hpp"

namespace dtau::DTAU_VARIANT {

template <class T>
struct ConstrainedStepWorkspace {
    StepWorkspace<T> step;
    FactorizedWorkspace<T> dynamics;
    ConstraintWorkspace<T> constraints;
    WrenchAxesWorkspace<T> wrenches;
    T *forces, *residual;

    ConstrainedStepWorkspace(Arena& arena, const Tree& tree, const Options& options)
        : step(arena, tree, options),
          dynamics(arena, tree, options),
          constraints(arena, tree, options),
          wrenches(arena, tree, options),
          forces(arena.take<T>(options.contacts->nrows)),
          residual(arena.take<T>(options.contacts->nrows)) {}
};

// q, v, q_next, v_next: of the joints; tau: of the independent velocities.
template <class T>
void constrained_step(const Tree& tree, Integrator method, const T* q, const T* v, const T* tau,
                      T h, const Hold<T>& hold, const T* f_ext, T* q_next, T* v_next,
                      const ConstrainedStepWorkspace<T>& w) {
    step(tree, q, v, h, method, q_next, v_next, w.step, [&](int, const T* qi, const T* vi, T* a) {
        const T* body_f_ext = along_body_axes(tree, qi, f_ext, w.wrenches);
        constrained_dynamics(false, tree, qi, vi, tau, hold, body_f_ext, w.forces, w.residual,
                             w.dynamics, w.constraints);
        for (int k = 0; k < tree.nv; ++k) a[k] = w.dynamics.a[k];
    });
}

// Constrained dynamics and their gradient, in the form that step_vjp takes.
template <class T>
struct ConstrainedDynamics {
    const ConstrainedVjpWorkspace<T>& w;
    Hold<T> hold;

    void acceleration(const Tree& tree, const T* q, const T* v, const T* tau, const T* f_ext,
                      T* a) const {
        const ConstrainedMotionWorkspace<T>& value = w.value;
        constrained_dynamics(false, tree, q, v, tau, hold, f_ext, value.forces, value.residual,
                             value.dynamics, value.constraints);
        for (int k = 0; k < tree.nv; ++k) a[k] = value.dynamics.a[k];
    }
    void gradient(const Tree& tree, const T* q, const T* v, const T* tau, const T* lam,
                  const T* f_ext, T* by_q, T* by_v, T* by_tau, T* by_f_ext) const {
        const T* const no_forces = nullptr;
        constrained_dynamics_vjp(tree, q, v, tau, lam, no_forces, hold, f_ext, by_q, by_v, by_tau,
                                 by_f_ext, w);
    }
};

}  // namespace dtau::DTAU_VARIANT
