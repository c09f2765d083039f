// Typed calls of dtau.functions.time_derivatives_constrained. src/python/renew.py writes this file.
#pragma once

#include "dtau/library/call.hpp"

// clang-format off
namespace dtau {

// Accelerations and forces of a robot with contacts, with time derivatives up to order r.
//     q (nq), v (nv), tau_derivatives (order + 1, nv) -> a (order + 1, nv),
//     forces (order + 1, nrows), residual (order + 1, nrows)
//     optional: f_ext_derivatives (order + 1, nbodies, 6), active (ncontacts),
//     positions (ncontacts, 3)
//     arguments: contacts (required), f_ext_axes, regularization, order
struct ConstrainedDynamicsTimeDerivatives : CallOf<"constrained_dynamics_time_derivatives"> {
    using CallOf::CallOf;
    struct Optional { InputView f_ext_derivatives = {}, active = {}, positions = {}; };
    template <class X = Optional>
    [[nodiscard]] bool operator()(InputView q, InputView v, InputView tau_derivatives, ResultView a,
                                  ResultView forces, ResultView residual, std::ptrdiff_t states = 1,
                                  const X& x = {}) noexcept {
        return run({q, v, tau_derivatives, x.f_ext_derivatives, x.active, x.positions},
                   {a, forces, residual}, states);
    }
};

// Joint torques and least-norm contact forces of a motion, with time derivatives up to order r.
//     q (nq), v_derivatives (order + 2, nv) -> tau (order + 1, nv), forces (order + 1, nrows)
//     optional: f_ext_derivatives (order + 1, nbodies, 6), active (ncontacts)
//     arguments: contacts (required), f_ext_axes, inputs, regularization, order
struct ConstrainedInverseDynamicsTimeDerivatives
    : CallOf<"constrained_inverse_dynamics_time_derivatives"> {
    using CallOf::CallOf;
    struct Optional { InputView f_ext_derivatives = {}, active = {}; };
    template <class X = Optional>
    [[nodiscard]] bool operator()(InputView q, InputView v_derivatives, ResultView tau,
                                  ResultView forces, std::ptrdiff_t states = 1,
                                  const X& x = {}) noexcept {
        return run({q, v_derivatives, x.f_ext_derivatives, x.active}, {tau, forces}, states);
    }
};

}  // namespace dtau
