// Typed calls of dtau.poses and dtau.rotations. src/python/renew.py writes this file.
#pragma once

#include "dtau/library/call.hpp"

// clang-format off
namespace dtau {

// Exponential of SE(3): the pose of a frame after moving with a constant twist for a second.
//     twist (6) -> pose (7)
class PoseExp : public Call {
  public:
    explicit PoseExp(const CallArguments& arguments = {}, std::ptrdiff_t most_states = 1)
        : Call("pose_exp", arguments, most_states) {}
    [[nodiscard]] bool operator()(InputView twist, ResultView pose,
                                  std::ptrdiff_t states = 1) noexcept {
        return run({twist}, {pose}, states);
    }
};

// Logarithm of SE(3): the twist with exp(twist) == pose.
//     pose (7) -> twist (6)
class PoseLog : public Call {
  public:
    explicit PoseLog(const CallArguments& arguments = {}, std::ptrdiff_t most_states = 1)
        : Call("pose_log", arguments, most_states) {}
    [[nodiscard]] bool operator()(InputView pose, ResultView twist,
                                  std::ptrdiff_t states = 1) noexcept {
        return run({pose}, {twist}, states);
    }
};

// Jacobian of the exponential of SE(3): its derivative by the twist.
//     twist (6) -> jacobian (6, 6)
class PoseExpJacobian : public Call {
  public:
    explicit PoseExpJacobian(const CallArguments& arguments = {}, std::ptrdiff_t most_states = 1)
        : Call("pose_exp_jacobian", arguments, most_states) {}
    [[nodiscard]] bool operator()(InputView twist, ResultView jacobian,
                                  std::ptrdiff_t states = 1) noexcept {
        return run({twist}, {jacobian}, states);
    }
};

// Jacobian of the logarithm of SE(3): its derivative by a displacement of the pose.
//     pose (7) -> jacobian (6, 6)
class PoseLogJacobian : public Call {
  public:
    explicit PoseLogJacobian(const CallArguments& arguments = {}, std::ptrdiff_t most_states = 1)
        : Call("pose_log_jacobian", arguments, most_states) {}
    [[nodiscard]] bool operator()(InputView pose, ResultView jacobian,
                                  std::ptrdiff_t states = 1) noexcept {
        return run({pose}, {jacobian}, states);
    }
};

// Derivative of exp_jacobian along a direction.
//     twist (6), direction (6) -> jacobian (6, 6)
class PoseExpJacobianDerivative : public Call {
  public:
    explicit PoseExpJacobianDerivative(const CallArguments& arguments = {},
                                       std::ptrdiff_t most_states = 1)
        : Call("pose_exp_jacobian_derivative", arguments, most_states) {}
    [[nodiscard]] bool operator()(InputView twist, InputView direction, ResultView jacobian,
                                  std::ptrdiff_t states = 1) noexcept {
        return run({twist, direction}, {jacobian}, states);
    }
};

// Derivative of log_jacobian along a displacement of the pose.
//     pose (7), direction (6) -> jacobian (6, 6)
class PoseLogJacobianDerivative : public Call {
  public:
    explicit PoseLogJacobianDerivative(const CallArguments& arguments = {},
                                       std::ptrdiff_t most_states = 1)
        : Call("pose_log_jacobian_derivative", arguments, most_states) {}
    [[nodiscard]] bool operator()(InputView pose, InputView direction, ResultView jacobian,
                                  std::ptrdiff_t states = 1) noexcept {
        return run({pose, direction}, {jacobian}, states);
    }
};

// Adjoint matrix of a pose: takes twists in the moved frame to twists in the reference frame.
//     pose (7) -> jacobian (6, 6)
class PoseAdjoint : public Call {
  public:
    explicit PoseAdjoint(const CallArguments& arguments = {}, std::ptrdiff_t most_states = 1)
        : Call("pose_adjoint", arguments, most_states) {}
    [[nodiscard]] bool operator()(InputView pose, ResultView jacobian,
                                  std::ptrdiff_t states = 1) noexcept {
        return run({pose}, {jacobian}, states);
    }
};

// Compose poses: the pose of C in A, from the pose of B in A and the pose of C in B.
//     first (7), second (7) -> pose (7)
class PoseCompose : public Call {
  public:
    explicit PoseCompose(const CallArguments& arguments = {}, std::ptrdiff_t most_states = 1)
        : Call("pose_compose", arguments, most_states) {}
    [[nodiscard]] bool operator()(InputView first, InputView second, ResultView pose,
                                  std::ptrdiff_t states = 1) noexcept {
        return run({first, second}, {pose}, states);
    }
};

// Invert poses: the pose of A in B, from the pose of B in A.
//     pose (7) -> pose (7)
class PoseInverse : public Call {
  public:
    explicit PoseInverse(const CallArguments& arguments = {}, std::ptrdiff_t most_states = 1)
        : Call("pose_inverse", arguments, most_states) {}
    [[nodiscard]] bool operator()(InputView pose, ResultView pose_out,
                                  std::ptrdiff_t states = 1) noexcept {
        return run({pose}, {pose_out}, states);
    }
};

// Transform points from coordinates in B to coordinates in A, with the pose of B in A.
//     pose (7), point (3) -> point (3)
class PoseAct : public Call {
  public:
    explicit PoseAct(const CallArguments& arguments = {}, std::ptrdiff_t most_states = 1)
        : Call("pose_act", arguments, most_states) {}
    [[nodiscard]] bool operator()(InputView pose, InputView point, ResultView point_out,
                                  std::ptrdiff_t states = 1) noexcept {
        return run({pose, point}, {point_out}, states);
    }
};

// Twist from one pose to another: end == compose(start, exp(twist)).
//     start (7), end (7) -> twist (6)
class PoseDifference : public Call {
  public:
    explicit PoseDifference(const CallArguments& arguments = {}, std::ptrdiff_t most_states = 1)
        : Call("pose_difference", arguments, most_states) {}
    [[nodiscard]] bool operator()(InputView start, InputView end, ResultView twist,
                                  std::ptrdiff_t states = 1) noexcept {
        return run({start, end}, {twist}, states);
    }
};

// Interpolate between poses along a screw motion, with a constant twist.
//     start (7), end (7), t -> pose (7)
class PoseInterpolate : public Call {
  public:
    explicit PoseInterpolate(const CallArguments& arguments = {}, std::ptrdiff_t most_states = 1)
        : Call("pose_interpolate", arguments, most_states) {}
    [[nodiscard]] bool operator()(InputView start, InputView end, InputView t, ResultView pose,
                                  std::ptrdiff_t states = 1) noexcept {
        return run({start, end, t}, {pose}, states);
    }
};

// Poses from homogeneous matrices [rotation, translation; 0 0 0 1].
//     matrix (4, 4) -> pose (7)
class PoseFromMatrix : public Call {
  public:
    explicit PoseFromMatrix(const CallArguments& arguments = {}, std::ptrdiff_t most_states = 1)
        : Call("pose_from_matrix", arguments, most_states) {}
    [[nodiscard]] bool operator()(InputView matrix, ResultView pose,
                                  std::ptrdiff_t states = 1) noexcept {
        return run({matrix}, {pose}, states);
    }
};

// Homogeneous matrices [rotation, translation; 0 0 0 1] of poses.
//     pose (7) -> matrix (4, 4)
class PoseToMatrix : public Call {
  public:
    explicit PoseToMatrix(const CallArguments& arguments = {}, std::ptrdiff_t most_states = 1)
        : Call("pose_to_matrix", arguments, most_states) {}
    [[nodiscard]] bool operator()(InputView pose, ResultView matrix,
                                  std::ptrdiff_t states = 1) noexcept {
        return run({pose}, {matrix}, states);
    }
};

// Poses from rotation matrices and translations.
//     rotation (3, 3), translation (3) -> pose (7)
class PoseFromPlacement : public Call {
  public:
    explicit PoseFromPlacement(const CallArguments& arguments = {}, std::ptrdiff_t most_states = 1)
        : Call("pose_from_placement", arguments, most_states) {}
    [[nodiscard]] bool operator()(InputView rotation, InputView translation, ResultView pose,
                                  std::ptrdiff_t states = 1) noexcept {
        return run({rotation, translation}, {pose}, states);
    }
};

// Poses from unit quaternions and translations.
//     quaternion (4), translation (3) -> pose (7)
class PoseFromQuaternion : public Call {
  public:
    explicit PoseFromQuaternion(const CallArguments& arguments = {}, std::ptrdiff_t most_states = 1)
        : Call("pose_from_quaternion", arguments, most_states) {}
    [[nodiscard]] bool operator()(InputView quaternion, InputView translation, ResultView pose,
                                  std::ptrdiff_t states = 1) noexcept {
        return run({quaternion, translation}, {pose}, states);
    }
};

// Unit quaternions of poses.
//     pose (7) -> quaternion (4)
class PoseToQuaternion : public Call {
  public:
    explicit PoseToQuaternion(const CallArguments& arguments = {}, std::ptrdiff_t most_states = 1)
        : Call("pose_to_quaternion", arguments, most_states) {}
    [[nodiscard]] bool operator()(InputView pose, ResultView quaternion,
                                  std::ptrdiff_t states = 1) noexcept {
        return run({pose}, {quaternion}, states);
    }
};

// Poses from roll, pitch, yaw and translations, as in the origin of a URDF.
//     rpy (3), translation (3) -> pose (7)
class PoseFromRpy : public Call {
  public:
    explicit PoseFromRpy(const CallArguments& arguments = {}, std::ptrdiff_t most_states = 1)
        : Call("pose_from_rpy", arguments, most_states) {}
    [[nodiscard]] bool operator()(InputView rpy, InputView translation, ResultView pose,
                                  std::ptrdiff_t states = 1) noexcept {
        return run({rpy, translation}, {pose}, states);
    }
};

// Roll, pitch and yaw of poses.
//     pose (7) -> rpy (3)
class PoseToRpy : public Call {
  public:
    explicit PoseToRpy(const CallArguments& arguments = {}, std::ptrdiff_t most_states = 1)
        : Call("pose_to_rpy", arguments, most_states) {}
    [[nodiscard]] bool operator()(InputView pose, ResultView rpy,
                                  std::ptrdiff_t states = 1) noexcept {
        return run({pose}, {rpy}, states);
    }
};

// Rotation matrices and translations of poses.
//     pose (7) -> rotation (3, 3), translation (3)
class PoseToPlacement : public Call {
  public:
    explicit PoseToPlacement(const CallArguments& arguments = {}, std::ptrdiff_t most_states = 1)
        : Call("pose_to_placement", arguments, most_states) {}
    [[nodiscard]] bool operator()(InputView pose, ResultView rotation, ResultView translation,
                                  std::ptrdiff_t states = 1) noexcept {
        return run({pose}, {rotation, translation}, states);
    }
};

// Exponential of SO(3): quaternions of rotation vectors.
//     vector (3) -> quaternion (4)
class RotationExp : public Call {
  public:
    explicit RotationExp(const CallArguments& arguments = {}, std::ptrdiff_t most_states = 1)
        : Call("rotation_exp", arguments, most_states) {}
    [[nodiscard]] bool operator()(InputView vector, ResultView quaternion,
                                  std::ptrdiff_t states = 1) noexcept {
        return run({vector}, {quaternion}, states);
    }
};

// Logarithm of SO(3): rotation vectors of quaternions.
//     quaternion (4) -> vector (3)
class RotationLog : public Call {
  public:
    explicit RotationLog(const CallArguments& arguments = {}, std::ptrdiff_t most_states = 1)
        : Call("rotation_log", arguments, most_states) {}
    [[nodiscard]] bool operator()(InputView quaternion, ResultView vector,
                                  std::ptrdiff_t states = 1) noexcept {
        return run({quaternion}, {vector}, states);
    }
};

// Jacobian of the exponential of SO(3): its derivative by the rotation vector.
//     vector (3) -> jacobian (3, 3)
class RotationExpJacobian : public Call {
  public:
    explicit RotationExpJacobian(const CallArguments& arguments = {},
                                 std::ptrdiff_t most_states = 1)
        : Call("rotation_exp_jacobian", arguments, most_states) {}
    [[nodiscard]] bool operator()(InputView vector, ResultView jacobian,
                                  std::ptrdiff_t states = 1) noexcept {
        return run({vector}, {jacobian}, states);
    }
};

// Jacobian of the logarithm of SO(3): its derivative by a small further rotation.
//     quaternion (4) -> jacobian (3, 3)
class RotationLogJacobian : public Call {
  public:
    explicit RotationLogJacobian(const CallArguments& arguments = {},
                                 std::ptrdiff_t most_states = 1)
        : Call("rotation_log_jacobian", arguments, most_states) {}
    [[nodiscard]] bool operator()(InputView quaternion, ResultView jacobian,
                                  std::ptrdiff_t states = 1) noexcept {
        return run({quaternion}, {jacobian}, states);
    }
};

// Derivative of exp_jacobian along a direction.
//     vector (3), direction (3) -> jacobian (3, 3)
class RotationExpJacobianDerivative : public Call {
  public:
    explicit RotationExpJacobianDerivative(const CallArguments& arguments = {},
                                           std::ptrdiff_t most_states = 1)
        : Call("rotation_exp_jacobian_derivative", arguments, most_states) {}
    [[nodiscard]] bool operator()(InputView vector, InputView direction, ResultView jacobian,
                                  std::ptrdiff_t states = 1) noexcept {
        return run({vector, direction}, {jacobian}, states);
    }
};

// Derivative of log_jacobian along a further rotation.
//     quaternion (4), direction (3) -> jacobian (3, 3)
class RotationLogJacobianDerivative : public Call {
  public:
    explicit RotationLogJacobianDerivative(const CallArguments& arguments = {},
                                           std::ptrdiff_t most_states = 1)
        : Call("rotation_log_jacobian_derivative", arguments, most_states) {}
    [[nodiscard]] bool operator()(InputView quaternion, InputView direction, ResultView jacobian,
                                  std::ptrdiff_t states = 1) noexcept {
        return run({quaternion, direction}, {jacobian}, states);
    }
};

// Compose rotations: the rotation of C in A, the product of their matrices in this order.
//     first (4), second (4) -> quaternion (4)
class RotationCompose : public Call {
  public:
    explicit RotationCompose(const CallArguments& arguments = {}, std::ptrdiff_t most_states = 1)
        : Call("rotation_compose", arguments, most_states) {}
    [[nodiscard]] bool operator()(InputView first, InputView second, ResultView quaternion,
                                  std::ptrdiff_t states = 1) noexcept {
        return run({first, second}, {quaternion}, states);
    }
};

// Invert rotations.
//     quaternion (4) -> quaternion (4)
class RotationInverse : public Call {
  public:
    explicit RotationInverse(const CallArguments& arguments = {}, std::ptrdiff_t most_states = 1)
        : Call("rotation_inverse", arguments, most_states) {}
    [[nodiscard]] bool operator()(InputView quaternion, ResultView quaternion_out,
                                  std::ptrdiff_t states = 1) noexcept {
        return run({quaternion}, {quaternion_out}, states);
    }
};

// Unit quaternions of quaternions of any norm.
//     quaternion (4) -> quaternion (4)
class RotationNormalize : public Call {
  public:
    explicit RotationNormalize(const CallArguments& arguments = {}, std::ptrdiff_t most_states = 1)
        : Call("rotation_normalize", arguments, most_states) {}
    [[nodiscard]] bool operator()(InputView quaternion, ResultView quaternion_out,
                                  std::ptrdiff_t states = 1) noexcept {
        return run({quaternion}, {quaternion_out}, states);
    }
};

// Rotate vectors.
//     quaternion (4), vector (3) -> vector (3)
class RotationAct : public Call {
  public:
    explicit RotationAct(const CallArguments& arguments = {}, std::ptrdiff_t most_states = 1)
        : Call("rotation_act", arguments, most_states) {}
    [[nodiscard]] bool operator()(InputView quaternion, InputView vector, ResultView vector_out,
                                  std::ptrdiff_t states = 1) noexcept {
        return run({quaternion, vector}, {vector_out}, states);
    }
};

// Rotation vector from one rotation to another: end == compose(start, exp(vector)).
//     start (4), end (4) -> vector (3)
class RotationDifference : public Call {
  public:
    explicit RotationDifference(const CallArguments& arguments = {}, std::ptrdiff_t most_states = 1)
        : Call("rotation_difference", arguments, most_states) {}
    [[nodiscard]] bool operator()(InputView start, InputView end, ResultView vector,
                                  std::ptrdiff_t states = 1) noexcept {
        return run({start, end}, {vector}, states);
    }
};

// Interpolate between rotations with a constant angular velocity (slerp).
//     start (4), end (4), t -> quaternion (4)
class RotationInterpolate : public Call {
  public:
    explicit RotationInterpolate(const CallArguments& arguments = {},
                                 std::ptrdiff_t most_states = 1)
        : Call("rotation_interpolate", arguments, most_states) {}
    [[nodiscard]] bool operator()(InputView start, InputView end, InputView t,
                                  ResultView quaternion, std::ptrdiff_t states = 1) noexcept {
        return run({start, end, t}, {quaternion}, states);
    }
};

// Quaternions of rotation matrices.
//     rotation (3, 3) -> quaternion (4)
class RotationFromMatrix : public Call {
  public:
    explicit RotationFromMatrix(const CallArguments& arguments = {}, std::ptrdiff_t most_states = 1)
        : Call("rotation_from_matrix", arguments, most_states) {}
    [[nodiscard]] bool operator()(InputView rotation, ResultView quaternion,
                                  std::ptrdiff_t states = 1) noexcept {
        return run({rotation}, {quaternion}, states);
    }
};

// Rotation matrices of quaternions.
//     quaternion (4) -> rotation (3, 3)
class RotationToMatrix : public Call {
  public:
    explicit RotationToMatrix(const CallArguments& arguments = {}, std::ptrdiff_t most_states = 1)
        : Call("rotation_to_matrix", arguments, most_states) {}
    [[nodiscard]] bool operator()(InputView quaternion, ResultView rotation,
                                  std::ptrdiff_t states = 1) noexcept {
        return run({quaternion}, {rotation}, states);
    }
};

// Quaternions of roll, pitch and yaw.
//     rpy (3) -> quaternion (4)
class RotationFromRpy : public Call {
  public:
    explicit RotationFromRpy(const CallArguments& arguments = {}, std::ptrdiff_t most_states = 1)
        : Call("rotation_from_rpy", arguments, most_states) {}
    [[nodiscard]] bool operator()(InputView rpy, ResultView quaternion,
                                  std::ptrdiff_t states = 1) noexcept {
        return run({rpy}, {quaternion}, states);
    }
};

// Roll, pitch and yaw of quaternions.
//     quaternion (4) -> rpy (3)
class RotationToRpy : public Call {
  public:
    explicit RotationToRpy(const CallArguments& arguments = {}, std::ptrdiff_t most_states = 1)
        : Call("rotation_to_rpy", arguments, most_states) {}
    [[nodiscard]] bool operator()(InputView quaternion, ResultView rpy,
                                  std::ptrdiff_t states = 1) noexcept {
        return run({quaternion}, {rpy}, states);
    }
};

}  // namespace dtau
