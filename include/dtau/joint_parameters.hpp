// Reads what resists the motion of a joint: armature(), damping(), stiffness(), friction_force(). They are
// constants of the tree, or, in a call that gives joint parameters, numbers of the scalar at hand, which may
// differ from state to state (given_parameters.hpp). Time derivatives take no parameters and read the tree.
#pragma once

#include "dtau/model.hpp"
#include "dtau/pack.hpp"

namespace dtau::DTAU_VARIANT {

// The tree with springs and friction in every joint.
DTAU_INLINE const Tree& every_joint(const Tree& tree) {
    return tree.every_joint ? *tree.every_joint : tree;
}

// (nv) The parameters of a kind that a call gives, of all joints.
template <class T>
DTAU_INLINE const T* given_joint_parameters(const Tree& tree, JointParameter kind) {
    return static_cast<const T*>(tree.joint_parameters) +
           std::ptrdiff_t(static_cast<int>(kind)) * tree.nv;
}

template <class T> DTAU_INLINE T armature(const Tree& tree, int k) {
    return tree.joint_parameters ? given_joint_parameters<T>(tree, JointParameter::armature)[k]
                                 : T(tree.armature[k]);
}
template <class T> DTAU_INLINE T damping(const Tree& tree, int k) {
    return tree.joint_parameters ? given_joint_parameters<T>(tree, JointParameter::damping)[k]
                                 : T(tree.damping[k]);
}
// Of a spring of either kind.
template <class T> DTAU_INLINE T stiffness(const Tree& tree, const auto& spring) {
    return tree.joint_parameters
               ? given_joint_parameters<T>(tree, JointParameter::stiffness)[spring.v]
               : T(spring.stiffness);
}

// Neighboring constants of the model.
template <class T> DTAU_INLINE Pack<T> constants(const double* x, int count) {
    if constexpr (Pack<T>::width == 1)
        return {T(*x)};
    else
        return Pack<T>::load(x, count);
}
// Of neighboring joints from k on.
template <class T> DTAU_INLINE Pack<T> friction_force(const Tree& tree, int k, int count) {
    return tree.joint_parameters
               ? Pack<T>::load(given_joint_parameters<T>(tree, JointParameter::friction) + k, count)
               : constants<T>(tree.friction.force + k, count);
}

}  // namespace dtau::DTAU_VARIANT
