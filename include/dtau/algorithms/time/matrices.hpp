// Computes the time derivatives of the mass matrix and of the admissible Coriolis matrix:
// mass_matrix_time_derivatives(), coriolis_matrix_time_derivatives(). O(N d r^2). The equations of
// crba.hpp and coriolis.hpp as products of Taylor series ([Derivations] eqs. 13.11, 3.7). [HO-FBS]
// Proposition 1 states the closed form for orders 0 and 1; the Coriolis matrix of its Lemma 1 is
// another admissible one. Components are in the root frame, which here moves with the tree's root body:
// M does not depend on the motion of the tree as a whole, so only the series of the root's twist has it.
// Sums over subtrees need no transform.
//
// Coefficients of order k, for body i with parent p and column s, with the root's twist v_0:
//   u_i = u_p + sum of S q'        twist relative to the root; zero for the root itself
//   S' = u_i x S                   rate of the components of a column; D = (v_0 + u_i) x S
//   I_i: m;  h' = m u + omega x h;  J' = omega^ J - J omega^ + 2 (h . u) 1 - h u^T - u h^T
//   B_i: the 12 numbers of the Coriolis operator (inertia.hpp) at v_0 + u_i
#pragma once

#include "dtau/algorithms/time/taylor.hpp"

namespace dtau::DTAU_VARIANT {

template <class T>
struct MatrixSeriesWorkspace {
    int length;
    Configuration<T> angles;
    TaylorScale scale;
    Placement<T>* P;
    Motion<T>*u, *S, *D;  // (nnodes, length), (nv, length) twice
    Inertia<T>* I;        // (nnodes, length), then composites
    Coriolis<T>* B;
    Motion<T>* t;  // for one body: twists (length)
    Vec3<T>* t1;   // for one column
    Force<T>*t2, *F;

    MatrixSeriesWorkspace(Arena& arena, const Tree& tree, const Options& options)
        : length(options.order + 1),
          angles(arena, tree),
          scale(arena, length),
          P(arena.take<Placement<T>>(tree.nnodes)),
          u(arena.take<Motion<T>>(tree.nnodes * length)),
          S(arena.take<Motion<T>>(tree.nv * length)),
          D(arena.take<Motion<T>>(tree.nv * length)),
          I(arena.take<Inertia<T>>(tree.nnodes * length)),
          B(arena.take<Coriolis<T>>(tree.nnodes * length)),
          t(arena.take<Motion<T>>(length)),
          t1(arena.take<Vec3<T>>(length)),
          t2(arena.take<Force<T>>(length)),
          F(arena.take<Force<T>>(length)) {}

