// Typed calls of dtau.functions.constraints_hessians. src/python/renew.py writes this file.
#pragma once

#include "dtau/library/call.hpp"

// clang-format off
namespace dtau {

// Hessian of constrained dynamics, contracted with weights of accelerations and forces.
//     q (nq), v (nv), tau (nv), lam (nv), lam_forces (nrows) -> dqdq (nv, nv), dqdv (nv, nv),
//     dvdv (nv, nv), dtaudq (nv, nv)
//     optional: f_ext (nbodies, 6), active (ncontacts), positions (ncontacts, 3),
//     parameters (10 nbodies)
//     arguments: contacts (required), f_ext_axes, regularization, symmetric, coordinates,
//     joint_parameters
struct ConstrainedDynamicsHessian : CallOf<"constrained_dynamics_hessian"> {
    using CallOf::CallOf;
    struct Optional { InputView f_ext = {}, active = {}, positions = {}, parameters = {}; };
    template <class X = Optional>
    [[nodiscard]] bool operator()(InputView q, InputView v, InputView tau, InputView lam,
                                  InputView lam_forces, ResultView dqdq, ResultView dqdv,
                                  ResultView dvdv, ResultView dtaudq, std::ptrdiff_t states = 1,
                                  const X& x = {}) noexcept {
        return run({q, v, tau, lam, lam_forces, x.f_ext, x.active, x.positions, x.parameters},
                   {dqdq, dqdv, dvdv, dtaudq}, states);
    }
};

// Hessian of an impact, contracted with weights of the velocity after it and of the impulses.
//     q (nq), v (nv), lam (nv), lam_impulses (nrows), restitution -> dqdq (nv, nv), dqdv (nv, nv)
//     optional: active (ncontacts), parameters (10 nbodies)
//     arguments: contacts (required), regularization, symmetric, coordinates, joint_parameters
struct ImpulseDynamicsHessian : CallOf<"impulse_dynamics_hessian"> {
    using CallOf::CallOf;
    struct Optional { InputView active = {}, parameters = {}; };
    template <class X = Optional>
    [[nodiscard]] bool operator()(InputView q, InputView v, InputView lam, InputView lam_impulses,
                                  InputView restitution, ResultView dqdq, ResultView dqdv,
                                  std::ptrdiff_t states = 1, const X& x = {}) noexcept {
        return run({q, v, lam, lam_impulses, restitution, x.active, x.parameters},
                   {dqdq, dqdv}, states);
    }
};

}  // namespace dtau
