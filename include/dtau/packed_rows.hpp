// Packed tensors (packed.hpp) as an algorithm makes them, row by row, to where a state has them: out
// of lanes, and past the caches where they would only pass through them.
//
// Results of many states are far larger than the caches. Rows of all tensors of all states of a group
// are collected in a piece of memory that stays in the nearest cache; from there they go to each
// tensor of each state in whole cache lines.
#pragma once

#include <cstring>

#include "dtau/packed.hpp"
#include "dtau/path_columns.hpp"

namespace dtau::DTAU_VARIANT {

// What a state's numbers are outside lanes.
template <class T>
struct StateNumber {
    using Type = T;
};
template <>
struct StateNumber<Lane> {
    using Type = double;
};
template <class T>
using Number = typename StateNumber<T>::Type;

inline constexpr int line = 8;  // doubles in a cache line

DTAU_INLINE int begun_line(const double* x) {  // numbers before x in its cache line
    return static_cast<int>(reinterpret_cast<std::uintptr_t>(x) % 64 / sizeof(double));
}

// Copies past the caches: lines that are not written as a whole go the usual way.
inline void stream(const double* from, std::ptrdiff_t count, double* to) {
    std::ptrdiff_t k = 0;
    for (; k < count && reinterpret_cast<std::uintptr_t>(to + k) % 64 != 0; ++k) to[k] = from[k];
    for (; k + line <= count; k += line)
        for (int j = 0; j < line; j += lanes) Lane::load(from + k + j).stream(to + k + j);
    for (; k < count; ++k) to[k] = from[k];
}

template <class T>
class PackedRows {
  public:
    static constexpr int group = sizeof(T) / sizeof(Number<T>);  // states

    // Memory for `room` numbers of each tensor of each state, where the longest path has n columns.
    struct Memory {
        std::ptrdiff_t stride;  // odd in cache lines, so that arrays do not meet in the same places
        std::ptrdiff_t room;    // what is collected before it goes to the results
        Number<T>* numbers;
        T* row;  // in lanes: on its way

        Memory(Arena& arena, int n, std::ptrdiff_t numbers_kept)
            : stride(((numbers_kept + 2 * n + lanes) / line | 1) * line + 2 * line),
              room(numbers_kept),
              numbers(arena.take<Number<T>>(4 * group * stride)),
              row(group > 1 ? arena.take<T>(4 * row_stride(n)) : nullptr) {}
    };
    static DTAU_INLINE int row_stride(int n) { return 2 * n + lanes; }

    // Of a group of states, to the arrays `to` of the first, in which states are `size` numbers apart;
    // or to be kept, if there is room for all.
    PackedRows(const Memory& memory, int n) : memory_(memory), row_stride_(row_stride(n)) {}
    PackedRows(const Memory& memory, int n, int states, std::ptrdiff_t size, bool streams,
               Number<T>* const (&to)[4])
        : PackedRows(memory, n) {
        states_ = states, size_ = size, streams_ = streams;
        for (int o = 0; o < 4; ++o) to_[o] = to[o];
    }

    // Where the next row is to be written, whole packs of it.
    DTAU_INLINE Tensors<T*> next() const {
        if constexpr (group > 1) {
            T* x = memory_.row;
            return {x, x + row_stride_, x + 2 * row_stride_, x + 3 * row_stride_};
        } else {
            return {place(0, 0), place(1, 0), place(2, 0), place(3, 0)};
        }
    }
    // So many numbers have been written there.
    DTAU_INLINE void done(int count) {
        if constexpr (group > 1)
            for (int o = 0; o < 4; ++o) leave_lanes(memory_.row + o * row_stride_, count, o);
        at_ += count;
        if (at_ > memory_.room) pass_on(false);
    }
    // The rest of them.
    void finish() {
        pass_on(true);
        if (streams_) end_streams();
    }
    const Number<T>* kept(int tensor, int state) const { return place(tensor, state) - at_; }

  private:
    DTAU_INLINE Number<T>* place(int tensor, int state) const {
        return memory_.numbers + (tensor * group + state) * memory_.stride + at_;
    }
    DTAU_INLINE void leave_lanes(const Lane* row, int count, int tensor) const {
        double* to = place(tensor, 0);
        for (int k = 0; k < count; k += lanes) {
            Lane::Vector x[lanes];
            unrolled<lanes>([&](int j) { x[j] = row[k + j].value; });
            transpose(x);
            unrolled<lanes>([&](int l) { Lane(x[l]).store(to + l * memory_.stride + k); });
        }
    }
    // What is collected goes to the results, but for lines that are not complete yet: they are among
    // the last numbers, which are the first of what is collected next.
    __attribute__((noinline)) void pass_on(bool last) {
        for (int s = 0; s < 4 * group; ++s) {
            const int tensor = s / group, state = s % group;
            if (state >= states_) continue;
            Number<T>*from = place(tensor, state) - at_, *to = to_[tensor] + state * size_ + base_;
            std::ptrdiff_t end = at_;
            if constexpr (std::is_same_v<Number<T>, double>) {
                if (streams_ && !last) end -= begun_line(to + at_);
                if (streams_) stream(from + begin_[s], end - begin_[s], to + begin_[s]);
            }
            if (!streams_)
                std::memcpy(static_cast<void*>(to + begin_[s]), from + begin_[s],
                            (end - begin_[s]) * sizeof(Number<T>));
            for (int k = 0; k < line && !last; ++k) from[k] = from[at_ - line + k];
            begin_[s] = end - (at_ - line);
        }
        base_ += at_ - line, at_ = line;
    }

    const Memory& memory_;
    int row_stride_, states_ = 0;
    bool streams_ = false;
    std::ptrdiff_t size_ = 0;
    Number<T>* to_[4];
    std::ptrdiff_t at_ = 0;                   // collected
    std::ptrdiff_t base_ = 0;                 // place in the tensor of the first of them
    std::ptrdiff_t begin_[4 * group] = {};    // the first of them that has not been passed on
};

}  // namespace dtau::DTAU_VARIANT
