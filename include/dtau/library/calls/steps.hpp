// Typed calls of dtau.functions.steps. src/python/renew.py writes this file.
#pragma once

#include "dtau/library/call.hpp"

// clang-format off
namespace dtau {

// Integrate the equations of motion over a time step, with constant torque.
//     q (nq), v (nv), tau (nv), dt -> q (nq), v (nv)
//     optional: f_ext (nbodies, 6), active (ncontacts), positions (ncontacts, 3),
//     parameters (10 nbodies)
//     arguments: integrator, f_ext_axes, contacts, regularization, joint_parameters
struct Step : CallOf<"step"> {
    using CallOf::CallOf;
    struct Optional { InputView f_ext = {}, active = {}, positions = {}, parameters = {}; };
    template <class X = Optional>
    [[nodiscard]] bool operator()(InputView q, InputView v, InputView tau, InputView dt,
                                  ResultView q_out, ResultView v_out, std::ptrdiff_t states = 1,
                                  const X& x = {}) noexcept {
        return run({q, v, tau, dt, x.f_ext, x.active, x.positions, x.parameters},
                   {q_out, v_out}, states);
    }
};

// Variation of the state after a time step along variations of its arguments.
//     q (nq), v (nv), tau (nv), dt, dq (nv), dv (nv), dtau (nv) -> dq (nv), dv (nv)
//     optional: f_ext (nbodies, 6), df_ext (nbodies, 6), ddt, active (ncontacts),
//     positions (ncontacts, 3), dparameters (nparameters), parameters (10 nbodies)
//     arguments: integrator, f_ext_axes, contacts, regularization, coordinates, joint_parameters
struct StepJvp : CallOf<"step_jvp"> {
    using CallOf::CallOf;
    struct Optional {
        InputView f_ext = {}, df_ext = {}, ddt = {}, active = {}, positions = {}, dparameters = {},
                  parameters = {};
    };
    template <class X = Optional>
    [[nodiscard]] bool operator()(InputView q, InputView v, InputView tau, InputView dt,
                                  InputView dq, InputView dv, InputView dtau, ResultView dq_out,
                                  ResultView dv_out, std::ptrdiff_t states = 1,
                                  const X& x = {}) noexcept {
        return run({q, v, tau, dt, dq, dv, dtau, x.f_ext, x.df_ext, x.ddt, x.active, x.positions,
                    x.dparameters, x.parameters},
                   {dq_out, dv_out}, states);
    }
};

// Gradient through a time step, for backpropagation through time.
//     q (nq), v (nv), tau (nv), dt, lam_q (nv), lam_v (nv) -> by_q (nv), by_v (nv), by_tau (nv)
//     optional: f_ext (nbodies, 6), active (ncontacts), positions (ncontacts, 3),
//     parameters (10 nbodies), -> by_f_ext (nbodies, 6)
//     arguments: integrator, f_ext_axes, contacts, regularization, coordinates, joint_parameters
struct StepVjp : CallOf<"step_vjp"> {
    using CallOf::CallOf;
    struct Optional {
        InputView f_ext = {}, active = {}, positions = {}, parameters = {};
        ResultView by_f_ext = {};
    };
    template <class X = Optional>
    [[nodiscard]] bool operator()(InputView q, InputView v, InputView tau, InputView dt,
                                  InputView lam_q, InputView lam_v, ResultView by_q,
                                  ResultView by_v, ResultView by_tau, std::ptrdiff_t states = 1,
                                  const X& x = {}) noexcept {
        return run({q, v, tau, dt, lam_q, lam_v, x.f_ext, x.active, x.positions, x.parameters},
                   {by_q, by_v, by_tau, x.by_f_ext}, states);
    }
};

}  // namespace dtau
