// The properties of each kind of joint: one table, joint_traits[], which everything but the
// kinematics of joint.hpp reads.
//
// Data alone, in the plain namespace: the same for all instruction sets. Functions that are always
// inlined belong to none of them either.
#pragma once

#include "dtau/model.hpp"

namespace dtau {

// How a body rotates in its joint's frame.
enum class Rotation { none, about_z, any };

struct JointTraits {
    JointKind kind;
    const char* name;
    int nq, nv;
    int angle;          // which coordinate is an angle; -1: none
    int quaternion;     // the first coordinate of its quaternion x y z w; -1: none
    bool has_axis;      // z of the canonical frame; else the joint moves alike in all axes
    bool commutes;      // displacements add; those of others compose by an exponential
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

// free_root.hpp
inline __attribute__((always_inline)) constexpr bool is_free_root(const Body& body) {
    return body.kind == JointKind::free && body.parent < 0;
}

// Most joints: there is code for them alone in algorithms where that pays.
inline __attribute__((always_inline)) constexpr bool is_simple(const Body& body) {
    return body.kind == JointKind::revolute && body.parent >= 0;
}

}  // namespace dtau
