// Multiplies dense matrices in tiles that stay in registers: set_product(), add_upper_product().
// Meanwhile it asks for memory that is needed later: Prefetches.
#pragma once

#include "dtau/pack.hpp"

namespace dtau::DTAU_VARIANT {

// Ranges of memory that products ask for, one cache line with every step of a tile. Problems of a
// batch lie in memory, and processors do not foresee reads that go backwards by knots.
class Prefetches {
  public:
    static constexpr int line = 64;  // bytes

    void add(const void* from, std::ptrdiff_t numbers) {
        const std::ptrdiff_t size = numbers * static_cast<std::ptrdiff_t>(sizeof(double));
        if (from && size > 0) ranges_[count_++] = {static_cast<const char*>(from), size};
    }
    // The first of at most `lines` lines for a tile. Null: all have been asked for.
    const char* take(int lines) {
        if (current_ == count_) return nullptr;
        Range& range = ranges_[current_];
        const char* const from = range.at;
        range.at += lines * line, range.left -= lines * line;
        if (range.left <= 0) ++current_;
        return from;
    }

  private:
    struct Range {
        const char* at;
        std::ptrdiff_t left;
    } ranges_[8];
    int count_ = 0, current_ = 0;
};

// A matrix by rows, `stride` numbers from one row to the next. Products read and write whole tiles, so
// rows and columns have room beyond the last ones.
struct DenseMatrix {
    double* at;
    std::ptrdiff_t stride;

    double* row(std::ptrdiff_t i) const { return at + i * stride; }
    DenseMatrix from(std::ptrdiff_t i, std::ptrdiff_t j) const { return {row(i) + j, stride}; }
};

// Rows and vectors of columns of a tile: its sums fill the registers, and hide the latency of the
// additions.
inline constexpr int tile_rows = lanes == 8 ? 8 : 4;
inline constexpr int tile_vectors = lanes == 8 ? 3 : 2;

// C = X' Y, or C = C + X' Y, for a tile of C; X' Y sums over `depth` rows of X and Y. `ahead`: lines
// to ask for.
template <bool add, int rows, int n>
[[gnu::noinline]] inline void multiply_tile(DenseMatrix C, DenseMatrix X, DenseMatrix Y, int depth,
                                            const char* ahead) {
    Lane::Vector sum[rows * n];  // row by row
    unrolled<rows * n>([&](int s) __attribute__((always_inline)) {
        sum[s] = add ? Lane::load(C.row(s / n) + s % n * lanes).value : Lane(0.0).value;
    });
    const int step = ahead ? Prefetches::line : 0;
    if (!ahead) ahead = reinterpret_cast<const char*>(X.at);
    for (int k = 0; k < depth; ++k, X.at += X.stride, Y.at += Y.stride, ahead += step) {
        __builtin_prefetch(ahead, 0, 2);  // into the second cache: the first is full
        Lane::Vector y[n];
        unrolled<n>([&](int j) __attribute__((always_inline)) {
            y[j] = Lane::load(Y.at + j * lanes).value;
        });
        unrolled<rows * n>([&](int s) __attribute__((always_inline)) {
            sum[s] = fma(Lane(X.at[s / n]), Lane(y[s % n]), Lane(sum[s])).value;
        });
    }
    unrolled<rows * n>([&](int s) __attribute__((always_inline)) {
        Lane(sum[s]).store(C.row(s / n) + s % n * lanes);
    });
}

template <bool add, int rows>
inline void multiply_tile(int n, DenseMatrix C, DenseMatrix X, DenseMatrix Y, int depth,
                          const char* ahead) {
    if (n == 1)
        multiply_tile<add, rows, 1>(C, X, Y, depth, ahead);
    else if (n == 2)
        multiply_tile<add, rows, 2>(C, X, Y, depth, ahead);
    else if constexpr (tile_vectors > 2)
        multiply_tile<add, rows, 3>(C, X, Y, depth, ahead);
}

// The tiles of rows begin ... end - 1 and of `vectors` vectors of columns; with `upper` only tiles
// that reach the diagonal and beyond. The columns of Y for a tile stay in the nearest cache for all
// rows.
template <bool add, bool upper>
inline void multiply(DenseMatrix C, DenseMatrix X, DenseMatrix Y, int begin, int end, int vectors,
                     int depth, Prefetches& ahead) {
    for (int first = 0, last; first < vectors; first = last) {
        const int rest = vectors - first;
        last = first + (rest <= tile_vectors ? rest : rest == 4 ? 2 : tile_vectors);
        for (int i = begin; i < end;) {
            const int j = upper && i / lanes > first ? i / lanes : first, n = last - j;
            if (n <= 0) break;
            const DenseMatrix tile = C.from(i, j * lanes), x = X.from(0, i),
                              y = Y.from(0, j * lanes);
            const bool whole = end - i > 4;
            if (whole)
                multiply_tile<add, tile_rows>(n, tile, x, y, depth, ahead.take(depth));
            else
                multiply_tile<add, 4>(n, tile, x, y, depth, ahead.take(depth));
            i += whole ? tile_rows : 4;
        }
    }
}

// C = X' Y for `rows` rows of C.
inline void set_product(DenseMatrix C, DenseMatrix X, DenseMatrix Y, int rows, int vectors,
                        int depth, Prefetches& ahead) {
    multiply<false, false>(C, X, Y, 0, rows, vectors, depth, ahead);
}
// C = C + X' Y for rows begin ... end - 1 of a symmetric C, of which the upper half is right after.
inline void add_upper_product(DenseMatrix C, DenseMatrix X, DenseMatrix Y, int begin, int end,
                              int vectors, int depth, Prefetches& ahead) {
    multiply<true, true>(C, X, Y, begin, end, vectors, depth, ahead);
}

}  // namespace dtau::DTAU_VARIANT
