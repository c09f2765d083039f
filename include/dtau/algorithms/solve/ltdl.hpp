// Factorisation M = L^T D L of a mass matrix that keeps the zeros of the tree, and its solves.
// [RBDA] section 6.5: O(N d^2) to factorise, O(N d) to solve for one column.
//
// Two degrees of freedom are related if one is on the path from the other to the world; M and L
// have entries for related pairs only. L is therefore kept by paths: row k holds L_kj at place
// depth(j) for the j on the path of k, and 1/D_k at place depth(k). The path of an ancestor is a
// prefix of the path of k, so rows combine place by place ([Notes] §10). The subtree of k is the range
// k ... dofs.end[k] - 1.
#pragma once

#include "dtau/arena.hpp"
#include "dtau/model.hpp"
#include "dtau/pack.hpp"
#include "dtau/path.hpp"

namespace dtau::DTAU_VARIANT {

template <class T>
struct LtdlWorkspace {
    // Of neighbouring columns in a block: as many as there are registers for, to hide the latency.
    static constexpr int packs = Pack<T>::width == 8 ? 12 : 8;
    int stride;  // of the rows of L
    T* L;
    Pack<T>* X;  // a block of the solution
    int* rows;   // those that are not zero before the second sweep
    int* path;   // of the current k: path[depth(j)] = j

