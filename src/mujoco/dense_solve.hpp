// Factorizes symmetric positive definite matrices that are mostly sparse, M = L^T D L, and solves for
// many right-hand sides: factorize(), solve(). [RBDA] section 6.5, with zeros found on the way: a
// contact fills in the entries between the paths of its two bodies.
#pragma once

#include "dtau/lane.hpp"
#include "mujoco/step.hpp"

namespace dtau::DTAU_VARIANT::mujoco_step {

using mujoco::Index;

// y = y + s x
inline void add_scaled(double* __restrict y, double s, const double* __restrict x, Index n) {
    for (Index j = 0; j < n; ++j) y[j] = fma(s, x[j], y[j]);
}

// In place: the lower half gets L, and the diagonal 1 / D.
inline void factorize(double* A, Index n) {
    for (Index k = n - 1; k >= 0; --k) {
        double* row = A + k * n;
        const double inverse = 1.0 / row[k];
        for (Index j = k - 1; j >= 0; --j) {
            if (row[j] == 0.0) continue;
            const double l = row[j] * inverse;
            add_scaled(A + j * n, -l, row, j + 1);
            row[j] = l;
        }
        row[k] = inverse;
    }
}

// X = M^-1 X for X (n, columns).
inline void solve(const double* L, Index n, double* X, Index columns) {
    for (Index k = n - 1; k >= 0; --k)
        for (Index j = 0; j < k; ++j)
            if (L[k * n + j] != 0.0)
                add_scaled(X + j * columns, -L[k * n + j], X + k * columns, columns);
    for (Index k = 0; k < n; ++k) {
        double* row = X + k * columns;
        for (Index i = 0; i < columns; ++i) row[i] *= L[k * n + k];
        for (Index j = 0; j < k; ++j)
            if (L[k * n + j] != 0.0) add_scaled(row, -L[k * n + j], X + j * columns, columns);
    }
}

// Y = M X for a symmetric M (n, n).
inline void multiply(const double* M, const double* X, double* Y, Index n, Index columns) {
    for (Index i = 0; i < n; ++i) {
        double* row = Y + i * columns;
        for (Index c = 0; c < columns; ++c) row[c] = 0.0;
        for (Index j = 0; j < n; ++j)
            if (M[i * n + j] != 0.0) add_scaled(row, M[i * n + j], X + j * columns, columns);
    }
}

}  // namespace dtau::DTAU_VARIANT::mujoco_step
