// Solves M X = B with M = L^T D L (ltdl.hpp) for a block of columns: ltdl_solve_block().
// [Derivations] §10.
//
//   inwards    for j = n - 1 ... 0:   X_j = B_j - sum of L_kj X_k          for k below j in the tree
//   outwards   for k = 0 ... n - 1:   X_k = X_k / D_k - sum of L_kj X_j    for j on the path of k
//
// The textbook solves for one vector, and in the first pass subtracts row k from the rows of its
// ancestors. Here X_k are rows of a block, and every row is summed up in registers before it is
// stored. A parent and the child that follows it are two rows at once, because they need the same
// rows. The passes are compiled once for every number of packs in a block.
#pragma once

#include "dtau/algorithms/solve/ltdl.hpp"

namespace dtau::DTAU_VARIANT {

// Right-hand sides B (nv, columns), whose rows are `stride` apart; null: the identity.
template <class T> struct RightSides {
    const T* at;
    std::ptrdiff_t stride;
    int columns;

    // Loads row k, the columns from c on.
    DTAU_INLINE Pack<T> load(int k, int c) const {
        return at ? Pack<T>::load(at + k * stride + c, columns - c) : Pack<T>::unit(k - c);
    }
};

// Solutions: matrices (nv, columns), each padded to whole packs before the next one.
template <class T> struct Solution {
    T* at;
    std::ptrdiff_t stride;  // distance of its rows
};
template <class T> struct Solutions {
    Solution<T> matrices[3];
    int columns, padded;
};

// Neighboring columns of a result: their first row, their number, and the distance of rows.
template <class T> struct Columns {
    T* at;
    int room;
    std::ptrdiff_t stride;
};

// A block of columns to solve for, from `begin` on, for the first `solved` rows. B is zero except in
// `count` rows (w.rows). X holds the block while it is solved. In lanes X is the place of the result,
// which may also be B's. Otherwise X is a buffer of the workspace: for a lone state, and if the
// distance of rows is a multiple of 2 kB, because such rows evict each other from the nearest cache.
template <class T> struct Block {
    const Paths& dofs;
    const LtdlWorkspace<T>& w;
    const RightSides<T>& right;
    const Solutions<T>& solutions;
    int begin, packs, count, solved;
    bool in_place = Pack<T>::width == 1 && place(begin).stride * sizeof(T) % 2048 != 0;
    Columns<T> X = in_place ? place(begin) : place_in(w.X);

    // The place of column c, counted over all solutions.
    DTAU_INLINE Columns<T> place(int c) const {
        const Solution<T>* m = solutions.matrices;
        for (; c >= solutions.padded; c -= solutions.padded) ++m;
        return {m->at + c, solutions.columns - c, m->stride};
    }
    DTAU_INLINE Columns<T> place_in(T* at) const {
        const int width = packs * Pack<T>::width;
        return {at, width, width};
    }
};

// Sums up two rows x, y of a block in registers.
template <int packs, class T> struct RowSums {
    static constexpr int width = Pack<T>::width;
    T* const X;
    const std::ptrdiff_t given_stride;
    Pack<T> x[packs], y[packs];

    DTAU_INLINE RowSums(const Columns<T>& at) : X(at.at), given_stride(at.stride) {}

    // Row k. A lone state's is in a buffer (Block), whose stride the compiler knows.
    DTAU_INLINE T* row(int k) const {
        return X + k * (width > 1 ? std::ptrdiff_t(packs * width) : given_stride);
    }
    DTAU_INLINE void put(int k, const Pack<T>* from) const {
        T* const to = row(k);
        unrolled<packs>([&](int p)
                            __attribute__((always_inline)) { from[p].store(to + p * width); });
    }
    // sum = by X_k, and sum -= l X_k.
    DTAU_INLINE void scaled(int k, T by, Pack<T>* sum) const {
        const T* const from = row(k);
        unrolled<packs>([&](int p) __attribute__((always_inline)) {
            sum[p] = by * Pack<T>::load(from + p * width);
        });
    }
    DTAU_INLINE void subtract(T l, int k, Pack<T>* sum) const {
        const T* const from = row(k);
        unrolled<packs>([&](int p) __attribute__((always_inline)) {
            sum[p] = fnma(l, Pack<T>::load(from + p * width), sum[p]);
        });
    }
    DTAU_INLINE void subtract_from_both(T l, T m, int k) {
        const T* const from = row(k);
        unrolled<packs>([&](int p) __attribute__((always_inline)) {
            const Pack<T> both = {in_register(Pack<T>::load(from + p * width).value)};
            x[p] = fnma(l, both, x[p]);
            y[p] = fnma(m, both, y[p]);
        });
    }
    DTAU_INLINE void subtract_x_from_y(T l) {
        unrolled<packs>([&](int p) __attribute__((always_inline)) { y[p] = fnma(l, x[p], y[p]); });
    }
};

// Inwards, from the leaves to the root: X = L^-T B.
template <int packs, class T> void block_inwards(const Block<T>& block) {
    const Paths dofs = block.dofs;  // copies, which no store can change
    const LtdlWorkspace<T> w = block.w;
    const int count = block.count;
    RowSums<packs, T> sums(block.X);
    Pack<T>*const x = sums.x, *const y = sums.y;
    const auto load = [&](int k, Pack<T>* to) __attribute__((always_inline)) {
        unrolled<packs>([&](int p) __attribute__((always_inline)) {
            to[p] = block.right.load(k, block.begin + p * Pack<T>::width);
        });
    };

    unrolled<packs>([&](int p) { x[p] = {decltype(x[p].value)(0.0)}; });
    for (int k = 0, r = 0; k < block.solved; ++k) {
        if (r < count && w.rows[r] == k)
            ++r;
        else
            sums.put(k, x);
    }
    for (int r = count - 1; r >= 0; --r) {
        const int j = w.rows[r];
        const T* L = w.L + dofs.depth[j];  // column j: the same place in every row
        int s = r + 1;
        load(j, x);
        if (!follows_parent(dofs, j)) {
            for (; s < count && w.rows[s] < dofs.end[j]; ++s)
                sums.subtract(L[w.rows[s] * w.stride], w.rows[s], x);
            sums.put(j, x);
            continue;
        }
        load(j - 1, y);
        for (; s < count && w.rows[s] < dofs.end[j]; ++s) {
            const T *l = L + w.rows[s] * w.stride, *l_parent = l - 1;  // column j - 1 is beside j
            sums.subtract_from_both(*l, *l_parent, w.rows[s]);
        }
        for (; s < count && w.rows[s] < dofs.end[j - 1]; ++s)
            sums.subtract(L[w.rows[s] * w.stride - 1], w.rows[s], y);
        sums.subtract_x_from_y(L[j * w.stride - 1]);
        sums.put(j, x);
        sums.put(j - 1, y);
        --r;
    }
}

// Outwards, from the root to the leaves: stores scale L^-1 D^-1 X in the solutions.
template <int packs, class T> void block_outwards(const Block<T>& block, T scale) {
    constexpr int width = Pack<T>::width;
    const Paths dofs = block.dofs;  // copies, which no store can change
    const LtdlWorkspace<T> w = block.w;
    Columns<T> to[packs] = {};
    for (int p = 0; p < packs && !block.in_place; ++p) to[p] = block.place(block.begin + p * width);
    RowSums<packs, T> sums(block.X);
    Pack<T>*const x = sums.x, *const y = sums.y;
    const auto keep = [&](int k, const Pack<T>* row) __attribute__((always_inline)) {
        sums.put(k, row);
        if (!block.in_place)
            unrolled<packs>([&](int p) __attribute__((always_inline)) {
                row[p].store(to[p].at, to[p].room);
                to[p].at += to[p].stride;
            });
    };
    const int* path = w.path;
    for (int k = 0; k < block.solved; ++k) {
        extend_path(dofs, k, w.path);
        const int depth = dofs.depth[k];
        const T *L = w.L + k * w.stride, *next = L + w.stride;  // of the child that follows it
        sums.scaled(k, scale * L[depth], x);
        if (k + 1 == block.solved || !follows_parent(dofs, k + 1)) {
            for (int a = 0; a < depth; ++a) sums.subtract(L[a], path[a], x);
            keep(k, x);
            continue;
        }
        sums.scaled(k + 1, scale * next[depth + 1], y);
        for (int a = 0; a < depth; ++a) sums.subtract_from_both(L[a], next[a], path[a]);
        keep(k, x);
        sums.subtract_x_from_y(next[depth]);
        keep(++k, y);
        extend_path(dofs, k, w.path);
    }
}

// The two passes, for a number of packs known at run time.
template <class T> void sweep_inwards(const Block<T>& block) {
    with_packs<LtdlWorkspace<T>::packs>(block.packs,
                                        [&]<int packs>() { block_inwards<packs>(block); });
}
template <class T> void sweep_outwards(const Block<T>& block, T scale) {
    with_packs<LtdlWorkspace<T>::packs>(block.packs,
                                        [&]<int packs>() { block_outwards<packs>(block, scale); });
}

// A change may be added to L^-T B between the two passes: change(packs, begin, X, distance of rows).
struct NoChange {
    template <class T> DTAU_INLINE void operator()(int, int, T*, std::ptrdiff_t) const {}
    NoChange of_matrix(int) const { return {}; }
};
template <class T, class Change = NoChange>
DTAU_INLINE void ltdl_solve_block(const Block<T>& block, T scale, const Change& change = {}) {
    sweep_inwards(block);
    change(block.packs, block.begin, block.X.at, block.X.stride);
    sweep_outwards(block, scale);
}

}  // namespace dtau::DTAU_VARIANT
