// Typed calls of dtau.functions.dynamics. src/python/renew.py writes this file.
#pragma once

#include "dtau/library/call.hpp"

// clang-format off
namespace dtau {

// Inverse dynamics: the joint torque that gives the acceleration a.
//     q (nq), v (nv), a (nv) -> tau (nv)
//     optional: f_ext (nbodies, 6), parameters (10 nbodies)
//     arguments: f_ext_axes, joint_parameters
struct InverseDynamics : CallOf<"inverse_dynamics"> {
    using CallOf::CallOf;
    struct Optional { InputView f_ext = {}, parameters = {}; };
    template <class X = Optional>
    [[nodiscard]] bool operator()(InputView q, InputView v, InputView a, ResultView tau,
                                  std::ptrdiff_t states = 1, const X& x = {}) noexcept {
        return run({q, v, a, x.f_ext, x.parameters}, {tau}, states);
    }
};

// Forward dynamics: the joint acceleration under the torque tau.
//     q (nq), v (nv), tau (nv) -> a (nv)
//     optional: f_ext (nbodies, 6), parameters (10 nbodies)
//     arguments: f_ext_axes, joint_parameters
struct ForwardDynamics : CallOf<"forward_dynamics"> {
    using CallOf::CallOf;
    struct Optional { InputView f_ext = {}, parameters = {}; };
    template <class X = Optional>
    [[nodiscard]] bool operator()(InputView q, InputView v, InputView tau, ResultView a,
                                  std::ptrdiff_t states = 1, const X& x = {}) noexcept {
        return run({q, v, tau, x.f_ext, x.parameters}, {a}, states);
    }
};

// Hybrid dynamics: acceleration and torque of all joints, one of the two given for each joint.
//     q (nq), v (nv), a (nv), tau (nv) -> a (nv), tau (nv)
//     optional: f_ext (nbodies, 6)
//     arguments: prescribed (required), f_ext_axes
struct HybridDynamics : CallOf<"hybrid_dynamics"> {
    using CallOf::CallOf;
    struct Optional { InputView f_ext = {}; };
    template <class X = Optional>
    [[nodiscard]] bool operator()(InputView q, InputView v, InputView a, InputView tau,
                                  ResultView a_out, ResultView tau_out, std::ptrdiff_t states = 1,
                                  const X& x = {}) noexcept {
        return run({q, v, a, tau, x.f_ext}, {a_out, tau_out}, states);
    }
};

}  // namespace dtau
