// Packed tensors (packed.hpp) made dense: zeros, rows and columns of one output after the other, so that
// memory is passed once.
#pragma once

#include "dtau/algorithms/second/packed_rows.hpp"

namespace dtau::DTAU_VARIANT {

// visit(j, e, count) for the runs of the path of m whose columns are neighbours: j, j + 1, ... at depths
// e, e + 1, ...; run[k] is how many neighbours on the path end with k.
template <class Visit>
DTAU_INLINE void for_runs(const Paths& dofs, const int* run, int m, const Visit& visit) {
    for (int j = m; j >= 0;) {
        const int count = run[j], first = j - count + 1;
        visit(first, dofs.depth[first], count);
        j = dofs.parent[first];
    }
}
DTAU_INLINE void path_runs(const Paths& dofs, int* run) {
    for (int k = 0; k < dofs.n; ++k) run[k] = k > 0 && dofs.parent[k] == k - 1 ? run[k - 1] + 1 : 1;
}

// Copies a few numbers: in packs, of which the last may overlap the one before.
template <class N>
DTAU_INLINE void copy_run(const N* from, int count, N* to) {
    constexpr int width = Pack<N>::width;
    if (count < width) {
        for (int c = 0; c < count; ++c) to[c] = from[c];
        return;
    }
    for (int c = 0; c < count - width; c += width) Pack<N>::load(from + c).store(to + c);
    Pack<N>::load(from + count - width).store(to + count - width);
}

// Packed tensors made dense, (n, n, n): four at a time, one output after the other. slab: room
// for n n numbers of each and a cache line.
template <class N>
void unpack(const Paths& dofs, const std::ptrdiff_t* begin, const int* run,
            const N* const (&packed)[4], N* const (&slab)[4], bool streams, N* const (&dense)[4]) {
    const std::ptrdiff_t n = dofs.n;
    int rest[4] = {0, 0, 0, 0};  // numbers of the slab before that are still here
    for (std::ptrdiff_t i = 0; i < n; ++i) {
        N *to[4], *results[4];
        for (int o = 0; o < 4; ++o) {
            results[o] = dense[o] + i * n * n - rest[o];
            to[o] = streams ? slab[o] + rest[o] : results[o];
            for (int k = 0; k < n * n; ++k) to[o][k] = N(0.0);
        }
        const auto row = [&](std::ptrdiff_t j, int k, int count, std::ptrdiff_t from) {
            for (int o = 0; o < 4; ++o) copy_run(packed[o] + from, count, to[o] + j * n + k);
        };
        const std::ptrdiff_t d = dofs.depth[i];
        for_runs(dofs, run, i, [&](int j, int e, int rows) {
            for (int r = 0; r < rows; ++r)
                for_runs(dofs, run, i, [&](int k, int f, int count) {
                    row(j + r, k, count, begin[i] + (e + r) * (d + 1) + f);
                });
        });
        for (int m = i + 1; m < dofs.end[i]; ++m) {
            const std::ptrdiff_t deep = dofs.depth[m];
            const std::ptrdiff_t from = begin[m] + (deep + 1) * (deep + 1) + d * (2 * deep + 1);
            for_runs(dofs, run, m, [&](int k, int e, int count) {
                row(m, k, count, from + e);
                if (k + count > m) --count;
                for (int c = 0; c < count; ++c)
                    for (int o = 0; o < 4; ++o)
                        to[o][(k + c) * n + m] = packed[o][from + deep + 1 + e + c];
            });
        }
        for (int o = 0; streams && o < 4; ++o) {
            const int end = rest[o] + static_cast<int>(n * n);
            const int passed = pass_on(slab[o], 0, end, i == n - 1, true, results[o]);
            rest[o] = end - passed;
            for (int k = 0; k < rest[o]; ++k) slab[o][k] = slab[o][passed + k];
        }
    }
    if (streams) end_streams();
}

}  // namespace dtau::DTAU_VARIANT
