// Computes the placements of bodies in the world: place_in_world(). O(N).
#pragma once

#include "dtau/kinematics.hpp"

namespace dtau::DTAU_VARIANT {

template <class T>
DTAU_INLINE void write_rows(const Mat3<T>& m, T* rows) {
    rows[0] = m.x.x, rows[1] = m.y.x, rows[2] = m.z.x;
    rows[3] = m.x.y, rows[4] = m.y.y, rows[5] = m.z.y;
    rows[6] = m.x.z, rows[7] = m.y.z, rows[8] = m.z.z;
}

template <class T>
struct PlacementsWorkspace {
    Placement<T>* P;  // of the canonical body frames in the world
    Configuration<T> angles;

    PlacementsWorkspace(Arena& arena, const Tree& tree, const Options&)
        : P(arena.take<Placement<T>>(tree.nnodes)), angles(arena, tree) {}
};

// Pose of a body in the world, from those of the bodies before it.
template <class T>
DTAU_INLINE Placement<T> world_placement(const Body& body, const Placement<T>* P,
                                         const Configuration<T>& x) {
    const Placement<T> frame =
        body.parent < 0 ? constant_placement<T>(body) : joint_frame(body, P[body.parent]);
    return joint_placement(body, frame, x);
}

template <class T>
DTAU_INLINE void place_in_world(const Tree& tree, const Configuration<T>& x, Placement<T>* P) {
    for (int i = 0; i < tree.nnodes; ++i) P[i] = world_placement(tree.bodies[i], P, x);
}

// The user's axes of a canonical body frame.
template <class T>
DTAU_INLINE Placement<T> user_axes(const Body& body, const Placement<T>& P) {
    return {P.R * transposed(mat3(body.frame)), P.r};
}

// rotation (nbodies, 3, 3) and translation (nbodies, 3) of the user's body frames in the world.
template <class T>
void forward_kinematics(const Tree& tree, const T* q, T* rotation, T* translation,
                        const PlacementsWorkspace<T>& w) {
    place_in_world(tree, configuration(tree, q, w.angles), w.P);
    for (int i = 0; i < tree.nbodies; ++i) {
        const int body = tree.link_body[i];
        const Placement<T> P = user_axes(tree.bodies[body], w.P[body]);
        write_rows(P.R, rotation + 9 * i);
        translation[3 * i] = P.r.x, translation[3 * i + 1] = P.r.y, translation[3 * i + 2] = P.r.z;
    }
}

}  // namespace dtau::DTAU_VARIANT
