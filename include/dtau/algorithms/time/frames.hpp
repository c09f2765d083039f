// Computes the time derivatives of the poses, twists and Jacobians of frames:
// frame_kinematics_time_derivatives(), frame_jacobians_time_derivatives(). O(N r^2) for a frame,
// for all columns of its Jacobian together too. [HO-FBS] Algorithm 1 for any frame, in body, mixed
// and spatial axes; [Derivations] eqs. 13.13, 13.14.
//
// For a frame fixed to body i by the rotation G and the position t in its axes, with R and d of
// poses.hpp:
//   pose      R_i G,  x = (sum of d over the path) + R_i t
//   mixed     linear x',  angular omega = half the sum of c x c' over the columns c of R_i G
//   world     linear x' + x x omega (spatial: of the point at the world's origin)
//   body      both halves of mixed, rotated into the frame's axes
//   Jacobian  of a column (angular a, linear b in body axes) of the joint of body j on the path, mixed:
//             angular R_j a,  linear R_j b + (R_j a) x D_j,  D_j from the origin of j to the frame's
//
// The paper has the recursion of body-fixed twists. Here the pose is a series, and twist and
// Jacobian are products of series: a column is constant in the axes of its body, so that only R_j and
// D_j have time derivatives.
#pragma once

#include "dtau/algorithms/time/poses.hpp"
#include "dtau/algorithms/values/frames.hpp"

