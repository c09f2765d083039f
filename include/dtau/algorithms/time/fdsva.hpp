// Computes the first derivatives of forward dynamics along a motion and their time derivatives:
// fdsva_time_derivatives(). O(N^2 d r^2) for order r. The torques determine the motion:
// forward.hpp, or mimic.hpp with mimic joints, computes its accelerations. idsva.hpp computes the
// rates of dtau/dq, dtau/dv and M along it. [Derivations] eq. 21.3.
//
//   M X = -Y   with X = (da/dq, da/dv, M^-1) and Y = (dtau/dq, dtau/dv, -1), differentiated r times:
//
//   X^(k) = -M^-1 (Y^(k) + sum over m = 1 ... k of binomial(k, m) M^(m) X^(k-m))
//
// M is factorized once (ltdl.hpp). Products with M^(m) visit only related pairs. M^-1 and its
// derivatives are symmetric up to rounding. Both triangles are computed, because mirroring one
// would leave errors in the equation that higher orders amplify.
//
// Symbols, derivatives of order k, of the independent velocities:
//   X[k]   the three matrices side by side, each padded to whole packs: (nv, stride)
//   M[k]   mass matrix (nv, nv)
#pragma once

#include "dtau/algorithms/time/idsva.hpp"
#include "dtau/algorithms/time/mimic.hpp"

