// Typed calls of dtau.functions.products. src/python/renew.py writes this file.
#pragma once

#include "dtau/library/call.hpp"

// clang-format off
namespace dtau {

// Variation of the joint torque along variations of its arguments.
//     q (nq), v (nv), a (nv), dq (nv), dv (nv), da (nv) -> dtau (nv)
//     optional: f_ext (nbodies, 6), df_ext (nbodies, 6), parameters (10 nbodies)
//     arguments: f_ext_axes, coordinates, joint_parameters
struct InverseDynamicsJvp : CallOf<"inverse_dynamics_jvp"> {
    using CallOf::CallOf;
    struct Optional { InputView f_ext = {}, df_ext = {}, parameters = {}; };
    template <class X = Optional>
    [[nodiscard]] bool operator()(InputView q, InputView v, InputView a, InputView dq, InputView dv,
                                  InputView da, ResultView dtau, std::ptrdiff_t states = 1,
                                  const X& x = {}) noexcept {
        return run({q, v, a, dq, dv, da, x.f_ext, x.df_ext, x.parameters}, {dtau}, states);
    }
};

// Gradient of lam . tau by the arguments of inverse dynamics.
//     q (nq), v (nv), a (nv), lam (nv) -> by_q (nv), by_v (nv), by_a (nv)
//     optional: f_ext (nbodies, 6), parameters (10 nbodies), -> by_f_ext (nbodies, 6)
//     arguments: f_ext_axes, coordinates, joint_parameters
struct InverseDynamicsVjp : CallOf<"inverse_dynamics_vjp"> {
    using CallOf::CallOf;
    struct Optional {
        InputView f_ext = {}, parameters = {};
        ResultView by_f_ext = {};
    };
    template <class X = Optional>
    [[nodiscard]] bool operator()(InputView q, InputView v, InputView a, InputView lam,
                                  ResultView by_q, ResultView by_v, ResultView by_a,
                                  std::ptrdiff_t states = 1, const X& x = {}) noexcept {
        return run({q, v, a, lam, x.f_ext, x.parameters}, {by_q, by_v, by_a, x.by_f_ext}, states);
    }
};

// Variation of the joint acceleration along variations of its arguments.
//     q (nq), v (nv), tau (nv), dq (nv), dv (nv), dtau (nv) -> da (nv)
//     optional: f_ext (nbodies, 6), df_ext (nbodies, 6), parameters (10 nbodies)
//     arguments: f_ext_axes, coordinates, joint_parameters
struct ForwardDynamicsJvp : CallOf<"forward_dynamics_jvp"> {
    using CallOf::CallOf;
    struct Optional { InputView f_ext = {}, df_ext = {}, parameters = {}; };
    template <class X = Optional>
    [[nodiscard]] bool operator()(InputView q, InputView v, InputView tau, InputView dq,
                                  InputView dv, InputView dtau, ResultView da,
                                  std::ptrdiff_t states = 1, const X& x = {}) noexcept {
        return run({q, v, tau, dq, dv, dtau, x.f_ext, x.df_ext, x.parameters}, {da}, states);
    }
};

// Gradient of lam . a by the arguments of forward dynamics.
//     q (nq), v (nv), tau (nv), lam (nv) -> by_q (nv), by_v (nv), by_tau (nv)
//     optional: f_ext (nbodies, 6), parameters (10 nbodies), -> by_f_ext (nbodies, 6)
//     arguments: f_ext_axes, coordinates, joint_parameters
struct ForwardDynamicsVjp : CallOf<"forward_dynamics_vjp"> {
    using CallOf::CallOf;
    struct Optional {
        InputView f_ext = {}, parameters = {};
        ResultView by_f_ext = {};
    };
    template <class X = Optional>
    [[nodiscard]] bool operator()(InputView q, InputView v, InputView tau, InputView lam,
                                  ResultView by_q, ResultView by_v, ResultView by_tau,
                                  std::ptrdiff_t states = 1, const X& x = {}) noexcept {
        return run({q, v, tau, lam, x.f_ext, x.parameters},
                   {by_q, by_v, by_tau, x.by_f_ext}, states);
    }
};

}  // namespace dtau
