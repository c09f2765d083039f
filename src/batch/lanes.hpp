// Moves a group of states into lanes, gather(), and its results out of lanes, scatter() and
// LineStore, by transposing blocks.
#pragma once

#include <cstdint>

#include "batch/run.hpp"
#include "batch/stores.hpp"
#include "dtau/pack.hpp"

namespace dtau::DTAU_VARIANT {

// Gathers one input of a group into lanes, state l from states[l]. Adds the finite test of every
// state.
inline void gather(const Input& input, const char* const* states, Lane* lane_numbers,
                   Lane& finite) {
    Lane test[2] = {Lane(0.0), Lane(0.0)};  // two sums hide the latency of the additions
    const auto enter = [&](std::ptrdiff_t k, Lane::Vector x, int which)
                           __attribute__((always_inline)) {
                               lane_numbers[k] = Lane(x);
                               test[which] = fma(Lane(x), Lane(0.0), test[which]);
                           };
    const auto number = [&](int l, std::ptrdiff_t k) __attribute__((always_inline)) {
        return reinterpret_cast<const double*>(states[l] + k * input.spacing);
    };
    Lane::Vector rows[lanes];
    const std::ptrdiff_t size = input.size, whole = size / lanes * lanes, rest = size - whole;
    if (input.spacing != sizeof(double)) {
        for (std::ptrdiff_t k = 0; k < size; ++k) {
            Lane::Vector x = {};
            for (int l = 0; l < lanes; ++l) x[l] = *number(l, k);
            enter(k, x, 0);
        }
    } else if (size < lanes) {
        unrolled<lanes>(
            [&](int l) { rows[l] = Pack<double>::load(number(l, 0), input.size).value.value; });
        transpose(rows);
        unrolled<lanes>([&](int j) {
            if (j < size) enter(j, rows[j], j % 2);
        });
    } else {
        for (std::ptrdiff_t k = 0; k < whole; k += lanes) {
            unrolled<lanes>([&](int l) { rows[l] = Lane::load(number(l, k)).value; });
            transpose(rows);
            unrolled<lanes>([&](int j) { enter(k + j, rows[j], j % 2); });
        }
        if (rest > 0) {  // the rest is the end of a block that begins earlier
            unrolled<lanes>([&](int l) { rows[l] = Lane::load(number(l, size - lanes)).value; });
            transpose(rows);
            unrolled<lanes>([&](int j) {
                if (j < rest) enter(size - 1 - j, rows[lanes - 1 - j], j % 2);
            });
        }
    }
    finite += test[0] + test[1];
}

// Added to numbers on their way out of lanes: +0 makes zeros positive, -0 changes nothing.
DTAU_INLINE Lane zero_to_add(bool positive) { return Lane(positive ? 0.0 : -0.0); }

// Moves `lanes` adjacent numbers out of lanes: store(l, numbers of state l).
template <class Store>
DTAU_INLINE void scatter_lanes(const Lane* lane_numbers, const Store& store,
                               Lane zero = zero_to_add(false)) {
    Lane::Vector rows[lanes];
    unrolled<lanes>([&](int j) { rows[j] = (lane_numbers[j] + zero).value; });
    transpose(rows);
    unrolled<lanes>([&](int l) { store(l, Lane(rows[l])); });
}

// Moves numbers begin ... end - 1 of a group out of lanes, block by block: store(l, k, numbers of
// state l from k on). Numbers outside of spans are zeros; `span` is the first span that ends after
// begin. Blocks and spans begin at multiples of the block length. The last block also reads and
// stores the numbers that follow it.
template <class Store>
DTAU_INLINE void scatter_blocks(const Lane* lane_numbers, Lane zero, std::ptrdiff_t begin,
                                std::ptrdiff_t end, const Span*& span, const Span* spans_end,
                                const Store& store) {
    for (std::ptrdiff_t k = begin; k < end;) {
        while (span < spans_end && span->end <= k) ++span;
        const Span next = span < spans_end ? *span : Span{end, end};
        for (const std::ptrdiff_t stop = next.begin < end ? next.begin : end; k < stop; k += lanes)
            unrolled<lanes>([&](int l) __attribute__((always_inline)) { store(l, k, Lane(0.0)); });
        for (const std::ptrdiff_t stop = next.end < end ? next.end : end; k < stop; k += lanes)
            scatter_lanes(
                lane_numbers + k,
                [&](int l, Lane numbers) __attribute__((always_inline)) { store(l, k, numbers); },
                zero);
    }
}

// The same for the numbers at these places: all that is stored of a result. The last block also reads
// the places after `end`.
template <class Store>
DTAU_INLINE void scatter_entries(const Lane* lane_numbers, const std::ptrdiff_t* entries,
                                 std::ptrdiff_t begin, std::ptrdiff_t end, const Store& store) {
    for (std::ptrdiff_t k = begin; k < end; k += lanes) {
        Lane::Vector rows[lanes];
        unrolled<lanes>([&](int j) { rows[j] = lane_numbers[entries[k + j]].value; });
        transpose(rows);
        unrolled<lanes>([&](int l) __attribute__((always_inline)) { store(l, k, Lane(rows[l])); });
    }
}

// Moves the results of a group from lanes to its states, lane l to to[l]. The lanes beyond the last
// state hold copies of it and go where it goes.
inline void scatter(const Lane* lane_numbers, bool positive_zeros, const Span* spans,
                    std::ptrdiff_t nspans, std::ptrdiff_t size, double* const (&to)[lanes]) {
    if (size == 0) return;  // there is no memory to read
    const Lane zero = zero_to_add(positive_zeros);
    if (size < lanes) {
        scatter_lanes(
            lane_numbers,
            [&](int l, Lane x) { Pack<double>{x}.store(to[l], static_cast<int>(size)); }, zero);
        return;
    }
    const Span* span = spans;
    const std::ptrdiff_t whole = size / lanes * lanes;
    scatter_blocks(lane_numbers, zero, 0, whole, span, spans + nspans,
                   [&](int l, std::ptrdiff_t k, Lane x)
                       __attribute__((always_inline)) { x.store(to[l] + k); });
    if (size - whole == 1)  // a matrix with an odd number of rows leaves one
        for (int l = 0; l < lanes; ++l) to[l][whole] = (lane_numbers[whole] + zero).value[l];
    else if (whole < size)
        scatter_lanes(
            lane_numbers + size - lanes, [&](int l, Lane x) { x.store(to[l] + size - lanes); },
            zero);
}

// The same where the results of `states` states lie one after the other from target on.
inline void scatter(const Lane* lane_numbers, const Span* spans, std::ptrdiff_t nspans,
                    std::ptrdiff_t size, int states, double* target) {
    double* to[lanes];
    for (int l = 0; l < lanes; ++l) to[l] = target + (l < states ? l : states - 1) * size;
    scatter(lane_numbers, false, spans, nspans, size, to);
}

// ---------------------------------------------------------------- whole cache lines

inline constexpr int cache_line = 8;  // doubles

DTAU_INLINE int begun_line(const double* x) {  // numbers before x in its cache line
    return static_cast<int>(reinterpret_cast<std::uintptr_t>(x) % 64 / sizeof(double));
}

// Copies numbers: line(from, to) copies a whole cache line, and those of incomplete lines go one by one.
template <class Line>
DTAU_INLINE void copy_lines(const double* from, std::ptrdiff_t count, double* to,
                            const Line& line) {
    std::ptrdiff_t k = 0;
    for (; k < count && begun_line(to + k) != 0; ++k) to[k] = from[k];
    for (; k + cache_line <= count; k += cache_line) line(from + k, to + k);
    for (; k < count; ++k) to[k] = from[k];
}

// With streaming stores, which bypass the caches.
inline void stream(const double* from, std::ptrdiff_t count, double* to) {
    copy_lines(from, count, to, [](const double* x, double* y) __attribute__((always_inline)) {
        for (int j = 0; j < cache_line; j += lanes) Lane::load(x + j).stream(y + j);
    });
}

// Moves the results of a group from lanes to its states. Pieces go from the lanes to a buffer in the
// nearest cache, and from there to each state in whole cache lines, with streaming stores or ordinary
// ones.
class LineStore {
  public:
    static std::ptrdiff_t padded(std::ptrdiff_t size) { return (size + lanes - 1) / lanes * lanes; }
    // Whether results of so many numbers a state go this way.
    static bool takes(Stores stores, std::ptrdiff_t size) {
        return stores == Stores::streamed ? size >= 8 * cache_line
                                          : stores == Stores::lines && size >= piece;
    }

