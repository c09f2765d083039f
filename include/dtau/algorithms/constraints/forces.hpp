// Solves with the Schur complement G = J M^-1 J^T for the forces of the constraints, one column
// (solve_constrained) or a block of columns (solve_forces). [Derivations] §20.
//
//   aref' = aref - J M^-1 t          acceleration left to the forces, t = tau - bias: subtract_acceleration
//   f     = G^-1 aref'               solve_forces: two triangular solves with U^T D_G U (solve_utdu)
//   L^-T (t + J^T f)                 add_constraint_forces; then a = L^-1 D^-1 of that (ltdl.hpp)
//
// Without a regularization f = G^-1 b. With one, R > 0, rows may depend on each other: by proximal
// iterations
//
//   b' = b - N b,   f <- f + S (b' - G f),   N = (R S)^n,   S = (G + R)^-1              (20.3)
//
// from f = 0, for b = aref'. Then f is G^+ b: of all forces whose G f comes nearest to b, the shortest.
// N projects on the accelerations that no force gives. A last f - N f removes the part of f in
// directions that give no acceleration, where rounding errors of G are divided by R.
#pragma once

#include "dtau/algorithms/constraints/schur_complement.hpp"

namespace dtau::DTAU_VARIANT {

// b (n, columns of `packs` packs each) becomes G^-1 b, with the factors of G.
template <int packs, class P, class T>
void solve_utdu(int n, int side, const T* G, P* b) {
    P x[packs];
    const auto load = [&](int k) __attribute__((always_inline)) {
        unrolled<packs>([&](int p) { x[p] = b[k * packs + p]; });
    };
    const auto subtract = [&](T u, int k) __attribute__((always_inline)) {
        const T minus = -u;
        unrolled<packs>([&](int p) { x[p] = fma(minus, b[k * packs + p], x[p]); });
    };
    const auto keep = [&](int k) __attribute__((always_inline)) {
        unrolled<packs>([&](int p) { b[k * packs + p] = x[p]; });
    };
    for (int k = 1; k < n; ++k) {
        load(k);
        for (int i = 0; i < k; ++i) subtract(G[i * side + k], i);
        keep(k);
    }
    for (int k = n - 1; k >= 0; --k) {
        const T* row = G + k * side;
        load(k);
        unrolled<packs>([&](int p) { x[p] = row[k] * x[p]; });
        for (int i = k + 1; i < n; ++i) subtract(row[i], i);
        keep(k);
    }
}

template <int packs, class P, class T>
void solve_utdu(P* b, const SchurComplement<T>& w) {
    solve_utdu<packs>(w.constraints->nrows, w.side, w.G, b);
}

// to -= G b
template <int packs, class P, class T>
inline void subtract_schur_product(const P* b, P* to, const SchurComplement<T>& w) {
    const int n = w.constraints->nrows;
    for (int k = 0; k < n; ++k)
        for (int i = 0; i < n; ++i) {
            const T minus = -(i < k ? w.whole[i * w.side + k] : w.whole[k * w.side + i]);
            unrolled<packs>([&](int p) {
                to[k * packs + p] = fma(minus, b[i * packs + p], to[k * packs + p]);
            });
        }
}

// b becomes N b, the part of b that no force gives.
template <int packs, class P, class T>
void project_unreachable(P* b, const SchurComplement<T>& w) {
    for (int i = 0; i < w.iterations; ++i) {
        solve_utdu<packs>(b, w);
        for (int k = 0; k < w.constraints->nrows * packs; ++k) b[k] = T(w.R) * b[k];
    }
}

// b becomes the forces f = G^-1 b, or G^+ b. more, rest: room of the same size.
template <int packs, class P, class T>
inline void solve_forces(P* b, P* more, P* rest, const SchurComplement<T>& w) {
    if (w.R == 0.0) return solve_utdu<packs>(b, w);
    const int size = w.constraints->nrows * packs;  // [Derivations] eq. 20.3
    for (int k = 0; k < size; ++k) rest[k] = b[k];
    project_unreachable<packs>(rest, w);
    for (int k = 0; k < size; ++k) {
        rest[k] = fma(T(-1.0), rest[k], b[k]);
        b[k] = rest[k];
    }
    solve_utdu<packs>(b, w);
    for (int i = 1; i < w.iterations; ++i) {
        for (int k = 0; k < size; ++k) more[k] = rest[k];
        subtract_schur_product<packs>(b, more, w);
        solve_utdu<packs>(more, w);
        for (int k = 0; k < size; ++k) b[k] = fma(T(1.0), more[k], b[k]);
    }
}

// f becomes f + N (x - f): x in the directions that give no acceleration, f in all others.
// Overwrites x.
template <int packs, class P, class T>
inline void replace_null_space(P* f, P* x, const SchurComplement<T>& w) {
    const int size = w.constraints->nrows * packs;
    for (int k = 0; k < size; ++k) x[k] = fma(T(-1.0), f[k], x[k]);
    project_unreachable<packs>(x, w);
    for (int k = 0; k < size; ++k) f[k] = fma(T(1.0), x[k], f[k]);
}

// ---------------------------------------------------------------- one column

// For x = L^-T t: subtract_acceleration does rows -= J M^-1 t = Z^T x, add_constraint_forces does
// x += L^-T J^T rows = Y rows.
template <class T>
inline void subtract_acceleration(const T* x, T* rows, const SchurComplement<T>& w) {
    for_constraints<T>(*w.constraints, [&](int, const Constraint& constraint, int column) {
        for (int d = 0; d < constraint.ndofs; ++d) {
            const int k = constraint.dofs[d];
            const T* z = w.Z + k * w.stride + column;
            const T minus = -x[k];
            for (int r = 0; r < constraint.count; ++r)
                rows[constraint.first + r] = fma(minus, z[r], rows[constraint.first + r]);
        }
    });
}
template <class T>
inline void add_constraint_forces(const T* rows, T* x, const SchurComplement<T>& w) {
    for_constraints<T>(*w.constraints, [&](int, const Constraint& constraint, int column) {
        for (int d = 0; d < constraint.ndofs; ++d) {
            const int k = constraint.dofs[d];
            const T* y = w.Y + k * w.stride + column;
            for (int r = 0; r < constraint.count; ++r)
                x[k] = fma(y[r], rows[constraint.first + r], x[k]);
        }
    });
}

// Solves M a = t + J^T f, J a = b. In: x (n) = L^-T t, rows = b. Out: rows = f, x = L^-T (t + J^T f).
// All are NaN if a row depends on others.
template <class T>
void solve_constrained(int n, T* x, T* rows, const SchurComplement<T>& w) {
    subtract_acceleration(x, rows, w);         // b - J M^-1 t
    solve_forces<1>(rows, w.more, w.rest, w);  // f = G^-1 (b - J M^-1 t)
    add_constraint_forces(rows, x, w);         // L^-T (t + J^T f)
    if (w.R > 0.0) {
        for (int r = 0; r < w.constraints->nrows; ++r) w.more[r] = T(0.0);
        replace_null_space<1>(rows, w.more, w);
    }
    const T dependent = w.constraints->nrows > 0 ? T(0.0) * rows[0] : T(0.0);
    for (int k = 0; k < n; ++k) x[k] = x[k] + dependent;
}

}  // namespace dtau::DTAU_VARIANT
