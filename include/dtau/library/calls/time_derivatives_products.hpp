// Typed calls of dtau.functions.time_derivatives_products. src/python/renew.py writes this file.
#pragma once

#include "dtau/library/call.hpp"

// clang-format off
namespace dtau {

// Jacobian-vector product of the joint torque's time derivatives (forward mode).
//     q (nq), v_derivatives (order + 2, nv), dq (nv), dv_derivatives (order + 2, nv) ->
//     dtau (order + 1, nv)
//     optional: f_ext_derivatives (order + 1, nbodies, 6),
//     df_ext_derivatives (order + 1, nbodies, 6)
//     arguments: f_ext_axes, order, coordinates
struct InverseDynamicsTimeDerivativesJvp : CallOf<"inverse_dynamics_time_derivatives_jvp"> {
    using CallOf::CallOf;
    struct Optional { InputView f_ext_derivatives = {}, df_ext_derivatives = {}; };
    template <class X = Optional>
    [[nodiscard]] bool operator()(InputView q, InputView v_derivatives, InputView dq,
                                  InputView dv_derivatives, ResultView dtau,
                                  std::ptrdiff_t states = 1, const X& x = {}) noexcept {
        return run({q, v_derivatives, dq, dv_derivatives, x.f_ext_derivatives,
                    x.df_ext_derivatives},
                   {dtau}, states);
    }
};

// Vector-Jacobian product of the joint torque's time derivatives (reverse mode).
//     q (nq), v_derivatives (order + 2, nv), lam_derivatives (order + 1, nv) -> by_q (nv),
//     by_v_derivatives (order + 2, nv)
//     optional: f_ext_derivatives (order + 1, nbodies, 6),
//     -> by_f_ext_derivatives (order + 1, nbodies, 6)
//     arguments: f_ext_axes, order, coordinates
struct InverseDynamicsTimeDerivativesVjp : CallOf<"inverse_dynamics_time_derivatives_vjp"> {
    using CallOf::CallOf;
    struct Optional {
        InputView f_ext_derivatives = {};
        ResultView by_f_ext_derivatives = {};
    };
    template <class X = Optional>
    [[nodiscard]] bool operator()(InputView q, InputView v_derivatives, InputView lam_derivatives,
                                  ResultView by_q, ResultView by_v_derivatives,
                                  std::ptrdiff_t states = 1, const X& x = {}) noexcept {
        return run({q, v_derivatives, lam_derivatives, x.f_ext_derivatives},
                   {by_q, by_v_derivatives, x.by_f_ext_derivatives}, states);
    }
};

// Jacobian-vector product of the joint acceleration's time derivatives (forward mode).
//     q (nq), v (nv), tau_derivatives (order + 1, nv), dq (nv), dv (nv),
//     dtau_derivatives (order + 1, nv) -> da (order + 1, nv)
//     optional: f_ext_derivatives (order + 1, nbodies, 6),
//     df_ext_derivatives (order + 1, nbodies, 6)
//     arguments: f_ext_axes, order, coordinates
struct ForwardDynamicsTimeDerivativesJvp : CallOf<"forward_dynamics_time_derivatives_jvp"> {
    using CallOf::CallOf;
    struct Optional { InputView f_ext_derivatives = {}, df_ext_derivatives = {}; };
    template <class X = Optional>
    [[nodiscard]] bool operator()(InputView q, InputView v, InputView tau_derivatives, InputView dq,
                                  InputView dv, InputView dtau_derivatives, ResultView da,
                                  std::ptrdiff_t states = 1, const X& x = {}) noexcept {
        return run({q, v, tau_derivatives, dq, dv, dtau_derivatives, x.f_ext_derivatives,
                    x.df_ext_derivatives},
                   {da}, states);
    }
};

// Vector-Jacobian product of the joint acceleration's time derivatives (reverse mode).
//     q (nq), v (nv), tau_derivatives (order + 1, nv), lam_derivatives (order + 1, nv) ->
//     by_q (nv), by_v (nv), by_tau_derivatives (order + 1, nv)
//     optional: f_ext_derivatives (order + 1, nbodies, 6),
//     -> by_f_ext_derivatives (order + 1, nbodies, 6)
//     arguments: f_ext_axes, order, coordinates
struct ForwardDynamicsTimeDerivativesVjp : CallOf<"forward_dynamics_time_derivatives_vjp"> {
    using CallOf::CallOf;
    struct Optional {
        InputView f_ext_derivatives = {};
        ResultView by_f_ext_derivatives = {};
    };
    template <class X = Optional>
    [[nodiscard]] bool operator()(InputView q, InputView v, InputView tau_derivatives,
                                  InputView lam_derivatives, ResultView by_q, ResultView by_v,
                                  ResultView by_tau_derivatives, std::ptrdiff_t states = 1,
                                  const X& x = {}) noexcept {
        return run({q, v, tau_derivatives, lam_derivatives, x.f_ext_derivatives},
                   {by_q, by_v, by_tau_derivatives, x.by_f_ext_derivatives}, states);
    }
};

}  // namespace dtau
