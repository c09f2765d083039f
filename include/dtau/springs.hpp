// Computes the torques of joints' springs and their derivatives: add_spring_torques(),
// subtract_spring_torques(), add_stiffness(), add_spring_variations(), add_spring_gradients(),
// with_spring_energy(). A spring acts on one coordinate, whose rate is a velocity of the joint:
//
//   tau = ... + stiffness (q - rest)      dtau/dq = ... + stiffness, on the diagonal
//
// Its torque is linear in q, so that only first derivatives of the dynamics have a term. Springs of spherical
// joints are in rotation_springs.hpp; the functions here include them. All arrays belong to the joints. A
// model without springs computes nothing here.
#pragma once

#include "dtau/rotation_springs.hpp"

namespace dtau::DTAU_VARIANT {

template <class T> DTAU_INLINE void add_spring_torques(const Tree& tree, const T* q, T* tau) {
    for (int s = 0; s < tree.nsprings; ++s) {
        const Spring& spring = tree.springs[s];
        tau[spring.v] =
            fma(stiffness<T>(tree, spring), q[spring.q] - T(spring.rest), tau[spring.v]);
    }
    if (tree.nrotation_springs > 0) add_rotation_torques(tree, 1.0, q, tau);
}
template <class T> DTAU_INLINE void subtract_spring_torques(const Tree& tree, const T* q, T* tau) {
    for (int s = 0; s < tree.nsprings; ++s) {
        const Spring& spring = tree.springs[s];
        tau[spring.v] =
            fma(-stiffness<T>(tree, spring), q[spring.q] - T(spring.rest), tau[spring.v]);
    }
    if (tree.nrotation_springs > 0) add_rotation_torques(tree, -1.0, q, tau);
}

// Adds the stiffness of springs on one coordinate to the diagonal of dtau/dq, whose rows are n apart.
template <class T> DTAU_INLINE void add_diagonal_stiffness(const Tree& tree, T* dtau_dq, int n) {
    for (int s = 0; s < tree.nsprings; ++s) {
        const Spring& spring = tree.springs[s];
        dtau_dq[spring.v * n + spring.v] += stiffness<T>(tree, spring);
    }
}
// Adds the derivatives of all springs. stretched: stretch_rotations().
template <class T>
DTAU_INLINE void add_stiffness(const Tree& tree, const Stretch<T>* stretched, T* dtau_dq, int n) {
    add_diagonal_stiffness(tree, dtau_dq, n);
    add_rotation_stiffness(tree, stretched, dtau_dq, n);
}

// y += factor K x, for the diagonal matrix K of the springs on one coordinate; x and y (nv).
template <class T>
DTAU_INLINE void add_diagonal_times(const Tree& tree, double factor, const T* x, T* y) {
    for (int s = 0; s < tree.nsprings; ++s) {
        const Spring& spring = tree.springs[s];
        y[spring.v] = fma(T(factor) * stiffness<T>(tree, spring), x[spring.v], y[spring.v]);
    }
}
// dtau += factor times the derivative of the springs' torques along dq (nv).
template <class T>
DTAU_INLINE void add_spring_variations(const Tree& tree, double factor, const T* q, const T* dq,
                                       T* dtau) {
    add_diagonal_times(tree, factor, dq, dtau);
    if (tree.nrotation_springs > 0) add_rotation_times<false>(tree, factor, q, dq, dtau);
}
// by_q += factor times the gradient of lam . (the springs' torques) by q.
template <class T>
DTAU_INLINE void add_spring_gradients(const Tree& tree, double factor, const T* q, const T* lam,
                                      T* by_q) {
    add_diagonal_times(tree, factor, lam, by_q);
    if (tree.nrotation_springs > 0) add_rotation_times<true>(tree, factor, q, lam, by_q);
}

// Returns `energy` plus the energy in the springs, zero at rest.
template <class T> DTAU_INLINE T with_spring_energy(const Tree& tree, const T* q, T energy) {
    for (int s = 0; s < tree.nsprings; ++s) {
        const Spring& spring = tree.springs[s];
        const T x = q[spring.q] - T(spring.rest);
        energy = fma(T(0.5) * stiffness<T>(tree, spring) * x, x, energy);
    }
    if (tree.nrotation_springs > 0) return with_rotation_energy(tree, q, energy);
    return energy;
}

}  // namespace dtau::DTAU_VARIANT