    LineStore(Arena& arena, bool needed)
        : rows_(needed ? arena.take<double>(lanes * row) : nullptr) {}

    // blocks(begin, end, store) moves numbers begin ... end - 1 out of lanes, in whole blocks.
    template <class Blocks>
    DTAU_INLINE void scatter(const Blocks& blocks, std::ptrdiff_t size, int states, Stores stores,
                             double* const (&targets)[lanes]) const {
        double* const rows = rows_ + cache_line;
        for (std::ptrdiff_t begin = 0; begin < size; begin += piece) {
            const std::ptrdiff_t count = size - begin < piece ? size - begin : piece;
            blocks(begin, begin + count,
                   [&](int l, std::ptrdiff_t k, Lane x)
                       __attribute__((always_inline)) { x.store(rows + l * row + (k - begin)); });
            for (int l = 0; l < states; ++l) {
                double *const numbers = rows + l * row, *const to = targets[l] + begin;
                // A cache line that a piece leaves incomplete waits for the next piece.
                const int late = begun_line(to), before = begin > 0 ? late : 0;
                const int after = begin + count < size ? late : 0;
                const auto copy = stores == Stores::streamed ? stream : store;
                copy(numbers - before, count + before - after, to - before);
                for (int k = 0; k < cache_line; k += lanes)
                    Lane::load(numbers + piece - cache_line + k).store(numbers - cache_line + k);
            }
        }
    }

