// Factorizes the mass matrix M = L^T D L, which keeps the zeros of the tree, and solves for a
// vector: ltdl_factorize(), ltdl_solve_vector(). [RBDA] section 6.5: O(N d^2) to factorize, O(N d)
// to solve.
//
//   for k = n - 1 ... 0:                     for each j on the path of k, k excluded:
//     L_kj = M_kj / M_kk,                      M_ji = M_ji - L_kj M_ki   for each i on the path of j
//     D_k  = M_kk
//   solve:   x = L^-T b      for k = n - 1 ... 0:  x_j = x_j - L_kj x_k    for each j on the path of k
//            x = L^-1 D^-1 x   for k = 0 ... n - 1:  x_k = x_k / D_k - sum of L_kj x_j
//
// Two degrees of freedom are related if one is on the path from the other to the world; M and L
// have entries for related pairs only. L is therefore kept by paths, not as the book's n x n
// matrix: row k holds L_kj at place depth(j) for the j on the path of k, and 1/D_k at place
// depth(k). The path of an ancestor is a prefix of the path of k, so that rows combine place by
// place ([Derivations] §10). The subtree of k is the range k ... dofs.end[k] - 1. A parent and the child
// that follows it are eliminated together.
#pragma once

#include "dtau/arena.hpp"
#include "dtau/model.hpp"
#include "dtau/pack.hpp"
#include "dtau/path.hpp"

namespace dtau::DTAU_VARIANT {

template <class T> struct LtdlWorkspace {
    // Packs of columns in a block: as many as registers hold of two rows, to hide the latency. Wide
    // lanes take fewer columns, so that a block stays in the nearest cache.
    static constexpr int packs = lanes < 8 ? 6 : Pack<T>::width == 1 ? 9 : 12;
    std::ptrdiff_t stride;  // distance of the rows of L: whole packs
    T* L;
    T* X;       // a block of the solution, if it is not solved in place
    int* rows;  // the nonzero rows of a block before the outwards pass
    int* path;  // of the current k: path[depth(j)] = j

    LtdlWorkspace(Arena& arena, const Paths& dofs)
        : stride(whole_packs<T>(dofs.max_depth + 1)),
          L(arena.take<T>(dofs.n * stride)),
          X(arena.take<T>(dofs.n * packs * Pack<T>::width)),
          rows(arena.take<int>(dofs.n)),
          path(arena.take<int>(dofs.max_depth + 1)) {}

    // Packs touch places of L beyond the paths, without effect on others. But memory that was used for
    // something else can hold denormal numbers, which are slow. So such an L is zeroed before its rows
    // are written.
    static constexpr bool padded = Pack<T>::width > 1;
    void zero(const Paths& dofs) const {
        for (int k = 0; k < dofs.n * stride; ++k) L[k] = T(0.0);
    }
};

// Rows are eliminated and solved for in pairs: a parent and the child that follows it need the same
// rows, which are loaded once. Pairs begin at even depths, so that sums have the same order in every
// block.
inline bool follows_parent(const Paths& dofs, int k) {
    return dofs.depth[k] % 2 == 1 && dofs.parent[k] == k - 1;
}

// Factorizes in place. Before, row k of w.L holds row k of M, with M_kj at place depth(j). A lone state
// combines rows by whole packs.
template <class T> void ltdl_factorize(const Paths& dofs, const LtdlWorkspace<T>& w) {
    constexpr int width = Pack<T>::width;
    const auto scale = [](T* numbers, int count, T by) __attribute__((always_inline)) {
        for (int b = 0; b < count; b += width) (by * Pack<T>::load(numbers + b)).store(numbers + b);
        numbers[count] = by;
    };
    const int* path = w.path;
    forget_path(dofs, w.path);
    for (int k = dofs.n - 1; k >= 0; --k) {
        follow_path(dofs, k, w.path);
        const int depth = dofs.depth[k];
        T* row = w.L + k * w.stride;
        const T d_inverse = T(1.0) / row[depth];
        if (!follows_parent(dofs, k)) {
            for (int a = depth - 1; a >= 0; --a) {
                const T l = row[a] * d_inverse;  // [Derivations] eq. 10.1
                T* ancestor = w.L + path[a] * w.stride;
                for (int b = 0; b <= a; b += width)
                    fnma(l, Pack<T>::load(row + b), Pack<T>::load(ancestor + b))
                        .store(ancestor + b);
            }
            scale(row, depth, d_inverse);
            continue;
        }
        T* parent = row - w.stride;
        const T own = row[depth - 1] * d_inverse;
        for (int b = 0; b < depth; b += width)
            fnma(own, Pack<T>::load(row + b), Pack<T>::load(parent + b)).store(parent + b);
        const T parent_inverse = T(1.0) / parent[depth - 1];
        for (int a = depth - 2; a >= 0; --a) {
            const T l = row[a] * d_inverse, m = parent[a] * parent_inverse;
            T* ancestor = w.L + path[a] * w.stride;
            for (int b = 0; b <= a; b += width) {
                const Pack<T> less = fnma(l, Pack<T>::load(row + b), Pack<T>::load(ancestor + b));
                fnma(m, Pack<T>::load(parent + b), less).store(ancestor + b);
            }
        }
        scale(row, depth, d_inverse);
        scale(parent, depth - 1, parent_inverse);
        --k;
    }
}

// inwards: x becomes L^-T x, from leaves to roots. outwards: x becomes L^-1 D^-1 x, from roots to
// leaves.
template <class T>
inline void ltdl_solve_inwards(const Paths& dofs, T* x, const LtdlWorkspace<T>& w) {
    for (int k = dofs.n - 1; k >= 0; --k) {
        const T* row = w.L + k * w.stride;
        for (int j = dofs.parent[k]; j >= 0; j = dofs.parent[j])
            x[j] = fma(-row[dofs.depth[j]], x[k], x[j]);
    }
}
template <class T>
inline void ltdl_solve_outwards(const Paths& dofs, T* x, const LtdlWorkspace<T>& w) {
    for (int k = 0; k < dofs.n; ++k) {
        const T* row = w.L + k * w.stride;
        x[k] = row[dofs.depth[k]] * x[k];
        for (int j = dofs.parent[k]; j >= 0; j = dofs.parent[j])
            x[k] = fma(-row[dofs.depth[j]], x[j], x[k]);
    }
}

// x becomes M^-1 x.
template <class T>
inline void ltdl_solve_vector(const Paths& dofs, T* x, const LtdlWorkspace<T>& w) {
    ltdl_solve_inwards(dofs, x, w);
    ltdl_solve_outwards(dofs, x, w);
}

}  // namespace dtau::DTAU_VARIANT
