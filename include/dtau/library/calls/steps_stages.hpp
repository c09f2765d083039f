// Typed calls of dtau.functions.steps_stages. src/python/renew.py writes this file.
#pragma once

#include "dtau/library/call.hpp"

// clang-format off
namespace dtau {

// Linearize an RK4 step and the states of its four stages, by state and inputs.
//     q (nq), v (nv), tau (nv), dt -> A (2 nv, 2 nv), B (2 nv, ninputs), q (nq), v (nv),
//     A_stages (4, 2 nv, 2 nv), B_stages (4, 2 nv, ninputs), q_stages (4, nq), v_stages (4, nv)
//     optional: f_ext (nbodies, 6), inputs (nv, ninputs), active (ncontacts),
//     positions (ncontacts, 3), parameters (10 nbodies)
//     arguments: f_ext_axes, contacts, regularization, joint_parameters
struct LinearizeStages : CallOf<"linearize_stages"> {
    using CallOf::CallOf;
    struct Optional {
        InputView f_ext = {}, inputs = {}, active = {}, positions = {}, parameters = {};
    };
    template <class X = Optional>
    [[nodiscard]] bool operator()(InputView q, InputView v, InputView tau, InputView dt,
                                  ResultView A, ResultView B, ResultView q_out, ResultView v_out,
                                  ResultView A_stages, ResultView B_stages, ResultView q_stages,
                                  ResultView v_stages, std::ptrdiff_t states = 1,
                                  const X& x = {}) noexcept {
        return run({q, v, tau, dt, x.f_ext, x.inputs, x.active, x.positions, x.parameters},
                   {A, B, q_out, v_out, A_stages, B_stages, q_stages, v_stages}, states);
    }
};

}  // namespace dtau
