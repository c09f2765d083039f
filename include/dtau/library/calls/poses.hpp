// Typed calls of dtau.poses. src/python/renew.py writes this file.
#pragma once

#include "dtau/library/call.hpp"

// clang-format off
namespace dtau {

// Exponential of SE(3): the pose of a frame after moving with a constant twist for a second.
//     twist (6) -> pose (7)
struct PoseExp : PoseCallOf<"pose_exp"> {
    using PoseCallOf::PoseCallOf;
    [[nodiscard]] bool operator()(InputView twist, ResultView pose,
                                  std::ptrdiff_t states = 1) noexcept {
        return run({twist}, {pose}, states);
    }
};

// Logarithm of SE(3): the twist with exp(twist) == pose.
//     pose (7) -> twist (6)
struct PoseLog : PoseCallOf<"pose_log"> {
    using PoseCallOf::PoseCallOf;
    [[nodiscard]] bool operator()(InputView pose, ResultView twist,
                                  std::ptrdiff_t states = 1) noexcept {
        return run({pose}, {twist}, states);
    }
};

// Jacobian of the exponential of SE(3): its derivative by the twist.
//     twist (6) -> jacobian (6, 6)
struct PoseExpJacobian : PoseCallOf<"pose_exp_jacobian"> {
    using PoseCallOf::PoseCallOf;
    [[nodiscard]] bool operator()(InputView twist, ResultView jacobian,
                                  std::ptrdiff_t states = 1) noexcept {
        return run({twist}, {jacobian}, states);
    }
};

// Jacobian of the logarithm of SE(3): its derivative by a displacement of the pose.
//     pose (7) -> jacobian (6, 6)
struct PoseLogJacobian : PoseCallOf<"pose_log_jacobian"> {
    using PoseCallOf::PoseCallOf;
    [[nodiscard]] bool operator()(InputView pose, ResultView jacobian,
                                  std::ptrdiff_t states = 1) noexcept {
        return run({pose}, {jacobian}, states);
    }
};

// Derivative of exp_jacobian along a direction.
//     twist (6), direction (6) -> jacobian (6, 6)
struct PoseExpJacobianDerivative : PoseCallOf<"pose_exp_jacobian_derivative"> {
    using PoseCallOf::PoseCallOf;
    [[nodiscard]] bool operator()(InputView twist, InputView direction, ResultView jacobian,
                                  std::ptrdiff_t states = 1) noexcept {
        return run({twist, direction}, {jacobian}, states);
    }
};

// Derivative of log_jacobian along a displacement of the pose.
//     pose (7), direction (6) -> jacobian (6, 6)
struct PoseLogJacobianDerivative : PoseCallOf<"pose_log_jacobian_derivative"> {
    using PoseCallOf::PoseCallOf;
    [[nodiscard]] bool operator()(InputView pose, InputView direction, ResultView jacobian,
                                  std::ptrdiff_t states = 1) noexcept {
        return run({pose, direction}, {jacobian}, states);
    }
};

// Adjoint matrix of a pose: takes twists in the moved frame to twists in the reference frame.
//     pose (7) -> jacobian (6, 6)
struct PoseAdjoint : PoseCallOf<"pose_adjoint"> {
    using PoseCallOf::PoseCallOf;
    [[nodiscard]] bool operator()(InputView pose, ResultView jacobian,
                                  std::ptrdiff_t states = 1) noexcept {
        return run({pose}, {jacobian}, states);
    }
};

// Compose poses: the pose of C in A, from the pose of B in A and the pose of C in B.
//     first (7), second (7) -> pose (7)
struct PoseCompose : PoseCallOf<"pose_compose"> {
    using PoseCallOf::PoseCallOf;
    [[nodiscard]] bool operator()(InputView first, InputView second, ResultView pose,
                                  std::ptrdiff_t states = 1) noexcept {
        return run({first, second}, {pose}, states);
    }
};

// Invert poses: the pose of A in B, from the pose of B in A.
//     pose (7) -> pose (7)
struct PoseInverse : PoseCallOf<"pose_inverse"> {
    using PoseCallOf::PoseCallOf;
    [[nodiscard]] bool operator()(InputView pose, ResultView pose_out,
                                  std::ptrdiff_t states = 1) noexcept {
        return run({pose}, {pose_out}, states);
    }
};

// Transform points from coordinates in B to coordinates in A, with the pose of B in A.
//     pose (7), point (3) -> point (3)
struct PoseAct : PoseCallOf<"pose_act"> {
    using PoseCallOf::PoseCallOf;
    [[nodiscard]] bool operator()(InputView pose, InputView point, ResultView point_out,
                                  std::ptrdiff_t states = 1) noexcept {
        return run({pose, point}, {point_out}, states);
    }
};

// Twist from one pose to another: end == compose(start, exp(twist)).
//     start (7), end (7) -> twist (6)
struct PoseDifference : PoseCallOf<"pose_difference"> {
    using PoseCallOf::PoseCallOf;
    [[nodiscard]] bool operator()(InputView start, InputView end, ResultView twist,
                                  std::ptrdiff_t states = 1) noexcept {
        return run({start, end}, {twist}, states);
    }
};

// Interpolate between poses along a screw motion, with a constant twist.
//     start (7), end (7), t -> pose (7)
struct PoseInterpolate : PoseCallOf<"pose_interpolate"> {
    using PoseCallOf::PoseCallOf;
    [[nodiscard]] bool operator()(InputView start, InputView end, InputView t, ResultView pose,
                                  std::ptrdiff_t states = 1) noexcept {
        return run({start, end, t}, {pose}, states);
    }
};

// Poses from homogeneous matrices [rotation, translation; 0 0 0 1].
//     matrix (4, 4) -> pose (7)
struct PoseFromMatrix : PoseCallOf<"pose_from_matrix"> {
    using PoseCallOf::PoseCallOf;
    [[nodiscard]] bool operator()(InputView matrix, ResultView pose,
                                  std::ptrdiff_t states = 1) noexcept {
        return run({matrix}, {pose}, states);
    }
};

// Homogeneous matrices [rotation, translation; 0 0 0 1] of poses.
//     pose (7) -> matrix (4, 4)
struct PoseToMatrix : PoseCallOf<"pose_to_matrix"> {
    using PoseCallOf::PoseCallOf;
    [[nodiscard]] bool operator()(InputView pose, ResultView matrix,
                                  std::ptrdiff_t states = 1) noexcept {
        return run({pose}, {matrix}, states);
    }
};

// Poses from rotation matrices and translations.
//     rotation (3, 3), translation (3) -> pose (7)
struct PoseFromPlacement : PoseCallOf<"pose_from_placement"> {
    using PoseCallOf::PoseCallOf;
    [[nodiscard]] bool operator()(InputView rotation, InputView translation, ResultView pose,
                                  std::ptrdiff_t states = 1) noexcept {
        return run({rotation, translation}, {pose}, states);
    }
};

// Poses from unit quaternions and translations.
//     quaternion (4), translation (3) -> pose (7)
struct PoseFromQuaternion : PoseCallOf<"pose_from_quaternion"> {
    using PoseCallOf::PoseCallOf;
    [[nodiscard]] bool operator()(InputView quaternion, InputView translation, ResultView pose,
                                  std::ptrdiff_t states = 1) noexcept {
        return run({quaternion, translation}, {pose}, states);
    }
};

// Unit quaternions of poses.
//     pose (7) -> quaternion (4)
struct PoseToQuaternion : PoseCallOf<"pose_to_quaternion"> {
    using PoseCallOf::PoseCallOf;
    [[nodiscard]] bool operator()(InputView pose, ResultView quaternion,
                                  std::ptrdiff_t states = 1) noexcept {
        return run({pose}, {quaternion}, states);
    }
};

// Poses from roll, pitch, yaw and translations, as in the origin of a URDF.
//     rpy (3), translation (3) -> pose (7)
struct PoseFromRpy : PoseCallOf<"pose_from_rpy"> {
    using PoseCallOf::PoseCallOf;
    [[nodiscard]] bool operator()(InputView rpy, InputView translation, ResultView pose,
                                  std::ptrdiff_t states = 1) noexcept {
        return run({rpy, translation}, {pose}, states);
    }
};

// Roll, pitch and yaw of poses.
//     pose (7) -> rpy (3)
struct PoseToRpy : PoseCallOf<"pose_to_rpy"> {
    using PoseCallOf::PoseCallOf;
    [[nodiscard]] bool operator()(InputView pose, ResultView rpy,
                                  std::ptrdiff_t states = 1) noexcept {
        return run({pose}, {rpy}, states);
    }
};

// Rotation matrices and translations of poses.
//     pose (7) -> rotation (3, 3), translation (3)
struct PoseToPlacement : PoseCallOf<"pose_to_placement"> {
    using PoseCallOf::PoseCallOf;
    [[nodiscard]] bool operator()(InputView pose, ResultView rotation, ResultView translation,
                                  std::ptrdiff_t states = 1) noexcept {
        return run({pose}, {rotation, translation}, states);
    }
};

}  // namespace dtau
