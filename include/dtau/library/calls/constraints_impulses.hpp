// Typed calls of dtau.functions.constraints_impulses. src/python/renew.py writes this file.
#pragma once

#include "dtau/library/call.hpp"

// clang-format off
namespace dtau {

// Impact dynamics: the velocity after an impact, and the impulses of contacts and loops.
//     q (nq), v (nv), restitution -> v (nv), impulses (nrows)
//     optional: active (ncontacts), parameters (10 nbodies)
//     arguments: contacts (required), regularization, joint_parameters
struct ImpulseDynamics : CallOf<"impulse_dynamics"> {
    using CallOf::CallOf;
    struct Optional { InputView active = {}, parameters = {}; };
    template <class X = Optional>
    [[nodiscard]] bool operator()(InputView q, InputView v, InputView restitution, ResultView v_out,
                                  ResultView impulses, std::ptrdiff_t states = 1,
                                  const X& x = {}) noexcept {
        return run({q, v, restitution, x.active, x.parameters}, {v_out, impulses}, states);
    }
};

// Derivatives of impact dynamics: velocity and impulses by configuration and velocity.
//     q (nq), v (nv), restitution -> dv_dq (nv, nv), dv_dv (nv, nv), dimpulses_dq (nrows, nv),
//     dimpulses_dv (nrows, nv)
//     optional: active (ncontacts), parameters (10 nbodies)
//     arguments: contacts (required), regularization, layout, coordinates, joint_parameters
struct ImpulseDynamicsDerivatives : CallOf<"impulse_dynamics_derivatives"> {
    using CallOf::CallOf;
    struct Optional { InputView active = {}, parameters = {}; };
    template <class X = Optional>
    [[nodiscard]] bool operator()(InputView q, InputView v, InputView restitution, ResultView dv_dq,
                                  ResultView dv_dv, ResultView dimpulses_dq,
                                  ResultView dimpulses_dv, std::ptrdiff_t states = 1,
                                  const X& x = {}) noexcept {
        return run({q, v, restitution, x.active, x.parameters},
                   {dv_dq, dv_dv, dimpulses_dq, dimpulses_dv}, states);
    }
};

// Variation of velocities after an impact and of impulses along variations of the arguments.
//     q (nq), v (nv), dq (nv), dv (nv), restitution -> dv (nv), dimpulses (nrows)
//     optional: drestitution, active (ncontacts), dparameters (nparameters),
//     parameters (10 nbodies)
//     arguments: contacts (required), regularization, coordinates, joint_parameters
struct ImpulseDynamicsJvp : CallOf<"impulse_dynamics_jvp"> {
    using CallOf::CallOf;
    struct Optional {
        InputView drestitution = {}, active = {}, dparameters = {}, parameters = {};
    };
    template <class X = Optional>
    [[nodiscard]] bool operator()(InputView q, InputView v, InputView dq, InputView dv,
                                  InputView restitution, ResultView dv_out, ResultView dimpulses,
                                  std::ptrdiff_t states = 1, const X& x = {}) noexcept {
        return run({q, v, dq, dv, restitution, x.drestitution, x.active, x.dparameters,
                    x.parameters},
                   {dv_out, dimpulses}, states);
    }
};

// Gradient of lam . v_after + lam_impulses . impulses by the arguments of an impact.
//     q (nq), v (nv), lam (nv), lam_impulses (nrows), restitution -> by_q (nv), by_v (nv),
//     by_restitution
//     optional: active (ncontacts), parameters (10 nbodies)
//     arguments: contacts (required), regularization, coordinates, joint_parameters
struct ImpulseDynamicsVjp : CallOf<"impulse_dynamics_vjp"> {
    using CallOf::CallOf;
    struct Optional { InputView active = {}, parameters = {}; };
    template <class X = Optional>
    [[nodiscard]] bool operator()(InputView q, InputView v, InputView lam, InputView lam_impulses,
                                  InputView restitution, ResultView by_q, ResultView by_v,
                                  ResultView by_restitution, std::ptrdiff_t states = 1,
                                  const X& x = {}) noexcept {
        return run({q, v, lam, lam_impulses, restitution, x.active, x.parameters},
                   {by_q, by_v, by_restitution}, states);
    }
};

}  // namespace dtau
