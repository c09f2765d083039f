// Computes the first-order partial derivatives of forward dynamics by the chain rule on the
// articulated-body algorithm in body coordinates (ABACR): abacr(). O(N) for a column. [IDSVA] table II.
//
// It takes one joint column j after the other, with the derivatives by q_j, v_j and tau_j together. What
// depends on these variables: twists and velocity products in the subtree of j; bias forces there and on
// the path to the world; articulated inertias on that path only, and only on q_j, because in the axes of
// their own bodies those of the subtree are constant; accelerations everywhere.
//
// Symbols, for body i with parent p and its column k: those of first/articulated_solve.hpp and of
// body_frames.hpp and, d being the derivative by q_j, v_j or tau_j,
//   Ia[i], pa[i]  inertia and bias force that the joint passes on, in the axes of body i
//   ap[i]         the parent's acceleration, in the axes of body i
//   before[k]     acceleration of the body before columns k and later are added
//   of_q, of_v, of_tau  d of bias force, u, twist, c, acceleration
//   dU[k], dd[k]  derivatives of U and of the pivot d by q_j, on the path above j
#pragma once

#include "body_frames.hpp"

namespace dtau::DTAU_VARIANT {

template <class T> struct AbacrWorkspace {
    struct Tangent {
        Force<T>* p;
        Motion<T>*v, *c, *a;
        T* u;

        Tangent(Arena& arena, const Tree& tree)
            : p(arena.take<Force<T>>(tree.nnodes)),
              v(arena.take<Motion<T>>(tree.nnodes)),
              c(arena.take<Motion<T>>(tree.nnodes)),
              a(arena.take<Motion<T>>(tree.nnodes)),
              u(arena.take<T>(tree.nv)) {}
    };
    BodyFrames<T> frames;
    ArticulatedInertia<T>* Ia;
    Force<T>*pa, *U, *dU;
    Motion<T>*c, *a, *ap, *before;
    T *d_inverse, *u, *dd, *joint_a;
    Tangent of_q, of_v, of_tau;

    AbacrWorkspace(Arena& arena, const Tree& tree, const Options&)
        : frames(arena, tree),
          Ia(arena.take<ArticulatedInertia<T>>(tree.nnodes)),
          pa(arena.take<Force<T>>(tree.nnodes)),
          U(arena.take<Force<T>>(tree.nv)),
          dU(arena.take<Force<T>>(tree.nv)),
          c(arena.take<Motion<T>>(tree.nnodes)),
          a(arena.take<Motion<T>>(tree.nnodes)),
          ap(arena.take<Motion<T>>(tree.nnodes)),
          before(arena.take<Motion<T>>(tree.nv)),
          d_inverse(arena.take<T>(tree.nv)),
          u(arena.take<T>(tree.nv)),
          dd(arena.take<T>(tree.nv)),
          joint_a(arena.take<T>(tree.nv)),
          of_q(arena, tree),
          of_v(arena, tree),
          of_tau(arena, tree) {}
};

// s x* I - I s x: the rate of an articulated inertia that moves with s. It is A + A^T with A = s x* I.
template <class T>
DTAU_INLINE ArticulatedInertia<T> moving(const Motion<T>& s, const ArticulatedInertia<T>& I) {
    const Vec3<T>&w = s.ang, &v = s.lin;
    const Mat3<T> J = full(I.J), M = full(I.M), Ht = transposed(I.H), n = skew(w);
    const auto sum = [&](const Vec3<T>& x, const Vec3<T>& y, const Vec3<T>& z) -> Sym3<T> {
        return {x.x + x.x, x.y + y.x, x.z + z.x, y.y + y.y, y.z + z.y, z.z + z.z};
    };
    return {
        sum(cross(w, J.x, cross(v, Ht.x)), cross(w, J.y, cross(v, Ht.y)),
            cross(w, J.z, cross(v, Ht.z))),
        {cross(w, I.H.x, cross(v, M.x, -(I.H * n.x))), cross(w, I.H.y, cross(v, M.y, -(I.H * n.y))),
         cross(w, I.H.z, cross(v, M.z, -(I.H * n.z)))},
        sum(cross(w, M.x), cross(w, M.y), cross(w, M.z))};
}

// I - z w^T - w z^T
template <class T>
DTAU_INLINE void subtract_rank_two(ArticulatedInertia<T>& I, const Force<T>& z, const Force<T>& w) {
    subtract_outer(I.J, z.ang, w.ang);
    subtract_outer(I.J, w.ang, z.ang);
    subtract_outer(I.M, z.lin, w.lin);
    subtract_outer(I.M, w.lin, z.lin);
    I.H.x = fma(-w.lin.x, z.ang, fma(-z.lin.x, w.ang, I.H.x));
    I.H.y = fma(-w.lin.y, z.ang, fma(-z.lin.y, w.ang, I.H.y));
    I.H.z = fma(-w.lin.z, z.ang, fma(-z.lin.z, w.ang, I.H.z));
}

// Runs the articulated-body algorithm: [RBDA] section 7.3.
template <class T>
void abacr_values(const Tree& tree, const T* q, const T* v, const T* tau,
                  const AbacrWorkspace<T>& w) {
    const BodyFrames<T>& g = w.frames;
    body_sweep(tree, q, v, g);
    for (int i = 0; i < tree.nnodes; ++i) {
        w.c[i] = cross(g.v[i], g.vJ[i]);
        w.Ia[i] = articulated(own_inertia<T>(tree.bodies[i]));
        w.pa[i] = cross_star(g.v[i], g.I[i] * g.v[i]);
    }
    for (int i = tree.nnodes - 1; i >= 0; --i) {
        const Body& body = tree.bodies[i];
        ArticulatedInertia<T>& IA = w.Ia[i];
        Force<T> p = w.pa[i];
        for (int k = body.v + body.nv - 1; k >= body.v; --k) {
            const Force<T> U = IA * g.S[k];
            const T d_inverse = T(1.0) / (dot(g.S[k], U) + T(tree.armature[k]));
            const T u = fma(T(-tree.damping[k]), v[k], tau[k]) - dot(g.S[k], p);
            subtract_rank_one(IA, U, d_inverse);
            p = fma(u * d_inverse, U, p);
            w.U[k] = U, w.d_inverse[k] = d_inverse, w.u[k] = u;
        }
        w.pa[i] = p + IA * w.c[i];
        if (body.parent < 0) continue;
        w.Ia[body.parent] += transformed(g.X[i], IA);
        w.pa[body.parent] += transformed(g.X[i], w.pa[i]);
    }
    for (int i = 0; i < tree.nnodes; ++i) {
        const Body& body = tree.bodies[i];
        w.ap[i] = acceleration_of_parent(tree, body, g.X[i], w.a);
        Motion<T> a = w.ap[i] + w.c[i];
        for (int k = body.v; k < body.v + body.nv; ++k) {
            w.before[k] = a;
            w.joint_a[k] = (w.u[k] - dot(w.U[k], a)) * w.d_inverse[k];
            a = fma(w.joint_a[k], g.S[k], a);
        }
        w.a[i] = a;
    }
}

// Differentiates twists, velocity products and bias forces in the subtree of column j of joint i.
template <class T>
DTAU_INLINE void abacr_subtree_forward(const Tree& tree, int i, int j, const AbacrWorkspace<T>& w) {
    const BodyFrames<T>& g = w.frames;
    const Motion<T> s = g.S[j], vJ = g.vJ[i], vi = g.v[i], vp = {vi.ang - vJ.ang, vi.lin - vJ.lin};
    const Motion<T> none = zero_motion<T>();
    w.of_q.v[i] = cross(vp, s);
    w.of_q.c[i] = cross(w.of_q.v[i], vJ);
    w.of_q.p[i] = force_derivative(g, i, w.of_q.v[i], none);
    w.of_v.v[i] = s;
    w.of_v.c[i] = cross(s, vJ, cross(vi, s));
    w.of_v.p[i] = force_derivative(g, i, s, none);
    for (int b = i + 1; b < g.end[i]; ++b) {
        const Body& body = tree.bodies[b];
        const auto step = [&](const auto& of) __attribute__((always_inline)) {
            of.v[b] = seen_from(g.X[b], of.v[body.parent]);
            of.c[b] = cross_joint(body, of.v[b], g.vJ[b]);
            of.p[b] = force_derivative(g, b, of.v[b], none);
        };
        step(w.of_q);
        step(w.of_v);
    }
}

// Differentiates u and the bias forces: back to joint i, and on its path to the world.
template <class T>
DTAU_INLINE void abacr_backward(const Tree& tree, int i, int j, const AbacrWorkspace<T>& w) {
    const BodyFrames<T>& g = w.frames;
    // For a joint whose articulated inertia is constant: u, and the force that it passes on.
    const auto pass = [&](const Body& body, T* du, Force<T> p) __attribute__((always_inline)) {
        for (int k = body.v + body.nv - 1; k >= body.v; --k) {
            du[k] = du[k] - dot(g.S[k], p);
            p = fma(du[k] * w.d_inverse[k], w.U[k], p);
        }
        return p;
    };
    for (int b = g.end[i] - 1; b > i; --b) {
        const Body& body = tree.bodies[b];
        const auto step = [&](const auto& of) __attribute__((always_inline)) {
            const Force<T> p = pass(body, of.u, of.p[b]) + w.Ia[b] * of.c[b];
            of.p[body.parent] += transformed(g.X[b], p);
        };
        step(w.of_q);
        step(w.of_v);
    }
    const Body& own = tree.bodies[i];
    w.of_v.u[j] = T(-tree.damping[j]);
    w.of_tau.u[j] = T(1.0);
    Force<T> q = pass(own, w.of_q.u, w.of_q.p[i]) + w.Ia[i] * w.of_q.c[i];
    Force<T> v = pass(own, w.of_v.u, w.of_v.p[i]) + w.Ia[i] * w.of_v.c[i];
    Force<T> t = pass(own, w.of_tau.u, zero_force<T>());
    if (own.parent < 0) return;

    q = cross_star(g.S[j], w.pa[i], q);  // the transform turns with the joint
    ArticulatedInertia<T> dI = moving(g.S[j], w.Ia[i]);
    for (int b = i, a = own.parent; a >= 0; b = a, a = tree.bodies[b].parent) {
        const Body& body = tree.bodies[a];
        dI = transformed(g.X[b], dI);
        q = transformed(g.X[b], q);
        v = pass(body, w.of_v.u, transformed(g.X[b], v));
        t = pass(body, w.of_tau.u, transformed(g.X[b], t));
        for (int k = body.v + body.nv - 1; k >= body.v; --k) {
            const T d_inverse = w.d_inverse[k], ratio = w.u[k] * d_inverse;
            const Force<T> U = w.U[k], dU = dI * g.S[k], W = {d_inverse * U.ang, d_inverse * U.lin};
            const T dd = dot(g.S[k], dU), du = -dot(g.S[k], q);
            q = fma((du - ratio * dd) * d_inverse, U, fma(ratio, dU, q));
            subtract_rank_two(dI, fma(T(-0.5) * dd, W, dU), W);
            w.dU[k] = dU, w.dd[k] = dd, w.of_q.u[k] = du;
        }
        q += dI * w.c[a];
    }
}

// Differentiates the accelerations of all bodies, which gives column j of the results.
template <class T>
DTAU_INLINE void abacr_forward(const Tree& tree, int i, int j, T* da_dq, T* da_dv, T* da_dtau,
                               const AbacrWorkspace<T>& w) {
    const BodyFrames<T>& g = w.frames;
    const int n = tree.nv, last = g.end[i];
    for (int b = 0; b < tree.nnodes; ++b) {
        const Body& body = tree.bodies[b];
        const bool above = b < i && g.end[b] > i;
        const auto step = [&](const auto& of, T* to, const Motion<T>& start)
                              __attribute__((always_inline)) {
                                  Motion<T> a = start;
                                  for (int k = body.v; k < body.v + body.nv; ++k) {
                                      const T da = (of.u[k] - dot(w.U[k], a)) * w.d_inverse[k];
                                      a = fma(da, g.S[k], a);
                                      to[k * n + j] = da;
                                  }
                                  of.a[b] = a;
                              };
        Motion<T> q = motion_of_parent(body, g.X[b], w.of_q.a);
        Motion<T> v = motion_of_parent(body, g.X[b], w.of_v.a);
        if (b >= i && b < last) q = q + w.of_q.c[b], v = v + w.of_v.c[b];
        if (b == i) q = cross(w.ap[i], g.S[j], q);
        for (int k = body.v; above && k < body.v + body.nv; ++k)
            w.of_q.u[k] = w.of_q.u[k] - dot(w.dU[k], w.before[k]) - w.dd[k] * w.joint_a[k];
        step(w.of_q, da_dq, q);
        step(w.of_v, da_dv, v);
        step(w.of_tau, da_dtau, motion_of_parent(body, g.X[b], w.of_tau.a));
    }
}

// da_dq, da_dv, da_dtau: (nv, nv).
template <class T>
void abacr(const Tree& tree, const T* q, const T* v, const T* tau, T* da_dq, T* da_dv, T* da_dtau,
           const AbacrWorkspace<T>& w) {
    abacr_values(tree, q, v, tau, w);
    for (int i = 0; i < tree.nnodes; ++i) {
        const Body& body = tree.bodies[i];
        for (int j = body.v; j < body.v + body.nv; ++j) {
            for (int k = 0; k < tree.nv; ++k) w.of_q.u[k] = w.of_v.u[k] = w.of_tau.u[k] = T(0.0);
            abacr_subtree_forward(tree, i, j, w);
            abacr_backward(tree, i, j, w);
            abacr_forward(tree, i, j, da_dq, da_dv, da_dtau, w);
        }
    }
}

}  // namespace dtau::DTAU_VARIANT