namespace dtau::DTAU_VARIANT {

// Dynamics: HybridSeriesWorkspace, or MimicSeriesWorkspace.
template <class T, class Dynamics> struct FdsvaSeriesWorkspace {
    Dynamics dynamics;
    IdsvaSeriesWorkspace<T> idsva;
    LtdlWorkspace<T> ltdl;
    Binomials binomial;
    T* v;                            // (order + 2, nv), of the joints
    T *dtau_dq, *dtau_dv, *dtau_da;  // (order + 1, nv, nv), of the joints
    T *by_q, *by_v, *M;  // the same of the independent velocities; may be the same memory
    int padded, stride;
    T* X;

    FdsvaSeriesWorkspace(Arena& arena, const Tree& tree, const Options& options)
        : dynamics(arena, tree, options),
          idsva(arena, tree, options),
          ltdl(arena, tree.independent),
          binomial(arena, options.order + 1),
          v(arena.take<T>((options.order + 2) * tree.nv)),
          dtau_dq(arena.take_zeros<T>((options.order + 1) * square(tree.nv))),
          dtau_dv(arena.take_zeros<T>((options.order + 1) * square(tree.nv))),
          dtau_da(arena.take_zeros<T>((options.order + 1) * square(tree.nv))),
          by_q(tree.mimic ? reduced(arena, tree, options) : dtau_dq),
          by_v(tree.mimic ? reduced(arena, tree, options) : dtau_dv),
          M(tree.mimic ? reduced(arena, tree, options) : dtau_da),
          padded(whole_packs<T>(tree.independent.n)),
          stride(3 * padded),
          X(arena.take<T>((options.order + 1) * std::ptrdiff_t(tree.independent.n) * stride)) {}

    static std::ptrdiff_t square(int n) { return std::ptrdiff_t(n) * n; }
    static T* reduced(Arena& arena, const Tree& tree, const Options& options) {
        return arena.take<T>((options.order + 1) * square(tree.independent.n));
    }
    T* matrices(const Tree& tree, int k) const {
        return X + std::ptrdiff_t(k) * tree.independent.n * stride;
    }
};

// sum += factor A x for n rows of A, `stride` apart; rows of x and sum are `padded` apart, whole packs.
// for_columns(r, add) calls add(j) for the entries of row r that may differ from zero.
template <class T, class Columns>
DTAU_INLINE void add_rows_times(int n, T factor, const T* A, int stride, const T* x, T* sum,
                                int padded, const Columns& for_columns) {
    constexpr int width = Pack<T>::width;
    in_parts<4>(padded / width, [&]<int packs>(int first) {
        for (int r = 0; r < n; ++r) {
            T* const row = sum + r * padded + first * width;
            Pack<T> total[packs];
            unrolled<packs>([&](int p) { total[p] = Pack<T>::load(row + p * width); });
            for_columns(r, [&](int j) __attribute__((always_inline)) {
                const T entry = factor * A[r * stride + j];
                const T* from = x + j * padded + first * width;
                unrolled<packs>([&](int p) {
                    total[p] = fma(entry, Pack<T>::load(from + p * width), total[p]);
                });
            });
            unrolled<packs>([&](int p) { total[p].store(row + p * width); });
        }
    });
}
// The same for M (nv, nv) whose entries are zero unless row and column are related.
template <class T>
void add_related_product(const Paths& dofs, T factor, const T* M, const T* x, T* sum, int stride) {
    add_rows_times(dofs.n, factor, M, dofs.n, x, sum, stride,
                   [&](int k, const auto& add) __attribute__((always_inline)) {
                       for (int j = k; j >= 0; j = dofs.parent[j]) add(j);
                       for (int j = k + 1; j < dofs.end[k]; ++j) add(j);
                   });
}
// Factors of M of order 0.
template <class T> inline void factorize(const Paths& dofs, const T* M, const LtdlWorkspace<T>& w) {
    if (w.padded) w.zero(dofs);
    for (int k = 0; k < dofs.n; ++k)
        for (int j = k; j >= 0; j = dofs.parent[j])
            w.L[k * w.stride + dofs.depth[j]] = M[k * dofs.n + j];
    ltdl_factorize(dofs, w);
}

// Computes w.v, and w.X of all orders. q, v: of the joints; tau: (order + 1, nv), of the
// independent velocities; f_ext: (order + 1, nbodies, 6), may be null.
template <class T, class Dynamics>
void fdsva_series(const Tree& tree, int order, const T* q, const T* v, const T* tau, const T* f_ext,
                  const FdsvaSeriesWorkspace<T, Dynamics>& w) {
    const Paths& dofs = tree.independent;
    const int n = dofs.n;
    const std::ptrdiff_t all = w.square(tree.nv), reduced = w.square(n);
    for (int j = 0; j < tree.nv; ++j) w.v[j] = v[j];
    accelerations(tree, order, q, v, tau, f_ext, w.v + tree.nv, w.dynamics);
    idsva_time_derivatives<T>(tree, order, q, w.v, f_ext, w.dtau_dq, w.dtau_dv, w.dtau_da, w.idsva);
    for (int k = 0; k <= order; ++k) {
        reduce_matrix(tree, w.dtau_dq + k * all, w.by_q + k * reduced, n);
        reduce_matrix(tree, w.dtau_dv + k * all, w.by_v + k * reduced, n);
        reduce_matrix(tree, w.dtau_da + k * all, w.M + k * reduced, n);
    }
    factorize(dofs, w.M, w.ltdl);
    for (int k = 0; k <= order; ++k) {
        T* X = w.matrices(tree, k);
        for (int i = 0; i < n; ++i)
            for (int c = 0; c < w.padded; ++c) {
                const std::ptrdiff_t from = k * reduced + i * n + c;
                T* to = X + i * w.stride + c;
                to[0] = c < n ? w.by_q[from] : T(0.0);
                to[w.padded] = c < n ? w.by_v[from] : T(0.0);
                to[2 * w.padded] = T(k == 0 && c == i ? -1.0 : 0.0);
            }
        for (int m = 1; m <= k; ++m)  // [Derivations] eq. 21.3
            add_related_product(dofs, T(w.binomial(k, m)), w.M + m * reduced,
                                w.matrices(tree, k - m), X, w.stride);
        ltdl_solve_in_place(dofs, X, w.stride, w.ltdl);
    }
}

// da_dq, da_dv, da_dtau: (order + 1, nv, nv).
template <class T, class Dynamics>
void fdsva_time_derivatives(const Tree& tree, int order, const T* q, const T* v, const T* tau,
                            const T* f_ext, T* da_dq, T* da_dv, T* da_dtau,
                            const FdsvaSeriesWorkspace<T, Dynamics>& w) {
    const int n = tree.independent.n;
    fdsva_series(tree, order, q, v, tau, f_ext, w);
    for (std::ptrdiff_t r = 0; r < (order + 1) * n; ++r)  // rows of all orders, one after another
        for (int c = 0; c < n; ++c) {
            const T* X = w.X + r * w.stride + c;
            da_dq[r * n + c] = X[0];
            da_dv[r * n + c] = X[w.padded];
            da_dtau[r * n + c] = X[2 * w.padded];
        }
}

}  // namespace dtau::DTAU_VARIANT
