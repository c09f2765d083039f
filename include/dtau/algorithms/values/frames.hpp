// Computes placements, Jacobians, twists and accelerations of frames: frame_placements(),
// frame_jacobians(), frame_velocities(), frame_accelerations(). O(d) for a frame at depth d.
//
// For body i with parent p and the columns s_k of its joint, in the coordinates of the root frame:
//
//   v_i = v_p + v_J                              v_J = sum of s_k v_k
//   a_i = a_p + sum of s_k v'_k + v_p x v_J      without gravity
//   J_k = X s_k                                  for columns k on the path of i; zero for others
//   V   = X v_i                                  twist
//   A   = X a_i                                  spatial acceleration
//   c   = A.lin + V.ang x V.lin                  classical acceleration, of the body's point at which X is
//
// X is the observer, who sees a motion of the body from a point, along axes:
//   body    from the frame's origin, along the frame's axes
//   mixed   from the frame's origin, along world axes
//   world   from the world's origin, along world axes
//
// The textbook moves v_i and a_i from body to body, into the axes of each. In the root frame
// (kinematics.hpp) motions add without a transform, and X is applied once, at the frame. Only motions
// seen from the world's origin read the base's position. Passes visit only the bodies on the paths
// of the frames. Linear rows come first. [Derivations] §19.
#pragma once

#include "dtau/algorithms/values/placements.hpp"

namespace dtau::DTAU_VARIANT {

// The bodies on the paths of frames to the world, parents before children.
struct FramePaths {
    int *bodies, *first, *last;

