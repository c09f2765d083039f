// Computes the first derivatives of the twists and accelerations of frames:
// frame_velocities_derivatives(), frame_accelerations_derivatives(). O(d) for a frame at depth d.
// [Derivations] §19.
//
// V = X v_i and A = X a_i of values/frames.hpp, with the observer X, change by dV = X dv and dA = X da
// along the columns j of the joint of body b with parent p, on the path of the frame's body i:
//
//   along    dv               da                                  for axes
//   q_j      Psi'             a_p x s + Psi' x w                  body: the observer turns with i
//            s x w            s x (a_i - a_p) + Psi' x w          world: it stands still
//   v_j      s                Psi' + s x o                        any
//   a_j      0                s                                   any
//
// Mixed axes: of the frame's origin, but along axes that stand still. To dV and dA for body axes,
// both halves of (X s)_ang x V and (X s)_ang x A are added. [Derivations] eqs. 19.2 to 19.4
//
// The textbook differentiates every column of J and multiplies by v, O(d^2). Here a column costs O(1):
// a displacement along q_j moves all bodies below joint j rigidly, and only the parent's motion,
// which stays behind, changes v_i and a_i beside that. The differences w and o are exact zeros where
// the derivative is zero, however fast the base moves.
//
// Symbols:
//   s, Psi'   column s_j, and v_p x s_j ([IDSVA] eq. 31), without gravity
//   w, o      twists of i relative to p and to b: v_i - v_p, v_i - v_b
#pragma once

#include "dtau/algorithms/values/frames.hpp"

namespace dtau::DTAU_VARIANT {

// Quantities that all columns of one joint share.
template <class T> struct JointBelow {
    int p;
    Motion<T> v_p, w, o;
};
template <class T>
inline JointBelow<T> joint_below(const Body& body, int b, int i, const FrameWorkspace<T>& w) {
    const int p = body.parent;
    const Motion<T> v_p = p < 0 ? zero_motion<T>() : w.v[p];
    return {p, v_p, w.v[i] + -v_p, w.v[i] + -w.v[b]};
}

// A motion seen from the observer's point along the root frame's axes (at_point), and along the
// observer's own axes.
template <class T> inline Motion<T> at_point(const Placement<T>& X, const Motion<T>& m) {
    return {m.ang, cross(m.ang, X.r, m.lin)};
}
template <class T> inline Motion<T> along_axes(const Placement<T>& X, const Motion<T>& m) {
    return {transposed_mul(X.R, m.ang), transposed_mul(X.R, m.lin)};
}

// Both halves of u turned by an angle, plus c.
template <class T>
inline Motion<T> turned(const Vec3<T>& angle, const Motion<T>& u, const Motion<T>& c) {
    return {cross(angle, u.ang, c.ang), cross(angle, u.lin, c.lin)};
}

// Calls visit(k, joint) for the columns on the path of a frame.
template <class T, class Visit>
inline void for_columns_of_joints(const Tree& tree, const Frame& frame, const FrameWorkspace<T>& w,
                                  const Visit& visit) {
    for (int b = frame.body; b >= 0; b = tree.bodies[b].parent) {
        const Body& body = tree.bodies[b];
        const JointBelow<T> joint = joint_below(body, b, frame.body, w);
        for (int k = body.v; k < body.v + body.nv; ++k) visit(k, joint);
    }
}

// The derivative of the twist by q_j, along the root frame's axes; s is at the observer's point.
template <class T>
inline Motion<T> twist_by_q(Axes axes, const Placement<T>& X, const JointBelow<T>& joint,
                            const Motion<T>& S, const Motion<T>& Psidot, const Motion<T>& s,
                            const Motion<T>& V) {
    if (axes == Axes::world) return at_point(X, cross(S, joint.w));
    const Motion<T> body = at_point(X, Psidot);
    return axes == Axes::body ? body : turned(s.ang, V, body);
}

// dtwist_dq, dtwist_dv: (nframes, 6, nv), into zeros.
template <class T>
void frame_velocities_derivatives(const Tree& tree, const Frame* frames, int nframes, Axes axes,
                                  const T* q, const T* v, T* dq, T* dv,
                                  const FrameWorkspace<T>& w) {
    const int n = tree.nv;
    place_paths(tree, axes, q, w);
    paths_velocities(tree, v, w);
    for (int f = 0; f < nframes; ++f, dq += 6 * n, dv += 6 * n) {
        if (frames[f].body < 0) continue;
        const Placement<T> X = observer(tree, frames[f], axes, w);
        const Motion<T> V = at_point(X, w.v[frames[f].body]);
        for_columns_of_joints(tree, frames[f], w, [&](int k, const JointBelow<T>& joint) {
            const Motion<T> S = w.S[k], s = at_point(X, S);
            const Motion<T> by_q = twist_by_q(axes, X, joint, S, cross(joint.v_p, S), s, V);
            store_motion(along_axes(X, by_q), dq + k, n);
            store_motion(along_axes(X, s), dv + k, n);
        });
    }
}

// dacceleration_dq, dacceleration_dv, dacceleration_da: (nframes, 6, nv), into zeros.
template <class T>
void frame_accelerations_derivatives(const Tree& tree, const Frame* frames, int nframes, Axes axes,
                                     Acceleration kind, const T* q, const T* v, const T* a, T* dq,
                                     T* dv, T* da, const FrameWorkspace<T>& w) {
    const int n = tree.nv;
    place_paths(tree, axes, q, w);
    paths_velocities(tree, v, w);
    paths_accelerations(tree, v, a, w);
    for (int f = 0; f < nframes; ++f, dq += 6 * n, dv += 6 * n, da += 6 * n) {
        const int i = frames[f].body;
        if (i < 0) continue;
        const Placement<T> X = observer(tree, frames[f], axes, w);
        const Motion<T> V = at_point(X, w.v[i]), A = at_point(X, w.a[i]);
        for_columns_of_joints(tree, frames[f], w, [&](int k, const JointBelow<T>& joint) {
            const Motion<T> S = w.S[k], s = at_point(X, S), Psidot = cross(joint.v_p, S);
            const Motion<T> a_p = joint.p < 0 ? zero_motion<T>() : w.a[joint.p];
            const Motion<T> coriolis = cross(Psidot, joint.w);
            Motion<T> by_q = at_point(X, axes == Axes::world ? cross(S, w.a[i] + -a_p, coriolis)
                                                             : cross(a_p, S, coriolis));
            if (axes == Axes::mixed) by_q = turned(s.ang, A, by_q);
            Motion<T> by_v = at_point(X, cross(S, joint.o, Psidot));
            if (kind == Acceleration::classical) {  // [Derivations] eq. 19.5
                const Motion<T> dV = twist_by_q(axes, X, joint, S, Psidot, s, V);
                by_q.lin = cross(dV.ang, V.lin, cross(V.ang, dV.lin, by_q.lin));
                by_v.lin = cross(s.ang, V.lin, cross(V.ang, s.lin, by_v.lin));
            }
            store_motion(along_axes(X, by_q), dq + k, n);
            store_motion(along_axes(X, by_v), dv + k, n);
            store_motion(along_axes(X, s), da + k, n);
        });
    }
}

}  // namespace dtau::DTAU_VARIANT
