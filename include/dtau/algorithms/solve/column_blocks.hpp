// Multiplies blocks of columns by matrices that have the zeros of the tree, and solves with M:
// negative_products(), solve_block_in_place(). A block, a few packs of columns of an (nv, columns) matrix,
// goes through all products of a time step in registers. Row k of a block is its packs
// x[k * packs] ... x[k * packs + packs - 1]. arrange_factor() puts a matrix, which many blocks are
// multiplied by, into the order in which products read it. [Derivations] §10.
#pragma once

#include "dtau/algorithms/solve/ltdl_columns.hpp"

namespace dtau::DTAU_VARIANT {

struct Rows {
    int begin, end;  // all other rows of the block are zero
};

// A matrix (nv, nv), zero where row and column are not related, and the block that it multiplies. The
// entries are negated, and in the order in which products take them (arrange_factor).
template <class T> struct Factor {
    const T* entries;
    const Pack<T>* x;
    Rows rows;
};

// Calls visit(k, pair) for all rows. pair: row k + 1 is visited too, because it belongs to a child of k and
// needs the same rows of a block. `path` is the path of k.
template <class Visit> inline void for_row_pairs(const Paths& dofs, int* path, const Visit& visit) {
    for (int k = 0; k < dofs.n; ++k) {
        extend_path(dofs, k, path);
        const bool pair = k + 1 < dofs.n && dofs.parent[k + 1] == k;
        visit(k, pair);
        if (pair) extend_path(dofs, ++k, path);
    }
}

// The number of entries of a factor.
inline std::ptrdiff_t factor_size(const Paths& dofs) {
    std::ptrdiff_t size = 0;
    for (int k = 0; k < dofs.n; ++k) size += 2 * dofs.depth[k] + 1;
    return size;
}
// Arranges the entries of a matrix for products: row k on its path, then in its subtree. The entries of a
// pair in one column are neighbors. So products read related entries alone, in the order of memory.
template <class T> void arrange_factor(const Paths& dofs, const T* matrix, T* entries, int* path) {
    const std::ptrdiff_t n = dofs.n;
    for_row_pairs(dofs, path, [&](int k, bool pair) {
        const T* const row = matrix + k * n;
        const auto take = [&](int j, bool both) {
            *entries++ = -row[j];
            if (both) *entries++ = -row[n + j];
        };
        for (int d = 0; d <= dofs.depth[k]; ++d) take(path[d], pair);
        for (int j = k + 1; j < dofs.end[k]; ++j) take(j, pair && j < dofs.end[k + 1]);
    });
}

// Row k of negative_products, and the row that follows it if they are a pair. a.entries and b.entries move
// on to the next row.
template <int packs, bool pair, class T>
void negative_row_products(const Paths& dofs, Factor<T>& a, Factor<T>& b, int k, const int* path,
                           Pack<T>* result) {
    const int depth = dofs.depth[k], shared_end = dofs.end[k + pair], all_end = dofs.end[k];
    Pack<T>*const row = result + k * packs, *const next = row + packs;
    Pack<T> x[packs], y[packs];
    unrolled<packs>(
        [&](int p) __attribute__((always_inline)) { x[p] = y[p] = {decltype(x[p].value)(0.0)}; });
    const auto add_all = [&](Factor<T>& f) __attribute__((always_inline)) {
        const auto add = [&](const T* entry, int j) __attribute__((always_inline)) {
            unrolled<packs>([&](int p) __attribute__((always_inline)) {
                const Pack<T> both = {in_register(f.x[j * packs + p].value)};
                x[p] = fma(entry[0], both, x[p]);
                if (pair) y[p] = fma(entry[pair], both, y[p]);
            });
        };
        const auto limited = [&](int end) { return end < f.rows.end ? end : f.rows.end; };
        const T *const on_path = f.entries, *const shared = on_path + (1 + pair) * (depth + 1),
                       *const last = shared + (1 + pair) * (shared_end - (k + 1));
        int d = 0, j = k + 1 > f.rows.begin ? k + 1 : f.rows.begin;
        while (d <= depth && path[d] < f.rows.begin) ++d;
        for (; d <= depth && path[d] < f.rows.end; ++d) add(on_path + (1 + pair) * d, path[d]);
        for (const int end = limited(shared_end); j < end; ++j)
            add(shared + (1 + pair) * (j - (k + 1)), j);
        for (const int end = limited(all_end); pair && j < end; ++j) {
            const T entry = last[j - shared_end];
            unrolled<packs>([&](int p) __attribute__((always_inline)) {
                x[p] = fma(entry, f.x[j * packs + p], x[p]);
            });
        }
        f.entries = last + (all_end - shared_end);
    };
    add_all(a);
    add_all(b);
    unrolled<packs>([&](int p) __attribute__((always_inline)) {
        row[p] = x[p];
        if (pair) next[p] = y[p];
    });
}

// result = -A a.x - B b.x, with the matrices A and B of the factors.
template <int packs, class T>
void negative_some_products(const Paths& dofs, Factor<T> a, Factor<T> b, Pack<T>* result,
                            int* path) {
    for_row_pairs(dofs, path, [&](int k, bool pair) {
        if (pair)
            negative_row_products<packs, true>(dofs, a, b, k, path, result);
        else
            negative_row_products<packs, false>(dofs, a, b, k, path, result);
    });
}

template <class T>
void negative_products(const Paths& dofs, int packs, const Factor<T>& a, const Factor<T>& b,
                       Pack<T>* result, int* path) {
    with_packs<LtdlWorkspace<T>::packs>(
        packs, [&]<int count>() { negative_some_products<count>(dofs, a, b, result, path); });
}

// x becomes M^-1 x, with the factors in w; w.rows lists all rows. `change` acts between the two triangular
// solves (ltdl_block.hpp).
template <class T, class Change>
inline void solve_block_in_place(const Paths& dofs, int packs, Pack<T>* x,
                                 const LtdlWorkspace<T>& w, const Change& change) {
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