    Motion<T>* twist(int i) const { return u + std::ptrdiff_t(i) * length; }
    Motion<T>* column(int j) const { return S + std::ptrdiff_t(j) * length; }
    Motion<T>* column_rate(int j) const { return D + std::ptrdiff_t(j) * length; }
    Inertia<T>* inertia(int i) const { return I + std::ptrdiff_t(i) * length; }
    Coriolis<T>* operators(int i) const { return B + std::ptrdiff_t(i) * length; }
};

// Sum of a_m x b_{k-m}.
template <class T>
DTAU_INLINE Motion<T> cross_sum(int k, const Motion<T>* a, const Motion<T>* b) {
    Motion<T> sum = zero_motion<T>();
    for (int m = 0; m <= k; ++m) sum = cross(a[m], b[k - m], sum);
    return sum;
}

// The inertia of order k + 1 of a body, from its twists v.
template <class T>
DTAU_INLINE Inertia<T> moved_inertia(int k, const Motion<T>* v, const Inertia<T>* I, T inverse) {
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

// sum + S q' of order k.
template <class T>
DTAU_INLINE Motion<T> joint_sum(const Tree& tree, const Body& body, int k, const T* v,
                                Motion<T> sum, const MatrixSeriesWorkspace<T>& w) {
    for (int j = body.v; j < body.v + body.nv; ++j)
        for (int m = 0; m <= k; ++m) {
            const T rate = T(w.scale.inverse_factorial[m]) * v[m * tree.nv + j];
            sum = fma(rate, w.column(j)[k - m], sum);
        }
    return sum;
}

// Computes columns and inertias of orders up to `order`, relative twists of orders below `rows`.
template <class T>
DTAU_INLINE void relative_series(const Tree& tree, int order, int rows, const T* q, const T* v,
                                 const MatrixSeriesWorkspace<T>& w) {
    const Configuration<T> x = configuration(tree, q, w.angles);
    for (int i = 0; i < tree.nnodes; ++i) {
        const Body& body = tree.bodies[i];
        const bool root = body.parent < 0;
        w.P[i] = root_frame_placement(body, w.P, x);
        Motion<T> S[6];
        motion_subspace(body, w.P[i], S);
        for (int c = 0; c < body.nv; ++c) w.column(body.v + c)[0] = S[c];
        Motion<T>* u = w.twist(i);
        Inertia<T>* I = w.inertia(i);
        I[0] = transformed(w.P[i].R, w.P[i].r, body.mass, vec3(body.com), sym3(body.inertia));
        for (int k = 0; k < rows; ++k) {
            u[k] = zero_motion<T>();
            if (!root) u[k] = joint_sum(tree, body, k, v, w.twist(body.parent)[k], w);
            if (k == order) continue;
            const T inverse(w.scale.inverse[k + 1]);
            for (int j = body.v; j < body.v + body.nv; ++j) {
                // [Derivations] eq. 13.11
                const Motion<T> s = root ? zero_motion<T>() : cross_sum(k, u, w.column(j));
                w.column(j)[k + 1] = {inverse * s.ang, inverse * s.lin};
            }
            I[k + 1] = moved_inertia(k, u, I, inverse);  // [Derivations] eqs. 5.4, 13.11
        }
    }
}

// Sum of I_m s_{k-m}.
template <class T>
DTAU_INLINE Force<T> momentum_sum(int k, const Inertia<T>* I, const Motion<T>* s) {
    Force<T> sum = zero_force<T>();
    for (int m = 0; m <= k; ++m) sum += I[m] * s[k - m];
    return sum;
}

// v: (order, nv). M: (order + 1, nv, nv), zero before.
template <class T>
void mass_matrix_time_derivatives(const Tree& tree, int order, const T* q, const T* v, T* M,
                                  const MatrixSeriesWorkspace<T>& w) {
    const std::ptrdiff_t n = tree.nv;
    relative_series(tree, order, order, q, v, w);
    for (int i = tree.nnodes - 1; i >= 0; --i) {
        const Body& body = tree.bodies[i];
        for (int r = body.v; r < body.v + body.nv; ++r) {
            for (int k = 0; k <= order; ++k) w.F[k] = momentum_sum(k, w.inertia(i), w.column(r));
            for (int j = r; j >= 0; j = tree.dofs.parent[j])
                for (int k = 0; k <= order; ++k) {
                    T sum(0.0);
                    for (int m = 0; m <= k; ++m) sum += dot(w.column(j)[m], w.F[k - m]);
                    sum = T(w.scale.factorial[k]) * sum;
                    M[(k * n + r) * n + j] = M[(k * n + j) * n + r] = sum;
                }
            M[r * n + r] += T(tree.armature[r]);
        }
        for (int k = 0; k <= order && body.parent >= 0; ++k)
            w.inertia(body.parent)[k] += w.inertia(i)[k];
    }
}

// The Coriolis operator of order k.
template <class T>
DTAU_INLINE Coriolis<T> coriolis_sum(int k, const Inertia<T>* I, const Motion<T>* v) {
    Coriolis<T> sum = {zero_matrix<T>(), zero_vector<T>()};
    for (int m = 0; m <= k; ++m) sum += coriolis(I[k - m], v[m], I[k - m] * v[m]);
    return sum;
}

// v: (order + 1, nv). C: (order + 1, nv, nv), zero before.
template <class T>
void coriolis_matrix_time_derivatives(const Tree& tree, int order, const T* q, const T* v, T* C,
                                      const MatrixSeriesWorkspace<T>& w) {
    const std::ptrdiff_t n = tree.nv;
    const T half(0.5);
    relative_series(tree, order, order + 1, q, v, w);
    for (int i = 0; i < tree.nnodes; ++i) {
        const Body& body = tree.bodies[i];
        for (int k = 0; k <= order; ++k) {
            w.t[k] = joint_sum(tree, tree.bodies[body.root], k, v, w.twist(i)[k], w);
            w.operators(i)[k] = coriolis_sum(k, w.inertia(i), w.t);
            for (int j = body.v; j < body.v + body.nv; ++j)
                w.column_rate(j)[k] = cross_sum(k, w.t, w.column(j));
        }
    }
    for (int i = tree.nnodes - 1; i >= 0; --i) {
        const Body& body = tree.bodies[i];
        const Inertia<T>* I = w.inertia(i);
        const Coriolis<T>* B = w.operators(i);
        for (int r = body.v; r < body.v + body.nv; ++r) {
            const Motion<T>* s = w.column(r);
            for (int k = 0; k <= order; ++k) {
                Vec3<T> t1 = zero_vector<T>();
                Force<T> Bs = zero_force<T>(), F = zero_force<T>();
                for (int m = 0; m <= k; ++m) {
                    t1 = t1 + transposed_mul(B[k - m], s[m]);
                    Bs = mul_add(B[k - m], s[m], Bs);
                    F += I[k - m] * w.column_rate(r)[m];
                }
                w.t1[k] = half * t1;
                w.t2[k] = momentum_sum(k, I, s);
                w.F[k] = fma(half, Bs, F);
            }
            for (int j = body.v + body.nv - 1; j >= 0; j = tree.dofs.parent[j]) {
                const Motion<T>*t = w.column(j), *d = w.column_rate(j);
                for (int k = 0; k <= order; ++k) {
                    T row(0.0), column(0.0);
                    for (int m = 0; m <= k; ++m) {
                        // [Derivations] eq. 3.7
                        row = dot(w.t1[k - m], t[m].ang, row + dot(w.t2[k - m], d[m]));
                        column += dot(t[m], w.F[k - m]);
                    }
                    const T factor(w.scale.factorial[k]);
                    C[(k * n + r) * n + j] = factor * row;
                    if (j < body.v) C[(k * n + j) * n + r] = factor * column;
                }
            }
        }
        for (int k = 0; k <= order && body.parent >= 0; ++k) {
            w.inertia(body.parent)[k] += w.inertia(i)[k];
            w.operators(body.parent)[k] += w.operators(i)[k];
        }
    }
}

}  // namespace dtau::DTAU_VARIANT
