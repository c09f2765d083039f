// First derivatives of the twists and accelerations of frames, O(d) for a frame at depth d. [Notes] §19,
// with the rates of [IDSVA] eq. 31 and the observer X of values/frames.hpp.
//
// Symbols, for body i with parent p and column s_j of the motion subspace of joint j, whose body is b:
//   Psidot[j]      Psi'_j  = v_p x s_j                    p: the parent of b
//   Psiddot[j]     Psi''_j = a_p x s_j + v_p x Psi'_j     without gravity
//   Upsilondot[j]  Psi'_j + v_b x s_j
//
// Of a frame on body i, for the columns j on its path; V = X v_i, A = X a_i:
//   dV/dq_j = X Psi'_j  + T_j V                     dV/dv_j = X s_j
//   dA/dq_j = X Psi''_j - V x X Psi'_j + T_j A      dA/dv_j = X Upsilon'_j - V x X s_j
//                                                   dA/da_j = X s_j
// T_j is what a turn of the observer against the frame adds: nothing in body axes; both halves crossed
// with the angular part of X s_j in mixed axes; X s_j x in world axes. [Notes] eqs. 19.2 to 19.4
#pragma once

#include "dtau/algorithms/values/frames.hpp"

namespace dtau::DTAU_VARIANT {

template <class T>
struct FrameDerivativesWorkspace : FrameWorkspace<T> {
    Motion<T>*Psidot, *Psiddot, *Upsilondot;

    FrameDerivativesWorkspace(Arena& arena, const Tree& tree, const Frame* frames, int nframes)
        : FrameWorkspace<T>(arena, tree, frames, nframes),
          Psidot(arena.take<Motion<T>>(tree.nv)),
          Psiddot(arena.take<Motion<T>>(tree.nv)),
          Upsilondot(arena.take<Motion<T>>(tree.nv)) {}
};

// Psi' alone.
template <class T>
DTAU_INLINE void paths_rates(const Tree& tree, const FrameDerivativesWorkspace<T>& w) {
    for (int i : w.paths) {
        const Body& body = tree.bodies[i];
        for (int k = body.v; k < body.v + body.nv; ++k)
            w.Psidot[k] = body.parent < 0 ? zero_motion<T>() : cross(w.v[body.parent], w.S[k]);
    }
}

// All three.
template <class T>
DTAU_INLINE void paths_second_rates(const Tree& tree, const FrameDerivativesWorkspace<T>& w) {
    paths_rates(tree, w);
    for (int i : w.paths) {
        const Body& body = tree.bodies[i];
        for (int k = body.v; k < body.v + body.nv; ++k) {
            const Motion<T> Psidot = w.Psidot[k];
            // v_J x s_k is zero where s_k is the only column.
            w.Upsilondot[k] = body.nv == 1 ? Psidot + Psidot : cross(w.v[i], w.S[k], Psidot);
            w.Psiddot[k] = body.parent < 0
                               ? zero_motion<T>()
                               : cross(w.a[body.parent], w.S[k], cross(w.v[body.parent], Psidot));
        }
    }
}

// T_j u + c, for s = X s_j.
template <class T>
DTAU_INLINE Motion<T> turned(Axes axes, const Motion<T>& s, const Motion<T>& u,
                             const Motion<T>& c) {
    if (axes == Axes::body) return c;
    if (axes == Axes::world) return cross(s, u, c);
    return {cross(s.ang, u.ang, c.ang), cross(s.ang, u.lin, c.lin)};
}

// dtwist_dq, dtwist_dv: (nframes, 6, nv), into zeros.
template <class T>
void frame_velocities_derivatives(const Tree& tree, const Frame* frames, int nframes, Axes axes,
                                  const T* q, const T* v, T* dq, T* dv,
                                  const FrameDerivativesWorkspace<T>& w) {
    const int n = tree.nv;
    place_paths(tree, axes, q, w);
    paths_velocities(tree, v, w);
    paths_rates(tree, w);
    for (int f = 0; f < nframes; ++f, dq += 6 * n, dv += 6 * n) {
        if (frames[f].body < 0) continue;
        const Placement<T> X = observer(tree, frames[f], axes, w);
        const Motion<T> V = seen_from(X, w.v[frames[f].body]);
        for_columns(tree, frames[f], [&](int k) {
            const Motion<T> s = seen_from(X, w.S[k]);
            store_motion(turned(axes, s, V, seen_from(X, w.Psidot[k])), dq + k, n);
            store_motion(s, dv + k, n);
        });
    }
}

// dacceleration_dq, dacceleration_dv, dacceleration_da: (nframes, 6, nv), into zeros.
template <class T>
void frame_accelerations_derivatives(const Tree& tree, const Frame* frames, int nframes, Axes axes,
                                     Acceleration kind, const T* q, const T* v, const T* a, T* dq,
                                     T* dv, T* da, const FrameDerivativesWorkspace<T>& w) {
    const int n = tree.nv;
    place_paths(tree, axes, q, w);
    paths_velocities(tree, v, w);
    paths_accelerations(tree, v, a, w);
    paths_second_rates(tree, w);
    for (int f = 0; f < nframes; ++f, dq += 6 * n, dv += 6 * n, da += 6 * n) {
        const int i = frames[f].body;
        if (i < 0) continue;
        const Placement<T> X = observer(tree, frames[f], axes, w);
        const Motion<T> V = seen_from(X, w.v[i]), A = seen_from(X, w.a[i]);
        for_columns(tree, frames[f], [&](int k) {
            const Motion<T> s = seen_from(X, w.S[k]), Psidot = seen_from(X, w.Psidot[k]);
            Motion<T> by_q = cross(Psidot, V, seen_from(X, w.Psiddot[k]));
            Motion<T> by_v = cross(s, V, seen_from(X, w.Upsilondot[k]));
            by_q = turned(axes, s, A, by_q);
            if (kind == Acceleration::classical) {  // [Notes] eq. 19.5
                const Motion<T> dV = turned(axes, s, V, Psidot);
                by_q.lin = cross(dV.ang, V.lin, cross(V.ang, dV.lin, by_q.lin));
                by_v.lin = cross(s.ang, V.lin, cross(V.ang, s.lin, by_v.lin));
            }
            store_motion(by_q, dq + k, n);
            store_motion(by_v, dv + k, n);
            store_motion(s, da + k, n);
        });
    }
}

}  // namespace dtau::DTAU_VARIANT
