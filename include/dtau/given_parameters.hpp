// Replaces the parameters of a tree by parameters that a call gives, which may differ from state to state:
// with_parameters(). Algorithms read them through given_inertias() and joint_parameters.hpp.
//
//   pi_i = (m, h_x, h_y, h_z, J_xx, J_xy, J_yy, J_xz, J_yz, J_zz)      of a moving body, in the user's axes
//   I_i  = (m, R^T h, R^T J R)      R: canonical axes in the user's axes, Body::frame
//
// The map is linear and divides by nothing, so any numbers are inertias: massless bodies too, and bodies
// that do not exist. An auxiliary body of a universal joint has none.
//
// Behind the bodies there may be armature, damping, stiffness and friction (JointParameter) of the independent
// velocities. They act on the joints that have these velocities: joints that mimic them have none.
#pragma once

#include "dtau/inertia.hpp"
#include "dtau/mimic.hpp"

namespace dtau::DTAU_VARIANT {

// (nnodes) The inertias of a call, about the origins of the bodies, in canonical axes.
template <class T> DTAU_INLINE const Inertia<T>* given_inertias(const Tree& tree) {
    return static_cast<const Inertia<T>*>(tree.inertias);
}

// Room for the parameters of a call, if it gives any.
template <class T> struct GivenParameters {
    Inertia<T>* inertias;  // (nnodes)
    T* of_joints;          // (4, nv of all joints)

    GivenParameters(Arena& arena, const Tree& tree, bool of_bodies, bool of_joints)
        : inertias(of_bodies ? arena.take<Inertia<T>>(tree.nnodes) : nullptr),
          of_joints(of_joints ? arena.take<T>(joint_parameter_kinds * tree.nv) : nullptr) {}
};

template <class T> void read_inertias(const Tree& tree, const T* parameters, Inertia<T>* I) {
    for (int i = 0; i < tree.nnodes; ++i) {
        const Body& body = tree.bodies[i];
        const T zero(0.0);
        I[i] = {zero, zero_vector<T>(), {zero, zero, zero, zero, zero, zero}};
        if (body.link < 0) continue;
        const T* x = parameters + body_parameters * body.link;
        const Mat3<T> to_canonical = transposed(lift<T>(mat3(body.frame)));
        I[i] = {x[0], to_canonical * Vec3<T>{x[1], x[2], x[3]},
                rotated(to_canonical, Sym3<T>{x[4], x[5], x[7], x[6], x[8], x[9]})};
    }
}

// The tree with the parameters of a call, which are stored in `room`. If they are of joints too, it is the
// tree that has springs and friction in every joint.
template <class T>
Tree with_parameters(const Tree& tree, const T* parameters, const GivenParameters<T>& room) {
    Tree given = tree;
    read_inertias(tree, parameters, room.inertias);
    given.inertias = room.inertias;
    if (!room.of_joints) return given;
    const T* const x = parameters + body_parameters * tree.nbodies;
    const int n = tree.independent.n;
    for (int row = 0; row < joint_parameter_kinds; ++row)
        for (int j = 0; j < tree.nv; ++j) {
            const int k = independent_dof(tree, j);
            room.of_joints[row * tree.nv + j] = owning_dof(tree, k) == j ? x[row * n + k] : T(0.0);
        }
    given.joint_parameters = room.of_joints;
    return given;
}

}  // namespace dtau::DTAU_VARIANT
