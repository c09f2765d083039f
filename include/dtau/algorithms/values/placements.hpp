// Computes the placements of bodies in the world: forward_kinematics(), place_in_world(). O(N).
// [RBDA] section 4.4.
//
//   P_i = P_p P_T P_J(q)        P_p = 1 for a root body; P_T: the constant frame of joint i in p
//                               P_J(q): displacement of the joint from that frame
//
// The textbook composes transforms between neighboring bodies. Here each body gets its pose in the
// world at once, because both the pose and the frames fixed to the body are results. Frames are
// canonical (model.hpp): the joint's rotation combines two columns of the joint frame, and only
// results are turned to the user's axes (user_axes). The dynamics read no pose in the world, but
// poses in the root frame, which lose no digits far from the world's origin (kinematics.hpp).
#pragma once

#include "dtau/kinematics.hpp"

namespace dtau::DTAU_VARIANT {

template <class T> DTAU_INLINE void write_rows(const Mat3<T>& m, T* rows) {
    rows[0] = m.x.x, rows[1] = m.y.x, rows[2] = m.z.x;
    rows[3] = m.x.y, rows[4] = m.y.y, rows[5] = m.z.y;
    rows[6] = m.x.z, rows[7] = m.y.z, rows[8] = m.z.z;
}

template <class T> struct PlacementsWorkspace {
    Placement<T>* P;  // of the canonical body frames in the world
    Configuration<T> angles;

    PlacementsWorkspace(Arena& arena, const Tree& tree, const Options&)
        : P(arena.take<Placement<T>>(tree.nnodes)), angles(arena, tree) {}
};

// Pose of a body in the world, given its parent's in P.
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

// A canonical body frame P, turned to the user's axes.
template <class T> DTAU_INLINE Placement<T> user_axes(const Body& body, const Placement<T>& P) {
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
