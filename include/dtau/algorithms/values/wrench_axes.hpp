// Turns external wrenches that are given along the world's axes into body axes: along_body_axes().
// O(N).
//
//   body   in the body's axes, at its origin: as all other algorithms take them
//   mixed  in the world's axes, at the body's origin
//   world  in the world's axes, moment about the world's origin
//
// Nothing is computed for wrenches that are along body axes already. Only the last ones read where
// a free root is, and lose digits far from the world's origin.
#pragma once

#include "dtau/algorithms/values/placements.hpp"

namespace dtau::DTAU_VARIANT {

template <class T>
struct WrenchAxesWorkspace {
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
    // Whether there are wrenches that do not turn with their bodies.
    bool hold(const T* wrenches) const { return wrenches && in_world(); }
};

// One wrench, or a twist, its dual, as users have them: linear first.
template <class T>
DTAU_INLINE Force<T> read_wrench(const T* f) {
    return {{f[3], f[4], f[5]}, {f[0], f[1], f[2]}};
}
template <class T>
DTAU_INLINE void write_wrench(const Force<T>& W, T* f) {
    f[0] = W.lin.x, f[1] = W.lin.y, f[2] = W.lin.z;
    f[3] = W.ang.x, f[4] = W.ang.y, f[5] = W.ang.z;
}

// A wrench along the world's axes, in those of the body whose user's frame stands at P.
template <class T>
DTAU_INLINE Force<T> seen_by_body(Axes axes, const Placement<T>& P, Force<T> W) {
    if (axes == Axes::world) W.ang = cross(W.lin, P.r, W.ang);
    return {transposed_mul(P.R, W.ang), transposed_mul(P.R, W.lin)};
}

// The wrenches along body axes, of bodies that stand at w.P.
template <class T>
DTAU_INLINE const T* turned_wrenches(const Tree& tree, const T* f_ext,
                                     const WrenchAxesWorkspace<T>& w) {
    for (int i = 0; i < tree.nbodies; ++i) {
        const int body = tree.link_body[i];
        const Placement<T> P = user_axes(tree.bodies[body], w.P[body]);
        write_wrench(seen_by_body(w.axes, P, read_wrench(f_ext + 6 * i)), w.f_ext + 6 * i);
    }
    return w.f_ext;
}

// The wrenches f_ext (nbodies, 6) along body axes: in w, or f_ext itself if it is null or along
// them.
template <class T>
const T* along_body_axes(const Tree& tree, const T* q, const T* f_ext,
                         const WrenchAxesWorkspace<T>& w) {
    if (!w.hold(f_ext)) return f_ext;
    place_in_world(tree, configuration(tree, q, w.angles), w.P);
    return turned_wrenches(tree, f_ext, w);
}

}  // namespace dtau::DTAU_VARIANT