    LtdlWorkspace(Arena& arena, const Paths& dofs)
        : stride(dofs.max_depth + 1),
          L(arena.take<T>(dofs.n * stride)),
          X(arena.take<Pack<T>>(dofs.n * packs)),
          rows(arena.take<int>(dofs.n)),
          path(arena.take<int>(dofs.max_depth + 1)) {}
};

// In place: the rows of w.L hold those of M, M_kj at place depth(j), before.
template <class T>
void ltdl_factorize(const Paths& dofs, const LtdlWorkspace<T>& w) {
    const int* path = w.path;
    forget_path(dofs, w.path);
    for (int k = dofs.n - 1; k >= 0; --k) {
        follow_path(dofs, k, w.path);
        const int depth = dofs.depth[k];
        T* row = w.L + k * w.stride;
        const T d_inverse = T(1.0) / row[depth];
        for (int a = depth - 1; a >= 0; --a) {
            const T l = row[a] * d_inverse;  // [Notes] eq. 10.1
            T* ancestor = w.L + path[a] * w.stride;
            for (int b = 0; b <= a; ++b) ancestor[b] = fma(-l, row[b], ancestor[b]);
        }
        for (int b = 0; b < depth; ++b) row[b] = d_inverse * row[b];
        row[depth] = d_inverse;
    }
}

// x becomes M^-1 x.
template <class T>
DTAU_INLINE void ltdl_solve_vector(const Paths& dofs, T* x, const LtdlWorkspace<T>& w) {
    for (int k = dofs.n - 1; k >= 0; --k) {
        const T* row = w.L + k * w.stride;
        for (int j = dofs.parent[k]; j >= 0; j = dofs.parent[j])
            x[j] = fma(-row[dofs.depth[j]], x[k], x[j]);
    }
    for (int k = 0; k < dofs.n; ++k) {
        const T* row = w.L + k * w.stride;
        x[k] = row[dofs.depth[k]] * x[k];
        for (int j = dofs.parent[k]; j >= 0; j = dofs.parent[j])
            x[k] = fma(-row[dofs.depth[j]], x[j], x[k]);
    }
}

// Is k on the path from one of the columns begin ... end - 1 to the world?
DTAU_INLINE bool is_ancestor(const Paths& dofs, int k, int begin, int end) {
    return k < end && dofs.end[k] > begin;
}
// Or is one of them on the path from k to the world?
DTAU_INLINE bool is_related(const Paths& dofs, int k, int begin, int end) {
    if (begin >= end) return false;
    if (is_ancestor(dofs, k, begin, end)) return true;
    while (k >= end) k = dofs.parent[k];
    return k >= begin;
}

// Neighbouring columns of a result: their first row, how many there are, and how far apart rows are.
template <class T>
struct Columns {
    T* at;
    int room;
    std::ptrdiff_t stride;
};

// Columns from begin on of scale M^-1 B, for the first `solved` rows. right(k, c) is the pack of B
// at row k, column c; B is zero outside the `count` rows of w. The results of column c go to the
// rows of place(c).
template <int packs, class T, class Right, class Place>
DTAU_INLINE void ltdl_solve_block(const Paths& dofs, T scale, int begin, int count, int solved,
                                  const Right& right, const Place& place,
                                  const LtdlWorkspace<T>& w) {
    constexpr int width = Pack<T>::width;
    Pack<T> x[packs];
    Columns<T> to[packs];
    for (int p = 0; p < packs; ++p) to[p] = place(begin + p * width);
    for (int k = 0; k < solved; ++k) unrolled<packs>([&](int p) { w.X[k * packs + p] = {T(0.0)}; });

    for (int r = count - 1; r >= 0; --r) {  // L^-T, leaves to root
        const int j = w.rows[r];
        const T* L = w.L + dofs.depth[j];  // column j: the same place in every row
        unrolled<packs>([&](int p) { x[p] = right(j, begin + p * width); });
        for (int s = r + 1; s < count && w.rows[s] < dofs.end[j]; ++s) {
            const int k = w.rows[s];
            const T l = -L[k * w.stride];
            const Pack<T>* row = w.X + k * packs;
            unrolled<packs>([&](int p) { x[p] = fma(l, row[p], x[p]); });
        }
        unrolled<packs>([&](int p) { w.X[j * packs + p] = x[p]; });
    }
    const int* path = w.path;
    forget_path(dofs, w.path);
    for (int k = 0; k < solved; ++k) {  // D^-1 and L^-1, root to leaves
        follow_path(dofs, k, w.path);
        const int depth = dofs.depth[k];
        const T* L = w.L + k * w.stride;
        const T d_inverse = scale * L[depth];
        unrolled<packs>([&](int p) { x[p] = d_inverse * w.X[k * packs + p]; });
        for (int a = 0; a < depth; ++a) {
            const T l = -L[a];
            const Pack<T>* row = w.X + path[a] * packs;
            unrolled<packs>([&](int p) { x[p] = fma(l, row[p], x[p]); });
        }
        unrolled<packs>([&](int p) {
            w.X[k * packs + p] = x[p];
            x[p].store(to[p].at + k * to[p].stride, to[p].room);
        });
    }
}

// Calls solve<packs>(begin, end) for blocks of columns: wide ones, then one for what is left.
template <int packs, class T, class Solve>
DTAU_INLINE void for_blocks(int begin, int columns, const Solve& solve) {
    constexpr int width = packs * Pack<T>::width;
    for (; columns - begin > width - Pack<T>::width; begin += width)
        solve.template operator()<packs>(begin, begin + width < columns ? begin + width : columns);
    if constexpr (packs > 1)
        if (begin < columns) for_blocks<packs - 1, T>(begin, columns, solve);
}

// scale M^-1 B for matrices B (nv, nv) that are zero where row and column are not related. They lie
// side by side, each padded to whole packs; rows are `stride` apart, those of the solutions too.
template <class T>
struct Solution {
    T* at;
    int stride;
};
template <int matrices, class T>
void ltdl_solve(const Paths& dofs, T scale, const T* B, int stride,
                const Solution<T> (&solutions)[matrices], const LtdlWorkspace<T>& w) {
    const int n = dofs.n, padded = whole_packs<T>(n);
    const auto right = [&](int k, int c) { return Pack<T>::load(B + k * stride + c); };
    const auto place = [&](int c) -> Columns<T> {
        const Solution<T>& solution = solutions[c / padded];
        return {solution.at + c % padded, n - c % padded, solution.stride};
    };
    for_blocks<LtdlWorkspace<T>::packs, T>(
        0, matrices * padded, [&]<int packs>(int begin, int end) {
            int count = 0;
            for (int k = 0; k < n; ++k) {
                bool related = false;
                for (int first = 0; first < matrices * padded; first += padded)
                    related |= is_related(dofs, k, begin < first ? 0 : begin - first,
                                          end - first < padded ? end - first : padded);
                if (related) w.rows[count++] = k;
            }
            ltdl_solve_block<packs>(dofs, scale, begin, count, n, right, place, w);
        });
}

// -M^-1 X in place, for X (n, columns).
template <class T>
DTAU_INLINE void ltdl_solve_in_place(const Paths& dofs, T* X, int columns,
                                     const LtdlWorkspace<T>& w) {
    for (int k = 0; k < dofs.n; ++k) w.rows[k] = k;
    const auto right = [&](int k, int c) {
        return Pack<T>::load(X + std::ptrdiff_t(k) * columns + c, columns - c);
    };
    const auto place = [&](int c) -> Columns<T> { return {X + c, columns - c, columns}; };
    for_blocks<LtdlWorkspace<T>::packs, T>(0, columns, [&]<int packs>(int begin, int) {
        ltdl_solve_block<packs>(dofs, T(-1.0), begin, dofs.n, dofs.n, right, place, w);
    });
}

// The lower triangle of a symmetric matrix from the upper one; zeros get a positive sign.
template <class T>
DTAU_INLINE void mirror(T* matrix, int n) {
    for (int k = 0; k < n; ++k)
        for (int c = k + 1; c < n; ++c)
            matrix[c * n + k] = matrix[k * n + c] = matrix[k * n + c] + T(0.0);
}

// M^-1 (nv, nv): the upper triangle by columns of the identity, then the mirrored lower one.
template <class T>
DTAU_INLINE void ltdl_inverse(const Paths& dofs, T* inverse, const LtdlWorkspace<T>& w) {
    const int n = dofs.n;
    constexpr int most = 4;  // narrow: rows below a block are left out
    const auto right = [&](int k, int c) { return Pack<T>::unit(k - c); };
    const auto place = [&](int c) -> Columns<T> { return {inverse + c, n - c, n}; };
    for_blocks<most, T>(0, n, [&]<int packs>(int begin, int end) {
        int count = 0;
        for (int k = 0; k < end; ++k)
            if (is_ancestor(dofs, k, begin, end)) w.rows[count++] = k;
        ltdl_solve_block<packs>(dofs, T(1.0), begin, count, end, right, place, w);
    });
    mirror(inverse, n);
}

}  // namespace dtau::DTAU_VARIANT
