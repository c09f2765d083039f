// Computes the torques of joints' springs and their derivatives: add_spring_torques(),
// subtract_spring_torques(), add_stiffness(), add_stiffness_times(), with_spring_energy(). A spring acts
// on one coordinate, whose rate is a velocity of the joint:
//
//   tau = ... + stiffness (q - rest)      dtau/dq = ... + stiffness, on the diagonal
//
// Its torque is linear in q, so that only first derivatives of the dynamics have a term. All arrays
// are those of the joints. A model without springs computes nothing here.
#pragma once

#include "dtau/arena.hpp"
#include "dtau/model.hpp"

namespace dtau::DTAU_VARIANT {

template <class T>
DTAU_INLINE void add_spring_torques(const Tree& tree, const T* q, T* tau) {
    for (int s = 0; s < tree.nsprings; ++s) {
        const Spring& spring = tree.springs[s];
        tau[spring.v] = fma(T(spring.stiffness), q[spring.q] - T(spring.rest), tau[spring.v]);
    }
}
template <class T>
DTAU_INLINE void subtract_spring_torques(const Tree& tree, const T* q, T* tau) {
    for (int s = 0; s < tree.nsprings; ++s) {
        const Spring& spring = tree.springs[s];
        tau[spring.v] = fma(T(-spring.stiffness), q[spring.q] - T(spring.rest), tau[spring.v]);
    }
}

// Adds the stiffness to the diagonal of dtau/dq, whose rows are n apart.
template <class T>
DTAU_INLINE void add_stiffness(const Tree& tree, T* dtau_dq, int n) {
    for (int s = 0; s < tree.nsprings; ++s) {
        const Spring& spring = tree.springs[s];
        dtau_dq[spring.v * n + spring.v] += T(spring.stiffness);
    }
}

// y += factor K x, for the diagonal matrix K of the stiffness; x and y (nv).
template <class T>
DTAU_INLINE void add_stiffness_times(const Tree& tree, double factor, const T* x, T* y) {
    for (int s = 0; s < tree.nsprings; ++s) {
        const Spring& spring = tree.springs[s];
        y[spring.v] = fma(T(factor * spring.stiffness), x[spring.v], y[spring.v]);
    }
}

// Adds factor times the time derivative of order k of the springs' torques. before: derivative of
// order k - 1 of v; not read if k = 0.
template <class T>
DTAU_INLINE void add_spring_rates(const Tree& tree, double factor, int k, const T* q,
                                  const T* before, T* tau) {
    if (k > 0) return add_stiffness_times(tree, factor, before, tau);
    if (factor > 0.0)
        add_spring_torques(tree, q, tau);
    else
        subtract_spring_torques(tree, q, tau);
}

// Returns `energy` plus the energy in the springs, zero at rest.
template <class T>
DTAU_INLINE T with_spring_energy(const Tree& tree, const T* q, T energy) {
    for (int s = 0; s < tree.nsprings; ++s) {
        const Spring& spring = tree.springs[s];
        const T x = q[spring.q] - T(spring.rest);
        energy = fma(T(0.5 * spring.stiffness) * x, x, energy);
    }
    return energy;
}

}  // namespace dtau::DTAU_VARIANT
