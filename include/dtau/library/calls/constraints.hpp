// Typed calls of dtau.functions.constraints. src/python/renew.py writes this file.
#pragma once

#include "dtau/library/call.hpp"

// clang-format off
namespace dtau {

// Constrained forward dynamics: the acceleration under tau, and the constraint forces.
//     q (nq), v (nv), tau (nv) -> a (nv), forces (nrows), residual (nrows)
//     optional: f_ext (nbodies, 6), active (ncontacts), positions (ncontacts, 3),
//     parameters (10 nbodies)
//     arguments: contacts (required), f_ext_axes, regularization, joint_parameters
struct ConstrainedDynamics : CallOf<"constrained_dynamics"> {
    using CallOf::CallOf;
    struct Optional { InputView f_ext = {}, active = {}, positions = {}, parameters = {}; };
    template <class X = Optional>
    [[nodiscard]] bool operator()(InputView q, InputView v, InputView tau, ResultView a,
                                  ResultView forces, ResultView residual, std::ptrdiff_t states = 1,
                                  const X& x = {}) noexcept {
        return run({q, v, tau, x.f_ext, x.active, x.positions, x.parameters},
                   {a, forces, residual}, states);
    }
};

// Derivatives of constrained accelerations and forces by configuration, velocity and torque.
//     q (nq), v (nv), tau (nv) -> da_dq (nv, nv), da_dv (nv, nv), da_dtau (nv, nv),
//     dforces_dq (nrows, nv), dforces_dv (nrows, nv), dforces_dtau (nrows, nv), residual (nrows)
//     optional: f_ext (nbodies, 6), active (ncontacts), positions (ncontacts, 3),
//     parameters (10 nbodies), -> a (nv), -> forces (nrows)
//     arguments: contacts (required), f_ext_axes, regularization, forces, layout, coordinates,
//     joint_parameters
struct ConstrainedDynamicsDerivatives : CallOf<"constrained_dynamics_derivatives"> {
    using CallOf::CallOf;
    struct Optional {
        InputView f_ext = {}, active = {}, positions = {}, parameters = {};
        ResultView a = {}, forces = {};
    };
    template <class X = Optional>
    [[nodiscard]] bool operator()(InputView q, InputView v, InputView tau, ResultView da_dq,
                                  ResultView da_dv, ResultView da_dtau, ResultView dforces_dq,
                                  ResultView dforces_dv, ResultView dforces_dtau,
                                  ResultView residual, std::ptrdiff_t states = 1,
                                  const X& x = {}) noexcept {
        return run({q, v, tau, x.f_ext, x.active, x.positions, x.parameters},
                   {da_dq, da_dv, da_dtau, dforces_dq, dforces_dv, dforces_dtau, residual, x.a,
                    x.forces}, states);
    }
};

// Constrained inverse dynamics: joint torques and least-norm contact forces that give a.
//     q (nq), v (nv), a (nv) -> tau (nv), forces (nrows)
//     optional: f_ext (nbodies, 6), active (ncontacts), parameters (10 nbodies)
//     arguments: contacts (required), f_ext_axes, inputs, regularization, joint_parameters
struct ConstrainedInverseDynamics : CallOf<"constrained_inverse_dynamics"> {
    using CallOf::CallOf;
    struct Optional { InputView f_ext = {}, active = {}, parameters = {}; };
    template <class X = Optional>
    [[nodiscard]] bool operator()(InputView q, InputView v, InputView a, ResultView tau,
                                  ResultView forces, std::ptrdiff_t states = 1,
                                  const X& x = {}) noexcept {
        return run({q, v, a, x.f_ext, x.active, x.parameters}, {tau, forces}, states);
    }
};

}  // namespace dtau
