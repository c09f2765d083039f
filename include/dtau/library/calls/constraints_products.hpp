// Typed calls of dtau.functions.constraints_products. src/python/renew.py writes this file.
#pragma once

#include "dtau/library/call.hpp"

// clang-format off
namespace dtau {

// Variation of constrained accelerations and contact forces along variations of the arguments.
//     q (nq), v (nv), tau (nv), dq (nv), dv (nv), dtau (nv) -> da (nv), dforces (nrows)
//     optional: f_ext (nbodies, 6), df_ext (nbodies, 6), active (ncontacts),
//     positions (ncontacts, 3), dparameters (nparameters), parameters (10 nbodies)
//     arguments: contacts (required), f_ext_axes, regularization, coordinates, joint_parameters
struct ConstrainedDynamicsJvp : CallOf<"constrained_dynamics_jvp"> {
    using CallOf::CallOf;
    struct Optional {
        InputView f_ext = {}, df_ext = {}, active = {}, positions = {}, dparameters = {},
                  parameters = {};
    };
    template <class X = Optional>
    [[nodiscard]] bool operator()(InputView q, InputView v, InputView tau, InputView dq,
                                  InputView dv, InputView dtau, ResultView da, ResultView dforces,
                                  std::ptrdiff_t states = 1, const X& x = {}) noexcept {
        return run({q, v, tau, dq, dv, dtau, x.f_ext, x.df_ext, x.active, x.positions,
                    x.dparameters, x.parameters},
                   {da, dforces}, states);
    }
};

// Gradient of lam . a + lam_forces . forces by the arguments of constrained dynamics.
//     q (nq), v (nv), tau (nv), lam (nv), lam_forces (nrows) -> by_q (nv), by_v (nv), by_tau (nv)
//     optional: f_ext (nbodies, 6), active (ncontacts), positions (ncontacts, 3),
//     parameters (10 nbodies), -> by_f_ext (nbodies, 6)
//     arguments: contacts (required), f_ext_axes, regularization, coordinates, joint_parameters
struct ConstrainedDynamicsVjp : CallOf<"constrained_dynamics_vjp"> {
    using CallOf::CallOf;
    struct Optional {
        InputView f_ext = {}, active = {}, positions = {}, parameters = {};
        ResultView by_f_ext = {};
    };
    template <class X = Optional>
    [[nodiscard]] bool operator()(InputView q, InputView v, InputView tau, InputView lam,
                                  InputView lam_forces, ResultView by_q, ResultView by_v,
                                  ResultView by_tau, std::ptrdiff_t states = 1,
                                  const X& x = {}) noexcept {
        return run({q, v, tau, lam, lam_forces, x.f_ext, x.active, x.positions, x.parameters},
                   {by_q, by_v, by_tau, x.by_f_ext}, states);
    }
};

}  // namespace dtau
