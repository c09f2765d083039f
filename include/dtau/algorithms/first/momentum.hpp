// Computes the first derivatives of the momentum about the center of mass and of its rate:
// centroidal_momentum_derivatives(), centroidal_momentum_rate_derivatives(). O(N).
// [Derivations] eqs. 15.6 to 15.8. Angular parts are NaN for a robot without mass.
//
// For column s of joint j, with the sums over its subtree, about a fixed point; f: momentum, or its
// rate:
//
//   momentum   d/dq  s x* f + I Psi'                    d/dv  I s
//   rate       d/dq  s x* f + I Psi'' + 2B Psi'         d/dv  2B s + I Upsilon'         d/da  I s
//   to the center of mass, the point being at t from it:   n + t x f;   by q also + F x J_k
//
// The textbook differentiates the matrix A_G of the centroidal momentum A_G q'. Here a column needs
// the sums over one subtree. Quantities are along world axes, about the references of the trees
// (references.hpp). Each column is then moved to the center of mass; F x J_k is there because the
// center moves, too: F is the linear part of f of the robot, J_k column k of the center's Jacobian.
//
// Symbols, for column k of joint j with parent p, and for its subtree:
//   Psi', Psi''  v_p x s and a_p x s + v_p x Psi'         Upsilon'  Psi' + v_j x s
//   I, B         inertia, Coriolis operator (inertia.hpp)
//   f            momentum; or its rate, the force
#pragma once

#include "dtau/algorithms/values/momentum.hpp"

namespace dtau::DTAU_VARIANT {

template <class T> struct MomentumDerivativesWorkspace {
    ReferenceMotions<T> motion;
    Inertia<T>* I;
    Coriolis<T>* B;
    Force<T>* f;

    MomentumDerivativesWorkspace(Arena& arena, const Tree& tree, const Options&)
        : motion(arena, tree) {
        arena.take_each(tree.nnodes, I, B, f);
    }
};

// Sums over the whole robot, from the composites of the subtrees.
template <class T> struct Whole {
    T scale;         // one over the mass
    Vec3<T> center;  // from the first tree's reference
    Vec3<T> f;       // linear
};
template <class T>
inline Whole<T> whole(const Tree& tree, const MomentumDerivativesWorkspace<T>& w) {
    Constant<T> mass(0.0);
    Vec3<T> moment = zero_vector<T>(), f = zero_vector<T>();
    for (int i = 0; i < tree.nnodes; ++i) {
        mass += Constant<T>(tree.bodies[i].mass);
        if (tree.bodies[i].parent >= 0) continue;
        moment += fma(w.I[i].m, w.motion.at.trees[i], w.I[i].h);
        f += w.f[i].lin;
    }
    const T scale(Constant<T>(1.0) / mass);
    return {scale, scale * moment, f};
}

// Moves a derivative from a tree's reference to the center of mass at `arm` from it, held still.
template <class T> inline Force<T> about_center(const Force<T>& f, const Vec3<T>& arm) {
    return {cross(f.lin, arm, f.ang), f.lin};
}

// dq, dv: (6, nv)
template <class T>
void centroidal_momentum_derivatives(const Tree& tree, const T* q, const T* v, T* dq, T* dv,
                                     const MomentumDerivativesWorkspace<T>& w) {
    const int n = tree.nv;
    move_about_references<T>(tree, q, v, nullptr, w.motion);
    for (int i = 0; i < tree.nnodes; ++i) {
        const Body& body = tree.bodies[i];
        const Placement<T>& P = w.motion.at.P[i];
        w.I[i] = transformed(P.R, P.r, body.mass, vec3(body.com), sym3(body.inertia));
        w.f[i] = w.I[i] * w.motion.v[i];
    }
    for (int i = tree.nnodes - 1; i >= 0; --i) {
        const int parent = tree.bodies[i].parent;
        if (parent >= 0) w.I[parent] += w.I[i], w.f[parent] += w.f[i];
    }
    const Whole<T> all = whole(tree, w);
    for (int i = 0; i < tree.nnodes; ++i) {
        const Body& body = tree.bodies[i];
        const Vec3<T> arm = all.center - w.motion.at.trees[body.root];
        const Motion<T> vp = of_parent(body, w.motion.v);
        for (int k = body.v; k < body.v + body.nv; ++k) {
            const Motion<T> s = w.motion.S[k];
            const Force<T> by_v = w.I[i] * s;
            Force<T> by_q = cross_star(s, w.f[i], w.I[i] * cross(vp, s));  // [Derivations] eq. 15.6
            by_q.ang = cross(all.f, all.scale * by_v.lin, by_q.ang);       // [Derivations] eq. 15.8
            store_momentum(about_center(by_q, arm), dq + k, n);
            store_momentum(about_center(by_v, arm), dv + k, n);
        }
    }
}

// dq, dv, da: (6, nv)
template <class T>
void centroidal_momentum_rate_derivatives(const Tree& tree, const T* q, const T* v, const T* a,
                                          T* dq, T* dv, T* da,
                                          const MomentumDerivativesWorkspace<T>& w) {
    const int n = tree.nv;
    move_about_references(tree, q, v, a, w.motion);
    for (int i = 0; i < tree.nnodes; ++i) {
        const Body& body = tree.bodies[i];
        const Placement<T>& P = w.motion.at.P[i];
        const Motion<T>& vi = w.motion.v[i];
        w.I[i] = transformed(P.R, P.r, body.mass, vec3(body.com), sym3(body.inertia));
        const Force<T> momentum = w.I[i] * vi;
        w.B[i] = coriolis(w.I[i], vi, momentum);  // [IDSVA] eq. 28
        w.f[i] = cross_star(vi, momentum, w.I[i] * w.motion.a[i]);
    }
    for (int i = tree.nnodes - 1; i >= 0; --i) {
        const int parent = tree.bodies[i].parent;
        if (parent < 0) continue;
        w.I[parent] += w.I[i], w.B[parent] += w.B[i], w.f[parent] += w.f[i];
    }
    const Whole<T> all = whole(tree, w);
    for (int i = 0; i < tree.nnodes; ++i) {
        const Body& body = tree.bodies[i];
        const Inertia<T>& I = w.I[i];
        const Coriolis<T>& B = w.B[i];
        const Vec3<T> arm = all.center - w.motion.at.trees[body.root];
        const Motion<T> vi = w.motion.v[i];
        const Motion<T> vp = of_parent(body, w.motion.v), ap = of_parent(body, w.motion.a);
        for (int k = body.v; k < body.v + body.nv; ++k) {
            const Motion<T> s = w.motion.S[k], Psidot = cross(vp, s);  // [IDSVA] eq. 31
            const Motion<T> Psiddot = cross(ap, s, cross(vp, Psidot));
            const Force<T> by_a = I * s;
            // [Derivations] eq. 15.7
            const Force<T> by_v = mul_add(B, s, I * cross(vi, s, Psidot));
            Force<T> by_q = mul_add(B, Psidot, cross_star(s, w.f[i], I * Psiddot));
            by_q.ang = cross(all.f, all.scale * by_a.lin, by_q.ang);  // [Derivations] eq. 15.8
            store_momentum(about_center(by_q, arm), dq + k, n);
            store_momentum(about_center(by_v, arm), dv + k, n);
            store_momentum(about_center(by_a, arm), da + k, n);
        }
    }
}

}  // namespace dtau::DTAU_VARIANT
