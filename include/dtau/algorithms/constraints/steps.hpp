// Provides time steps (steps/step.hpp), their variations (steps/step_jvp.hpp) and their gradients
// (steps/step_products.hpp) with constrained dynamics: ConstrainedVariation, ConstrainedDynamics.
//
//   a_i = constrained_dynamics(q_i, v_i, tau)        for the stages i of a step
//
// Constraints hold at the accelerations of every stage, not at the end of the step: kp and kd pull
// back what drifts away.
#pragma once

#include "dtau/algorithms/constraints/jvp.hpp"
#include "dtau/algorithms/constraints/vjp.hpp"
#include "dtau/algorithms/steps/step_jvp.hpp"
#include "dtau/algorithms/steps/step_products.hpp"

namespace dtau::DTAU_VARIANT {

// The acceleration at a stage.
template <class T>
void constrained_acceleration(const Tree& tree, const T* q, const T* v, const T* tau,
                              const Hold<T>& hold, const T* f_ext, T* a,
                              const ConstrainedMotionWorkspace<T>& w) {
    constrained_dynamics(false, tree, q, v, tau, hold, f_ext, w.forces, w.residual, w.dynamics,
                         w.equations);
    for (int k = 0; k < tree.nv; ++k) a[k] = w.dynamics.a[k];
}

// Constrained dynamics and their variation, in the form that step_jvp takes.
template <class T> struct ConstrainedVariation {
    const ConstrainedJvpWorkspace<T>& w;
    Hold<T> hold;
    T* dforces;  // (nrows), of the last stage

    void variation(const Tree& tree, const T* q, const T* v, const T* tau, const T* dq, const T* dv,
                   const T* dtau, const WrenchVariation<T>& wrenches, T* a, T* da) const {
        const T* const no_parameters = nullptr;  // they act through dtau
        constrained_dynamics_jvp(tree, q, v, tau, dq, dv, dtau, hold, wrenches.f_ext,
                                 wrenches.df_ext, no_parameters, da, dforces, w);
        for (int k = 0; k < tree.nv; ++k) a[k] = w.value.dynamics.a[k];
    }
};

// Constrained dynamics and their gradient, in the form that step_vjp takes.
template <class T> struct ConstrainedDynamics {
    const ConstrainedVjpWorkspace<T>& w;
    Hold<T> hold;

    void acceleration(const Tree& tree, const T* q, const T* v, const T* tau, const T* f_ext,
                      T* a) const {
        constrained_acceleration(tree, q, v, tau, hold, f_ext, a, w.value);
    }
    void gradient(const Tree& tree, const T* q, const T* v, const T* tau, const T* lam,
                  const T* f_ext, T* by_q, T* by_v, T* by_tau, T* by_f_ext) const {
        const T* const no_forces = nullptr;
        constrained_dynamics_vjp(tree, q, v, tau, lam, no_forces, hold, f_ext, by_q, by_v, by_tau,
                                 by_f_ext, w);
    }
};

}  // namespace dtau::DTAU_VARIANT
