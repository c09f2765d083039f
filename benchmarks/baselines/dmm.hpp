// Multiplies by the inverse of the mass matrix for eq. 5 of [IDSVA] (DMM). O(n^3).
//
// A blocked product in packs, with as many sums as registers hold. Rows of the right-hand side that are
// zero in all columns of a block, because no branch relates them, are left out.
#pragma once

#include "related.hpp"

namespace dtau::DTAU_VARIANT {

template <class T> struct DmmWorkspace {
    static constexpr int packs = 4, rows = lanes == 8 ? 6 : 3;
    Pack<T>* block;
    int* related;

    DmmWorkspace(Arena& arena, const Tree& tree, const Options&)
        : block(arena.take<Pack<T>>(tree.nv * packs)), related(arena.take<int>(tree.nv)) {}
};

// `rows` rows, from k on, of -inverse B for the block of B in w, which has the `count` rows w.related.
template <int rows, int packs, class T>
DTAU_INLINE void multiply_rows(const T* inverse, int n, int k, int count,
                               const Columns<T> (&to)[packs], const DmmWorkspace<T>& w) {
    Pack<T> sum[rows][packs];
    unrolled<rows>([&](int r) { unrolled<packs>([&](int p) { sum[r][p] = Pack<T>::unit(-1); }); });
    const T* row = inverse + static_cast<std::ptrdiff_t>(k) * n;
    for (int c = 0; c < count; ++c) {
        const T* at = row + w.related[c];
        const Pack<T>* b = w.block + c * packs;
        unrolled<rows>([&](int r) {
            const T m = at[r * n];
            unrolled<packs>([&](int p) { sum[r][p] = fma(m, b[p], sum[r][p]); });
        });
    }
    unrolled<rows>([&](int r) {
        unrolled<packs>([&](int p) {
            (T(-1.0) * sum[r][p]).store(to[p].at + (k + r) * to[p].stride, to[p].room);
        });
    });
}

// Computes -inverse B for two matrices (nv, nv), side by side as for ltdl_solve.
template <class T>
void dmm(const Tree& tree, const T* inverse, const T* B, int stride,
         const Solution<T> (&solutions)[2], const DmmWorkspace<T>& w) {
    constexpr int width = Pack<T>::width, most = DmmWorkspace<T>::rows;
    const int n = tree.nv, padded = whole_packs<T>(n);
    for_compiled_blocks<DmmWorkspace<T>::packs, T>(2 * padded, [&]<int packs>(int begin, int end) {
        Columns<T> to[packs];
        for (int p = 0; p < packs; ++p) {
            const int c = begin + p * width;
            const Solution<T>& solution = solutions[c / padded];
            to[p] = {solution.at + c % padded, n - c % padded, solution.stride};
        }
        int count = 0;
        for (int k = 0; k < n; ++k) {
            if (!is_related(tree.dofs, k, begin, end < padded ? end : padded) &&
                !is_related(tree.dofs, k, begin < padded ? 0 : begin - padded, end - padded))
                continue;
            for (int p = 0; p < packs; ++p)
                w.block[count * packs + p] = Pack<T>::load(B + k * stride + begin + p * width);
            w.related[count++] = k;
        }
        int k = 0;
        for (; k + most <= n; k += most) multiply_rows<most>(inverse, n, k, count, to, w);
        for (; k < n; ++k) multiply_rows<1>(inverse, n, k, count, to, w);
    });
}

}  // namespace dtau::DTAU_VARIANT