  private:
    static constexpr int piece = 128, row = cache_line + piece;

    // With ordinary stores. Asks for the lines of the next piece.
    static void store(const double* from, std::ptrdiff_t count, double* to) {
        copy_lines(from, count, to, [](const double* x, double* y) __attribute__((always_inline)) {
            __builtin_prefetch(y + piece, 1);
            for (int j = 0; j < cache_line; j += lanes) Lane::load(x + j).store(y + j);
        });
    }

    double* rows_;
};

// Moves the numbers at these entries to the states of a group, lane l to to[l].
inline void leave_on_pattern(const Lane* lane_numbers, const LineStore& lines,
                             const std::ptrdiff_t* entries, std::ptrdiff_t size, int states,
                             Stores stores, double* const (&to)[lanes]) {
    if (lines.takes(stores, size))
        return lines.scatter(
            [&](std::ptrdiff_t begin, std::ptrdiff_t end, const auto& put) __attribute__((
                always_inline)) { scatter_entries(lane_numbers, entries, begin, end, put); },
            size, states, stores, to);
    const std::ptrdiff_t whole = size / lanes * lanes;
    scatter_entries(lane_numbers, entries, 0, whole,
                    [&](int l, std::ptrdiff_t k, Lane x)
                        __attribute__((always_inline)) { x.store(to[l] + k); });
    for (int l = 0; l < states; ++l)
        for (std::ptrdiff_t k = whole; k < size; ++k) to[l][k] = lane_numbers[entries[k]].value[l];
}

// Moves a result of a group to its states, lane l to to[l].
inline void leave_group(const Lane* lane_numbers, const LineStore& lines, Results results,
                        const Output& out, const NonzeroParts& nonzero, int states, Stores stores,
                        double* const (&to)[lanes]) {
    if (out.entries)
        return leave_on_pattern(lane_numbers, lines, out.entries, out.nentries, states, stores, to);
    Span whole = {0, out.size};
    const Span* spans = &whole;
    std::ptrdiff_t nspans = 1;
    if (nonzero.spans)
        spans = nonzero.spans, nspans = nonzero.count;
    else if (results == Results::sparse && out.spans)
        spans = out.spans, nspans = out.nspans;
    else if (results == Results::sparse && out.nspans > 0)
        whole.begin = out.span.begin / lanes * lanes;  // a multiple of the block length
    const Span* span = spans;
    if (lines.takes(stores, out.size))
        lines.scatter(
            [&](std::ptrdiff_t begin, std::ptrdiff_t end, const auto& put)
                __attribute__((always_inline)) {
                    scatter_blocks(lane_numbers, zero_to_add(nonzero.positive_zeros), begin, end,
                                   span, spans + nspans, put);
                },
            out.size, states, stores, to);
    else
        scatter(lane_numbers, nonzero.positive_zeros, spans, nspans, out.size, to);
}

}  // namespace dtau::DTAU_VARIANT
