// Typed calls of dtau.functions.time_derivatives_kinematics. src/python/renew.py writes this file.
#pragma once

#include "dtau/library/call.hpp"

// clang-format off
namespace dtau {

// Poses and twists of all bodies along a trajectory, and their time derivatives.
//     q (nq), v_derivatives (order, nv) -> rotation (order + 1, nbodies, 3, 3),
//     translation (order + 1, nbodies, 3), twist (order, nbodies, 6)
//     arguments: order
struct KinematicsTimeDerivatives : CallOf<"kinematics_time_derivatives"> {
    using CallOf::CallOf;
    [[nodiscard]] bool operator()(InputView q, InputView v_derivatives, ResultView rotation,
                                  ResultView translation, ResultView twist,
                                  std::ptrdiff_t states = 1) noexcept {
        return run({q, v_derivatives}, {rotation, translation, twist}, states);
    }
};

// Poses and twists of frames along a trajectory, and their time derivatives.
//     q (nq), v_derivatives (order, nv) -> rotation (order + 1, nframes, 3, 3),
//     translation (order + 1, nframes, 3), twist (order, nframes, 6)
//     arguments: frames (required), axes, order
struct FrameKinematicsTimeDerivatives : CallOf<"frame_kinematics_time_derivatives"> {
    using CallOf::CallOf;
    [[nodiscard]] bool operator()(InputView q, InputView v_derivatives, ResultView rotation,
                                  ResultView translation, ResultView twist,
                                  std::ptrdiff_t states = 1) noexcept {
        return run({q, v_derivatives}, {rotation, translation, twist}, states);
    }
};

// Jacobians of frames along a trajectory, and their time derivatives of order 1 to r.
//     q (nq), v_derivatives (order, nv) -> J (order + 1, nframes, 6, nv)
//     arguments: frames (required), axes, order
struct FrameJacobiansTimeDerivatives : CallOf<"frame_jacobians_time_derivatives"> {
    using CallOf::CallOf;
    [[nodiscard]] bool operator()(InputView q, InputView v_derivatives, ResultView J,
                                  std::ptrdiff_t states = 1) noexcept {
        return run({q, v_derivatives}, {J}, states);
    }
};

// Momentum about the world's origin along a trajectory and its time derivatives to order r.
//     q (nq), v_derivatives (order + 1, nv) -> h (order + 1, 6)
//     arguments: order
struct MomentumTimeDerivatives : CallOf<"momentum_time_derivatives"> {
    using CallOf::CallOf;
    [[nodiscard]] bool operator()(InputView q, InputView v_derivatives, ResultView h,
                                  std::ptrdiff_t states = 1) noexcept {
        return run({q, v_derivatives}, {h}, states);
    }
};

// Momentum about the center of mass along a trajectory and its time derivatives to order r.
//     q (nq), v_derivatives (order + 1, nv) -> h (order + 1, 6)
//     arguments: order
struct CentroidalMomentumTimeDerivatives : CallOf<"centroidal_momentum_time_derivatives"> {
    using CallOf::CallOf;
    [[nodiscard]] bool operator()(InputView q, InputView v_derivatives, ResultView h,
                                  std::ptrdiff_t states = 1) noexcept {
        return run({q, v_derivatives}, {h}, states);
    }
};

}  // namespace dtau
