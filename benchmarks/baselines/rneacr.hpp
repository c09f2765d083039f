// Computes the first-order partial derivatives of inverse dynamics by the chain rule on the recursive
// Newton-Euler algorithm in body coordinates (RNEACR): rneacr(). O(N d). [Carpentier] algorithms 2 and 3;
// [IDSVA] table II.
//
// It differentiates every quantity of the recursion by q_j and v_j, one joint column j after the other:
// motions in the subtree of j, forces there and on its path to the world; all others do not depend on j.
// The paper keeps a matrix of all columns for each body and moves it from body to body: the same products
// in another order. With the loop over columns outside, the workspace is O(N) and stays in the caches.
//
// Symbols, for body i with parent p, in the axes of body i; d: the derivative by q_j or v_j
//   a[i]        acceleration, gravity included
//   f[i]        force across joint i: the net force of the subtree
//   ap[i]       the parent's acceleration, in the axes of body i
//   of_q, of_v  d of twist, acceleration and force of a body, by q_j and by v_j
#pragma once

#include "body_frames.hpp"

namespace dtau::DTAU_VARIANT {

template <class T> struct BodyTangent {
    Motion<T> v, a;
    Force<T> f;
};

template <class T> struct RneacrWorkspace {
    BodyFrames<T> frames;
    Motion<T>*a, *ap;
    Force<T>* f;
    BodyTangent<T>*of_q, *of_v;

    RneacrWorkspace(Arena& arena, const Tree& tree, const Options&)
        : frames(arena, tree),
          a(arena.take<Motion<T>>(tree.nnodes)),
          ap(arena.take<Motion<T>>(tree.nnodes)),
          f(arena.take<Force<T>>(tree.nnodes)),
          of_q(arena.take<BodyTangent<T>>(tree.nnodes)),
          of_v(arena.take<BodyTangent<T>>(tree.nnodes)) {}
};

// Runs the recursion for accelerations and forces, after body_sweep has filled w.frames.
template <class T> void rneacr_values(const Tree& tree, const T* a, const RneacrWorkspace<T>& w) {
    const BodyFrames<T>& g = w.frames;
    for (int i = 0; i < tree.nnodes; ++i) {
        const Body& body = tree.bodies[i];
        const Motion<T> vi = g.v[i];
        w.ap[i] = acceleration_of_parent(tree, body, g.X[i], w.a);
        w.a[i] = cross(vi, g.vJ[i], w.ap[i] + joint_twist(body, a + body.v));
        w.f[i] = cross_star(vi, g.I[i] * vi, g.I[i] * w.a[i]);
    }
    for (int i = tree.nnodes - 1; i >= 0; --i)
        if (const int p = tree.bodies[i].parent; p >= 0) w.f[p] += transformed(g.X[i], w.f[i]);
}

// Column j of joint i: derivatives of motions forward through the subtree, then of forces back to the world.
template <class T>
DTAU_INLINE void rneacr_column(const Tree& tree, int i, int j, T* dtau_dq, T* dtau_dv, int n,
                               const RneacrWorkspace<T>& w) {
    const BodyFrames<T>& g = w.frames;
    const Motion<T> s = g.S[j], vJ = g.vJ[i], vi = g.v[i], vp = {vi.ang - vJ.ang, vi.lin - vJ.lin};
    BodyTangent<T>&own_q = w.of_q[i], &own_v = w.of_v[i];
    own_q.v = cross(vp, s);  // of X v_p
    own_q.a = cross(w.ap[i], s, cross(own_q.v, vJ));
    own_q.f = force_derivative(g, i, own_q.v, own_q.a);
    own_v.v = s;
    own_v.a = cross(s, vJ, cross(vi, s));
    own_v.f = force_derivative(g, i, own_v.v, own_v.a);
    for (int b = i + 1; b < g.end[i]; ++b) {
        const Body& body = tree.bodies[b];
        const auto step = [&](BodyTangent<T>* of) __attribute__((always_inline)) {
            const BodyTangent<T>& parent = of[body.parent];
            const Motion<T> dv = seen_from(g.X[b], parent.v);
            const Motion<T> da = seen_from(g.X[b], parent.a) + cross_joint(body, dv, g.vJ[b]);
            of[b] = {dv, da, force_derivative(g, b, dv, da)};
        };
        step(w.of_q);
        step(w.of_v);
    }
    for (int b = g.end[i] - 1; b > i; --b) {
        const Body& body = tree.bodies[b];
        const auto step = [&](BodyTangent<T>* of, T* column) __attribute__((always_inline)) {
            store_joint_torque(body, of[b].f, column + body.v * n, n);
            of[body.parent].f += transformed(g.X[b], of[b].f);
        };
        step(w.of_q, dtau_dq + j);
        step(w.of_v, dtau_dv + j);
    }
    Force<T> by_q = own_q.f, by_v = own_v.f;
    store_joint_torque(tree.bodies[i], by_q, dtau_dq + tree.bodies[i].v * n + j, n);
    store_joint_torque(tree.bodies[i], by_v, dtau_dv + tree.bodies[i].v * n + j, n);
    by_q = cross_star(s, w.f[i], by_q);  // X* turns with the joint
    for (int b = i, p = tree.bodies[i].parent; p >= 0; b = p, p = tree.bodies[b].parent) {
        const Body& body = tree.bodies[p];
        by_q = transformed(g.X[b], by_q);
        by_v = transformed(g.X[b], by_v);
        store_joint_torque(body, by_q, dtau_dq + body.v * n + j, n);
        store_joint_torque(body, by_v, dtau_dv + body.v * n + j, n);
    }
}

// dtau_dq, dtau_dv: (nv, nv), zero before; rows are `stride` apart.
template <class T>
void rneacr(const Tree& tree, const T* q, const T* v, const T* a, T* dtau_dq, T* dtau_dv,
            int stride, const RneacrWorkspace<T>& w) {
    body_sweep(tree, q, v, w.frames);
    rneacr_values(tree, a, w);
    for (int i = 0; i < tree.nnodes; ++i) {
        const Body& body = tree.bodies[i];
        for (int j = body.v; j < body.v + body.nv; ++j)
            rneacr_column(tree, i, j, dtau_dq, dtau_dv, stride, w);
    }
    for (int k = 0; k < tree.nv; ++k) dtau_dv[k * stride + k] += T(tree.damping[k]);
}

}  // namespace dtau::DTAU_VARIANT
