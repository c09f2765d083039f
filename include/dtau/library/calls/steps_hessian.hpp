// Typed calls of dtau.functions.steps_hessian. src/python/renew.py writes this file.
#pragma once

#include "dtau/library/call.hpp"

// clang-format off
namespace dtau {

// Hessian of a time step, contracted with weights: for exact-Hessian SQP and full DDP.
//     q (nq), v (nv), tau (nv), dt, lam_q (nv), lam_v (nv) -> H (2 nv + ninputs, 2 nv + ninputs)
//     optional: f_ext (nbodies, 6), inputs (nv, ninputs), active (ncontacts),
//     positions (ncontacts, 3), parameters (10 nbodies)
//     arguments: integrator, f_ext_axes, contacts, regularization, coordinates, joint_parameters
struct StepHessian : CallOf<"step_hessian"> {
    using CallOf::CallOf;
    struct Optional {
        InputView f_ext = {}, inputs = {}, active = {}, positions = {}, parameters = {};
    };
    template <class X = Optional>
    [[nodiscard]] bool operator()(InputView q, InputView v, InputView tau, InputView dt,
                                  InputView lam_q, InputView lam_v, ResultView H,
                                  std::ptrdiff_t states = 1, const X& x = {}) noexcept {
        return run({q, v, tau, dt, lam_q, lam_v, x.f_ext, x.inputs, x.active, x.positions,
                    x.parameters},
                   {H}, states);
    }
};

}  // namespace dtau
