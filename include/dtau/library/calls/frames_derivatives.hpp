// Typed calls of dtau.functions.frames_derivatives. src/python/renew.py writes this file.
#pragma once

#include "dtau/library/call.hpp"

// clang-format off
namespace dtau {

// Derivatives of the Jacobians of frames by configuration: their kinematic Hessians.
//     q (nq) -> dJ_dq (nframes, 6, nv, nv)
//     arguments: frames (required), axes, symmetric, coordinates
struct FrameJacobiansDerivatives : CallOf<"frame_jacobians_derivatives"> {
    using CallOf::CallOf;
    [[nodiscard]] bool operator()(InputView q, ResultView dJ_dq,
                                  std::ptrdiff_t states = 1) noexcept {
        return run({q}, {dJ_dq}, states);
    }
};

// Derivatives of the twists of frames by configuration and velocity.
//     q (nq), v (nv) -> dtwist_dq (nframes, 6, nv), dtwist_dv (nframes, 6, nv)
//     arguments: frames (required), axes, layout, coordinates
struct FrameVelocitiesDerivatives : CallOf<"frame_velocities_derivatives"> {
    using CallOf::CallOf;
    [[nodiscard]] bool operator()(InputView q, InputView v, ResultView dtwist_dq,
                                  ResultView dtwist_dv, std::ptrdiff_t states = 1) noexcept {
        return run({q, v}, {dtwist_dq, dtwist_dv}, states);
    }
};

// Derivatives of the accelerations of frames by configuration, velocity and acceleration.
//     q (nq), v (nv), a (nv) -> dacceleration_dq (nframes, 6, nv),
//     dacceleration_dv (nframes, 6, nv), dacceleration_da (nframes, 6, nv)
//     arguments: frames (required), axes, kind, layout, coordinates
struct FrameAccelerationsDerivatives : CallOf<"frame_accelerations_derivatives"> {
    using CallOf::CallOf;
    [[nodiscard]] bool operator()(InputView q, InputView v, InputView a,
                                  ResultView dacceleration_dq, ResultView dacceleration_dv,
                                  ResultView dacceleration_da, std::ptrdiff_t states = 1) noexcept {
        return run({q, v, a}, {dacceleration_dq, dacceleration_dv, dacceleration_da}, states);
    }
};

}  // namespace dtau
