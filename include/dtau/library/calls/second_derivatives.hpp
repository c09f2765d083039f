// Typed calls of dtau.functions.second_derivatives. src/python/renew.py writes this file.
#pragma once

#include "dtau/library/call.hpp"

// clang-format off
namespace dtau {

// Second derivatives of the joint torque by configuration, velocity and acceleration.
//     q (nq), v (nv), a (nv) -> d2tau_dqdq (nv, nv, nv), d2tau_dqdv (nv, nv, nv),
//     d2tau_dvdv (nv, nv, nv), d2tau_dadq (nv, nv, nv)
//     optional: f_ext (nbodies, 6), parameters (10 nbodies)
//     arguments: f_ext_axes, symmetric, layout, coordinates, joint_parameters
struct InverseDynamicsSecondDerivatives : CallOf<"inverse_dynamics_second_derivatives"> {
    using CallOf::CallOf;
    struct Optional { InputView f_ext = {}, parameters = {}; };
    template <class X = Optional>
    [[nodiscard]] bool operator()(InputView q, InputView v, InputView a, ResultView d2tau_dqdq,
                                  ResultView d2tau_dqdv, ResultView d2tau_dvdv,
                                  ResultView d2tau_dadq, std::ptrdiff_t states = 1,
                                  const X& x = {}) noexcept {
        return run({q, v, a, x.f_ext, x.parameters},
                   {d2tau_dqdq, d2tau_dqdv, d2tau_dvdv, d2tau_dadq}, states);
    }
};

// Second derivatives of the joint acceleration by configuration, velocity and torque.
//     q (nq), v (nv), tau (nv) -> d2a_dqdq (nv, nv, nv), d2a_dqdv (nv, nv, nv),
//     d2a_dvdv (nv, nv, nv), d2a_dtaudq (nv, nv, nv)
//     optional: f_ext (nbodies, 6), parameters (10 nbodies)
//     arguments: f_ext_axes, symmetric, coordinates, joint_parameters
struct ForwardDynamicsSecondDerivatives : CallOf<"forward_dynamics_second_derivatives"> {
    using CallOf::CallOf;
    struct Optional { InputView f_ext = {}, parameters = {}; };
    template <class X = Optional>
    [[nodiscard]] bool operator()(InputView q, InputView v, InputView tau, ResultView d2a_dqdq,
                                  ResultView d2a_dqdv, ResultView d2a_dvdv, ResultView d2a_dtaudq,
                                  std::ptrdiff_t states = 1, const X& x = {}) noexcept {
        return run({q, v, tau, x.f_ext, x.parameters},
                   {d2a_dqdq, d2a_dqdv, d2a_dvdv, d2a_dtaudq}, states);
    }
};

// Hessian of lam . tau, the weighted sum of joint torques, without a tensor.
//     q (nq), v (nv), a (nv), lam (nv) -> dqdq (nv, nv), dqdv (nv, nv), dvdv (nv, nv),
//     dadq (nv, nv)
//     optional: f_ext (nbodies, 6), parameters (10 nbodies)
//     arguments: f_ext_axes, symmetric, coordinates, joint_parameters
struct InverseDynamicsHessian : CallOf<"inverse_dynamics_hessian"> {
    using CallOf::CallOf;
    struct Optional { InputView f_ext = {}, parameters = {}; };
    template <class X = Optional>
    [[nodiscard]] bool operator()(InputView q, InputView v, InputView a, InputView lam,
                                  ResultView dqdq, ResultView dqdv, ResultView dvdv,
                                  ResultView dadq, std::ptrdiff_t states = 1,
                                  const X& x = {}) noexcept {
        return run({q, v, a, lam, x.f_ext, x.parameters}, {dqdq, dqdv, dvdv, dadq}, states);
    }
};

// Hessian of lam . a, the weighted sum of joint accelerations, without a tensor.
//     q (nq), v (nv), tau (nv), lam (nv) -> dqdq (nv, nv), dqdv (nv, nv), dvdv (nv, nv),
//     dtaudq (nv, nv)
//     optional: f_ext (nbodies, 6), parameters (10 nbodies)
//     arguments: f_ext_axes, symmetric, coordinates, joint_parameters
struct ForwardDynamicsHessian : CallOf<"forward_dynamics_hessian"> {
    using CallOf::CallOf;
    struct Optional { InputView f_ext = {}, parameters = {}; };
    template <class X = Optional>
    [[nodiscard]] bool operator()(InputView q, InputView v, InputView tau, InputView lam,
                                  ResultView dqdq, ResultView dqdv, ResultView dvdv,
                                  ResultView dtaudq, std::ptrdiff_t states = 1,
                                  const X& x = {}) noexcept {
        return run({q, v, tau, lam, x.f_ext, x.parameters}, {dqdq, dqdv, dvdv, dtaudq}, states);
    }
};

}  // namespace dtau
