// Factorisation M = L^T D L of a mass matrix that keeps the zeros of the tree, and its solves.
// RBDA section 6.5: O(N d^2) to factorise, O(N d) to solve for one column.
//
// Rows are processed for all columns at once; dof_parent[k] is the degree of freedom before k on
// the path to the world, and subtrees are contiguous.
#pragma once

#include "dtau/model.hpp"
#include "dtau/spatial.hpp"

namespace dtau::DTAU_VARIANT {

// In place: L below the diagonal (its unit diagonal is not stored), D inverted on the diagonal. The
// upper triangle is left as it was.
template <class T>
DTAU_INLINE void ltdl_factorize(const Tree& tree, T* M) {
    const int n = tree.nv;
    const int* parent = tree.dof_parent;
    for (int k = n - 1; k >= 0; --k) {
        const T d_inverse = T(1.0) / M[k * n + k];
        for (int i = parent[k]; i >= 0; i = parent[i]) {
            const T L = M[k * n + i] * d_inverse;
            for (int j = i; j >= 0; j = parent[j])
                M[i * n + j] = fma(-L, M[k * n + j], M[i * n + j]);
            M[k * n + i] = L;
        }
        M[k * n + k] = d_inverse;
    }
}

// y -= l x over the columns [begin, end)
template <class T>
DTAU_INLINE void subtract_row(T l, const T* x, T* y, int begin, int end) {
    for (int c = begin; c < end; ++c) y[c] = fma(-l, x[c], y[c]);
}

// X (nv, columns) becomes M^-1 X.
template <class T>
DTAU_INLINE void ltdl_solve(const Tree& tree, const T* L, T* X, int columns) {
    const int n = tree.nv;
    const int* parent = tree.dof_parent;
    for (int k = n - 1; k >= 0; --k) {
        for (int j = parent[k]; j >= 0; j = parent[j])
            subtract_row(L[k * n + j], X + k * columns, X + j * columns, 0, columns);
        for (int c = 0; c < columns; ++c) X[k * columns + c] = L[k * n + k] * X[k * columns + c];
    }
    for (int k = 0; k < n; ++k)
        for (int j = parent[k]; j >= 0; j = parent[j])
            subtract_row(L[k * n + j], X + j * columns, X + k * columns, 0, columns);
}

// M^-1 (nv, nv), complete. L^-T has entries from a row to the end of its subtree only, and of the
// symmetric result the upper triangle is computed.
template <class T>
DTAU_INLINE void ltdl_inverse(const Tree& tree, const T* L, T* X) {
    const int n = tree.nv;
    const int* parent = tree.dof_parent;
    for (int k = 0; k < n * n; ++k) X[k] = T(0.0);
    for (int k = n - 1; k >= 0; --k) {
        X[k * n + k] = T(1.0);
        for (int j = parent[k]; j >= 0; j = parent[j])
            subtract_row(L[k * n + j], X + k * n, X + j * n, k, tree.dof_end[k]);
        for (int c = k; c < tree.dof_end[k]; ++c) X[k * n + c] = L[k * n + k] * X[k * n + c];
    }
    for (int k = 0; k < n; ++k) {
        for (int j = parent[k]; j >= 0; j = parent[j])
            subtract_row(L[k * n + j], X + j * n, X + k * n, k, n);
        for (int c = k + 1; c < n; ++c) X[c * n + k] = X[k * n + c];
    }
}

}  // namespace dtau::DTAU_VARIANT
