// Computes the derivatives of the acceleration and of its time derivatives by the configuration,
// the velocity, the torque and all time derivatives of the torque: forward_series_derivatives().
// O(N^3 r^3): products of full matrices. [Derivations] eq. 21.6.
//
// A variation (eta, dv, dtau) of the motion obeys a linear equation with the matrices of fdsva.hpp,
// which are functions of time. Its k-th derivative, with dv^(j+1) = da^(j) and eta of
// variations.hpp, is
//
//   da^(k) = sum over j of binomial(k, j) (a_q^(k-j) eta^(j) + a_v^(k-j) dv^(j) + M^-1^(k-j) dtau^(j))
//
// So each order follows from lower orders, for one variable after the other.
//
// Symbols, by one variable x, (nv, nv) of order k:
//   eta[k], dv[k]   deta^(k)/dx, dv^(k)/dx
#pragma once

#include "dtau/algorithms/time/fdsva.hpp"
#include "dtau/algorithms/time/variations.hpp"

namespace dtau::DTAU_VARIANT {

template <class T, class Dynamics> struct ForwardVariationWorkspace {
    FdsvaSeriesWorkspace<T, Dynamics> derivatives;
    BracketSeries<T> brackets;
    T *eta, *dv;  // (order + 2, nv, padded)

    ForwardVariationWorkspace(Arena& arena, const Tree& tree, const Options& options)
        : derivatives(arena, tree, options), brackets(arena, options.order + 1) {
        arena.take_each((options.order + 2) * size(tree), eta, dv);
    }

    std::ptrdiff_t size(const Tree& tree) const {  // of a matrix
        return std::ptrdiff_t(tree.independent.n) * derivatives.padded;
    }
};

// sum += factor A x for full matrices; rows of A are `stride`, rows of x and sum `padded` apart.
template <class T>
void add_product(int n, T factor, const T* A, int stride, const T* x, T* sum, int padded) {
    add_rows_times(n, factor, A, stride, x, sum, padded,
                   [&](int, const auto& add) __attribute__((always_inline)) {
                       for (int j = 0; j < n; ++j) add(j);
                   });
}
// eta of order k + 1 from lower orders; orders below `first` are zero.
template <class T, class Dynamics>
void next_displacement(const Tree& tree, int k, int first,
                       const ForwardVariationWorkspace<T, Dynamics>& w) {
    const int padded = w.derivatives.padded;
    const std::ptrdiff_t all = w.size(tree);
    T* const next = w.eta + (k + 1) * all;
    for (std::ptrdiff_t e = 0; e < all; ++e) next[e] = w.dv[k * all + e];
    for (int b = 0; b < tree.nnodes; ++b) {
        const Body& body = tree.bodies[b];
        if (traits(body.kind).commutes) continue;
        const int row = independent_dof(tree, body.v) * padded;
        start_brackets(tree, body, k, w.derivatives.v, w.brackets);
        for (int i = 0; i <= k - first; ++i)  // [Derivations] eq. 21.4
            add_product(body.nv, T(w.derivatives.binomial(k, i)), w.brackets.ad + 36 * i, body.nv,
                        w.eta + (k - i) * all + row, next + row, padded);
    }
}

// The derivatives of orders 0 ... `order` of the acceleration by one variable: to(k, r, c, x) takes
// the entries of order k. eta and dv vanish below the orders eta_first and dv_first; if `unit`, the
// lower one of these begins with the unit matrix. torque: the order of the torque that is the
// variable, or -1.
template <class T, class Dynamics, class Store>
void vary_forward(const Tree& tree, int order, int eta_first, int dv_first, bool unit, int torque,
                  const ForwardVariationWorkspace<T, Dynamics>& w, const Store& to) {
    const FdsvaSeriesWorkspace<T, Dynamics>& d = w.derivatives;
    const int n = tree.independent.n, padded = d.padded;
    const std::ptrdiff_t all = w.size(tree);
    const int first = eta_first < dv_first ? eta_first : dv_first;
    for (std::ptrdiff_t e = 0; e < (order + 2) * all; ++e) w.eta[e] = w.dv[e] = T(0.0);
    for (int r = 0; r < n && unit; ++r)
        (eta_first < dv_first ? w.eta : w.dv)[r * padded + r] = T(1.0);
    for (int k = first > 0 ? first - 1 : 0; k <= order; ++k) {
        T* const da = w.dv + (k + 1) * all;
        for (int j = 0; j <= k; ++j) {  // [Derivations] eq. 21.6
            const T factor(d.binomial(k, j));
            const T* X = d.matrices(tree, k - j);
            if (j >= eta_first) add_product(n, factor, X, d.stride, w.eta + j * all, da, padded);
            if (j >= dv_first)
                add_product(n, factor, X + padded, d.stride, w.dv + j * all, da, padded);
            for (int r = 0; r < n && j == torque; ++r)
                for (int c = 0; c < n; ++c)
                    da[r * padded + c] =
                        fma(factor, X[r * d.stride + 2 * padded + c], da[r * padded + c]);
        }
        for (int r = 0; r < n; ++r)
            for (int c = 0; c < n; ++c) to(k, r, c, da[r * padded + c]);
        if (k < order) next_displacement(tree, k, eta_first, w);
    }
}

// da_dq, da_dv: (order + 1, nv, nv); da_dtau: (order + 1, order + 1, nv, nv), at [k, m] the
// derivative of order k of the acceleration by order m of the torque. Arguments as of fdsva_series.
template <class T, class Dynamics>
void forward_series_derivatives(const Tree& tree, int order, const T* q, const T* v, const T* tau,
                                const T* f_ext, T* da_dq, T* da_dv, T* da_dtau,
                                const ForwardVariationWorkspace<T, Dynamics>& w) {
    const std::ptrdiff_t n = tree.independent.n;
    fdsva_series(tree, order, q, v, tau, f_ext, w.derivatives);
    vary_forward(tree, order, 0, 1, true, -1, w,
                 [&](int k, int r, int c, T x) { da_dq[(k * n + r) * n + c] = x; });
    vary_forward(tree, order, 1, 0, true, -1, w,
                 [&](int k, int r, int c, T x) { da_dv[(k * n + r) * n + c] = x; });
    for (int m = 0; m <= order; ++m) {
        const auto at = [&](int k) { return da_dtau + (k * (order + 1) + m) * n * n; };
        for (int k = 0; k < m; ++k)
            for (int e = 0; e < n * n; ++e) at(k)[e] = T(0.0);
        vary_forward(tree, order, m + 2, m + 1, false, m, w,
                     [&](int k, int r, int c, T x) { at(k)[r * n + c] = x; });
    }
}

}  // namespace dtau::DTAU_VARIANT
