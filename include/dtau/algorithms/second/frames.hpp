// Computes the derivatives of the Jacobians of frames by q, their kinematic Hessians:
// frame_jacobians_derivatives(). O(d^2) for a frame at depth d. [Derivations] eqs. 19.6 to 19.8.
//
// J_k = (alpha_k; beta_k): columns of the Jacobian in the requested axes, angular part first. For
// column u of a joint above the joint of column l, and for columns k, j of the same joint:
//
//   axes     dJ_u/dq_l               dJ_l/dq_u                              dJ_k/dq_j
//   body     J_u x J_l               0                                      0
//   world    0                       J_u x J_l                              J_j x J_k
//   mixed    (0; alpha_u x beta_l)   (alpha_u x alpha_l; alpha_u x beta_l)  (alpha_j x alpha_k;
//                                                                            alpha_j x beta_k)
//
// The textbook differentiates the transforms between bodies. Here X (s_u x s_l) = J_u x J_l, so that
// every entry is a product of two columns of J, and no transform is differentiated.
// Option `symmetric`: half of the sum with j and k exchanged, the second derivative of the frame's
// pose in the exponential chart.
#pragma once

#include "dtau/algorithms/values/frames.hpp"

namespace dtau::DTAU_VARIANT {

template <class T> struct FrameHessianWorkspace {
    FrameWorkspace<T> frames;
    Motion<T>* J;  // (nv) the columns of one Jacobian

    FrameHessianWorkspace(Arena& arena, const Tree& tree, const Options& options)
        : frames(arena, tree, options), J(arena.take<Motion<T>>(tree.nv)) {}
};

// The derivatives of column k along q_j, and of column j along q_k.
template <class T> struct ColumnChanges {
    Motion<T> k_along_j, j_along_k;
};

// For column k of a joint above the joint of column j.
template <class T>
inline ColumnChanges<T> change_of_columns(Axes axes, const Motion<T>& k, const Motion<T>& j) {
    const Motion<T> zero = zero_motion<T>();
    if (axes == Axes::body) return {cross(k, j), zero};
    if (axes == Axes::world) return {zero, cross(k, j)};
    const Vec3<T> linear = cross(k.ang, j.lin);
    return {{zero.ang, linear}, {cross(k.ang, j.ang), linear}};
}

// The derivative of column k along q_j of the same joint.
template <class T>
inline Motion<T> change_in_joint(Axes axes, const Motion<T>& k, const Motion<T>& j) {
    if (axes == Axes::body) return zero_motion<T>();
    if (axes == Axes::world) return cross(j, k);
    return {cross(j.ang, k.ang), cross(j.ang, k.lin)};
}

// dJ: (nframes, 6, nv, nv), zero before; [.., k, j] is the derivative of column k along q_j.
template <class T>
void frame_jacobians_derivatives(const Tree& tree, const Options& options, const T* q, T* dJ,
                                 const FrameHessianWorkspace<T>& w) {
    const int n = tree.nv;
    const auto store = [&](int k, int j, ColumnChanges<T> c) {
        if (options.symmetric) {
            const T half(0.5);
            c.k_along_j = {half * (c.k_along_j.ang + c.j_along_k.ang),
                           half * (c.k_along_j.lin + c.j_along_k.lin)};
            c.j_along_k = c.k_along_j;
        }
        store_motion(c.k_along_j, dJ + k * n + j, n * n);
        store_motion(c.j_along_k, dJ + j * n + k, n * n);
    };
    place_paths(tree, options.axes, q, w.frames);
    for (int f = 0; f < options.nframes; ++f, dJ += 6 * n * n) {
        const Frame& frame = options.frames[f];
        if (frame.body < 0) continue;
        const Placement<T> X = observer(tree, frame, options.axes, w.frames);
        for_columns(tree, frame, [&](int k) { w.J[k] = seen_from(X, w.frames.S[k]); });
        for (int b = frame.body; b >= 0; b = tree.bodies[b].parent) {
            const Body& body = tree.bodies[b];
            for (int j = body.v; j < body.v + body.nv; ++j) {
                for (int k = body.v; k <= j; ++k)
                    store(k, j,
                          {change_in_joint(options.axes, w.J[k], w.J[j]),
                           change_in_joint(options.axes, w.J[j], w.J[k])});
                for (int a = body.parent; a >= 0; a = tree.bodies[a].parent) {
                    const Body& above = tree.bodies[a];
                    for (int k = above.v; k < above.v + above.nv; ++k)
                        store(k, j, change_of_columns(options.axes, w.J[k], w.J[j]));
                }
            }
        }
    }
}

}  // namespace dtau::DTAU_VARIANT
