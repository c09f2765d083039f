// Typed calls of dtau.functions.derivatives. src/python/renew.py writes this file.
#pragma once

#include "dtau/library/call.hpp"

// clang-format off
namespace dtau {

// Derivatives of the joint torque by configuration, velocity and acceleration.
//     q (nq), v (nv), a (nv) -> dtau_dq (nv, nv), dtau_dv (nv, nv), dtau_da (nv, nv)
//     optional: f_ext (nbodies, 6), parameters (10 nbodies)
//     arguments: f_ext_axes, layout, coordinates, joint_parameters
struct InverseDynamicsDerivatives : CallOf<"inverse_dynamics_derivatives"> {
    using CallOf::CallOf;
    struct Optional { InputView f_ext = {}, parameters = {}; };
    template <class X = Optional>
    [[nodiscard]] bool operator()(InputView q, InputView v, InputView a, ResultView dtau_dq,
                                  ResultView dtau_dv, ResultView dtau_da, std::ptrdiff_t states = 1,
                                  const X& x = {}) noexcept {
        return run({q, v, a, x.f_ext, x.parameters}, {dtau_dq, dtau_dv, dtau_da}, states);
    }
};

// Derivatives of the joint acceleration by configuration, velocity and torque.
//     q (nq), v (nv), tau (nv) -> da_dq (nv, nv), da_dv (nv, nv), da_dtau (nv, nv)
//     optional: f_ext (nbodies, 6), parameters (10 nbodies)
//     arguments: f_ext_axes, layout, coordinates, joint_parameters
struct ForwardDynamicsDerivatives : CallOf<"forward_dynamics_derivatives"> {
    using CallOf::CallOf;
    struct Optional { InputView f_ext = {}, parameters = {}; };
    template <class X = Optional>
    [[nodiscard]] bool operator()(InputView q, InputView v, InputView tau, ResultView da_dq,
                                  ResultView da_dv, ResultView da_dtau, std::ptrdiff_t states = 1,
                                  const X& x = {}) noexcept {
        return run({q, v, tau, x.f_ext, x.parameters}, {da_dq, da_dv, da_dtau}, states);
    }
};

// Derivatives of the joint torque by the external wrenches.
//     q (nq) -> dtau_df_ext (nv, nbodies, 6)
//     arguments: f_ext_axes
struct InverseDynamicsWrenchDerivatives : CallOf<"inverse_dynamics_wrench_derivatives"> {
    using CallOf::CallOf;
    [[nodiscard]] bool operator()(InputView q, ResultView dtau_df_ext,
                                  std::ptrdiff_t states = 1) noexcept {
        return run({q}, {dtau_df_ext}, states);
    }
};

// Derivatives of the joint acceleration by the external wrenches.
//     q (nq) -> da_df_ext (nv, nbodies, 6)
//     optional: parameters (10 nbodies)
//     arguments: f_ext_axes, joint_parameters
struct ForwardDynamicsWrenchDerivatives : CallOf<"forward_dynamics_wrench_derivatives"> {
    using CallOf::CallOf;
    struct Optional { InputView parameters = {}; };
    template <class X = Optional>
    [[nodiscard]] bool operator()(InputView q, ResultView da_df_ext, std::ptrdiff_t states = 1,
                                  const X& x = {}) noexcept {
        return run({q, x.parameters}, {da_df_ext}, states);
    }
};

}  // namespace dtau
