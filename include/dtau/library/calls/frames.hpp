// Typed calls of dtau.functions.frames. src/python/renew.py writes this file.
#pragma once

#include "dtau/library/call.hpp"

// clang-format off
namespace dtau {

// Forward kinematics: poses of all bodies in the world.
//     q (nq) -> rotation (nbodies, 3, 3), translation (nbodies, 3)
struct ForwardKinematics : CallOf<"forward_kinematics"> {
    using CallOf::CallOf;
    [[nodiscard]] bool operator()(InputView q, ResultView rotation, ResultView translation,
                                  std::ptrdiff_t states = 1) noexcept {
        return run({q}, {rotation, translation}, states);
    }
};

// Poses of frames in the world.
//     q (nq) -> rotation (nframes, 3, 3), translation (nframes, 3)
//     arguments: frames (required)
struct FramePlacements : CallOf<"frame_placements"> {
    using CallOf::CallOf;
    [[nodiscard]] bool operator()(InputView q, ResultView rotation, ResultView translation,
                                  std::ptrdiff_t states = 1) noexcept {
        return run({q}, {rotation, translation}, states);
    }
};

// Jacobians of frames: the twist of a frame is J @ v.
//     q (nq) -> J (nframes, 6, nv)
//     arguments: frames (required), axes, layout
struct FrameJacobians : CallOf<"frame_jacobians"> {
    using CallOf::CallOf;
    [[nodiscard]] bool operator()(InputView q, ResultView J, std::ptrdiff_t states = 1) noexcept {
        return run({q}, {J}, states);
    }
};

// Velocities (twists) of frames.
//     q (nq), v (nv) -> twist (nframes, 6)
//     arguments: frames (required), axes
struct FrameVelocities : CallOf<"frame_velocities"> {
    using CallOf::CallOf;
    [[nodiscard]] bool operator()(InputView q, InputView v, ResultView twist,
                                  std::ptrdiff_t states = 1) noexcept {
        return run({q, v}, {twist}, states);
    }
};

// Spatial or classical accelerations of frames, without gravity.
//     q (nq), v (nv), a (nv) -> acceleration (nframes, 6)
//     arguments: frames (required), axes, kind
struct FrameAccelerations : CallOf<"frame_accelerations"> {
    using CallOf::CallOf;
    [[nodiscard]] bool operator()(InputView q, InputView v, InputView a, ResultView acceleration,
                                  std::ptrdiff_t states = 1) noexcept {
        return run({q, v, a}, {acceleration}, states);
    }
};

// Convert a wrench that acts at a frame to external wrenches f_ext.
//     q (nq), wrench (6) -> f_ext (nbodies, 6)
//     arguments: frame (required), axes
struct WrenchAtFrame : CallOf<"wrench_at_frame"> {
    using CallOf::CallOf;
    [[nodiscard]] bool operator()(InputView q, InputView wrench, ResultView f_ext,
                                  std::ptrdiff_t states = 1) noexcept {
        return run({q, wrench}, {f_ext}, states);
    }
};

}  // namespace dtau
