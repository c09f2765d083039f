// Factorisation M = L^T D L of a mass matrix that keeps the zeros of the tree, and its solves.
// RBDA section 6.5: O(N d^2) to factorise, O(N d) to solve for one column.
//
// L is stored below the diagonal of its matrix, 1/D on the diagonal. Two degrees of freedom are
// related if one is on the path from the other to the world; dof_parent leads along that path, and
// the subtree of k is the range k ... dof_end[k] - 1.
#pragma once

#include "dtau/arena.hpp"
#include "dtau/model.hpp"
#include "dtau/spatial.hpp"

namespace dtau::DTAU_VARIANT {

// In place, from the lower triangle; the upper one is left as it was. Rows are `stride` apart.
template <class T>
DTAU_INLINE void ltdl_factorize(const Tree& tree, T* M, int stride) {
    const int* parent = tree.dof_parent;
    for (int k = tree.nv - 1; k >= 0; --k) {
        T* row = M + k * stride;
        const T d_inverse = T(1.0) / row[k];
        for (int i = parent[k]; i >= 0; i = parent[i]) {
            const T l = row[i] * d_inverse;
            for (int j = i; j >= 0; j = parent[j])
                M[i * stride + j] = fma(-l, row[j], M[i * stride + j]);
            row[i] = l;
        }
        row[k] = d_inverse;
    }
}

// Neighbouring entries of a row that are processed together: a vector of them for a lone state, one
// (a vector of states) in lanes.
template <class T>
struct Pack {
    static constexpr int width = 1;
    T value;

    static DTAU_INLINE Pack load(const T* x) { return {*x}; }
    static DTAU_INLINE Pack unit(int i) { return {T(i == 0 ? 1.0 : 0.0)}; }  // 1 at place i
    DTAU_INLINE void store(T* x, int) const { *x = value; }
};
template <>
struct Pack<double> {
    static constexpr int width = lanes;
    Lane value;

    static DTAU_INLINE Pack load(const double* x) {
        Pack p;
        std::memcpy(&p.value, x, sizeof(Lane));
        return p;
    }
    static DTAU_INLINE Pack unit(int i) {
        Pack p{Lane(0.0)};
        if (i >= 0 && i < width) p.value.value[i] = 1.0;
        return p;
    }
    DTAU_INLINE void store(double* x, int count) const {
        if (count >= width) {
            std::memcpy(x, &value, sizeof(Lane));
        } else {
            for (int k = 0; k < count; ++k) x[k] = value.value[k];
        }
    }
};
template <class T>
DTAU_INLINE Pack<T> fma(T l, const Pack<T>& x, const Pack<T>& y) {
    return {fma(l, x.value, y.value)};
}

template <class T>
struct LtdlWorkspace {
    static constexpr int packs = 4;  // columns in a block: packs * width
    Pack<T>* X;                      // a block of the solution
    int* rows;                       // those that are not zero before the second sweep

    LtdlWorkspace(Arena& arena, const Tree& tree)
        : X(arena.take<Pack<T>>(tree.nv * packs)), rows(arena.take<int>(tree.nv)) {}