namespace dtau::DTAU_VARIANT {

template <class T> struct FrameSeriesWorkspace {
    int length;
    MovingBodies<T> bodies;
    FramePaths paths;
    Vec3<T>* origins;  // of bodies in the world, (nnodes, length)
    // For one frame: its pose; D_j from the origin of a body on its path; its twist; the columns of
    // one joint.
    Mat3<T>* R;
    Vec3<T>*x, *D;
    Motion<T>*twist, *S;

    FrameSeriesWorkspace(Arena& arena, const Tree& tree, const Options& options)
        : length(options.order + 1),
          bodies(arena, tree, length),
          paths(arena, tree, options.frames, options.nframes),
          origins(arena.take<Vec3<T>>(tree.nnodes * length)),
          S(arena.take<Motion<T>>(6 * length)) {
        arena.take_each(length, R, x, D, twist);
    }

    Vec3<T>* origin(int i) const { return origins + std::ptrdiff_t(i) * length; }
};

// Poses, up to `order`, of all bodies that the frames depend on; v: (order, nv).
template <class T>
inline void move_frames(const Tree& tree, int order, const T* q, const T* v,
                        const FrameSeriesWorkspace<T>& w) {
    const Configuration<T> x = configuration(tree, q, w.bodies.angles);
    for (int i : w.paths) {
        const int parent = tree.bodies[i].parent;
        for (int k = 0; k <= order; ++k) {
            move_body(tree, i, k, x, k == 0 ? v : v + (k - 1) * tree.nv, w.bodies);
            const Vec3<T> d = w.bodies.poses.of(i).d[k];
            w.origin(i)[k] = parent < 0 ? d : w.origin(parent)[k] + d;
        }
    }
}

// The pose of a frame, and w.D from the origin of its body.
template <class T>
inline void frame_pose(const Tree& tree, const Frame& frame, int order,
                       const FrameSeriesWorkspace<T>& w) {
    if (frame.body < 0) {
        for (int k = 0; k <= order; ++k) w.R[k] = zero_matrix<T>(), w.x[k] = zero_vector<T>();
        w.R[0] = lift<T>(mat3(frame.rotation)), w.x[0] = lift<T>(vec3(frame.translation));
        return;
    }
    const auto [G, t] = frame_in_body(tree, frame);
    const PoseSeries<T> body = w.bodies.poses.of(frame.body);
    for (int k = 0; k <= order; ++k) {
        w.R[k] = body.R[k] * G;
        w.D[k] = mul_add(body.R[k], t, zero_vector<T>());
        w.x[k] = w.origin(frame.body)[k] + w.D[k];
    }
}

// Order k of a mixed twist or column, given its orders below `count`, in the requested axes.
template <class T>
inline Motion<T> in_axes(Axes axes, int k, const Motion<T>* m, const Mat3<T>* R, const Vec3<T>* x) {
    if (axes == Axes::body) return turned_back_sum(k, R, m, zero_motion<T>());
    Motion<T> out = m[k];
    for (int n = 0; n <= k && axes == Axes::world; ++n)
        out.lin = cross(x[n], m[k - n].ang, out.lin);
    return out;
}

// v: (order, nv). rotation (order + 1, nframes, 3, 3), translation (order + 1, nframes, 3),
// twist (order, nframes, 6).
template <class T>
void frame_kinematics_time_derivatives(const Tree& tree, const Frame* frames, int nframes,
                                       Axes axes, int order, const T* q, const T* v, T* rotation,
                                       T* translation, T* twist, const FrameSeriesWorkspace<T>& w) {
    move_frames(tree, order, q, v, w);
    const double* factorial = w.bodies.scale.factorial;
    for (int f = 0; f < nframes; ++f) {
        frame_pose(tree, frames[f], order, w);
        for (int k = 0; k <= order; ++k) {
            const T factor(factorial[k]);
            const std::ptrdiff_t at = std::ptrdiff_t(k) * nframes + f;
            write_rows(factor * w.R[k], rotation + 9 * at);
            store_vector(factor * w.x[k], translation + 3 * at);
        }
        for (int k = 0; k < order; ++k) {
            Vec3<T> twice = zero_vector<T>();
            for (int m = 0; m <= k; ++m) {
                const Mat3<T>&R = w.R[k - m], &next = w.R[m + 1];
                const Vec3<T> sum = cross(R.x, next.x, cross(R.y, next.y, cross(R.z, next.z)));
                twice = fma(T(m + 1.0), sum, twice);  // [Derivations] eq. 13.13
            }
            w.twist[k] = {T(0.5) * twice, T(k + 1.0) * w.x[k + 1]};
        }
        for (int k = 0; k < order; ++k) {
            const Motion<T> m = in_axes(axes, k, w.twist, w.R, w.x);
            const T row[6] = {m.lin.x, m.lin.y, m.lin.z, m.ang.x, m.ang.y, m.ang.z};
            T* out = twist + 6 * (std::ptrdiff_t(k) * nframes + f);
            for (int c = 0; c < 6; ++c) out[c] = T(factorial[k]) * row[c];
        }
    }
}

// v: (order, nv). J: (order + 1, nframes, 6, nv), into zeros.
template <class T>
void frame_jacobians_time_derivatives(const Tree& tree, const Frame* frames, int nframes, Axes axes,
                                      int order, const T* q, const T* v, T* J,
                                      const FrameSeriesWorkspace<T>& w) {
    const std::ptrdiff_t n = tree.nv;
    move_frames(tree, order, q, v, w);
    for (int f = 0; f < nframes; ++f) {
        frame_pose(tree, frames[f], order, w);
        for (int i = frames[f].body; i >= 0; i = tree.bodies[i].parent) {
            const Body& body = tree.bodies[i];
            const PoseSeries<T> pose = w.bodies.poses.of(i);
            for (int k = 0; k <= order; ++k) {
                Motion<T> S[6];
                motion_subspace(body, {pose.R[k], zero_vector<T>()}, S);
                for (int c = 0; c < body.nv; ++c) w.S[c * w.length + k] = S[c];
            }
            for (int c = 0; c < body.nv; ++c) {
                Motion<T>* S = w.S + c * w.length;
                for (int k = 0; k <= order; ++k)
                    for (int m = 0; m <= k; ++m)  // [Derivations] eq. 13.14
                        S[k].lin = cross(S[m].ang, w.D[k - m], S[k].lin);
                for (int k = 0; k <= order; ++k) {
                    const T factor(w.bodies.scale.factorial[k]);
                    const Motion<T> s = in_axes(axes, k, S, w.R, w.x);
                    const T column[6] = {s.lin.x, s.lin.y, s.lin.z, s.ang.x, s.ang.y, s.ang.z};
                    T* out = J + (std::ptrdiff_t(k) * nframes + f) * 6 * n + body.v + c;
                    for (int row = 0; row < 6; ++row) out[row * n] = factor * column[row];
                }
            }
            for (int k = 0; k <= order; ++k) w.D[k] = w.D[k] + pose.d[k];
        }
    }
}

}  // namespace dtau::DTAU_VARIANT
