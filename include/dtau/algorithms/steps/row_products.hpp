// Multiplies matrices with rows of nz numbers, in packs: add_upper_product(), dense_product().
#pragma once

#include "dtau/algorithms/solve/ltdl_block.hpp"

namespace dtau::DTAU_VARIANT {

// A matrix of factors; neighbors in a column are `row` numbers apart, neighbors in a row `column`.
template <class T> struct Factors {
    const T* at;
    std::ptrdiff_t row, column;
};

// Rows r, r + 1, ... of `to` (+)= the sums of rows k of `from`, times the factors of row r and column
// k, from pack `begin` on; rows have nz numbers. Reads each number of `from` once for all of them.
template <int rows, class T>
void combine_rows(bool adds, int r, int count, int nz, int begin, const Factors<T>& by,
                  const T* from, T* to) {
    constexpr int width = Pack<T>::width;
    in_parts<4>(whole_packs<T>(nz) / width - begin, [&]<int packs>(int first) {
        const auto at = [&](int p) { return (begin + first + p) * width; };
        const auto row = [&](int i) { return to + static_cast<std::ptrdiff_t>(r + i) * nz; };
        Pack<T> x[rows][packs];
        unrolled<rows>([&](int i) __attribute__((always_inline)) {
            unrolled<packs>([&](int p) __attribute__((always_inline)) {
                x[i][p] = adds ? Pack<T>::load(row(i) + at(p), nz - at(p)) : Pack<T>{T(0.0)};
            });
        });
        const T* factor = by.at + r * by.row;
        for (int k = 0; k < count; ++k, factor += by.column) {
            const T* y = from + static_cast<std::ptrdiff_t>(k) * nz;
            T scale[rows];
            unrolled<rows>([&](int i) { scale[i] = factor[i * by.row]; });
            unrolled<packs>([&](int p) __attribute__((always_inline)) {
                const Pack<T> of = {in_register(Pack<T>::load(y + at(p), nz - at(p)).value)};
                unrolled<rows>([&](int i) { x[i][p] = fma(scale[i], of, x[i][p]); });
            });
        }
        unrolled<rows>([&](int i) __attribute__((always_inline)) {
            unrolled<packs>([&](int p) __attribute__((always_inline)) {
                x[i][p].store(row(i) + at(p), nz - at(p));
            });
        });
    });
}

// Adds A^T B for `count` rows of nz numbers to the upper triangle of H. A is zero before column `first`.
template <class T>
void add_upper_product(int count, int nz, const T* A, const T* B, T* H, int first = 0) {
    constexpr int width = Pack<T>::width;
    const Factors<T> by = {A, 1, nz};
    int r = first;
    for (; r + 4 <= nz; r += 4) combine_rows<4>(true, r, count, nz, r / width, by, B, H);
    for (; r < nz; ++r) combine_rows<1>(true, r, count, nz, r / width, by, B, H);
}

// result (+)= matrix rows, or its transpose, for matrices (n, n) and rows (n, nz).
template <bool transposed, bool adds, class T>
void dense_product(int n, const T* matrix, int nz, const T* rows, T* result) {
    const Factors<T> by = {matrix, transposed ? 1 : n, transposed ? n : 1};
    int r = 0;
    for (; r + 4 <= n; r += 4) combine_rows<4>(adds, r, n, nz, 0, by, rows, result);
    for (; r < n; ++r) combine_rows<1>(adds, r, n, nz, 0, by, rows, result);
}

}  // namespace dtau::DTAU_VARIANT
