// Provides step_hessian() (steps/step_hessian.hpp) with constrained dynamics: ConstrainedCurvature,
// the second derivatives of the stages of a time step whose contacts and loops hold.
#pragma once

#include "dtau/algorithms/constraints/discrete_linearization.hpp"
#include "dtau/algorithms/constraints/hessian.hpp"
#include "dtau/algorithms/steps/step_hessian.hpp"

namespace dtau::DTAU_VARIANT {

template <class T> struct ConstrainedStepHessianWorkspace {
    StepHessianWorkspace<T> step;
    ConstrainedHessianWorkspace<T> hessian;
    ConstrainedDiscreteWorkspace<T>* stages;  // of several stages

    ConstrainedStepHessianWorkspace(Arena& arena, const Tree& tree, const Options& options)
        : step(arena, tree, options),
          hessian(arena, tree, options),
          stages(several_stages<ConstrainedDiscreteWorkspace<T>>(arena, tree, options)) {
        if (!stages) return;
        stages->discrete.step = step.step, stages->discrete.variation = step.variation;
    }
};

template <class T> struct ConstrainedCurvature {
    const ConstrainedStepHessianWorkspace<T>& w;
    Hold<T> hold;
    const T* f_ext;
    const T* body_f_ext = nullptr;

    void value(const Tree& tree, const T* q, const T* v, const T* tau, T h, T* a) {
        body_f_ext = constrained_hessian_value(tree, q, v, tau, hold, f_ext, w.hessian);
        for (int k = 0; k < tree.nv; ++k) a[k] = w.hessian.dynamics.a[k];
        w.step.step.damping.extend(tree, v, h, a, w.hessian.dynamics.idsva);
    }
    void hessian(const Tree& tree, const T* lam, const Blocks<T>& out) const {
        const T* const no_forces = nullptr;
        constrained_hessian_blocks(tree, lam, no_forces, hold.active, body_f_ext, out, true,
                                   w.hessian);
    }
    void gradient(const Tree& tree, const T* lam, T* by_q, T* by_v, T* by_tau) const {
        constrained_hessian_gradient(tree, lam, by_q, by_v, by_tau, w.hessian);
    }
    HeldStages<T> stages() const { return {*w.stages, hold, f_ext}; }  // if there are several
};

}  // namespace dtau::DTAU_VARIANT
