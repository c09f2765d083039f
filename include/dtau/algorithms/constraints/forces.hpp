// Solves with the Schur complement G = J M^-1 J^T for the forces of the constraints, one column
// (solve_constrained, solve_linearized) or a block of columns (solve_forces). [Derivations] §20.
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
//
// N itself has an error of  eps tr(G) / R,  which leaves that share of N f in f. A state in which it is
// more than `lost_share` of f has no results: R is too small for rows that contradict each other.
//
// The functions before solve_constrained take any matrix of the form of SchurComplement: size(), side(),
// the factors G, a copy `whole`, R.
#pragma once

#include "dtau/algorithms/constraints/schur_complement.hpp"

namespace dtau::DTAU_VARIANT {

// b (n, columns of `packs` packs each) becomes G^-1 b, with the factors of G.
template <int packs, class P, class T> void solve_utdu(int n, int side, const T* G, P* b) {
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

inline constexpr int proximal_iterations = 10;

template <int packs, class P, class Matrix> void solve_utdu(P* b, const Matrix& w) {
    solve_utdu<packs>(w.size(), w.side(), w.G, b);
}

// to -= G b
template <int packs, class P, class Matrix>
inline void subtract_product(const P* b, P* to, const Matrix& w) {
    using T = typename Matrix::Scalar;
    const int n = w.size(), side = w.side();
    for (int k = 0; k < n; ++k)
        for (int i = 0; i < n; ++i) {
            const T minus = -(i < k ? w.whole[i * side + k] : w.whole[k * side + i]);
            unrolled<packs>([&](int p) {
                to[k * packs + p] = fma(minus, b[i * packs + p], to[k * packs + p]);
            });
        }
}

// b becomes N b, the part of b that no force gives.
template <int packs, class P, class Matrix> void project_unreachable(P* b, const Matrix& w) {
    using T = typename Matrix::Scalar;
    for (int i = 0; i < proximal_iterations; ++i) {
        solve_utdu<packs>(b, w);
        for (int k = 0; k < w.size() * packs; ++k) b[k] = T(w.R) * b[k];
    }
}

// b becomes the forces f = G^-1 b, or G^+ b. more, rest: room of the same size.
template <int packs, class P, class Matrix>
inline void solve_forces(P* b, P* more, P* rest, const Matrix& w) {
    using T = typename Matrix::Scalar;
    if (w.R == 0.0) return solve_utdu<packs>(b, w);
    const int size = w.size() * packs;  // [Derivations] eq. 20.3
    for (int k = 0; k < size; ++k) rest[k] = b[k];
    project_unreachable<packs>(rest, w);
    for (int k = 0; k < size; ++k) {
        rest[k] = fma(T(-1.0), rest[k], b[k]);
        b[k] = rest[k];
    }
    solve_utdu<packs>(b, w);
    for (int i = 1; i < proximal_iterations; ++i) {
        for (int k = 0; k < size; ++k) more[k] = rest[k];
        subtract_product<packs>(b, more, w);
        solve_utdu<packs>(more, w);
        for (int k = 0; k < size; ++k) b[k] = fma(T(1.0), more[k], b[k]);
    }
}

// f becomes f + N (x - f): x in the directions that give no acceleration, f in all others.
// Overwrites x.
template <int packs, class P, class Matrix>
inline void replace_null_space(P* f, P* x, const Matrix& w) {
    using T = typename Matrix::Scalar;
    const int size = w.size() * packs;
    for (int k = 0; k < size; ++k) x[k] = fma(T(-1.0), f[k], x[k]);
    project_unreachable<packs>(x, w);
    for (int k = 0; k < size; ++k) f[k] = fma(T(1.0), x[k], f[k]);
}

// ---------------------------------------------------------------- one column

// For x = L^-T t: subtract_acceleration does rows -= J M^-1 t = Z^T x, add_constraint_forces does
// x += L^-T J^T rows = Y rows.
template <class T>
inline void subtract_acceleration(const T* x, T* rows, const SchurComplement<T>& w) {
    const int stride = w.stride();
    for_constraints<T>(*w.constraints, [&](int, const Constraint& constraint, int column) {
        for (int d = 0; d < constraint.ndofs; ++d) {
            const int k = constraint.dofs[d];
            const T* z = w.Z + k * stride + column;
            const T minus = -x[k];
            for (int r = 0; r < constraint.count; ++r)
                rows[constraint.first + r] = fma(minus, z[r], rows[constraint.first + r]);
        }
    });
}
template <class T>
inline void add_constraint_forces(const T* rows, T* x, const SchurComplement<T>& w) {
    const int stride = w.stride();
    for_constraints<T>(*w.constraints, [&](int, const Constraint& constraint, int column) {
        for (int d = 0; d < constraint.ndofs; ++d) {
            const int k = constraint.dofs[d];
            const T* y = w.Y + k * stride + column;
            for (int r = 0; r < constraint.count; ++r)
                x[k] = fma(y[r], rows[constraint.first + r], x[k]);
        }
    });
}

template <class T> inline T sum_of_squares(const T* x, int n) {
    T sum(0.0);
    for (int k = 0; k < n; ++k) sum = fma(x[k], x[k], sum);
    return sum;
}

// The forces' digits that may be lost, and of which forces count that are zero: |b| / tr(G).
inline constexpr double lost_share = 1e-5;

// NaN for a state whose forces are lost, else 0. removed: N f; wanted: |b|^2.
template <class T>
T lost_forces(const T* forces, const T* removed, T wanted, const SchurComplement<T>& w) {
    constexpr double eps = 0x1p-52;
    const int n = w.size();
    T trace(0.0);
    for (int r = 0; r < n; ++r) trace = trace + w.whole[r * w.side() + r];
    const T grown = T(eps / (lost_share * w.R)) * (trace * trace);
    const T allowed = fma(trace * trace, sum_of_squares(forces, n), wanted);
    const T excess = fma(grown * grown, sum_of_squares(removed, n), T(0.0) - allowed);
    const T lost = select(less(T(0.0) - excess, 0.0), T(__builtin_nan("")), T(0.0));
    if constexpr (std::is_same_v<T, double> || std::is_same_v<T, Lane>)
        for (int l = 0; l < Failures<T>::states; ++l)
            if (__builtin_expect(std::isnan(number_of_state(lost, l)), 0))
                w.failures->note(
                    l, {Failure::Cause::lost_forces, 0, {}, w.failures->factorizations - 1});
    return lost;
}

// From b - J M^-1 t to f and L^-T (t + J^T f); w.more becomes -N f if there is a regularization.
template <class T> void solve_remaining(int n, T* x, T* rows, const SchurComplement<T>& w) {
    const int nrows = w.size();
    solve_forces<1>(rows, w.more, w.rest, w);
    add_constraint_forces(rows, x, w);
    if (w.R > 0.0) {
        for (int r = 0; r < nrows; ++r) w.more[r] = T(0.0);
        replace_null_space<1>(rows, w.more, w);
    }
    const T missing = nrows > 0 ? T(0.0) * rows[0] : T(0.0);
    for (int k = 0; k < n; ++k) x[k] = x[k] + missing;
}

// Solves M a = t + J^T f, J a = b. In: x (n) = L^-T t, rows = b. Out: rows = f, x = L^-T (t + J^T f).
// All are NaN if a row depends on others, or f is lost.
template <class T> void solve_constrained(int n, T* x, T* rows, const SchurComplement<T>& w) {
    const int nrows = w.size();
    subtract_acceleration(x, rows, w);
    const T wanted = w.R > 0.0 ? sum_of_squares(rows, nrows) : T(0.0);
    solve_remaining(n, x, rows, w);
    if (!(w.R > 0.0)) return;
    const T missing = lost_forces(rows, w.more, wanted, w);
    for (int r = 0; r < nrows; ++r) rows[r] = rows[r] + missing;
    for (int k = 0; k < n; ++k) x[k] = x[k] + missing;
}

// Does so for tangents and adjoints of a state whose forces are not lost, and refuses none: products are
// with the derivatives' matrices, which solve_forces gives.
template <class T> void solve_linearized(int n, T* x, T* rows, const SchurComplement<T>& w) {
    subtract_acceleration(x, rows, w);
    solve_remaining(n, x, rows, w);
}

}  // namespace dtau::DTAU_VARIANT
