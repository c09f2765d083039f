// Typed calls of dtau.rotations. src/python/renew.py writes this file.
#pragma once

#include "dtau/library/call.hpp"

// clang-format off
namespace dtau {

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
