// Multiplies blocks of columns by matrices that have the zeros of the tree, and solves with M:
// subtract_products(), subtract_and_solve(). A block, a few packs of columns of an (nv, columns)
// matrix, goes through all products of a time step in registers. Row k of a block is its
// packs x[k * packs] ... x[k * packs + packs - 1]. [Derivations] §10.
#pragma once

#include "dtau/algorithms/solve/ltdl_columns.hpp"

namespace dtau::DTAU_VARIANT {

struct Rows {
    int begin, end;  // all other rows of the block are zero
};

// A matrix (nv, nv), zero where row and column are not related, and the block that it multiplies.
template <class T>
struct Factor {
    const T* matrix;
    const Pack<T>* x;
    Rows rows;
};

// result -= a.matrix a.x + b.matrix b.x
template <int packs, class T>
void subtract_some_products(const Paths& dofs, const Factor<T>& a, const Factor<T>& b,
                            Pack<T>* result, int* path) {
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

template <class T>
void subtract_products(const Paths& dofs, int packs, const Factor<T>& a, const Factor<T>& b,
                       Pack<T>* result, int* path) {
    with_packs<LtdlWorkspace<T>::packs>(
        packs, [&]<int count>() { subtract_some_products<count>(dofs, a, b, result, path); });
}

// x becomes M^-1 (x - a.matrix a.x - b.matrix b.x), with the factors in w; w.rows lists all rows.
// `change` acts between the two triangular solves (ltdl_block.hpp).
template <class T, class Change>
DTAU_INLINE void subtract_and_solve(const Paths& dofs, int packs, const Factor<T>& a,
                                    const Factor<T>& b, Pack<T>* x, const LtdlWorkspace<T>& w,
                                    const Change& change) {
    subtract_products(dofs, packs, a, b, x, w.path);
    T* const X = reinterpret_cast<T*>(x);
    const int columns = packs * Pack<T>::width;
    const RightSides<T> right = {X, columns, columns};
    const Solutions<T> nowhere_else = {};
    const Block<T> block = {dofs,  w,      right,  nowhere_else, 0,
                            packs, dofs.n, dofs.n, true,         {X, columns, columns}};
    ltdl_solve_block(block, T(1.0), change);
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

}  // namespace dtau::DTAU_VARIANT
