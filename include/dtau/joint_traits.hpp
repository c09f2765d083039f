// Lists the properties of each kind of joint in one table: joint_traits[]. Everything but the kinematics
// of joint.hpp reads it.
//
// Plain data, in a namespace that all instruction sets share. Functions here are always inlined, so that no
// instruction set has its own copy.
#pragma once

#include "dtau/model.hpp"

namespace dtau {

// How a body rotates in its joint's frame.
enum class Rotation { none, about_z, any };

struct JointTraits {
    JointKind kind;
    const char* name;
    int nq, nv;
    int angle;          // the coordinate that is an angle; -1: none
    int quaternion;     // the first coordinate of its quaternion x y z w; -1: none
    bool has_axis;      // z of the canonical frame; false: no axis is special
    bool commutes;      // displacements add; in other joints they compose by an exponential
    Rotation rotation;  // of the body in the joint's frame
    bool slides;        // the body's origin moves in the joint's frame
};

// In the order of JointKind.
inline constexpr JointTraits joint_traits[] = {
    {JointKind::revolute, "revolute", 1, 1, 0, -1, true, true, Rotation::about_z, false},
    {JointKind::prismatic, "prismatic", 1, 1, -1, -1, true, true, Rotation::none, true},
    {JointKind::helical, "helical", 1, 1, 0, -1, true, true, Rotation::about_z, true},
    {JointKind::spherical, "spherical", 4, 3, -1, 0, false, false, Rotation::any, false},
    {JointKind::free, "free", 7, 6, -1, 3, false, false, Rotation::any, true},
    {JointKind::cylindrical, "cylindrical", 2, 2, 1, -1, true, true, Rotation::about_z, true},
    {JointKind::planar, "planar", 3, 3, 2, -1, true, false, Rotation::about_z, true},
};
inline constexpr int joint_kinds = sizeof(joint_traits) / sizeof(JointTraits);

static_assert([] {
    for (int k = 0; k < joint_kinds; ++k)
        if (joint_traits[k].kind != static_cast<JointKind>(k)) return false;
    return true;
}());

inline __attribute__((always_inline)) constexpr const JointTraits& traits(JointKind kind) {
    return joint_traits[static_cast<int>(kind)];
}

// Whether the body is a free root (free_root.hpp).
inline __attribute__((always_inline)) constexpr bool is_free_root(const Body& body) {
    return body.kind == JointKind::free && body.parent < 0;
}

// Whether the joint is revolute and not at a root. Most joints are: some algorithms have code for them.
inline __attribute__((always_inline)) constexpr bool is_simple(const Body& body) {
    return body.kind == JointKind::revolute && body.parent >= 0;
}

}  // namespace dtau
