// Expands packed tensors (packed.hpp) to dense ones, output by output, and maps them from all
// joints to independent velocities with mimic joints.
#pragma once

#include "functions/shared/packed_rows.hpp"

namespace dtau::DTAU_VARIANT {

// Calls visit(j, e, count) for the runs of adjacent columns on the path of m: columns j, j + 1, ...
// at depths e, e + 1, .... run[k] is the length of the run that ends with column k.
template <class Visit>
inline void for_runs(const Paths& dofs, const int* run, int m, const Visit& visit) {
    for (int j = m; j >= 0;) {
        const int count = run[j], first = j - count + 1;
        visit(first, dofs.depth[first], count);
        j = dofs.parent[first];
    }
}
inline void path_runs(const Paths& dofs, int* run) {
    for (int k = 0; k < dofs.n; ++k) run[k] = k > 0 && dofs.parent[k] == k - 1 ? run[k - 1] + 1 : 1;
}

// Copies a few numbers in packs; the last pack may overlap the one before.
template <class N> inline void copy_run(const N* from, int count, N* to) {
    constexpr int width = Pack<N>::width;
    if (count < width) {
        for (int c = 0; c < count; ++c) to[c] = from[c];
        return;
    }
    for (int c = 0; c < count - width; c += width) Pack<N>::load(from + c).store(to + c);
    Pack<N>::load(from + count - width).store(to + count - width);
}

// Transposes rows of `count` numbers at from + at[0], ..., one for each place of a vector, into
// columns of a matrix, block by block.
template <class N>
inline void transpose_rows(const N* from, const std::ptrdiff_t* at, int count, N* to,
                           std::ptrdiff_t stride) {
    constexpr int width = Pack<N>::width;
    int e = 0;
    if constexpr (width > 1)
        for (; e + width <= count; e += width) {
            Lane::Vector block[width];
            unrolled<width>([&](int c) { block[c] = Lane::load(from + at[c] + e).value; });
            transpose(block);
            unrolled<width>([&](int r) { Lane(block[r]).store(to + (e + r) * stride); });
        }
    for (; e < count; ++e)
        for (int c = 0; c < width; ++c) to[e * stride + c] = from[at[c] + e];
}

// Writes the dense tensors (n, n, n) of one state, output after output, from packed numbers.
template <class N> class DenseSlabs {
  public:
    struct Memory {
        N* slab[2][4];  // two outputs (n, n), after the incomplete line of the previous one
        int* run;       // length of the run on the path that ends with a column

        Memory(Arena& arena, const Paths& dofs, bool needed) : run(arena.take<int>(dofs.n)) {
            const std::ptrdiff_t size = needed ? std::ptrdiff_t(dofs.n) * dofs.n : 0;
            for (auto& slabs : slab)
                for (N*& x : slabs) x = arena.take<N>(cache_line + size);
            if (run) path_runs(dofs, run);
        }
    };

    DenseSlabs(const Memory& memory, const Paths& dofs, N* const* to, bool past_caches)
        : memory_(memory),
          dofs_(dofs),
          to_{to[0], to[1], to[2], to[3]},
          size_(std::ptrdiff_t(dofs.n) * dofs.n),
          streams_(std::is_same_v<N, double> && past_caches && size_ >= cache_line) {}

    // Expands output f. Its packed numbers [f, f's path, f's path] begin at packed[o] + own; [f, m,
    // m's path] and [f, m's path, m] begin at packed[o] + below(m).
    template <class Below>
    void output(int f, const N* const (&packed)[4], std::ptrdiff_t own, const Below& below) {
        N* slab[4];
        for (int o = 0; o < 4; ++o)
            slab[o] = streams_ ? memory_.slab[f % 2][o] + cache_line : to_[o] + f * size_;
        unpack(f, packed, own, below, slab);
        if constexpr (std::is_same_v<N, double>)
            if (streams_) take_over(f, slab);
    }
    // Streams about so many numbers of each tensor of the previous output, in whole lines: memory
    // accepts them while the next output is computed.
    void send(std::ptrdiff_t count) {
        if constexpr (std::is_same_v<N, double>)
            for (int o = 0; o < 4; ++o) {
                if (left_[o] == 0) continue;
                const std::ptrdiff_t whole = count + cache_line - begun_line(target_[o] + count);
                const std::ptrdiff_t now = whole < left_[o] ? whole : left_[o];
                stream(from_[o], now, target_[o]);
                from_[o] += now, target_[o] += now, left_[o] -= now;
            }
    }

  private:
    // Streams the rest of the previous output, then queues this one, which follows while the next
    // is computed.
    void take_over(int f, double* const (&slab)[4]) {
        const bool last = f + 1 == dofs_.n;
        send(size_ + cache_line);
        for (int o = 0; o < 4; ++o) {
            // A cache line that an output leaves incomplete waits for the next output.
            double* const result = to_[o] + f * size_;
            const int before = f > 0 ? begun_line(result) : 0;
            const int after = last ? 0 : begun_line(result + size_);
            std::memcpy(slab[o] - before, begun_[o], before * sizeof(double));
            std::memcpy(begun_[o], slab[o] + size_ - after, after * sizeof(double));
            from_[o] = slab[o] - before, target_[o] = result - before;
            left_[o] = before + size_ - after;
        }
        if (!last) return;
        send(size_ + cache_line);
        end_streams();
    }
    template <class Below>
    void unpack(int f, const N* const (&packed)[4], std::ptrdiff_t own, const Below& below,
                N* const (&slab)[4]) {
        constexpr int width = Pack<N>::width;
        const std::ptrdiff_t n = dofs_.n;
        const int d = dofs_.depth[f], end = dofs_.end[f];
        const int* const run = memory_.run;
        const auto each = [&](const auto& visit) {
            unrolled<4>([&](int o) { visit(packed[o], slab[o]); });
        };
        if (run[n - 1] < n)  // otherwise all triples lie on one path
            each([&](const N*, N* to) {
                std::memset(static_cast<void*>(to), 0, size_ * sizeof(N));
            });
        for_runs(dofs_, run, f, [&](int j, int e, int rows) {
            for_runs(dofs_, run, f, [&](int k, int g, int count) {
                each([&](const N* from, N* to) {
                    for (int r = 0; r < rows; ++r)
                        copy_run(from + own + (e + r) * (d + 1) + g, count, to + (j + r) * n + k);
                });
            });
        });
        for (int m = f + 1, columns; m < end; m += columns) {
            // As many columns as a vector has places, if they are adjacent on a path; otherwise
            // one.
            columns = m + width <= end && run[m + width - 1] >= width ? width : 1;
            send(columns * n);
            std::ptrdiff_t at[width];
            for (int c = 0; c < columns; ++c) {
                at[c] = below(m + c);
                for_runs(dofs_, run, m + c, [&](int k, int e, int count) {
                    each([&](const N* from, N* to) {
                        copy_run(from + at[c] + e, count, to + (m + c) * n + k);
                    });
                });
                at[c] += dofs_.depth[m + c] + 1;
            }
            for_runs(dofs_, run, m, [&](int k, int e, int count) {
                if (k + count > m) --count;
                if (columns == width)
                    each([&](const N* from, N* to) {
                        transpose_rows(from + e, at, count, to + k * n + m, n);
                    });
                else
                    for (int c = 0; c < count; ++c)
                        each([&](const N* from, N* to) {
                            to[(k + c) * n + m] = from[at[0] + e + c];
                        });
            });
            for (int c = 1; c < columns; ++c)
                for (int e = 0; e < c; ++e)
                    each([&](const N* from, N* to) {
                        to[(m + e) * n + m + c] = from[at[c] + dofs_.depth[m] + e];
                    });
        }
    }

    const Memory& memory_;
    const Paths& dofs_;
    N* to_[4];
    std::ptrdiff_t size_;
    bool streams_;
    N *from_[4] = {}, *target_[4] = {};  // the rest of the previous output
    std::ptrdiff_t left_[4] = {};
    N begun_[4][cache_line];
};

// The rows of one state by outputs (idsva_so_by_outputs); each output is expanded when it is
// complete.
template <class N> class RowsByOutput {
  public:
    struct Memory {
        N* rows[4];

        Memory(Arena& arena, const Paths& dofs, bool needed) {
            const std::ptrdiff_t size = needed ? std::ptrdiff_t(dofs.n) * dofs.n : 0;
            for (N*& x : rows) x = arena.take<N>(size + 2 * lanes);
        }
    };

    RowsByOutput(const Memory& memory, const Paths& dofs, DenseSlabs<N>& dense)
        : memory_(memory), dofs_(dofs), dense_(dense) {}

    Tensors<N*> next() const {
        N* const* x = memory_.rows;
        return {x[0] + at_, x[1] + at_, x[2] + at_, x[3] + at_};
    }
    void done(int count) {
        at_ += count;
        dense_.send(count);
    }
    void finish(int f) {
        const std::ptrdiff_t d = dofs_.depth[f];
        const N* packed[4] = {memory_.rows[0], memory_.rows[1], memory_.rows[2], memory_.rows[3]};
        at_ = (d + 1) * (d + 1);
        dense_.output(f, packed, 0, [&](int m) {
            const std::ptrdiff_t begin = at_;
            at_ += 2 * dofs_.depth[m] + 1;
            return begin;
        });
        at_ = 0;
    }

  private:
    const Memory& memory_;
    const Paths& dofs_;
    DenseSlabs<N>& dense_;
    std::ptrdiff_t at_ = 0;
};

// Memory for the packed tensors of a group of states, of all joints, before they are expanded.
template <class T> struct PackedWorkspace {
    std::ptrdiff_t size;
    Number<T>* packed[4];
    std::ptrdiff_t* begin;  // begin of each group of independent velocities
    int* path;

    PackedWorkspace(Arena& arena, const Tree& tree, bool needed)
        : size(needed ? packed_size(tree.dofs) : 0),
          begin(arena.take<std::ptrdiff_t>(tree.independent.n)),
          path(arena.take<int>(tree.nv)) {
        for (Number<T>*& x : packed) x = arena.take<Number<T>>(size * group_size<T>);
        if (begin) packed_groups(tree.independent, begin);
    }
    Destination<T> destination(int states) const {
        return {{packed[0], packed[1], packed[2], packed[3]},
                {size, size, size, size},
                states,
                Stores::blocks};
    }
};

// Expands the packed tensors of a group to dense ones for state l.
template <class T>
void unpack_state(const Paths& dofs, const PackedWorkspace<T>& w,
                  const typename DenseSlabs<Number<T>>::Memory& slabs, int l,
                  const Destination<T>& to) {
    const Number<T>* packed[4];
    Number<T>* results[4];
    for (int o = 0; o < 4; ++o)
        packed[o] = w.packed[o] + l * w.size, results[o] = to.at[o] + l * to.size[o];
    DenseSlabs<Number<T>> dense(slabs, dofs, results, to.past_caches());
    for (int f = 0; f < dofs.n; ++f) {
        const std::ptrdiff_t d = dofs.depth[f];
        dense.output(f, packed, w.begin[f], [&](int m) {
            const std::ptrdiff_t deep = dofs.depth[m];
            return w.begin[m] + (deep + 1) * (deep + 1) + d * (2 * deep + 1);
        });
    }
}

// Maps the packed tensors of all joints to independent velocities for state l, dense or packed.
template <class T>
void reduce_tensors(const Tree& tree, bool to_packed, const PackedWorkspace<T>& w, int l,
                    const Destination<T>& to) {
    using N = Number<T>;
    const std::ptrdiff_t n = tree.independent.n;
    for (int o = 0; o < 4; ++o) {
        N* const result = to.at[o] + l * to.size[o];
        for (std::ptrdiff_t e = 0; e < to.size[o]; ++e) result[e] = N(0.0);
        const N* next = w.packed[o] + l * w.size;
        for_packed_entries(tree, w.path, [&](int i, int j, int k, double scale) {
            N& entry = result[to_packed ? packed_place(tree.independent, w.begin, i, j, k)
                                        : (i * n + j) * n + k];
            entry = fma(N(scale), *next++, entry);
        });
    }
}

}  // namespace dtau::DTAU_VARIANT
