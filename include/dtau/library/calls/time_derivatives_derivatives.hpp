// Typed calls of dtau.functions.time_derivatives_derivatives. src/python/renew.py writes this file.
#pragma once

#include "dtau/library/call.hpp"

// clang-format off
namespace dtau {

// First derivatives of the joint torque along a motion, and their time derivatives.
//     q (nq), v_derivatives (order + 2, nv) -> dtau_dq (order + 1, nv, nv),
//     dtau_dv (order + 1, nv, nv), dtau_da (order + 1, nv, nv)
//     optional: f_ext_derivatives (order + 1, nbodies, 6)
//     arguments: f_ext_axes, order
struct InverseDynamicsDerivativesTimeDerivatives
    : CallOf<"inverse_dynamics_derivatives_time_derivatives"> {
    using CallOf::CallOf;
    struct Optional { InputView f_ext_derivatives = {}; };
    template <class X = Optional>
    [[nodiscard]] bool operator()(InputView q, InputView v_derivatives, ResultView dtau_dq,
                                  ResultView dtau_dv, ResultView dtau_da, std::ptrdiff_t states = 1,
                                  const X& x = {}) noexcept {
        return run({q, v_derivatives, x.f_ext_derivatives}, {dtau_dq, dtau_dv, dtau_da}, states);
    }
};

// First derivatives of the joint acceleration along a motion, and their time derivatives.
//     q (nq), v (nv), tau_derivatives (order + 1, nv) -> da_dq (order + 1, nv, nv),
//     da_dv (order + 1, nv, nv), da_dtau (order + 1, nv, nv)
//     optional: f_ext_derivatives (order + 1, nbodies, 6)
//     arguments: f_ext_axes, order
struct ForwardDynamicsDerivativesTimeDerivatives
    : CallOf<"forward_dynamics_derivatives_time_derivatives"> {
    using CallOf::CallOf;
    struct Optional { InputView f_ext_derivatives = {}; };
    template <class X = Optional>
    [[nodiscard]] bool operator()(InputView q, InputView v, InputView tau_derivatives,
                                  ResultView da_dq, ResultView da_dv, ResultView da_dtau,
                                  std::ptrdiff_t states = 1, const X& x = {}) noexcept {
        return run({q, v, tau_derivatives, x.f_ext_derivatives}, {da_dq, da_dv, da_dtau}, states);
    }
};

// First derivatives of the joint torque and of its time derivatives, orders 0 to r.
//     q (nq), v_derivatives (order + 2, nv) -> dtau_dq (order + 1, nv, nv),
//     dtau_dv_derivatives (order + 1, r + 2, nv, nv)
//     optional: f_ext_derivatives (order + 1, nbodies, 6)
//     arguments: f_ext_axes, order, coordinates
struct InverseDynamicsTimeDerivativesDerivatives
    : CallOf<"inverse_dynamics_time_derivatives_derivatives"> {
    using CallOf::CallOf;
    struct Optional { InputView f_ext_derivatives = {}; };
    template <class X = Optional>
    [[nodiscard]] bool operator()(InputView q, InputView v_derivatives, ResultView dtau_dq,
                                  ResultView dtau_dv_derivatives, std::ptrdiff_t states = 1,
                                  const X& x = {}) noexcept {
        return run({q, v_derivatives, x.f_ext_derivatives}, {dtau_dq, dtau_dv_derivatives}, states);
    }
};

// First derivatives of the joint acceleration and of its time derivatives, orders 0 to r.
//     q (nq), v (nv), tau_derivatives (order + 1, nv) -> da_dq (order + 1, nv, nv),
//     da_dv (order + 1, nv, nv), da_dtau_derivatives (order + 1, r + 1, nv, nv)
//     optional: f_ext_derivatives (order + 1, nbodies, 6)
//     arguments: f_ext_axes, order, coordinates
struct ForwardDynamicsTimeDerivativesDerivatives
    : CallOf<"forward_dynamics_time_derivatives_derivatives"> {
    using CallOf::CallOf;
    struct Optional { InputView f_ext_derivatives = {}; };
    template <class X = Optional>
    [[nodiscard]] bool operator()(InputView q, InputView v, InputView tau_derivatives,
                                  ResultView da_dq, ResultView da_dv,
                                  ResultView da_dtau_derivatives, std::ptrdiff_t states = 1,
                                  const X& x = {}) noexcept {
        return run({q, v, tau_derivatives, x.f_ext_derivatives},
                   {da_dq, da_dv, da_dtau_derivatives}, states);
    }
};

// Linearization of the equations of motion along a motion, and its time derivatives.
//     q (nq), v (nv), tau_derivatives (order + 1, nv) -> A (order + 1, 2 nv, 2 nv),
//     B (order + 1, 2 nv, ninputs), a (order + 1, nv)
//     optional: f_ext_derivatives (order + 1, nbodies, 6), inputs (nv, ninputs)
//     arguments: f_ext_axes, order
struct LinearizeTimeDerivatives : CallOf<"linearize_time_derivatives"> {
    using CallOf::CallOf;
    struct Optional { InputView f_ext_derivatives = {}, inputs = {}; };
    template <class X = Optional>
    [[nodiscard]] bool operator()(InputView q, InputView v, InputView tau_derivatives, ResultView A,
                                  ResultView B, ResultView a, std::ptrdiff_t states = 1,
                                  const X& x = {}) noexcept {
        return run({q, v, tau_derivatives, x.f_ext_derivatives, x.inputs}, {A, B, a}, states);
    }
};

}  // namespace dtau
