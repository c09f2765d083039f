// Typed calls of dtau.functions.constraints_second_derivatives. src/python/renew.py writes this file.
#pragma once

#include "dtau/library/call.hpp"

// clang-format off
namespace dtau {

// Second derivatives of constrained accelerations and forces, as full tensors.
//     q (nq), v (nv), tau (nv) -> d2a_dqdq (nv, nv, nv), d2a_dqdv (nv, nv, nv),
//     d2a_dvdv (nv, nv, nv), d2a_dtaudq (nv, nv, nv), d2forces_dqdq (nrows, nv, nv),
//     d2forces_dqdv (nrows, nv, nv), d2forces_dvdv (nrows, nv, nv), d2forces_dtaudq (nrows, nv, nv)
//     optional: f_ext (nbodies, 6), active (ncontacts), positions (ncontacts, 3),
//     parameters (10 nbodies)
//     arguments: contacts (required), f_ext_axes, regularization, symmetric, coordinates,
//     joint_parameters
struct ConstrainedDynamicsSecondDerivatives : CallOf<"constrained_dynamics_second_derivatives"> {
    using CallOf::CallOf;
    struct Optional { InputView f_ext = {}, active = {}, positions = {}, parameters = {}; };
    template <class X = Optional>
    [[nodiscard]] bool operator()(InputView q, InputView v, InputView tau, ResultView d2a_dqdq,
                                  ResultView d2a_dqdv, ResultView d2a_dvdv, ResultView d2a_dtaudq,
                                  ResultView d2forces_dqdq, ResultView d2forces_dqdv,
                                  ResultView d2forces_dvdv, ResultView d2forces_dtaudq,
                                  std::ptrdiff_t states = 1, const X& x = {}) noexcept {
        return run({q, v, tau, x.f_ext, x.active, x.positions, x.parameters},
                   {d2a_dqdq, d2a_dqdv, d2a_dvdv, d2a_dtaudq, d2forces_dqdq, d2forces_dqdv,
                    d2forces_dvdv, d2forces_dtaudq}, states);
    }
};

// Second derivatives of the velocity after an impact and of its impulses, as full tensors.
//     q (nq), v (nv), restitution -> d2v_dqdq (nv, nv, nv), d2v_dqdv (nv, nv, nv),
//     d2impulses_dqdq (nrows, nv, nv), d2impulses_dqdv (nrows, nv, nv)
//     optional: active (ncontacts), parameters (10 nbodies)
//     arguments: contacts (required), regularization, symmetric, coordinates, joint_parameters
struct ImpulseDynamicsSecondDerivatives : CallOf<"impulse_dynamics_second_derivatives"> {
    using CallOf::CallOf;
    struct Optional { InputView active = {}, parameters = {}; };
    template <class X = Optional>
    [[nodiscard]] bool operator()(InputView q, InputView v, InputView restitution,
                                  ResultView d2v_dqdq, ResultView d2v_dqdv,
                                  ResultView d2impulses_dqdq, ResultView d2impulses_dqdv,
                                  std::ptrdiff_t states = 1, const X& x = {}) noexcept {
        return run({q, v, restitution, x.active, x.parameters},
                   {d2v_dqdq, d2v_dqdv, d2impulses_dqdq, d2impulses_dqdv}, states);
    }
};

}  // namespace dtau
