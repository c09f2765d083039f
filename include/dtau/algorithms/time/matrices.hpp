// Computes the time derivatives of the mass matrix and of the admissible Coriolis matrix:
// mass_matrix_time_derivatives(), coriolis_matrix_time_derivatives(). O(N d r^2). The equations of
// crba.hpp and coriolis.hpp as products of Taylor series ([Derivations] eqs. 13.11, 3.7). [HO-FBS]
// Proposition 1 states the closed form for orders 0 and 1; the Coriolis matrix of its Lemma 1 is
// another admissible one. Everything has its components in the moving root frame
// (root_frame_series.hpp), where sums over subtrees need no transform.
//
// Coefficients of order k, for body i with parent p and column s, with the root's twist v_0:
//   D = (v_0 + u_i) x S
//   B_i: the 12 numbers of the Coriolis operator (inertia.hpp) at v_0 + u_i
#pragma once

#include "dtau/algorithms/time/root_frame_series.hpp"

namespace dtau::DTAU_VARIANT {

template <class T> struct MatrixSeriesWorkspace {
    RootFrameSeries<T> series;
    Motion<T>* D;    // (nv, length)
    Coriolis<T>* B;  // (nnodes, length), then composites
    Motion<T>* t;    // twists of one body, (length)
    Vec3<T>* t1;     // of one column
    Force<T>*t2, *F;

    MatrixSeriesWorkspace(Arena& arena, const Tree& tree, const Options& options)
        : series(arena, tree, options.order + 1),
          D(arena.take<Motion<T>>(tree.nv * series.length)),
          B(arena.take<Coriolis<T>>(tree.nnodes * series.length)) {
        arena.take_each(series.length, t, t1, t2, F);
    }

    Motion<T>* column_rate(int j) const { return D + std::ptrdiff_t(j) * series.length; }
    Coriolis<T>* operators(int i) const { return B + std::ptrdiff_t(i) * series.length; }
};

// Sum of I_m s_{k-m}.
template <class T> inline Force<T> momentum_sum(int k, const Inertia<T>* I, const Motion<T>* s) {
    Force<T> sum = zero_force<T>();
    for (int m = 0; m <= k; ++m) sum += I[m] * s[k - m];
    return sum;
}

// v: (order, nv). M: (order + 1, nv, nv), zero before.
template <class T>
void mass_matrix_time_derivatives(const Tree& tree, int order, const T* q, const T* v, T* M,
                                  const MatrixSeriesWorkspace<T>& w) {
    const RootFrameSeries<T>& g = w.series;
    const std::ptrdiff_t n = tree.nv;
    relative_series(tree, order, order, q, v, g);
    for (int i = tree.nnodes - 1; i >= 0; --i) {
        const Body& body = tree.bodies[i];
        for (int r = body.v; r < body.v + body.nv; ++r) {
            for (int k = 0; k <= order; ++k) w.F[k] = momentum_sum(k, g.inertia(i), g.column(r));
            for (int j = r; j >= 0; j = tree.dofs.parent[j])
                for (int k = 0; k <= order; ++k) {
                    T sum(0.0);
                    for (int m = 0; m <= k; ++m) sum += dot(g.column(j)[m], w.F[k - m]);
                    sum = T(g.scale.factorial[k]) * sum;
                    M[(k * n + r) * n + j] = M[(k * n + j) * n + r] = sum;
                }
            M[r * n + r] += T(tree.armature[r]);
        }
        for (int k = 0; k <= order && body.parent >= 0; ++k)
            g.inertia(body.parent)[k] += g.inertia(i)[k];
    }
}

// The Coriolis operator of order k.
template <class T> inline Coriolis<T> coriolis_sum(int k, const Inertia<T>* I, const Motion<T>* v) {
    Coriolis<T> sum = {zero_matrix<T>(), zero_vector<T>()};
    for (int m = 0; m <= k; ++m) sum += coriolis(I[k - m], v[m], I[k - m] * v[m]);
    return sum;
}

// v: (order + 1, nv). C: (order + 1, nv, nv), zero before.
template <class T>
void coriolis_matrix_time_derivatives(const Tree& tree, int order, const T* q, const T* v, T* C,
                                      const MatrixSeriesWorkspace<T>& w) {
    const RootFrameSeries<T>& g = w.series;
    const std::ptrdiff_t n = tree.nv;
    const T half(0.5);
    relative_series(tree, order, order + 1, q, v, g);
    for (int i = 0; i < tree.nnodes; ++i) {
        const Body& body = tree.bodies[i];
        for (int k = 0; k <= order; ++k) {
            w.t[k] = joint_sum(tree, tree.bodies[body.root], k, v, g.twist(i)[k], g);
            w.operators(i)[k] = coriolis_sum(k, g.inertia(i), w.t);
            for (int j = body.v; j < body.v + body.nv; ++j)
                w.column_rate(j)[k] = cross_sum(k, w.t, g.column(j));
        }
    }
    for (int i = tree.nnodes - 1; i >= 0; --i) {
        const Body& body = tree.bodies[i];
        const Inertia<T>* I = g.inertia(i);
        const Coriolis<T>* B = w.operators(i);
        for (int r = body.v; r < body.v + body.nv; ++r) {
            const Motion<T>* s = g.column(r);
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
                const Motion<T>*t = g.column(j), *d = w.column_rate(j);
                for (int k = 0; k <= order; ++k) {
                    T row(0.0), column(0.0);
                    for (int m = 0; m <= k; ++m) {
                        // [Derivations] eq. 3.7
                        row = dot(w.t1[k - m], t[m].ang, row + dot(w.t2[k - m], d[m]));
                        column += dot(t[m], w.F[k - m]);
                    }
                    const T factor(g.scale.factorial[k]);
                    C[(k * n + r) * n + j] = factor * row;
                    if (j < body.v) C[(k * n + j) * n + r] = factor * column;
                }
            }
        }
        for (int k = 0; k <= order && body.parent >= 0; ++k) {
            g.inertia(body.parent)[k] += g.inertia(i)[k];
            w.operators(body.parent)[k] += w.operators(i)[k];
        }
    }
}

}  // namespace dtau::DTAU_VARIANT
