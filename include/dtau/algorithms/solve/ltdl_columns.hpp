// Solves with M = L^T D L (ltdl.hpp) for the columns of matrices, a block of them at a time, and M^-1.
// [Notes] §10.
#pragma once

#include "dtau/algorithms/solve/ltdl.hpp"

namespace dtau::DTAU_VARIANT {

// Is k on the path from one of the columns begin ... end - 1 to the world?
DTAU_INLINE bool is_ancestor(const Paths& dofs, int k, int begin, int end) {
    return k < end && dofs.end[k] > begin;
}
// One past the last of them and of those on whose path one of them is: subtrees are ranges, and those
// that go on after `end` all begin before it.
DTAU_INLINE int related_end(const Paths& dofs, int begin, int end) {
    int last = end;
    for (int c = begin; c < end; ++c) last = dofs.end[c] > last ? dofs.end[c] : last;
    return last;
}

// Neighbouring columns of a result: their first row, how many there are, and how far apart rows are.
template <class T>
struct Columns {
    T* at;
    int room;
    std::ptrdiff_t stride;
};

// Whether rows have but one or two places in the nearest cache, whose ways hold 4 kB each.
template <class T>
DTAU_INLINE bool rows_collide(const Columns<T>& columns) {
    return columns.stride * sizeof(T) % 2048 == 0;
}

// Columns from begin on of scale M^-1 B, for the first `solved` rows. right(k, c) is the pack of B
// at row k, column c; B is zero outside the `count` rows of w. The results of column c go to the
// rows of place(c). In lanes they are neighbours there, and solved for in that place, which may be
// that of B, unless rows collide; else they are collected in w.X. Between the sweeps
// change<packs>(begin, X, stride) may add to L^-T B, whose rows are `stride` apart.
struct NoChange {
    template <int packs, class T>
    DTAU_INLINE void operator()(int, T*, std::ptrdiff_t) const {}
    NoChange of_matrix(int) const { return {}; }
};
template <int packs, class T, class Right, class Place, class Change = NoChange>
DTAU_INLINE void ltdl_solve_block(const Paths& dofs, T scale, int begin, int count, int solved,
                                  const Right& right, const Place& place, const LtdlWorkspace<T>& w,
                                  const Change& change = {}) {
    constexpr int width = Pack<T>::width;
    Columns<T> to[packs];
    for (int p = 0; p < packs; ++p) to[p] = place(begin + p * width);
    const bool in_place = width == 1 && !rows_collide(to[0]);
    T* const X = in_place ? to[0].at : w.X;
    const std::ptrdiff_t stride = in_place ? to[0].stride : packs * width;

    Pack<T> x[packs], y[packs];
    const auto put = [&](int k, const Pack<T>* row) __attribute__((always_inline)) {
        unrolled<packs>([&](int p) { row[p].store(X + k * stride + p * width); });
    };
    const auto add = [&](T l, int k, Pack<T>* sum) __attribute__((always_inline)) {
        const T minus = -l;
        unrolled<packs>(
            [&](int p) { sum[p] = fma(minus, Pack<T>::load(X + k * stride + p * width), sum[p]); });
    };
    const auto add_both = [&](T l, T m, int k) __attribute__((always_inline)) {
        const T minus_l = -l, minus_m = -m;
        unrolled<packs>([&](int p) {
            const Pack<T> both = {in_register(Pack<T>::load(X + k * stride + p * width).value)};
            x[p] = fma(minus_l, both, x[p]);
            y[p] = fma(minus_m, both, y[p]);
        });
    };

    unrolled<packs>([&](int p) { x[p] = {decltype(x[p].value)(0.0)}; });
    for (int k = 0, r = 0; k < solved; ++k) {
        if (r < count && w.rows[r] == k)
            ++r;
        else
            put(k, x);
    }
    for (int r = count - 1; r >= 0; --r) {  // L^-T, leaves to root
        const int j = w.rows[r];
        const T* L = w.L + dofs.depth[j];  // column j: the same place in every row
        int s = r + 1;
        unrolled<packs>([&](int p) { x[p] = right(j, begin + p * width); });
        if (!follows_parent(dofs, j)) {
            for (; s < count && w.rows[s] < dofs.end[j]; ++s)
                add(L[w.rows[s] * w.stride], w.rows[s], x);
            put(j, x);
            continue;
        }
        unrolled<packs>([&](int p) { y[p] = right(j - 1, begin + p * width); });
        for (; s < count && w.rows[s] < dofs.end[j]; ++s) {
            const T* l = L + w.rows[s] * w.stride;
            add_both(l[0], l[-1], w.rows[s]);
        }
        for (; s < count && w.rows[s] < dofs.end[j - 1]; ++s)
            add(L[w.rows[s] * w.stride - 1], w.rows[s], y);
        const T minus = -L[j * w.stride - 1];
        unrolled<packs>([&](int p) { y[p] = fma(minus, x[p], y[p]); });
        put(j, x);
        put(j - 1, y);
        --r;
    }
    change.template operator()<packs>(begin, X, stride);
    const auto keep = [&](int k, const Pack<T>* row) __attribute__((always_inline)) {
        put(k, row);
        if (!in_place)
            unrolled<packs>([&](int p) { row[p].store(to[p].at + k * to[p].stride, to[p].room); });
    };
    const int* path = w.path;
    forget_path(dofs, w.path);
    for (int k = 0; k < solved; ++k) {  // D^-1 and L^-1, root to leaves
        follow_path(dofs, k, w.path);
        const int depth = dofs.depth[k];
        const T *L = w.L + k * w.stride, *next = L + w.stride;  // of the child that follows it
        const auto scaled = [&](int row, T by, Pack<T>* sum) __attribute__((always_inline)) {
            unrolled<packs>(
                [&](int p) { sum[p] = by * Pack<T>::load(X + row * stride + p * width); });
        };
        scaled(k, scale * L[depth], x);
        if (k + 1 == solved || !follows_parent(dofs, k + 1)) {
            for (int a = 0; a < depth; ++a) add(L[a], path[a], x);
            keep(k, x);
            continue;
        }
        scaled(k + 1, scale * next[depth + 1], y);
        for (int a = 0; a < depth; ++a) add_both(L[a], next[a], path[a]);
        keep(k, x);
        const T minus = -next[depth];
        unrolled<packs>([&](int p) { y[p] = fma(minus, x[p], y[p]); });
        keep(++k, y);
    }
}

// Calls solve<packs>(begin, end) for blocks of columns that are nearly as wide as each other.
template <int most, class Solve>
DTAU_INLINE void solve_packs(int packs, const Solve& solve) {
    if constexpr (most > 1)
        if (packs < most) return solve_packs<most - 1>(packs, solve);
    solve.template operator()<most>();
}
template <int most, class T, class Solve>
DTAU_INLINE void for_blocks(int columns, const Solve& solve) {
    constexpr int width = Pack<T>::width;
    const int packs = (columns + width - 1) / width, blocks = (packs + most - 1) / most;
    for (int b = 0; b < blocks; ++b) {
        const int begin = packs * b / blocks * width, end = packs * (b + 1) / blocks * width;
        solve_packs<most>((end - begin) / width, [&]<int count>() {
            solve.template operator()<count>(begin, end < columns ? end : columns);
        });
    }
}

// scale M^-1 B for matrices B (nv, nv) that are zero where row and column are not related. They lie
// side by side, each padded to whole packs; rows are `stride` apart, those of the solutions too.
template <class T>
struct Solution {
    T* at;
    int stride;
};
template <int matrices, class T, class Change = NoChange>
void ltdl_solve(const Paths& dofs, T scale, const T* B, int stride,
                const Solution<T> (&solutions)[matrices], const LtdlWorkspace<T>& w,
                const Change& change = {}) {
    const int n = dofs.n, padded = whole_packs<T>(n);
    const auto right = [&](int k, int c) { return Pack<T>::load(B + k * stride + c); };
    const auto place = [&](int c) -> Columns<T> {
        const Solution<T>& solution = solutions[c / padded];
        return {solution.at + c % padded, n - c % padded, solution.stride};
    };
    for_blocks<LtdlWorkspace<T>::packs, T>(matrices * padded, [&]<int packs>(int begin, int end) {
        int first[matrices], last[matrices];  // its columns of each matrix, to what is related
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
        ltdl_solve_block<packs>(dofs, scale, begin, count, n, right, place, w, change);
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
    for_blocks<LtdlWorkspace<T>::packs, T>(columns, [&]<int packs>(int begin, int) {
        ltdl_solve_block<packs>(dofs, T(-1.0), begin, dofs.n, dofs.n, right, place, w);
    });
}

// M^-1, by all of its columns, with a change between the sweeps.
template <class T, class Change>
DTAU_INLINE void ltdl_changed_inverse(const Paths& dofs, T* inverse, const LtdlWorkspace<T>& w,
                                      const Change& change) {
    const int n = dofs.n;
    const auto right = [&](int k, int c) { return Pack<T>::unit(k - c); };
    const auto place = [&](int c) -> Columns<T> { return {inverse + c, n - c, n}; };
    for_blocks<LtdlWorkspace<T>::packs, T>(n, [&]<int packs>(int begin, int end) {
        int count = 0;
        for (int k = 0; k < end; ++k)
            if (is_ancestor(dofs, k, begin, end)) w.rows[count++] = k;
        ltdl_solve_block<packs>(dofs, T(1.0), begin, count, n, right, place, w, change);
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
    constexpr int most = Pack<T>::width > 1 ? 4
                         : lanes < 8        ? 6
                                            : 7;  // narrow: rows below a block are left out
    const auto right = [&](int k, int c) { return Pack<T>::unit(k - c); };
    const auto place = [&](int c) -> Columns<T> { return {inverse + c, n - c, n}; };
    for_blocks<most, T>(n, [&]<int packs>(int begin, int end) {
        int count = 0;
        for (int k = 0; k < end; ++k)
            if (is_ancestor(dofs, k, begin, end)) w.rows[count++] = k;
        ltdl_solve_block<packs>(dofs, T(1.0), begin, count, end, right, place, w);
    });
    mirror(inverse, n);
}

}  // namespace dtau::DTAU_VARIANT
