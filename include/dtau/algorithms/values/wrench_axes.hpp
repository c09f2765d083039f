// Rotates external wrenches that are given along the world's axes to body axes: along_body_axes(). O(N).
//
//   mixed   f_body = R^T f,   n_body = R^T n
//   world   f_body = R^T f,   n_body = R^T (n - x x f)        x: the body's origin in the world
//
//   body   in the body's axes, at its origin: as all other algorithms take them
//   mixed  in the world's axes, at the body's origin
//   world  in the world's axes, moment about the world's origin
//
// Wrenches that are along body axes already are not copied. Only "world" reads the position of a free
// root, and loses digits far from the world's origin.
#pragma once

#include "dtau/algorithms/values/placements.hpp"

namespace dtau::DTAU_VARIANT {

template <class T> struct WrenchAxesWorkspace {
    Axes axes;
    Configuration<T> angles;
    Placement<T>* P;  // of the canonical body frames in the world
    T* f_ext;         // (nbodies, 6)

    WrenchAxesWorkspace(Arena& arena, const Tree& tree, const Options& options)
        : axes(options.wrench_axes),
          angles(arena, tree),
          P(arena.take<Placement<T>>(in_world() ? tree.nnodes : 0)),
          f_ext(arena.take<T>(in_world() ? 6 * tree.nbodies : 0)) {}

    bool in_world() const { return axes != Axes::body; }
    // Whether there are wrenches along the world's axes.
    bool hold(const T* wrenches) const { return wrenches && in_world(); }
};

// Reads one wrench (or twist) in the user's order: linear first.
template <class T> inline Force<T> read_wrench(const T* f) {
    return {{f[3], f[4], f[5]}, {f[0], f[1], f[2]}};
}
template <class T> inline void write_wrench(const Force<T>& W, T* f) {
    f[0] = W.lin.x, f[1] = W.lin.y, f[2] = W.lin.z;
    f[3] = W.ang.x, f[4] = W.ang.y, f[5] = W.ang.z;
}

// Rotates a wrench along the world's axes to the axes of a body whose user's frame is at P.
template <class T> inline Force<T> seen_by_body(Axes axes, const Placement<T>& P, Force<T> W) {
    if (axes == Axes::world) W.ang = cross(W.lin, P.r, W.ang);
    return {transposed_mul(P.R, W.ang), transposed_mul(P.R, W.lin)};
}

// Computes the wrenches along body axes, given the placements of the bodies in w.P.
template <class T>
inline const T* turned_wrenches(const Tree& tree, const T* f_ext, const WrenchAxesWorkspace<T>& w) {
    for (int i = 0; i < tree.nbodies; ++i) {
        const int body = tree.link_body[i];
        const Placement<T> P = user_axes(tree.bodies[body], w.P[body]);
        write_wrench(seen_by_body(w.axes, P, read_wrench(f_ext + 6 * i)), w.f_ext + 6 * i);
    }
    return w.f_ext;
}

// Returns the wrenches f_ext (nbodies, 6) along body axes: converted, in w; or f_ext itself if it is null
// or along body axes already.
template <class T>
const T* along_body_axes(const Tree& tree, const T* q, const T* f_ext,
                         const WrenchAxesWorkspace<T>& w) {
    if (!w.hold(f_ext)) return f_ext;
    place_in_world(tree, configuration(tree, q, w.angles), w.P);
    return turned_wrenches(tree, f_ext, w);
}

}  // namespace dtau::DTAU_VARIANT
