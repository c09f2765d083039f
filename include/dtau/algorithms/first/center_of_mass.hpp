// Computes the first derivatives of the velocity and the acceleration of the center of mass:
// center_of_mass_velocity_derivatives(), center_of_mass_acceleration_derivatives(). O(N).
// [Derivations] eqs. 15.3, 15.4. NaN for a robot without mass.
//
// For column s of joint j, with the sums P, F, m and h over its subtree:
//
//   M dc'/dq  = s.ang x P + h * Psi'           M dc'/dv = h * s         h * u = m u.lin + u.ang x h
//   M dc''/dq = s.ang x F + h * Psi'' + 2 Psi'.ang x P
//   M dc''/dv = h * Upsilon' + 2 s.ang x P     M dc''/da = h * s
//
// The textbook differentiates the Jacobian J(q) of the center of mass. Here a column needs only the
// momentum and force of the subtree that joint j moves, which one backward pass adds up. Motions are
// along world axes, each body's about its own origin, so that no position of a root is read.
//
// Symbols, for column s of joint j with parent p, and for its subtree:
//   v, a, v_p, a_p  twist and spatial acceleration of body j, and of p, about the origin of j
//   Psi', Psi''     v_p x s and a_p x s + v_p x Psi'         Upsilon'  Psi' + v x s
//   h, P, F         mass and first moment; momentum; its rate        M  mass of the robot
#pragma once

#include "dtau/algorithms/values/center_of_mass.hpp"

namespace dtau::DTAU_VARIANT {

template <class T> struct CenterDerivativesWorkspace {
    ReferencePlacements<T> at;
    Motion<T>*S, *v, *a;
    FirstMoment<T>* h;
    Vec3<T>*P, *F;

    CenterDerivativesWorkspace(Arena& arena, const Tree& tree, const Options&)
        : at(arena, tree), S(arena.take<Motion<T>>(tree.nv)) {
        arena.take_each(tree.nnodes, v, a, h, P, F);
    }
};

// The motion of body i's parent, about the origin of body i.
template <class T>
inline Motion<T> parent_at_body(const Tree& tree, int i, const Motion<T>* motions,
                                const CenterDerivativesWorkspace<T>& w) {
    const int parent = tree.bodies[i].parent;
    if (parent < 0) return zero_motion<T>();
    const Motion<T>& m = motions[parent];
    return {m.ang, cross(m.ang, w.at.d[i], m.lin)};
}

// Computes S, v, h and P of the bodies, and a and F unless a is null. Returns one over the mass.
template <class T>
inline T move_masses(const Tree& tree, const T* q, const T* v, const T* a,
                     const CenterDerivativesWorkspace<T>& w) {
    place_along_world_axes(tree, q, w.at);
    Constant<T> mass(0.0);
    for (int i = 0; i < tree.nnodes; ++i) {
        const Body& body = tree.bodies[i];
        motion_subspace(body, w.at.P[i], w.S + body.v);
        const Motion<T> vp = parent_at_body(tree, i, w.v, w);
        const Motion<T> vJ = subspace_times(body, w.S, v, zero_motion<T>()), vi = vp + vJ;
        const FirstMoment<T> h = first_moment(tree, i, w.at);
        const Vec3<T> P = h * vi;
        w.v[i] = vi, w.h[i] = h, w.P[i] = P;
        if (a) {
            const Motion<T> ap = cross(vp, vJ, parent_at_body(tree, i, w.a, w));
            w.a[i] = subspace_times(body, w.S, a, ap);  // [Derivations] eq. 1.3
            w.F[i] = cross(vi.ang, P, h * w.a[i]);
        }
        mass += Constant<T>(body.mass);
    }
    return T(Constant<T>(1.0) / mass);
}

// dq, dv: (3, nv)
template <class T>
void center_of_mass_velocity_derivatives(const Tree& tree, const T* q, const T* v, T* dq, T* dv,
                                         const CenterDerivativesWorkspace<T>& w) {
    const int n = tree.nv;
    const T scale = move_masses<T>(tree, q, v, nullptr, w);
    for (int i = tree.nnodes - 1; i >= 0; --i) {
        const Body& body = tree.bodies[i];
        const Motion<T> vp = parent_at_body(tree, i, w.v, w);
        const FirstMoment<T>& h = w.h[i];
        for (int k = body.v; k < body.v + body.nv; ++k) {
            const Motion<T> s = w.S[k];
            const Vec3<T> by_q = cross(s.ang, w.P[i], h * cross(vp, s));  // [Derivations] eq. 15.3
            store_vector(scale * by_q, dq + k, n);
            store_vector(scale * (h * s), dv + k, n);
        }
        if (body.parent < 0) continue;
        w.h[body.parent] += moved(h, w.at.d[i]);
        w.P[body.parent] += w.P[i];
    }
}

// dq, dv, da: (3, nv)
template <class T>
void center_of_mass_acceleration_derivatives(const Tree& tree, const T* q, const T* v, const T* a,
                                             T* dq, T* dv, T* da,
                                             const CenterDerivativesWorkspace<T>& w) {
    const int n = tree.nv;
    const T scale = move_masses(tree, q, v, a, w);
    for (int i = tree.nnodes - 1; i >= 0; --i) {
        const Body& body = tree.bodies[i];
        const Motion<T> vi = w.v[i], vp = parent_at_body(tree, i, w.v, w);
        const Motion<T> ap = parent_at_body(tree, i, w.a, w);
        const FirstMoment<T>& h = w.h[i];
        const Vec3<T> P = w.P[i], P2 = P + P;
        for (int k = body.v; k < body.v + body.nv; ++k) {
            const Motion<T> s = w.S[k], Psidot = cross(vp, s);  // [IDSVA] eq. 31
            const Motion<T> Psiddot = cross(ap, s, cross(vp, Psidot));
            const Motion<T> Upsilondot = cross(vi, s, Psidot);
            const Vec3<T> by_q = cross(Psidot.ang, P2, cross(s.ang, w.F[i], h * Psiddot));
            const Vec3<T> by_v = cross(s.ang, P2, h * Upsilondot);  // [Derivations] eq. 15.4
            store_vector(scale * by_q, dq + k, n);
            store_vector(scale * by_v, dv + k, n);
            store_vector(scale * (h * s), da + k, n);
        }
        if (body.parent < 0) continue;
        w.h[body.parent] += moved(h, w.at.d[i]);
        w.P[body.parent] += P;
        w.F[body.parent] += w.F[i];
    }
}

}  // namespace dtau::DTAU_VARIANT
