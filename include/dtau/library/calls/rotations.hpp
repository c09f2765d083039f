// Typed calls of dtau.rotations. src/python/renew.py writes this file.
#pragma once

#include "dtau/library/call.hpp"

// clang-format off
namespace dtau {

// Exponential of SO(3): quaternions of rotation vectors.
//     vector (3) -> quaternion (4)
struct RotationExp : PoseCallOf<"rotation_exp"> {
    using PoseCallOf::PoseCallOf;
    [[nodiscard]] bool operator()(InputView vector, ResultView quaternion,
                                  std::ptrdiff_t states = 1) noexcept {
        return run({vector}, {quaternion}, states);
    }
};

// Logarithm of SO(3): rotation vectors of quaternions.
//     quaternion (4) -> vector (3)
struct RotationLog : PoseCallOf<"rotation_log"> {
    using PoseCallOf::PoseCallOf;
    [[nodiscard]] bool operator()(InputView quaternion, ResultView vector,
                                  std::ptrdiff_t states = 1) noexcept {
        return run({quaternion}, {vector}, states);
    }
};

// Jacobian of the exponential of SO(3): its derivative by the rotation vector.
//     vector (3) -> jacobian (3, 3)
struct RotationExpJacobian : PoseCallOf<"rotation_exp_jacobian"> {
    using PoseCallOf::PoseCallOf;
    [[nodiscard]] bool operator()(InputView vector, ResultView jacobian,
                                  std::ptrdiff_t states = 1) noexcept {
        return run({vector}, {jacobian}, states);
    }
};

// Jacobian of the logarithm of SO(3): its derivative by a small further rotation.
//     quaternion (4) -> jacobian (3, 3)
struct RotationLogJacobian : PoseCallOf<"rotation_log_jacobian"> {
    using PoseCallOf::PoseCallOf;
    [[nodiscard]] bool operator()(InputView quaternion, ResultView jacobian,
                                  std::ptrdiff_t states = 1) noexcept {
        return run({quaternion}, {jacobian}, states);
    }
};

// Derivative of exp_jacobian along a direction.
//     vector (3), direction (3) -> jacobian (3, 3)
struct RotationExpJacobianDerivative : PoseCallOf<"rotation_exp_jacobian_derivative"> {
    using PoseCallOf::PoseCallOf;
    [[nodiscard]] bool operator()(InputView vector, InputView direction, ResultView jacobian,
                                  std::ptrdiff_t states = 1) noexcept {
        return run({vector, direction}, {jacobian}, states);
    }
};

// Derivative of log_jacobian along a further rotation.
//     quaternion (4), direction (3) -> jacobian (3, 3)
struct RotationLogJacobianDerivative : PoseCallOf<"rotation_log_jacobian_derivative"> {
    using PoseCallOf::PoseCallOf;
    [[nodiscard]] bool operator()(InputView quaternion, InputView direction, ResultView jacobian,
                                  std::ptrdiff_t states = 1) noexcept {
        return run({quaternion, direction}, {jacobian}, states);
    }
};

// Compose rotations: the rotation of C in A, the product of their matrices in this order.
//     first (4), second (4) -> quaternion (4)
struct RotationCompose : PoseCallOf<"rotation_compose"> {
    using PoseCallOf::PoseCallOf;
    [[nodiscard]] bool operator()(InputView first, InputView second, ResultView quaternion,
                                  std::ptrdiff_t states = 1) noexcept {
        return run({first, second}, {quaternion}, states);
    }
};

// Invert rotations.
//     quaternion (4) -> quaternion (4)
struct RotationInverse : PoseCallOf<"rotation_inverse"> {
    using PoseCallOf::PoseCallOf;
    [[nodiscard]] bool operator()(InputView quaternion, ResultView quaternion_out,
                                  std::ptrdiff_t states = 1) noexcept {
        return run({quaternion}, {quaternion_out}, states);
    }
};

// Unit quaternions of quaternions of any norm.
//     quaternion (4) -> quaternion (4)
struct RotationNormalize : PoseCallOf<"rotation_normalize"> {
    using PoseCallOf::PoseCallOf;
    [[nodiscard]] bool operator()(InputView quaternion, ResultView quaternion_out,
                                  std::ptrdiff_t states = 1) noexcept {
        return run({quaternion}, {quaternion_out}, states);
    }
};

// Rotate vectors.
//     quaternion (4), vector (3) -> vector (3)
struct RotationAct : PoseCallOf<"rotation_act"> {
    using PoseCallOf::PoseCallOf;
    [[nodiscard]] bool operator()(InputView quaternion, InputView vector, ResultView vector_out,
                                  std::ptrdiff_t states = 1) noexcept {
        return run({quaternion, vector}, {vector_out}, states);
    }
};

// Rotation vector from one rotation to another: end == compose(start, exp(vector)).
//     start (4), end (4) -> vector (3)
struct RotationDifference : PoseCallOf<"rotation_difference"> {
    using PoseCallOf::PoseCallOf;
    [[nodiscard]] bool operator()(InputView start, InputView end, ResultView vector,
                                  std::ptrdiff_t states = 1) noexcept {
        return run({start, end}, {vector}, states);
    }
};

// Interpolate between rotations with a constant angular velocity (slerp).
//     start (4), end (4), t -> quaternion (4)
struct RotationInterpolate : PoseCallOf<"rotation_interpolate"> {
    using PoseCallOf::PoseCallOf;
    [[nodiscard]] bool operator()(InputView start, InputView end, InputView t,
                                  ResultView quaternion, std::ptrdiff_t states = 1) noexcept {
        return run({start, end, t}, {quaternion}, states);
    }
};

// Quaternions of rotation matrices.
//     rotation (3, 3) -> quaternion (4)
struct RotationFromMatrix : PoseCallOf<"rotation_from_matrix"> {
    using PoseCallOf::PoseCallOf;
    [[nodiscard]] bool operator()(InputView rotation, ResultView quaternion,
                                  std::ptrdiff_t states = 1) noexcept {
        return run({rotation}, {quaternion}, states);
    }
};

// Rotation matrices of quaternions.
//     quaternion (4) -> rotation (3, 3)
struct RotationToMatrix : PoseCallOf<"rotation_to_matrix"> {
    using PoseCallOf::PoseCallOf;
    [[nodiscard]] bool operator()(InputView quaternion, ResultView rotation,
                                  std::ptrdiff_t states = 1) noexcept {
        return run({quaternion}, {rotation}, states);
    }
};

// Quaternions of roll, pitch and yaw.
//     rpy (3) -> quaternion (4)
struct RotationFromRpy : PoseCallOf<"rotation_from_rpy"> {
    using PoseCallOf::PoseCallOf;
    [[nodiscard]] bool operator()(InputView rpy, ResultView quaternion,
                                  std::ptrdiff_t states = 1) noexcept {
        return run({rpy}, {quaternion}, states);
    }
};

// Roll, pitch and yaw of quaternions.
//     quaternion (4) -> rpy (3)
struct RotationToRpy : PoseCallOf<"rotation_to_rpy"> {
    using PoseCallOf::PoseCallOf;
    [[nodiscard]] bool operator()(InputView quaternion, ResultView rpy,
                                  std::ptrdiff_t states = 1) noexcept {
        return run({quaternion}, {rpy}, states);
    }
};

}  // namespace dtau