    // The width of rows that may be read in whole packs.
    static int stride(const Tree& tree) {
        return (tree.nv + Pack<T>::width - 1) / Pack<T>::width * Pack<T>::width;
    }
};

// Rows that are related to one of the columns begin ... end - 1 or, if ancestors_only, that are on
// the path from one of them to the world.
DTAU_INLINE int rows_of_columns(const Tree& tree, int begin, int end, bool ancestors_only,
                                int* rows) {
    int count = 0;
    for (int k = 0; k < tree.nv; ++k) {
        bool wanted = k < end && tree.dof_end[k] > begin;
        if (!wanted && !ancestors_only) {
            int j = k;
            while (j >= end) j = tree.dof_parent[j];
            wanted = j >= begin;
        }
        if (wanted) rows[count++] = k;
    }
    return count;
}

// Columns begin ... end - 1 of scale M^-1 B for the first `solved` rows. right(k, c) is the pack of
// B at row k, column c; B is zero outside the rows of w.
template <int packs, class T, class Right>
DTAU_INLINE void ltdl_solve_block(const Tree& tree, const T* L, int stride, T scale, int begin,
                                  int end, int count, int solved, const Right& right, T* solution,
                                  const LtdlWorkspace<T>& w) {
    constexpr int width = Pack<T>::width;
    const int n = tree.nv;
    Pack<T> x[packs];
    for (int k = 0; k < solved; ++k)
        for (int p = 0; p < packs; ++p) w.X[k * packs + p].value = decltype(x[p].value)(0.0);

    for (int r = count - 1; r >= 0; --r) {  // L^-T, leaves to root
        const int j = w.rows[r];
        for (int p = 0; p < packs; ++p) x[p] = right(j, begin + p * width);
        for (int s = r + 1; s < count && w.rows[s] < tree.dof_end[j]; ++s) {
            const int k = w.rows[s];
            const T l = -L[k * stride + j];
            for (int p = 0; p < packs; ++p) x[p] = fma(l, w.X[k * packs + p], x[p]);
        }
        for (int p = 0; p < packs; ++p) w.X[j * packs + p] = x[p];
    }
    for (int k = 0; k < solved; ++k) {  // D^-1 and L^-1, root to leaves
        const T d_inverse = scale * L[k * stride + k];
        for (int p = 0; p < packs; ++p)
            x[p].value = decltype(x[p].value)(d_inverse) * w.X[k * packs + p].value;
        for (int j = tree.dof_parent[k]; j >= 0; j = tree.dof_parent[j]) {
            const T l = -L[k * stride + j];
            for (int p = 0; p < packs; ++p) x[p] = fma(l, w.X[j * packs + p], x[p]);
        }
        for (int p = 0; p < packs; ++p) {
            w.X[k * packs + p] = x[p];
            const int c = begin + p * width;
            if (c < end) x[p].store(solution + k * n + c, end - c);
        }
    }
}

// Calls solve(packs, begin, end) for blocks of columns, with packs as a compile-time constant.
template <class T, class Solve>
DTAU_INLINE void for_blocks(int columns, const Solve& solve) {
    constexpr int width = Pack<T>::width, most = LtdlWorkspace<T>::packs;
    for (int begin = 0; begin < columns;) {
        const int left = (columns - begin + width - 1) / width;
        const int used = left < most ? left : most;
        const int end = begin + used * width < columns ? begin + used * width : columns;
        switch (used) {
            case 1:
                solve.template operator()<1>(begin, end);
                break;
            case 2:
                solve.template operator()<2>(begin, end);
                break;
            case 3:
                solve.template operator()<3>(begin, end);
                break;
            default:
                solve.template operator()<most>(begin, end);
        }
        begin = end;
    }
}

// scale M^-1 B for a matrix B (nv, nv) of derivatives: zero where row and column are not related.
// Rows of L and B are `stride` apart; those of B may be read in whole packs.
template <class T>
DTAU_INLINE void ltdl_solve(const Tree& tree, const T* L, T scale, const T* B, int stride,
                            T* solution, const LtdlWorkspace<T>& w) {
    const auto right = [&](int k, int c) { return Pack<T>::load(B + k * stride + c); };
    for_blocks<T>(tree.nv, [&]<int packs>(int begin, int end) {
        const int count = rows_of_columns(tree, begin, end, false, w.rows);
        ltdl_solve_block<packs>(tree, L, stride, scale, begin, end, count, tree.nv, right, solution,
                                w);
    });
}

// M^-1 (nv, nv): the upper triangle by columns of the identity, then the mirrored lower one.
template <class T>
DTAU_INLINE void ltdl_inverse(const Tree& tree, const T* L, int stride, T* inverse,
                              const LtdlWorkspace<T>& w) {
    const int n = tree.nv;
    const auto right = [&](int k, int c) { return Pack<T>::unit(k - c); };
    for_blocks<T>(n, [&]<int packs>(int begin, int end) {
        const int count = rows_of_columns(tree, begin, end, true, w.rows);
        ltdl_solve_block<packs>(tree, L, stride, T(1.0), begin, end, count, end, right, inverse, w);
    });
    for (int k = 0; k < n; ++k)
        for (int c = k + 1; c < n; ++c) inverse[c * n + k] = inverse[k * n + c];
}

}  // namespace dtau::DTAU_VARIANT
