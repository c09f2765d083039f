// Replaces the inertias of a tree by those that a call gives, which may differ from state to state:
// with_inertias(). Algorithms read them through given_inertias().
//
//   pi_i = (m, h_x, h_y, h_z, J_xx, J_xy, J_yy, J_xz, J_yz, J_zz)      of a moving body, in the user's axes
//   I_i  = (m, R^T h, R^T J R)      R: canonical axes in the user's axes, Body::frame
//
// The map is linear and divides by nothing, so any numbers are inertias: massless bodies too, and bodies
// that do not exist. An auxiliary body of a universal joint has none.
#pragma once

#include "dtau/inertia.hpp"
#include "dtau/model.hpp"

namespace dtau::DTAU_VARIANT {

// (nnodes) The inertias of a call, about the origins of the bodies, in canonical axes.
template <class T>
DTAU_INLINE const Inertia<T>* given_inertias(const Tree& tree) {
    return static_cast<const Inertia<T>*>(tree.inertias);
}

// The tree with inertias from parameters (nbodies, 10), which are stored in I (nnodes).
template <class T>
Tree with_inertias(const Tree& tree, const T* parameters, Inertia<T>* I) {
    for (int i = 0; i < tree.nnodes; ++i) {
        const Body& body = tree.bodies[i];
        const T zero(0.0);
        I[i] = {zero, zero_vector<T>(), {zero, zero, zero, zero, zero, zero}};
        if (body.link < 0) continue;
        const T* x = parameters + 10 * body.link;
        const Mat3<T> to_canonical = transposed(lift<T>(mat3(body.frame)));
        I[i] = {x[0], to_canonical * Vec3<T>{x[1], x[2], x[3]},
                rotated(to_canonical, Sym3<T>{x[4], x[5], x[7], x[6], x[8], x[9]})};
    }
    Tree given = tree;
    given.inertias = I;
    return given;
}

}  // namespace dtau::DTAU_VARIANT
