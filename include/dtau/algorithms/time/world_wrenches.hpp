// Computes the joint torques of external wrenches that are given along world axes, as functions of
// time: world_wrench_torques(). O(N r^2). [HO-FBS] eqs. 69, 70, [Derivations] eq. 13.15. One order at a
// time, because forward dynamics solves for the motion order by order: order k needs derivatives of the
// velocities up to order k - 1.
//
// Torques are linear in wrenches. So the torques of these wrenches are subtracted from the result of
// inverse dynamics, and added to the torques that drive forward dynamics; the recursions do not have them.
//
// Coefficients of order k, for body i with parent p and R, d of poses.hpp:
//   x      position of the body in the world
//   W      force f and moment n of all wrenches on the subtree. About the body's origin (mixed axes):
//            f_p += f,  n_p += n + d x f;      about the world's origin: they only add
//   about  W with the moment about the body's origin: n - x x f, from a moment n about the world's
//   torque S^T R^T (n; f) of `about`
#pragma once

#include "dtau/algorithms/time/poses.hpp"

namespace dtau::DTAU_VARIANT {

template <class T> struct WorldWrenchWorkspace {
    Axes axes;
    int length;  // 0: wrenches are along body axes, and the arrays are empty
    MovingBodies<T> bodies;
    Vec3<T>* x;          // (nnodes, length), as the others
    Force<T>*W, *about;  // the same array if moments are about the body's origin already

    WorldWrenchWorkspace(Arena& arena, const Tree& tree, const Options& options)
        : axes(options.wrench_axes),
          length(axes == Axes::body ? 0 : options.order + 1),
          bodies(arena, tree, length),
          x(arena.take<Vec3<T>>(tree.nnodes * length)),
          W(arena.take<Force<T>>(tree.nnodes * length)),
          about(axes == Axes::world ? arena.take<Force<T>>(tree.nnodes * length) : W) {}

    std::ptrdiff_t at(int i) const { return std::ptrdiff_t(i) * length; }
    bool take(const T* f_ext) const { return f_ext && length > 0; }
};

// Order k of the wrench on a body. f_ext: (nbodies, 6), of order k.
template <class T> inline Force<T> own_wrench(const Body& body, const T* f_ext, T factor) {
    const T* g = f_ext + 6 * body.link;
    return {factor * Vec3<T>{g[3], g[4], g[5]}, factor * Vec3<T>{g[0], g[1], g[2]}};
}

// Order k of a wrench with its moment about the body's origin, from wrenches W as `axes` has them; x: the origin.
template <class T>
inline Force<T> about_origin(Axes axes, int k, const Force<T>* W, const Vec3<T>* x) {
    Force<T> about = W[k];
    for (int m = 0; m <= k && axes == Axes::world; ++m)
        about.ang = cross(W[m].lin, x[k - m], about.ang);
    return about;
}

// Calls f(c, torque) with order k of the joint's torque, unscaled, for each of its degrees of freedom.
template <class T, class F>
inline void wrench_torque(const Body& body, int k, const PoseSeries<T>& pose, const Force<T>* W,
                          T factor, const F& f) {
    if (body.kind == JointKind::revolute) {
        T sum(0.0);
        for (int m = 0; m <= k; ++m) sum = dot(pose.F[m].z, W[k - m].ang, sum);
        return f(0, factor * sum);
    }
    T torque[6];
    joint_torque(body, turned_back_sum(k, pose.R, W, zero_force<T>()), torque);
    for (int c = 0; c < body.nv; ++c) f(c, factor * torque[c]);
}

// Calls f(k, j, torque of order k) for orders `first` ... `last`; lower orders are computed before. v:
// derivatives of the velocities from order first - 1 on (from 0, if first is 0); f_ext: from order first
// on.
template <class T, class F>
inline void world_wrench_torques(const Tree& tree, int first, int last, const T* q, const T* v,
                                 const T* f_ext, const WorldWrenchWorkspace<T>& w, const F& f) {
    const int start = first == 0 ? 1 : first;  // the order that the first row of v gives
    const Configuration<T> angles =
        first == 0 ? configuration(tree, q, w.bodies.angles) : Configuration<T>(q, w.bodies.angles);
    for (int i = 0; i < tree.nnodes; ++i) {
        const Body& body = tree.bodies[i];
        const std::ptrdiff_t at = w.at(i), parent = w.at(body.parent);
        const PoseSeries<T> pose = w.bodies.poses.of(i);
        const bool carries = i + 1 < tree.nnodes && tree.bodies[i + 1].parent == i;
        if (carries || body.parent < 0 || body.kind != JointKind::revolute)
            for (int k = first; k <= last; ++k)
                move_body(tree, i, k, angles, k < start ? v : v + (k - start) * tree.nv, w.bodies);
        else  // the body's own rotation changes nothing
            for (int k = first; k <= last; ++k)
                extend_frame(body, k, w.bodies.joints.of(i), w.bodies.poses.of(body.parent).R,
                             pose);
        const Vec3<T>* d = pose.d;
        for (int k = first; k <= last && w.axes == Axes::world; ++k)
            w.x[at + k] = body.parent < 0 ? d[k] : w.x[parent + k] + d[k];
        for (int k = first; k <= last; ++k)
            w.W[at + k] = acts_on(f_ext, body)
                              ? own_wrench(body, f_ext + (k - first) * 6 * tree.nbodies,
                                           T(w.bodies.scale.inverse_factorial[k]))
                              : zero_force<T>();
    }
    for (int i = tree.nnodes - 1; i >= 0; --i) {
        const Body& body = tree.bodies[i];
        const PoseSeries<T> pose = w.bodies.poses.of(i);
        const Force<T>* W = w.W + w.at(i);
        const Vec3<T>* x = w.x + w.at(i);
        Force<T>* about = w.about + w.at(i);
        for (int k = first; k <= last && w.axes == Axes::world; ++k)
            about[k] = about_origin(w.axes, k, W, x);
        for (int k = first; k <= last; ++k)
            wrench_torque(body, k, pose, about, T(w.bodies.scale.factorial[k]),
                          [&](int c, T torque) { f(k, body.v + c, torque); });
        if (body.parent < 0) continue;
        Force<T>* W_p = w.W + w.at(body.parent);
        for (int k = first; k <= last; ++k) {
            Force<T> shifted = W[k];
            for (int m = 0; m <= k && w.axes == Axes::mixed; ++m)
                shifted.ang = cross(pose.d[m], W[k - m].lin, shifted.ang);
            W_p[k] += shifted;
        }
    }
}

}  // namespace dtau::DTAU_VARIANT
