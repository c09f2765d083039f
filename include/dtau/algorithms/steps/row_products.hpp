// Multiplies matrices with rows of nz numbers, in packs: add_upper_product(), dense_product().
#pragma once

#include "dtau/algorithms/solve/ltdl_block.hpp"

namespace dtau::DTAU_VARIANT {

// Row r of `to` (+)= the sum of rows k of `from`, times by(r, k), from pack `begin` on; rows have
// nz numbers. Takes a few rows at once, so that it reads each number of `from` once for all of
// them.
template <bool adds, int rows, class T, class By>
inline void combine_rows(int r, int count, int nz, int begin, const T* from, T* to, const By& by) {
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
        for (int k = 0; k < count; ++k) {
            const T* y = from + static_cast<std::ptrdiff_t>(k) * nz;
            T scale[rows];
            unrolled<rows>([&](int i) { scale[i] = by(r + i, k); });
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
// Calls visit<rows>(r) for the rows r ... end - 1, four at once.
template <class Visit>
inline void by_fours(int r, int end, const Visit& visit) {
    for (; r + 4 <= end; r += 4) visit.template operator()<4>(r);
    for (; r < end; ++r) visit.template operator()<1>(r);
}

// Adds A^T B for `count` rows of nz numbers to the upper triangle of H. A is zero before column `first`.
template <class T>
void add_upper_product(int count, int nz, const T* A, const T* B, T* H, int first = 0) {
    by_fours(first, nz, [&]<int rows>(int r) {
        combine_rows<true, rows>(r, count, nz, r / Pack<T>::width, B, H, [&](int a, int k) {
            return A[static_cast<std::ptrdiff_t>(k) * nz + a];
        });
    });
}

// result (+)= matrix rows, or its transpose, for matrices (n, n) and rows (n, nz).
template <bool transposed, bool adds, class T>
void dense_product(int n, const T* matrix, int nz, const T* rows, T* result) {
    by_fours(0, n, [&]<int count>(int r) {
        combine_rows<adds, count>(r, n, nz, 0, rows, result, [&](int k, int j) {
            return transposed ? matrix[j * n + k] : matrix[k * n + j];
        });
    });
}

}  // namespace dtau::DTAU_VARIANT
