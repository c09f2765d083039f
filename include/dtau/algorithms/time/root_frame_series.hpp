// Computes the columns, twists and inertias of all bodies as functions of time, in the root frame:
// relative_series(). O(N r^2). The root frame moves with the tree's root body. So the motion of the
// tree as a whole appears only in the root's own twist and in gravity. Sums over subtrees need no
// transform. [Derivations] eq. 13.11.
//
// Taylor coefficients of order k (taylor.hpp), for body i with parent p and column s:
//   u_i = u_p + sum of S q'        twist relative to the root; zero for the root itself
//   S' = u_i x S                   rate of the components of a column
//   I_i: m;  h' = m u + omega x h;  J' = omega^ J - J omega^ + 2 (h . u) 1 - h u^T - u h^T
#pragma once

#include "dtau/algorithms/time/taylor.hpp"

namespace dtau::DTAU_VARIANT {

template <class T> struct RootFrameSeries {
    int length;  // coefficients of a series
    Configuration<T> angles;
    TaylorScale scale;
    Placement<T>* P;  // (nnodes), of order 0
    Motion<T>*u, *S;  // (nnodes, length), (nv, length)
    Inertia<T>* I;    // (nnodes, length); backward passes add the subtree's inertias

    RootFrameSeries(Arena& arena, const Tree& tree, int coefficients)
        : length(coefficients),
          angles(arena, tree),
          scale(arena, length),
          P(arena.take<Placement<T>>(tree.nnodes)),
          u(arena.take<Motion<T>>(tree.nnodes * length)),
          S(arena.take<Motion<T>>(tree.nv * length)),
          I(arena.take<Inertia<T>>(tree.nnodes * length)) {}

    Motion<T>* twist(int i) const { return u + std::ptrdiff_t(i) * length; }
    Motion<T>* column(int j) const { return S + std::ptrdiff_t(j) * length; }
    Inertia<T>* inertia(int i) const { return I + std::ptrdiff_t(i) * length; }
};

// Sum of a_m x b_{k-m}, and sum.
template <class T>
inline Motion<T> cross_sum(int k, const Motion<T>* a, const Motion<T>* b,
                           Motion<T> sum = zero_motion<T>()) {
    for (int m = 0; m <= k; ++m) sum = cross(a[m], b[k - m], sum);
    return sum;
}

// The inertia of order k + 1 of a body that moves with the twists v.
template <class T>
inline Inertia<T> moved_inertia(int k, const Motion<T>* v, const Inertia<T>* I, T inverse) {
    const T zero(0.0);
    Vec3<T> h = I[0].m * v[k].lin;
    Mat3<T> K = zero_matrix<T>();  // J' = K + K^T
    for (int m = 0; m <= k; ++m) {
        const Motion<T>& u = v[m];
        const Mat3<T> J = full(I[k - m].J);
        const Vec3<T>& b = I[k - m].h;
        h = cross(u.ang, b, h);
        const T hv = dot(b, u.lin);
        K.x = fma(-u.lin.x, b, cross(u.ang, J.x, K.x));
        K.y = fma(-u.lin.y, b, cross(u.ang, J.y, K.y));
        K.z = fma(-u.lin.z, b, cross(u.ang, J.z, K.z));
        K.x.x += hv, K.y.y += hv, K.z.z += hv;
    }
    return {zero,
            inverse * h,
            {inverse * (K.x.x + K.x.x), inverse * (K.x.y + K.y.x), inverse * (K.x.z + K.z.x),
             inverse * (K.y.y + K.y.y), inverse * (K.y.z + K.z.y), inverse * (K.z.z + K.z.z)}};
}

template <class T> inline Inertia<T> no_inertia() {
    const T zero(0.0);
    return {zero, zero_vector<T>(), {zero, zero, zero, zero, zero, zero}};
}

// S q' of order k, and sum.
template <int fixed = any_order, class T>
inline Motion<T> joint_sum(const Tree& tree, const Body& body, int k, const T* v, Motion<T> sum,
                           const RootFrameSeries<T>& w) {
    for (int j = body.v; j < body.v + body.nv; ++j)
        for (int m = 0; m <= k; ++m) {
            const T rate = factor_of<fixed, T>(w.scale.inverse_factorial, m) * v[m * tree.nv + j];
            sum = fma(rate, w.column(j)[k - m], sum);
        }
    return sum;
}

// Columns and inertias of body i for orders up to `order`, and its relative twists for orders below
// `rows`.
template <int fixed, class T>
inline void relative_body(const Tree& tree, int i, int order, int rows, const Configuration<T>& x,
                          const T* v, const RootFrameSeries<T>& w) {
    const Body& body = tree.bodies[i];
    const bool root = body.parent < 0;
    w.P[i] = root_frame_placement(body, w.P, x);
    Motion<T> S[6];
    motion_subspace(body, w.P[i], S);
    for (int c = 0; c < body.nv; ++c) w.column(body.v + c)[0] = S[c];
    Motion<T>* u = w.twist(i);
    Inertia<T>* I = w.inertia(i);
    I[0] = transformed(w.P[i].R, w.P[i].r, body.mass, vec3(body.com), sym3(body.inertia));
    for_orders<fixed>(order, [&](int k) __attribute__((always_inline)) {
        if (k >= rows) return;
        u[k] = zero_motion<T>();
        if (!root) u[k] = joint_sum<fixed>(tree, body, k, v, w.twist(body.parent)[k], w);
        if (k == order) return;
        const T inverse = factor_of<fixed, T>(w.scale.inverse, k + 1);
        for (int j = body.v; j < body.v + body.nv; ++j) {
            // [Derivations] eq. 13.11
            const Motion<T> s = root ? zero_motion<T>() : cross_sum(k, u, w.column(j));
            w.column(j)[k + 1] = {inverse * s.ang, inverse * s.lin};
        }
        // [Derivations] eqs. 5.4, 13.11
        I[k + 1] = root ? no_inertia<T>() : moved_inertia(k, u, I, inverse);
    });
}

// The same for all bodies.
template <class T>
inline void relative_series(const Tree& tree, int order, int rows, const T* q, const T* v,
                            const RootFrameSeries<T>& w) {
    const Configuration<T> x = configuration(tree, q, w.angles);
    for (int i = 0; i < tree.nnodes; ++i) relative_body<any_order>(tree, i, order, rows, x, v, w);
}

}  // namespace dtau::DTAU_VARIANT
