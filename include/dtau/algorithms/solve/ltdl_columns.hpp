// Solves with M = L^T D L for the columns of matrices, a block of them at a time, and inverts M:
// ltdl_solve(), ltdl_inverse(). [Derivations] §10.
//
//   X = scale M^-1 B for one to three matrices B side by side        M^-1: B = 1, its upper triangle
//
// The textbook takes one column after the other, each over all rows. Here columns of neighboring
// degrees of freedom share a block (ltdl_block.hpp), and a block skips the rows that are zero in all
// of its columns because no branch relates them.
#pragma once

#include "dtau/algorithms/solve/ltdl_block.hpp"

namespace dtau::DTAU_VARIANT {

// Is k on the path from one of the columns begin ... end - 1 to the world?
DTAU_INLINE bool is_ancestor(const Paths& dofs, int k, int begin, int end) {
    return k < end && dofs.end[k] > begin;
}
// One past the last descendant of the columns begin ... end - 1; subtrees are ranges.
DTAU_INLINE int related_end(const Paths& dofs, int begin, int end) {
    int last = end;
    for (int c = begin; c < end; ++c) last = dofs.end[c] > last ? dofs.end[c] : last;
    return last;
}

// Calls solve(begin, end, packs) for blocks of columns of nearly equal width.
template <class T, class Solve>
DTAU_INLINE void for_blocks(int columns, int most, const Solve& solve) {
    constexpr int width = Pack<T>::width;
    const int packs = (columns + width - 1) / width, blocks = (packs + most - 1) / most;
    for (int b = 0; b < blocks; ++b) {
        const int first = packs * b / blocks, next = packs * (b + 1) / blocks;
        const int end = next * width;
        solve(first * width, end < columns ? end : columns, next - first);
    }
}

// Computes scale M^-1 B for matrices B (nv, nv) that are zero where row and column are not related. The
// matrices are side by side, each padded to whole packs. Rows of B and of the solutions are `stride`
// apart.
template <int matrices, class T, class Change = NoChange>
DTAU_INLINE void ltdl_solve(const Paths& dofs, T scale, const T* B, int stride,
                            const Solution<T> (&solutions)[matrices], const LtdlWorkspace<T>& w,
                            const Change& change = {}) {
    const int n = dofs.n, padded = whole_packs<T>(n), all = matrices * padded;
    const RightSides<T> right = {B, stride, all};
    Solutions<T> to = {{}, n, padded};
    for (int m = 0; m < matrices; ++m) to.matrices[m] = solutions[m];
    for_blocks<T>(all, w.packs, [&](int begin, int end, int packs) {
        int first[matrices],
            last[matrices];  // a block's columns in each matrix, up to the related ones
        for (int m = 0; m < matrices; ++m) {
            const int left = begin - m * padded, stop = end - m * padded;
            first[m] = left < 0 ? 0 : left < n ? left : n;
            last[m] = related_end(dofs, first[m], stop < n ? stop : n);
        }
        int count = 0;
        for (int k = 0; k < n; ++k) {
            bool related = false;
            for (int m = 0; m < matrices; ++m)
                related |= k < first[m] ? is_ancestor(dofs, k, first[m], last[m]) : k < last[m];
            if (related) w.rows[count++] = k;
        }
        ltdl_solve_block({dofs, w, right, to, begin, packs, count, n}, scale, change);
    });
}

// X (n, columns) becomes -M^-1 X.
template <class T>
DTAU_INLINE void ltdl_solve_in_place(const Paths& dofs, T* X, int columns,
                                     const LtdlWorkspace<T>& w) {
    for (int k = 0; k < dofs.n; ++k) w.rows[k] = k;
    const RightSides<T> right = {X, columns, columns};
    const Solutions<T> to = {{{X, columns}}, columns, columns};
    for_blocks<T>(columns, w.packs, [&](int begin, int, int packs) {
        ltdl_solve_block<T>({dofs, w, right, to, begin, packs, dofs.n, dofs.n}, T(-1.0));
    });
}

// M^-1 by all of its columns, with a change between the two passes.
template <class T, class Change>
DTAU_INLINE void ltdl_changed_inverse(const Paths& dofs, T* inverse, const LtdlWorkspace<T>& w,
                                      const Change& change) {
    const int n = dofs.n;
    const RightSides<T> identity = {nullptr, 0, n};
    const Solutions<T> to = {{{inverse, n}}, n, whole_packs<T>(n)};
    for_blocks<T>(n, w.packs, [&](int begin, int end, int packs) {
        int count = 0;
        for (int k = 0; k < end; ++k)
            if (is_ancestor(dofs, k, begin, end)) w.rows[count++] = k;
        ltdl_solve_block<T>({dofs, w, identity, to, begin, packs, count, n}, T(1.0), change);
    });
}

// Copies the upper triangle of a symmetric matrix to the lower one; zeros become +0. A lone state takes
// blocks of four rows and columns. The last ones overlap those before, so they come after these.
template <class T> DTAU_INLINE void mirror(T* matrix, int n) {
    if constexpr (mirrors_blocks<T>) {
        const std::ptrdiff_t stride = n, last = stride - 4;
        if (last >= 0) {
            for (std::ptrdiff_t k = 0; k <= last; k += 4) {
                T *const row = matrix + k * stride, *const column = matrix + k;
                mirror_diagonal_block(row + k, stride);
                for (std::ptrdiff_t c = k + 4; c <= last; c += 4)
                    mirror_block(row + c, column + c * stride, stride);
                if (n % 4) mirror_block(row + last, column + last * stride, stride);
            }
            if (n % 4) mirror_diagonal_block(matrix + last * stride + last, stride);
            return;
        }
    }
    for (int k = 0; k < n; ++k)
        for (int c = k; c < n; ++c)
            matrix[c * n + k] = matrix[k * n + c] = matrix[k * n + c] + T(0.0);
}

// M^-1 (nv, nv): solves for the upper triangle, and mirrors it to the lower one.
template <class T>
DTAU_INLINE void ltdl_inverse(const Paths& dofs, T* inverse, const LtdlWorkspace<T>& w) {
    const int n = dofs.n;
    constexpr int most = Pack<T>::width > 1 ? 4
                         : lanes < 8        ? 6
                                            : 7;  // narrow: rows below a block are left out
    const RightSides<T> identity = {nullptr, 0, n};
    const Solutions<T> to = {{{inverse, n}}, n, whole_packs<T>(n)};
    for_blocks<T>(n, most, [&](int begin, int end, int packs) {
        int count = 0;
        for (int k = 0; k < end; ++k)
            if (is_ancestor(dofs, k, begin, end)) w.rows[count++] = k;
        ltdl_solve_block<T>({dofs, w, identity, to, begin, packs, count, end}, T(1.0));
    });
    mirror(inverse, n);
}

}  // namespace dtau::DTAU_VARIANT
