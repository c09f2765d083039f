// Packed tensors (packed.hpp) as an algorithm makes them, row by row, to where a state has them: out
// of lanes, and past the caches where they would only pass through them.
//
// Results of many states are far larger than the caches. Rows of all tensors of a group of states are
// collected in a little memory that stays in the nearest cache; from there they go to each tensor of
// each state in whole cache lines.
#pragma once

#include <cstring>
#include <type_traits>

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

    // For paths of up to n columns.
    struct Memory {
        int stride;        // a row more than is collected, in whole packs
        T* rows;           // (4, stride)
        Number<T>* state;  // (group, stride) of one tensor, out of lanes

        Memory(Arena& arena, int n)
            : stride(((collected + 2 * n + lanes) / line | 1) * line),  // odd: no two meet in a cache
              rows(arena.take<T>(4 * stride)),
              state(group > 1 ? arena.take<Number<T>>(group * stride) : nullptr) {}
    };

    // Of `states` states, to the arrays `to` of the first of them; states are `size` numbers apart.
    PackedRows(const Memory& memory, int states, std::ptrdiff_t size, bool streams,
               Number<T>* const (&to)[4])
        : rows_(memory.rows),
          state_(memory.state),
          stride_(memory.stride),
          states_(states),
          size_(size),
          streams_(streams),
          to_{to[0], to[1], to[2], to[3]} {}

    // Where the next row is to be written, whole packs of it.
    DTAU_INLINE Tensors<T*> next() const {
        T* x = rows_ + at_;
        return {x, x + stride_, x + 2 * stride_, x + 3 * stride_};
    }
    // So many numbers have been written there.
    DTAU_INLINE void done(int count) {
        at_ += count;
        if (at_ >= collected) pass_on(false);
    }
    // The rest of them.
    void finish() {
        pass_on(true);
        if (streams_) end_streams();
    }

  private:
    static constexpr int collected = 64;

    // What is collected goes to the results, but for lines that are not complete yet: they are among
    // the last numbers, which are the first of what is collected next.
    __attribute__((noinline)) void pass_on(bool last) {
        const int whole = last ? at_ : at_ - at_ % lanes;
        const int from = last || !streams_ ? whole : whole - line;
        for (int o = 0; o < 4; ++o) {
            T* x = rows_ + o * stride_;
            if constexpr (group > 1) leave_lanes(x, whole);
            for (int l = 0; l < states_; ++l) {
                int& begin = begin_[o * group + l];
                const int end = pass_on_state(x, l, begin, whole, last, to_[o] + l * size_ + base_);
                begin = end - from;
            }
            for (int k = from; k < at_; ++k) x[k - from] = x[k];
        }
        base_ += from, at_ -= from;
    }
    DTAU_INLINE void leave_lanes(const Lane* x, int count) const {
        double* to = state_;
        const std::ptrdiff_t stride = stride_;
        for (int k = 0; k < count; k += lanes) {
            Lane::Vector y[lanes];
            unrolled<lanes>([&](int j) { y[j] = x[k + j].value; });
            transpose(y);
            unrolled<lanes>([&](int l) { Lane(y[l]).store(to + l * stride + k); });
        }
    }
    // Those from `begin` on, of one state; returns where it stopped.
    DTAU_INLINE int pass_on_state(const T* x, int l, int begin, int end, bool last,
                                  Number<T>* to) const {
        const Number<T>* from;
        if constexpr (group > 1)
            from = state_ + l * std::ptrdiff_t(stride_);
        else
            from = x;
        if constexpr (std::is_same_v<Number<T>, double>)
            if (streams_) {
                if (!last) end -= begun_line(to + end);
                stream(from + begin, end - begin, to + begin);
                return end;
            }
        std::memcpy(static_cast<void*>(to + begin), from + begin, (end - begin) * sizeof(*to));
        return end;
    }

    T* rows_;
    Number<T>* state_;
    int stride_, states_;
    std::ptrdiff_t size_;
    bool streams_;
    Number<T>* to_[4];
    int at_ = 0;                   // collected
    std::ptrdiff_t base_ = 0;      // place in the tensor of the first of them
    int begin_[4 * group] = {};    // the first of them that has not been passed on
};

}  // namespace dtau::DTAU_VARIANT
