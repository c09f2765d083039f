// Typed calls of dtau.functions.parameters. src/python/renew.py writes this file.
#pragma once

#include "dtau/library/call.hpp"

// clang-format off
namespace dtau {

// Regressor of inverse dynamics: the derivative of the joint torque by inertial parameters.
//     q (nq), v (nv), a (nv) -> Y (nv, nparameters)
//     arguments: joint_parameters
struct InverseDynamicsRegressor : CallOf<"inverse_dynamics_regressor"> {
    using CallOf::CallOf;
    [[nodiscard]] bool operator()(InputView q, InputView v, InputView a, ResultView Y,
                                  std::ptrdiff_t states = 1) noexcept {
        return run({q, v, a}, {Y}, states);
    }
};

// Variation of the joint torque along a variation of inertial parameters: Y dpi, without Y.
//     q (nq), v (nv), a (nv), dparameters (nparameters) -> dtau (nv)
//     arguments: joint_parameters
struct InverseDynamicsParameterJvp : CallOf<"inverse_dynamics_parameter_jvp"> {
    using CallOf::CallOf;
    [[nodiscard]] bool operator()(InputView q, InputView v, InputView a, InputView dparameters,
                                  ResultView dtau, std::ptrdiff_t states = 1) noexcept {
        return run({q, v, a, dparameters}, {dtau}, states);
    }
};

// Gradient of lam . tau by inertial parameters: Y^T lam, without Y.
//     q (nq), v (nv), a (nv), lam (nv) -> by_parameters (nparameters)
//     arguments: joint_parameters
struct InverseDynamicsParameterVjp : CallOf<"inverse_dynamics_parameter_vjp"> {
    using CallOf::CallOf;
    [[nodiscard]] bool operator()(InputView q, InputView v, InputView a, InputView lam,
                                  ResultView by_parameters, std::ptrdiff_t states = 1) noexcept {
        return run({q, v, a, lam}, {by_parameters}, states);
    }
};

// Derivatives of the joint acceleration by inertial parameters, at the model's own values.
//     q (nq), v (nv), tau (nv) -> da_dparameters (nv, nparameters)
//     optional: f_ext (nbodies, 6), parameters (10 nbodies)
//     arguments: f_ext_axes, joint_parameters
struct ForwardDynamicsParameterDerivatives : CallOf<"forward_dynamics_parameter_derivatives"> {
    using CallOf::CallOf;
    struct Optional { InputView f_ext = {}, parameters = {}; };
    template <class X = Optional>
    [[nodiscard]] bool operator()(InputView q, InputView v, InputView tau,
                                  ResultView da_dparameters, std::ptrdiff_t states = 1,
                                  const X& x = {}) noexcept {
        return run({q, v, tau, x.f_ext, x.parameters}, {da_dparameters}, states);
    }
};

// Variation of the joint acceleration along a variation of inertial parameters.
//     q (nq), v (nv), tau (nv), dparameters (nparameters) -> da (nv)
//     optional: f_ext (nbodies, 6), parameters (10 nbodies)
//     arguments: f_ext_axes, joint_parameters
struct ForwardDynamicsParameterJvp : CallOf<"forward_dynamics_parameter_jvp"> {
    using CallOf::CallOf;
    struct Optional { InputView f_ext = {}, parameters = {}; };
    template <class X = Optional>
    [[nodiscard]] bool operator()(InputView q, InputView v, InputView tau, InputView dparameters,
                                  ResultView da, std::ptrdiff_t states = 1,
                                  const X& x = {}) noexcept {
        return run({q, v, tau, dparameters, x.f_ext, x.parameters}, {da}, states);
    }
};

// Gradient of lam . a by inertial parameters.
//     q (nq), v (nv), tau (nv), lam (nv) -> by_parameters (nparameters)
//     optional: f_ext (nbodies, 6), parameters (10 nbodies)
//     arguments: f_ext_axes, joint_parameters
struct ForwardDynamicsParameterVjp : CallOf<"forward_dynamics_parameter_vjp"> {
    using CallOf::CallOf;
    struct Optional { InputView f_ext = {}, parameters = {}; };
    template <class X = Optional>
    [[nodiscard]] bool operator()(InputView q, InputView v, InputView tau, InputView lam,
                                  ResultView by_parameters, std::ptrdiff_t states = 1,
                                  const X& x = {}) noexcept {
        return run({q, v, tau, lam, x.f_ext, x.parameters}, {by_parameters}, states);
    }
};

}  // namespace dtau
