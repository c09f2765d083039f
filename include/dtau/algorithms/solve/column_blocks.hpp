// Products with blocks of columns that keep the zeros of the tree: what (nv, columns) matrices go
// through together, a few packs of columns at a time, in registers. Row k of a block is its packs
// x[k * packs] ... x[k * packs + packs - 1]. [Notes] §10.
#pragma once

#include "dtau/algorithms/solve/ltdl_columns.hpp"

namespace dtau::DTAU_VARIANT {

struct Rows {
    int begin, end;  // outside of them a block is zero
};

// A matrix (nv, nv) that is zero where row and column are not related, and a block to multiply.
template <class T>
struct Factor {
    const T* matrix;
    const Pack<T>* x;
    Rows rows;
};

// result -= a.matrix a.x + b.matrix b.x
template <int packs, class T>
void subtract_products(const Paths& dofs, const Factor<T>& a, const Factor<T>& b, Pack<T>* result,
                       int* path) {
    forget_path(dofs, path);
    for (int k = 0; k < dofs.n; ++k) {
        follow_path(dofs, k, path);
        const std::ptrdiff_t row = static_cast<std::ptrdiff_t>(k) * dofs.n;
        Pack<T> sum[packs];
        unrolled<packs>([&](int p) { sum[p] = result[k * packs + p]; });
        const auto add = [&](const Factor<T>& f, int j) __attribute__((always_inline)) {
            const T minus = -f.matrix[row + j];
            unrolled<packs>([&](int p) { sum[p] = fma(minus, f.x[j * packs + p], sum[p]); });
        };
        const auto add_all = [&](const Factor<T>& f) __attribute__((always_inline)) {
            const int depth = dofs.depth[k], all = dofs.end[k];
            if (f.rows.begin == 0 && f.rows.end == dofs.n) {
                for (int d = 0; d <= depth; ++d) add(f, path[d]);
                for (int j = k + 1; j < all; ++j) add(f, j);
            } else if (f.rows.begin < f.rows.end) {
                for (int d = 0; d <= depth; ++d)
                    if (path[d] >= f.rows.begin && path[d] < f.rows.end) add(f, path[d]);
                const int end = all < f.rows.end ? all : f.rows.end;
                for (int j = k + 1 > f.rows.begin ? k + 1 : f.rows.begin; j < end; ++j) add(f, j);
            }
        };
        add_all(a);
        add_all(b);
        unrolled<packs>([&](int p) { result[k * packs + p] = sum[p]; });
    }
}

// x becomes M^-1 x: ltdl_solve_vector for a block. A change between the sweeps is as in ltdl_columns.hpp.
template <int packs, class T, class Change>
void solve_block(const Paths& dofs, Pack<T>* x, const LtdlWorkspace<T>& w, const Change& change) {
    Pack<T> sum[packs];
    const auto add = [&](T l, int j) __attribute__((always_inline)) {
        unrolled<packs>([&](int p) { sum[p] = fma(-l, x[j * packs + p], sum[p]); });
    };
    for (int k = dofs.n - 1; k >= 0; --k) {  // L^-T, leaves to root
        unrolled<packs>([&](int p) { sum[p] = x[k * packs + p]; });
        const T* L = w.L + dofs.depth[k];
        for (int j = k + 1; j < dofs.end[k]; ++j) add(L[j * w.stride], j);
        unrolled<packs>([&](int p) { x[k * packs + p] = sum[p]; });
    }
    change.template operator()<packs>(0, reinterpret_cast<T*>(x), packs * Pack<T>::width);
    forget_path(dofs, w.path);
    for (int k = 0; k < dofs.n; ++k) {  // D^-1 and L^-1, root to leaves
        follow_path(dofs, k, w.path);
        const T* L = w.L + k * w.stride;
        const int depth = dofs.depth[k];
        const T d_inverse = L[depth];
        unrolled<packs>([&](int p) { sum[p] = d_inverse * x[k * packs + p]; });
        for (int d = 0; d < depth; ++d) add(L[d], w.path[d]);
        unrolled<packs>([&](int p) { x[k * packs + p] = sum[p]; });
    }
}

// x becomes M^-1 (x - a.matrix a.x - b.matrix b.x), for a number of packs that is known only now.
template <int most, class T, class Change>
void subtract_and_solve(const Paths& dofs, int packs, const Factor<T>& a, const Factor<T>& b,
                        Pack<T>* x, const LtdlWorkspace<T>& w, const Change& change) {
    if (packs == most) {
        subtract_products<most>(dofs, a, b, x, w.path);
        solve_block<most>(dofs, x, w, change);
    } else if constexpr (most > 1) {
        subtract_and_solve<most - 1>(dofs, packs, a, b, x, w, change);
    }
}

// result += matrix x, for `size` rows of a joint.
template <class T>
DTAU_INLINE void joint_product(const T* matrix, int size, int packs, const Pack<T>* x,
                               Pack<T>* result) {
    for (int r = 0; r < size; ++r)
        for (int p = 0; p < packs; ++p) {
            Pack<T> sum = result[r * packs + p];
            for (int c = 0; c < size; ++c) sum = fma(matrix[r * size + c], x[c * packs + p], sum);
            result[r * packs + p] = sum;
        }
}

// Calls solve(begin, packs) for blocks of nearly equal width, at most `most` packs each.
template <int most, int width, class Solve>
DTAU_INLINE void for_even_blocks(int columns, const Solve& solve) {
    const int packs = (columns + width - 1) / width, blocks = (packs + most - 1) / most;
    for (int b = 0; b < blocks; ++b) {
        const int first = packs * b / blocks, next = packs * (b + 1) / blocks;
        solve(first * width, next - first);
    }
}

}  // namespace dtau::DTAU_VARIANT
