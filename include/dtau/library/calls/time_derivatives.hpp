// Typed calls of dtau.functions.time_derivatives. src/python/renew.py writes this file.
#pragma once

#include "dtau/library/call.hpp"

// clang-format off
namespace dtau {

// Joint torque along a trajectory and its time derivatives of order 1 to r.
//     q (nq), v_derivatives (order + 2, nv) -> tau (order + 1, nv)
//     optional: f_ext_derivatives (order + 1, nbodies, 6)
//     arguments: f_ext_axes, order
struct InverseDynamicsTimeDerivatives : CallOf<"inverse_dynamics_time_derivatives"> {
    using CallOf::CallOf;
    struct Optional { InputView f_ext_derivatives = {}; };
    template <class X = Optional>
    [[nodiscard]] bool operator()(InputView q, InputView v_derivatives, ResultView tau,
                                  std::ptrdiff_t states = 1, const X& x = {}) noexcept {
        return run({q, v_derivatives, x.f_ext_derivatives}, {tau}, states);
    }
};

// Joint acceleration under given torques and its time derivatives of order 1 to r.
//     q (nq), v (nv), tau_derivatives (order + 1, nv) -> a (order + 1, nv)
//     optional: f_ext_derivatives (order + 1, nbodies, 6)
//     arguments: f_ext_axes, order
struct ForwardDynamicsTimeDerivatives : CallOf<"forward_dynamics_time_derivatives"> {
    using CallOf::CallOf;
    struct Optional { InputView f_ext_derivatives = {}; };
    template <class X = Optional>
    [[nodiscard]] bool operator()(InputView q, InputView v, InputView tau_derivatives, ResultView a,
                                  std::ptrdiff_t states = 1, const X& x = {}) noexcept {
        return run({q, v, tau_derivatives, x.f_ext_derivatives}, {a}, states);
    }
};

// Hybrid dynamics along a trajectory, with time derivatives of order 1 to r.
//     q (nq), v (nv), a_derivatives (order + 1, nv), tau_derivatives (order + 1, nv) ->
//     a (order + 1, nv), tau (order + 1, nv)
//     optional: f_ext_derivatives (order + 1, nbodies, 6)
//     arguments: prescribed (required), f_ext_axes, order
struct HybridDynamicsTimeDerivatives : CallOf<"hybrid_dynamics_time_derivatives"> {
    using CallOf::CallOf;
    struct Optional { InputView f_ext_derivatives = {}; };
    template <class X = Optional>
    [[nodiscard]] bool operator()(InputView q, InputView v, InputView a_derivatives,
                                  InputView tau_derivatives, ResultView a, ResultView tau,
                                  std::ptrdiff_t states = 1, const X& x = {}) noexcept {
        return run({q, v, a_derivatives, tau_derivatives, x.f_ext_derivatives}, {a, tau}, states);
    }
};

// Mass matrix along a trajectory and its time derivatives of order 1 to r.
//     q (nq), v_derivatives (order, nv) -> M (order + 1, nv, nv)
//     arguments: order
struct MassMatrixTimeDerivatives : CallOf<"mass_matrix_time_derivatives"> {
    using CallOf::CallOf;
    [[nodiscard]] bool operator()(InputView q, InputView v_derivatives, ResultView M,
                                  std::ptrdiff_t states = 1) noexcept {
        return run({q, v_derivatives}, {M}, states);
    }
};

// Admissible Coriolis matrix along a trajectory and its time derivatives of order 1 to r.
//     q (nq), v_derivatives (order + 1, nv) -> C (order + 1, nv, nv)
//     arguments: order
struct CoriolisMatrixTimeDerivatives : CallOf<"coriolis_matrix_time_derivatives"> {
    using CallOf::CallOf;
    [[nodiscard]] bool operator()(InputView q, InputView v_derivatives, ResultView C,
                                  std::ptrdiff_t states = 1) noexcept {
        return run({q, v_derivatives}, {C}, states);
    }
};

// Gravity torque along a trajectory and its time derivatives of order 1 to r.
//     q (nq), v_derivatives (order, nv) -> tau (order + 1, nv)
//     arguments: order
struct GravityTorqueTimeDerivatives : CallOf<"gravity_torque_time_derivatives"> {
    using CallOf::CallOf;
    [[nodiscard]] bool operator()(InputView q, InputView v_derivatives, ResultView tau,
                                  std::ptrdiff_t states = 1) noexcept {
        return run({q, v_derivatives}, {tau}, states);
    }
};

// Bias torque along a trajectory and its time derivatives of order 1 to r.
//     q (nq), v_derivatives (order + 1, nv) -> tau (order + 1, nv)
//     optional: f_ext_derivatives (order + 1, nbodies, 6)
//     arguments: f_ext_axes, order
struct BiasTorqueTimeDerivatives : CallOf<"bias_torque_time_derivatives"> {
    using CallOf::CallOf;
    struct Optional { InputView f_ext_derivatives = {}; };
    template <class X = Optional>
    [[nodiscard]] bool operator()(InputView q, InputView v_derivatives, ResultView tau,
                                  std::ptrdiff_t states = 1, const X& x = {}) noexcept {
        return run({q, v_derivatives, x.f_ext_derivatives}, {tau}, states);
    }
};

}  // namespace dtau
