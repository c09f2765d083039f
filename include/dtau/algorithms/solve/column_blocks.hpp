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

// Row k of subtract_products; the row that follows it too if they are a pair.
template <int packs, bool pair, class T>
DTAU_INLINE void subtract_row_products(const Paths& dofs, const Factor<T>& a, const Factor<T>& b,
                                       int k, const int* path, Pack<T>* result) {
    const int n = dofs.n, depth = dofs.depth[k];
    const int shared_end = dofs.end[k + pair], all_end = dofs.end[k];
    Pack<T>*const row = result + k * packs, *const next = row + packs;
    Pack<T> x[packs], y[packs];
    unrolled<packs>([&](int p) __attribute__((always_inline)) {
        x[p] = row[p];
        if (pair) y[p] = next[p];
    });
    const auto add_all = [&](const Factor<T>& f) __attribute__((always_inline)) {
        const T* const entries = f.matrix + static_cast<std::ptrdiff_t>(k) * n;
        const auto subtract = [&](int j) __attribute__((always_inline)) {
            const T minus = -entries[j], minus_next = -entries[pair ? n + j : j];
            unrolled<packs>([&](int p) __attribute__((always_inline)) {
                const Pack<T> both = {in_register(f.x[j * packs + p].value)};
                x[p] = fma(minus, both, x[p]);
                if (pair) y[p] = fma(minus_next, both, y[p]);
            });
        };
        const auto limited = [&](int end) { return end < f.rows.end ? end : f.rows.end; };
        int d = 0, j = k + 1 > f.rows.begin ? k + 1 : f.rows.begin;
        while (d <= depth && path[d] < f.rows.begin) ++d;
        for (; d <= depth && path[d] < f.rows.end; ++d) subtract(path[d]);
        for (const int end = limited(shared_end); j < end; ++j) subtract(j);
        for (const int end = limited(all_end); pair && j < end; ++j) {
            const T minus = -entries[j];
            unrolled<packs>([&](int p) __attribute__((always_inline)) {
                x[p] = fma(minus, f.x[j * packs + p], x[p]);
            });
        }
    };
    add_all(a);
    add_all(b);
    unrolled<packs>([&](int p) __attribute__((always_inline)) {
        row[p] = x[p];
        if (pair) next[p] = y[p];
    });
}

// result -= a.matrix a.x + b.matrix b.x. A parent and the child that follows it are a pair, because
// they need the same rows of x.
template <int packs, class T>
void subtract_some_products(const Paths& dofs, const Factor<T>& a, const Factor<T>& b,
                            Pack<T>* result, int* path) {
    forget_path(dofs, path);
    for (int k = 0; k < dofs.n; ++k) {
        follow_path(dofs, k, path);
        if (k + 1 == dofs.n || dofs.parent[k + 1] != k) {
            subtract_row_products<packs, false>(dofs, a, b, k, path, result);
            continue;
        }
        subtract_row_products<packs, true>(dofs, a, b, k, path, result);
        follow_path(dofs, ++k, path);
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
void joint_product(const T* matrix, int size, int packs, const Pack<T>* x, Pack<T>* result) {
    with_packs<LtdlWorkspace<T>::packs>(packs, [&]<int count>() {
        for (int r = 0; r < size; ++r) {
            Pack<T>* const row = result + r * count;
            Pack<T> sum[count];
            unrolled<count>([&](int p) __attribute__((always_inline)) { sum[p] = row[p]; });
            for (int c = 0; c < size; ++c)
                unrolled<count>([&](int p) __attribute__((always_inline)) {
                    sum[p] = fma(matrix[r * size + c], x[c * count + p], sum[p]);
                });
            unrolled<count>([&](int p) __attribute__((always_inline)) { row[p] = sum[p]; });
        }
    });
}

}  // namespace dtau::DTAU_VARIANT