    FramePaths(Arena& arena, const Tree& tree, const Frame* frames, int nframes)
        : bodies(arena.take<int>(tree.nnodes)), first(bodies), last(bodies) {
        if (!bodies) return;
        if (nframes == 1) {
            first = last = bodies + tree.nnodes;
            for (int i = frames[0].body; i >= 0; i = tree.bodies[i].parent) *--first = i;
            return;
        }
        for (int i = 0; i < tree.nnodes; ++i) bodies[i] = 0;
        for (int f = 0; f < nframes; ++f)
            for (int i = frames[f].body; i >= 0 && !bodies[i]; i = tree.bodies[i].parent)
                bodies[i] = 1;
        for (int i = 0; i < tree.nnodes; ++i)
            if (bodies[i]) *last++ = i;
    }
    const int* begin() const { return first; }
    const int* end() const { return last; }
};

template <class T> struct FrameWorkspace {
    FramePaths paths;
    Configuration<T> angles;
    Placement<T>*world, *P;  // in the world, and in the root frame
    Motion<T>*S, *v, *a;

    FrameWorkspace(Arena& arena, const Tree& tree, const Options& options)
        : paths(arena, tree, options.frames, options.nframes),
          angles(arena, tree),
          S(arena.take<Motion<T>>(tree.nv)) {
        arena.take_each(tree.nnodes, world, P, v, a);
    }
};

// ---------------------------------------------------------------- passes over the paths

// The configuration with the sines and cosines of the paths' angles, several at a time in a vector.
template <class T>
inline Configuration<T> paths_configuration(const Tree& tree, const T* q,
                                            const FrameWorkspace<T>& w) {
    constexpr int width = Pack<T>::width;
    T angle[width], sine[width], cosine[width];
    int at[width], count = 0;
    const auto finish = [&] {
        Pack<T> s, c;
        sincos(Pack<T>::load(angle, count).value, s.value, c.value);
        s.store(sine), c.store(cosine);
        for (int k = 0; k < count; ++k) {
            w.angles.sine[at[k]] = sine[k];
            w.angles.cosine[at[k]] = cosine[k];
        }
        count = 0;
    };
    for (int i : w.paths) {
        const Body& body = tree.bodies[i];
        const int k = body.q + traits(body.kind).angle;
        if (k < body.q) continue;
        angle[count] = q[k], at[count] = k;
        if (++count == width) finish();
    }
    if (count > 0) finish();
    return {q, w.angles};
}

template <class T>
inline void place_paths_in_world(const Tree& tree, const T* q, const FrameWorkspace<T>& w) {
    const Configuration<T> x = paths_configuration(tree, q, w);
    for (int i : w.paths) w.world[i] = world_placement(tree.bodies[i], w.world, x);
}

// Placements and motion subspaces in the root frame; and the placements in the world that the axes
// need: of the roots for mixed axes, of all bodies for the world's origin.
template <class T>
inline void place_paths(const Tree& tree, Axes axes, const T* q, const FrameWorkspace<T>& w) {
    const Configuration<T> x = paths_configuration(tree, q, w);
    for (int i : w.paths) {
        const Body& body = tree.bodies[i];
        if (axes == Axes::world || (axes == Axes::mixed && body.parent < 0))
            w.world[i] = world_placement(body, w.world, x);
        w.P[i] = root_frame_placement(body, w.P, x);
        motion_subspace(body, w.P[i], w.S + body.v);
    }
}

template <class T>
inline void paths_velocities(const Tree& tree, const T* v, const FrameWorkspace<T>& w) {
    for (int i : w.paths) {
        const Body& body = tree.bodies[i];
        w.v[i] = body.parent < 0 ? joint_twist(body, v + body.v)
                                 : subspace_times(body, w.S, v, w.v[body.parent]);
    }
}

template <class T>
inline void paths_accelerations(const Tree& tree, const T* v, const T* a,
                                const FrameWorkspace<T>& w) {
    for (int i : w.paths) {
        const Body& body = tree.bodies[i];
        if (body.parent < 0) {
            w.a[i] = joint_twist(body, a + body.v);
        } else {
            const Motion<T> own = subspace_times(body, w.S, v, zero_motion<T>());
            w.a[i] = subspace_times(body, w.S, a, cross(w.v[body.parent], own, w.a[body.parent]));
        }
    }
}

// ---------------------------------------------------------------- one frame

// The constant placement of a frame in the axes of its body.
inline Placement<double> frame_in_body(const Tree& tree, const Frame& frame) {
    const Mat3<double> axes = transposed(mat3(tree.bodies[frame.body].frame));
    return {axes * mat3(frame.rotation), axes * vec3(frame.translation)};
}

// The placement of a frame, in the coordinates in which P places its body.
template <class T>
inline Placement<T> frame_placement(const Tree& tree, const Frame& frame, const Placement<T>* P) {
    const Mat3<double> R = mat3(frame.rotation);
    const Vec3<double> r = vec3(frame.translation);
    if (frame.body < 0) return {lift<T>(R), lift<T>(r)};
    const Placement<T> body = user_axes(tree.bodies[frame.body], P[frame.body]);
    return {body.R * R, mul_add(body.R, r, body.r)};
}

// The observer X in the root frame: its point and its axes. seen_from(X, m) computes X m.
template <class T>
inline Placement<T> observer(const Tree& tree, const Frame& frame, Axes axes,
                             const FrameWorkspace<T>& w) {
    const Placement<T> F = frame_placement(tree, frame, w.P);
    if (axes == Axes::body) return F;
    const Mat3<T> world = transposed(w.world[tree.bodies[frame.body].root].R);
    if (axes == Axes::mixed) return {world, F.r};
    return {world, F.r - world * frame_placement(tree, frame, w.world).r};
}

// Stores six neighbors in a row of a matrix; with the stride of the rows, in a column.
template <class T> inline void store_motion(const Motion<T>& m, T* to, int stride = 1) {
    const T numbers[6] = {m.lin.x, m.lin.y, m.lin.z, m.ang.x, m.ang.y, m.ang.z};
    for (int r = 0; r < 6; ++r) to[r * stride] = numbers[r];
}

// Calls visit(k) for the columns on the path of a frame.
template <class Visit>
inline void for_columns(const Tree& tree, const Frame& frame, const Visit& visit) {
    const Body& body = tree.bodies[frame.body];
    for (int k = body.v + body.nv - 1; k >= 0; k = tree.dofs.parent[k]) visit(k);
}

// ---------------------------------------------------------------- the functions

// rotation (nframes, 3, 3) and translation (nframes, 3) in the world.
template <class T>
void frame_placements(const Tree& tree, const Frame* frames, int nframes, const T* q, T* rotation,
                      T* translation, const FrameWorkspace<T>& w) {
    place_paths_in_world(tree, q, w);
    for (int f = 0; f < nframes; ++f) {
        const Placement<T> P = frame_placement(tree, frames[f], w.world);
        write_rows(P.R, rotation + 9 * f);
        translation[3 * f] = P.r.x, translation[3 * f + 1] = P.r.y, translation[3 * f + 2] = P.r.z;
    }
}

// Jacobians (nframes, 6, nv), into zeros: twist of each frame = J v.
template <class T>
void frame_jacobians(const Tree& tree, const Frame* frames, int nframes, Axes axes, const T* q,
                     T* J, const FrameWorkspace<T>& w) {
    const int n = tree.nv;
    place_paths(tree, axes, q, w);
    for (int f = 0; f < nframes; ++f, J += 6 * n) {
        if (frames[f].body < 0) continue;
        const Placement<T> X = observer(tree, frames[f], axes, w);
        for_columns(tree, frames[f], [&](int k) { store_motion(seen_from(X, w.S[k]), J + k, n); });
    }
}

// Twists (nframes, 6).
template <class T>
void frame_velocities(const Tree& tree, const Frame* frames, int nframes, Axes axes, const T* q,
                      const T* v, T* twists, const FrameWorkspace<T>& w) {
    place_paths(tree, axes, q, w);
    paths_velocities(tree, v, w);
    for (int f = 0; f < nframes; ++f) {
        const int i = frames[f].body;
        const Motion<T> V =
            i < 0 ? zero_motion<T>() : seen_from(observer(tree, frames[f], axes, w), w.v[i]);
        store_motion(V, twists + 6 * f);
    }
}

// Accelerations (nframes, 6).
template <class T>
void frame_accelerations(const Tree& tree, const Frame* frames, int nframes, Axes axes,
                         Acceleration kind, const T* q, const T* v, const T* a, T* accelerations,
                         const FrameWorkspace<T>& w) {
    place_paths(tree, axes, q, w);
    paths_velocities(tree, v, w);
    paths_accelerations(tree, v, a, w);
    for (int f = 0; f < nframes; ++f) {
        const int i = frames[f].body;
        Motion<T> A = zero_motion<T>();
        if (i >= 0) {
            const Placement<T> X = observer(tree, frames[f], axes, w);
            const Motion<T> V = seen_from(X, w.v[i]);
            A = seen_from(X, w.a[i]);
            if (kind == Acceleration::classical) A.lin = cross(V.ang, V.lin, A.lin);
        }
        store_motion(A, accelerations + 6 * f);
    }
}

// A wrench (6) that acts at a frame, as external wrenches f_ext (nbodies, 6) in the user's body
// axes, into zeros.
template <class T>
void wrench_at_frame(const Tree& tree, const Frame& frame, Axes axes, const T* q, const T* wrench,
                     T* f_ext, const FrameWorkspace<T>& w) {
    Vec3<T> force = {wrench[0], wrench[1], wrench[2]}, moment = {wrench[3], wrench[4], wrench[5]};
    const Vec3<T> arm = lift<T>(vec3(frame.translation));
    if (axes == Axes::body) {
        const Mat3<T> R = lift<T>(mat3(frame.rotation));
        force = R * force, moment = R * moment;
    } else {
        place_paths_in_world(tree, q, w);
        if (axes == Axes::world)
            moment = cross(force, frame_placement(tree, frame, w.world).r, moment);
        const Mat3<T> R = user_axes(tree.bodies[frame.body], w.world[frame.body]).R;
        force = transposed_mul(R, force), moment = transposed_mul(R, moment);
    }
    moment = cross(arm, force, moment);
    const T row[6] = {force.x, force.y, force.z, moment.x, moment.y, moment.z};
    for (int k = 0; k < 6; ++k) f_ext[6 * tree.bodies[frame.body].link + k] = row[k];
}

}  // namespace dtau::DTAU_VARIANT
