// Placements of bodies in the world, and Jacobians of frames, O(N) and O(d) a frame.
//
// Jacobians are computed in ground coordinates (kinematics.hpp), so that only those that are taken
// about the world's origin lose digits far from it. Linear rows first.
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
    Ground<T> ground;

    PlacementsWorkspace(Arena& arena, const Tree& tree)
        : P(arena.take<Placement<T>>(tree.nbodies)), ground(arena, tree) {}
};

template <class T>
DTAU_INLINE void place_in_world(const Tree& tree, const T* q, const PlacementsWorkspace<T>& w) {
    const Configuration<T> x = configuration(tree, q, w.ground.angles);
    for (int i = 0; i < tree.nbodies; ++i) {
        const Body& body = tree.bodies[i];
        const Placement<T> frame =
            body.parent < 0 ? constant_placement<T>(body) : joint_frame(body, w.P[body.parent]);
        w.P[i] = joint_placement(body, frame, x);
    }
}

// The user's axes of a canonical body frame.
template <class T>
DTAU_INLINE Placement<T> user_axes(const Body& body, const Placement<T>& P) {
    return {P.R * transposed(mat3(body.frame)), P.r};
}

// rotation (nlinks, 3, 3) and translation (nlinks, 3) of the user's body frames in the world.
template <class T>
void forward_kinematics(const Tree& tree, const T* q, T* rotation, T* translation,
                        const PlacementsWorkspace<T>& w) {
    place_in_world(tree, q, w);
    for (int i = 0; i < tree.nlinks; ++i) {
        const int body = tree.link_body[i];
        const Placement<T> P = user_axes(tree.bodies[body], w.P[body]);
        write_rows(P.R, rotation + 9 * i);
        translation[3 * i] = P.r.x, translation[3 * i + 1] = P.r.y, translation[3 * i + 2] = P.r.z;
    }
}

// A frame in the same coordinates as the placement P of its body.
template <class T>
DTAU_INLINE Placement<T> frame_placement(const Tree& tree, const Frame& frame,
                                         const Placement<T>* P) {
    const Mat3<double> R = mat3(frame.rotation);
    const Vec3<double> r = vec3(frame.translation);
    if (frame.body < 0) return {lift<T>(R), lift<T>(r)};
    const Placement<T> body = user_axes(tree.bodies[frame.body], P[frame.body]);
    return {body.R * R, mul_add(body.R, r, body.r)};
}

template <class T>
void frame_placements(const Tree& tree, const Frame* frames, int nframes, const T* q, T* rotation,
                      T* translation, const PlacementsWorkspace<T>& w) {
    place_in_world(tree, q, w);
    for (int f = 0; f < nframes; ++f) {
        const Placement<T> P = frame_placement(tree, frames[f], w.P);
        write_rows(P.R, rotation + 9 * f);
        translation[3 * f] = P.r.x, translation[3 * f + 1] = P.r.y, translation[3 * f + 2] = P.r.z;
    }
}

// Jacobians (nframes, 6, nv), into zeros: twist of each frame = J v.
//   body   in the frame's own axes, at its origin
//   world  in world axes, of the point at the world's origin (spatial)
//   mixed  in world axes, at the frame's origin
template <class T>
void frame_jacobians(const Tree& tree, const Frame* frames, int nframes, Axes axes, const T* q,
                     T* J, const PlacementsWorkspace<T>& w) {
    const int n = tree.nv;
    place_in_world(tree, q, w);
    const Configuration<T> x = configuration(tree, q, w.ground.angles);
    for (int i = 0; i < tree.nbodies; ++i) place_body(tree, i, x, w.ground);
    for (int f = 0; f < nframes; ++f, J += 6 * n) {
        const Frame& frame = frames[f];
        if (frame.body < 0) continue;
        const Body& body = tree.bodies[frame.body];
        const Placement<T> F = frame_placement(tree, frame, w.ground.P);  // in ground
        const Mat3<T> ground_to_world = w.P[body.root].R;
        const Vec3<T> origin = frame_placement(tree, frame, w.P).r;  // in the world
        for (int k = body.v + body.nv - 1; k >= 0; k = tree.dofs.parent[k]) {
            const Motion<T> s = w.ground.S[k];
            Motion<T> t = {s.ang, cross(s.ang, F.r, s.lin)};  // at the frame's origin
            if (axes == Axes::body) {
                t = {transposed_mul(F.R, t.ang), transposed_mul(F.R, t.lin)};
            } else {
                t = {ground_to_world * t.ang, ground_to_world * t.lin};
                if (axes == Axes::world) t.lin = cross(origin, t.ang, t.lin);
            }
            const T column[6] = {t.lin.x, t.lin.y, t.lin.z, t.ang.x, t.ang.y, t.ang.z};
            for (int row = 0; row < 6; ++row) J[row * n + k] = column[row];
        }
    }
}

// A wrench (6) that acts at a frame, as external wrenches f_ext (nlinks, 6) in the user's body
// axes.
template <class T>
void wrench_at_frame(const Tree& tree, const Frame& frame, Axes axes, const T* q, const T* wrench,
                     T* f_ext, const PlacementsWorkspace<T>& w) {
    Vec3<T> force = {wrench[0], wrench[1], wrench[2]}, moment = {wrench[3], wrench[4], wrench[5]};
    const Vec3<T> arm = lift<T>(vec3(frame.translation));
    if (axes == Axes::body) {
        const Mat3<T> R = lift<T>(mat3(frame.rotation));
        force = R * force, moment = R * moment;
    } else {
        place_in_world(tree, q, w);
        if (axes == Axes::world) moment = cross(force, frame_placement(tree, frame, w.P).r, moment);
        const Mat3<T> R = user_axes(tree.bodies[frame.body], w.P[frame.body]).R;
        force = transposed_mul(R, force), moment = transposed_mul(R, moment);
    }
    moment = cross(arm, force, moment);
    const T row[6] = {force.x, force.y, force.z, moment.x, moment.y, moment.z};
    for (int k = 0; k < 6; ++k) f_ext[6 * tree.bodies[frame.body].link + k] = row[k];
}

}  // namespace dtau::DTAU_VARIANT
