// Typed calls of dtau.functions.steps_linearization. src/python/renew.py writes this file.
#pragma once

#include "dtau/library/call.hpp"

// clang-format off
namespace dtau {

// Left-trivialized linearization of the equations of motion: dz/dt = A z + B u.
//     q (nq), v (nv), tau (nv) -> A (2 nv, 2 nv), B (2 nv, ninputs), a (nv)
//     optional: f_ext (nbodies, 6), inputs (nv, ninputs), active (ncontacts),
//     positions (ncontacts, 3), parameters (10 nbodies), -> residual (nrows)
//     arguments: f_ext_axes, contacts, regularization, layout, joint_parameters
struct Linearize : CallOf<"linearize"> {
    using CallOf::CallOf;
    struct Optional {
        InputView f_ext = {}, inputs = {}, active = {}, positions = {}, parameters = {};
        ResultView residual = {};
    };
    template <class X = Optional>
    [[nodiscard]] bool operator()(InputView q, InputView v, InputView tau, ResultView A,
                                  ResultView B, ResultView a, std::ptrdiff_t states = 1,
                                  const X& x = {}) noexcept {
        return run({q, v, tau, x.f_ext, x.inputs, x.active, x.positions, x.parameters},
                   {A, B, a, x.residual}, states);
    }
};

// Linearize a time step exactly, by state and inputs: z+ = A z + B u.
//     q (nq), v (nv), tau (nv), dt -> A (2 nv, 2 nv), B (2 nv, ninputs), q (nq), v (nv)
//     optional: f_ext (nbodies, 6), inputs (nv, ninputs), active (ncontacts),
//     positions (ncontacts, 3), parameters (10 nbodies), -> residual (nrows), -> forces (nrows),
//     -> dforces_dz (nrows, 2 nv), -> dforces_du (nrows, ninputs)
//     arguments: integrator, f_ext_axes, contacts, regularization, forces, layout, coordinates,
//     joint_parameters
struct LinearizeDiscrete : CallOf<"linearize_discrete"> {
    using CallOf::CallOf;
    struct Optional {
        InputView f_ext = {}, inputs = {}, active = {}, positions = {}, parameters = {};
        ResultView residual = {}, forces = {}, dforces_dz = {}, dforces_du = {};
    };
    template <class X = Optional>
    [[nodiscard]] bool operator()(InputView q, InputView v, InputView tau, InputView dt,
                                  ResultView A, ResultView B, ResultView q_out, ResultView v_out,
                                  std::ptrdiff_t states = 1, const X& x = {}) noexcept {
        return run({q, v, tau, dt, x.f_ext, x.inputs, x.active, x.positions, x.parameters},
                   {A, B, q_out, v_out, x.residual, x.forces, x.dforces_dz, x.dforces_du}, states);
    }
};

}  // namespace dtau
