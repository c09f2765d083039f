// Packed tensors (packed.hpp) as an algorithm makes them, row by row, to where states have them: out of
// lanes, and past the caches where they would only pass through them.
//
// Results of many states are far larger than the caches. Rows of all tensors of a group of states are
// collected in a little memory that stays in the nearest cache; from there they go to each tensor of
// each state in whole cache lines.
#pragma once

#include <cstring>
#include <type_traits>

#include "batch/lanes.hpp"
#include "batch/run.hpp"
#include "dtau/algorithms/second/packed.hpp"

namespace dtau::DTAU_VARIANT {

// Numbers begin ... end - 1 to the same places of an array that is written in order; less, if they are
// streamed and others follow, those of a line that is not complete yet. Returns where it stopped.
template <class N>
DTAU_INLINE int pass_on(const N* from, int begin, int end, bool last, bool streams, N* to) {
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

template <class T>
class PackedRows {
  public:
    static constexpr int group = group_size<T>;

    // For paths of up to n columns.
    struct Memory {
        int stride;        // a row more than is collected, in whole packs
        T* rows;           // (4, stride)
        Number<T>* state;  // (group, stride) of one tensor, out of lanes

        Memory(Arena& arena, int n)
            : stride(whole_lines(collected + most_outputs * 2 * n + lanes)),
              rows(arena.take<T>(4 * stride)),
              state(group > 1 ? arena.take<Number<T>>(group * stride) : nullptr) {}
    };

    PackedRows(const Memory& memory, const Destination<T>& to)
        : rows_(memory.rows), state_(memory.state), stride_(memory.stride), to_(to) {}

    // Where the next row is to be written, whole packs of it.
    DTAU_INLINE Tensors<T*> next() const {
        T* x = rows_ + at_;
        return {x, x + stride_, x + 2 * stride_, x + 3 * stride_};
    }
    // So many numbers have been written there.
    DTAU_INLINE void done(int count) {
        at_ += count;
        if (at_ >= collected) flush(false);
    }
    // The rest of them.
    void finish() {
        flush(true);
        if (to_.past_caches) end_streams();
    }

  private:
    static constexpr int collected = 128;
    static int whole_lines(int count) {  // an odd number: arrays do not meet in a cache's places
        return ((count / cache_line + 1) | 1) * cache_line;
    }

    // What is collected goes to the results, but for lines that are not complete yet: they are among
    // the last numbers, which are the first of what is collected next.
    __attribute__((noinline)) void flush(bool last) {
        const int whole = last ? at_ : at_ - at_ % lanes;
        const int from = last || !to_.past_caches ? whole : whole - cache_line;
        for (int o = 0; o < 4; ++o) {
            T* x = rows_ + o * stride_;
            if constexpr (group > 1) leave_all_lanes(x, whole);
            for (int l = 0; l < to_.states; ++l) {
                int& begin = begin_[o * group + l];
                const Number<T>* state;
                if constexpr (group > 1)
                    state = state_ + l * std::ptrdiff_t(stride_);
                else
                    state = x;
                begin = pass_on(state, begin, whole, last, to_.past_caches,
                                to_.at[o] + l * to_.size[o] + base_) -
                        from;
            }
            for (int k = from; k < at_; ++k) x[k - from] = x[k];
        }
        base_ += from, at_ -= from;
    }
    DTAU_INLINE void leave_all_lanes(const Lane* x, int count) const {
        double* to = state_;
        const std::ptrdiff_t stride = stride_;
        for (int k = 0; k < count; k += lanes)
            leave_lanes(x + k, [&](int l, Lane numbers) { numbers.store(to + l * stride + k); });
    }

    T* rows_;
    Number<T>* state_;
    int stride_;
    const Destination<T>& to_;
    int at_ = 0;                 // collected
    std::ptrdiff_t base_ = 0;    // place in the tensor of the first of them
    int begin_[4 * group] = {};  // the first of them that has not been passed on
};

}  // namespace dtau::DTAU_VARIANT
