// Computes the errors of frames from targets, and their Jacobians: frame_errors(). O(d) for a frame at
// depth d.
//
//   e = log(T^-1 X)        X: pose of the frame, T: its target, both in the world
//   de/dq = J(e)^-1 J_f    J(e): right Jacobian of SE(3), J_f: Jacobian of the frame in its own axes
//
// The textbook multiplies the two Jacobians. Here J(e)^-1 and the turn into the frame's axes are one map
// of the columns s_k of the motion subspaces, which costs a column no more than the turn alone.
// [Derivations] §§19, 25.
#pragma once

#include "dtau/algorithms/poses/poses.hpp"
#include "dtau/algorithms/values/frames.hpp"

namespace dtau::DTAU_VARIANT {

// Placements and motion subspaces in the root frame, and placements in the world of the bodies that are at
// its origin: roots, and bodies that only slide in the world.
template <class T>
inline void place_paths_and_origins(const Tree& tree, const T* q, const FrameWorkspace<T>& w) {
    const Configuration<T> x = paths_configuration(tree, q, w);
    for (int i : w.paths) {
        const Body& body = tree.bodies[i];
        if (body.at_origin) w.world[i] = world_placement(body, w.world, x);
        w.P[i] = root_frame_placement(body, w.P, x);
        motion_subspace(body, w.P[i], w.S + body.v);
    }
}

// The pose in the world of a frame whose pose in the root frame is F.
template <class T>
inline Placement<T> from_root_to_world(const Tree& tree, const Frame& frame, const Placement<T>& F,
                                       const FrameWorkspace<T>& w) {
    if (frame.body < 0) return F;
    int origin = frame.body;
    while (!tree.bodies[origin].at_origin) origin = tree.bodies[origin].parent;
    const Mat3<T>& R = w.world[tree.bodies[origin].root].R;
    return {R * F.R, mul_add(R, F.r, w.world[origin].r)};
}

// targets (nframes, 7); errors (nframes, 6); J (nframes, 6, nv), into zeros.
template <class T>
void frame_errors(const Tree& tree, const Frame* frames, int nframes, const T* q, const T* targets,
                  T* errors, T* J, const FrameWorkspace<T>& w) {
    const int n = tree.nv;
    place_paths_and_origins(tree, q, w);
    for (int f = 0; f < nframes; ++f, targets += 7, errors += 6, J += 6 * n) {
        const Placement<T> F = frame_placement(tree, frames[f], w.P);
        const Placement<T> X = from_root_to_world(tree, frames[f], F, w);
        const Mat3<T> R = transposed(quaternion_rotation(targets + 3));
        const Vec3<T> turn = rotation_log(R * X.R);
        const Motion<T> e = {turn, log_translation(turn, R * (X.r - load_vector(targets)))};
        store_twist(e, errors);
        if (frames[f].body < 0) continue;
        const MotionMap<T> inverse = inverse_right_jacobian(e);
        const Mat3<T> axes = transposed(F.R), E = inverse.E * axes, Q = inverse.Q * axes;
        for_columns(tree, frames[f], [&](int k) {
            const Motion<T>& s = w.S[k];
            const Vec3<T> linear = cross(s.ang, F.r, s.lin);
            store_motion(Motion<T>{E * s.ang, mul_add(Q, s.ang, E * linear)}, J + k, n);
        });
    }
}

}  // namespace dtau::DTAU_VARIANT
