// Packed tensors (packed.hpp) made dense: zeros, rows and columns of one output after the other, so that
// memory is passed once.
#pragma once

#include "functions/shared/packed_rows.hpp"

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

// Room for the packed tensors of a group of states, of all joints, on their way to what states get;
// none where they need no way.
template <class T>
struct UnpackingWorkspace {
    std::ptrdiff_t size;
    Number<T>* packed[4];
    std::ptrdiff_t *begin, *independent_begin;  // of the groups
    int *path, *run;                            // neighbours on the path that end with a column
    Number<T>* slab[4];

    UnpackingWorkspace(Arena& arena, const Tree& tree, bool needed)
        : size(needed ? packed_size(tree.dofs) : 0),
          begin(arena.take<std::ptrdiff_t>(tree.nv)),
          independent_begin(arena.take<std::ptrdiff_t>(tree.independent.n)),
          path(arena.take<int>(tree.nv)),
          run(arena.take<int>(tree.nv)) {
        const std::ptrdiff_t n = needed ? tree.nv : 0;
        for (Number<T>*& x : slab) x = arena.take<Number<T>>(n * n + cache_line);
        for (Number<T>*& x : packed) x = arena.take<Number<T>>(size * group_size<T>);
        if (!begin) return;
        packed_groups(tree.dofs, begin);
        path_runs(tree.dofs, run);
        packed_groups(tree.independent, independent_begin);
    }
    Destination<T> destination(int states) const {
        return {
            {packed[0], packed[1], packed[2], packed[3]}, {size, size, size, size}, states, false};
    }
};

// The tensors of one state from the packed ones of all joints: dense, or those of independent
// velocities, dense or packed.
template <class T>
void unpack_state(const Tree& tree, bool to_packed, const Number<T>* const (&packed)[4],
                  const UnpackingWorkspace<T>& w, bool past_caches, std::ptrdiff_t size,
                  Number<T>* const (&to)[4]) {
    using N = Number<T>;
    if (!tree.coupling) return unpack(tree.dofs, w.begin, w.run, packed, w.slab, past_caches, to);
    const std::ptrdiff_t n = tree.independent.n;
    for (int o = 0; o < 4; ++o) {
        for (std::ptrdiff_t e = 0; e < size; ++e) to[o][e] = N(0.0);
        const N* next = packed[o];
        for_packed_entries(tree, w.path, [&](int i, int j, int k, double scale) {
            N& entry =
                to[o][to_packed ? packed_place(tree.independent, w.independent_begin, i, j, k)
                                : (i * n + j) * n + k];
            entry = fma(N(scale), *next++, entry);
        });
    }
}

// Those of a group of states, which the workspace holds.
template <class T>
void unpack_states(const Tree& tree, bool to_packed, const UnpackingWorkspace<T>& w,
                   const Destination<T>& to) {
    for (int l = 0; l < to.states; ++l) {
        const Number<T>* packed[4];
        Number<T>* results[4];
        for (int o = 0; o < 4; ++o) {
            packed[o] = w.packed[o] + l * w.size;
            results[o] = to.at[o] + l * to.size[o];
        }
        unpack_state<T>(tree, to_packed, packed, w, to.past_caches, to.size[0], results);
    }
}

}  // namespace dtau::DTAU_VARIANT
