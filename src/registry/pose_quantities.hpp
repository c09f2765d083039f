// Declares the shapes of poses and rotations, which do not depend on a tree: PoseQuantity.
#pragma once

#include "registry/signature.hpp"

namespace dtau {

struct PoseQuantity {
    static constexpr Axis four = static_cast<Axis>(4), seven = static_cast<Axis>(7);

    // [position, quaternion x y z w], and the targets of frames.
    static const Quantity pose, poses_of_frames, quaternion;
    static const Quantity rotation, homogeneous, twist_map;
};

inline constexpr Quantity PoseQuantity::pose = {1, {PoseQuantity::seven}};
inline constexpr Quantity PoseQuantity::poses_of_frames = {2, {Axis::nframes, PoseQuantity::seven}};
inline constexpr Quantity PoseQuantity::quaternion = {1, {PoseQuantity::four}};
inline constexpr Quantity PoseQuantity::rotation = {2, {Axis::three, Axis::three}};
inline constexpr Quantity PoseQuantity::homogeneous = {2, {PoseQuantity::four, PoseQuantity::four}};
inline constexpr Quantity PoseQuantity::twist_map = {2, {Axis::six, Axis::six}};

}  // namespace dtau
