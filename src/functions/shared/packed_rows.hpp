// Moves packed tensors (packed.hpp) to their states, row by row as an algorithm computes them:
// PackedRows. They leave the lanes, and are streamed where they would only pass through the caches.
//
// The results of many states are far larger than the caches. A buffer in the nearest cache collects
// rows of all tensors of a group; from there they go to each tensor of each state in whole cache
// lines.
#pragma once

#include <cstring>
#include <type_traits>

#include "batch/lanes.hpp"
#include "batch/run.hpp"
#include "dtau/algorithms/second/packed.hpp"

namespace dtau::DTAU_VARIANT {

// Copies numbers begin ... end - 1 to the same places of an array that is written in order. If they
// are streamed and more will follow, an incomplete last cache line waits. Returns where it stopped.
template <class N>
inline int pass_on(const N* from, int begin, int end, bool last, bool streams, N* to) {
    if constexpr (std::is_same_v<N, double>)
        if (streams) {
            if (!last) end -= begun_line(to + end);
            if (end < begin) end = begin;
            stream(from + begin, end - begin, to + begin);
            return end;
        }
    std::memcpy(static_cast<void*>(to + begin), from + begin, (end - begin) * sizeof(N));
    return end;
}

template <class T> class PackedRows {
  public:
    static constexpr int group = group_size<T>;

    // Buffers for paths of up to n columns.
    struct Memory {
        int stride;        // one row more than is collected, in whole packs
        T* rows;           // (4, stride)
        Number<T>* state;  // (group, stride): one tensor, out of lanes

        Memory(Arena& arena, int n)
            : stride(whole_lines(collected + most_outputs * 2 * n + lanes)),
              rows(arena.take<T>(4 * stride)),
              state(group > 1 ? arena.take<Number<T>>(group * stride) : nullptr) {}
    };

    PackedRows(const Memory& memory, const Destination<T>& to)
        : rows_(memory.rows), state_(memory.state), stride_(memory.stride), to_(to) {}

    // Where to write the next row, in whole packs.
    Tensors<T*> next() const {
        T* x = rows_ + at_;
        return {x, x + stride_, x + 2 * stride_, x + 3 * stride_};
    }
    // Tells that so many numbers were written there.
    void done(int count) {
        at_ += count;
        if (at_ >= collected) flush(false);
    }
    // Writes the rest.
    void finish() {
        flush(true);
        if (to_.past_caches()) end_streams();
    }

  private:
    static constexpr int collected = 128;
    static int whole_lines(int count) {  // an odd number of lines, against conflicts in the cache
        return ((count / cache_line + 1) | 1) * cache_line;
    }

    // Moves the collected numbers to the results, except incomplete cache lines: these become the
    // first numbers of the next collection.
    __attribute__((noinline)) void flush(bool last) {
        const int whole = last ? at_ : at_ - at_ % lanes;
        const int from = last || !to_.past_caches() ? whole : whole - cache_line;
        for (int o = 0; o < 4; ++o) {
            T* x = rows_ + o * stride_;
            if constexpr (group > 1) scatter_all_lanes(x, whole);
            for (int l = 0; l < to_.states; ++l) {
                int& begin = begin_[o * group + l];
                const Number<T>* state;
                if constexpr (group > 1)
                    state = state_ + l * std::ptrdiff_t(stride_);
                else
                    state = x;
                begin = pass_on(state, begin, whole, last, to_.past_caches(),
                                to_.at[o] + l * to_.size[o] + base_) -
                        from;
            }
            for (int k = from; k < at_; ++k) x[k - from] = x[k];
        }
        base_ += from, at_ -= from;
    }
    void scatter_all_lanes(const Lane* x, int count) const {
        double* to = state_;
        const std::ptrdiff_t stride = stride_;
        for (int k = 0; k < count; k += lanes)
            scatter_lanes(x + k, [&](int l, Lane numbers) { numbers.store(to + l * stride + k); });
    }

    T* rows_;
    Number<T>* state_;
    int stride_;
    const Destination<T>& to_;
    int at_ = 0;                 // numbers collected
    std::ptrdiff_t base_ = 0;    // index in the tensor of the first of them
    int begin_[4 * group] = {};  // first number not yet moved to the results
};

}  // namespace dtau::DTAU_VARIANT
