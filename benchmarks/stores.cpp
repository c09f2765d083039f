// Moves numbers out of vector lanes as a batch's results go, and computes nothing: leave(), for the
// experiment `stores`.
#include <cstring>
#include <new>

#include "batch/lanes.hpp"

namespace dtau::DTAU_VARIANT {
namespace {

enum Way { nothing, blocks, prefetched, in_lines, streamed };

// In blocks, each of which asks for the line of a later one.
void leave_prefetched(const Lane* x, std::ptrdiff_t size, double* const (&to)[lanes]) {
    const Span all = {0, size}, *span = &all;
    const std::ptrdiff_t whole = size / lanes * lanes;
    scatter_blocks(x, zero_to_add(false), 0, whole, span, &all + 1,
                   [&](int l, std::ptrdiff_t k, Lane y) __attribute__((always_inline)) {
                       __builtin_prefetch(to[l] + k + 64, 1);
                       y.store(to[l] + k);
                   });
    for (int l = 0; l < lanes; ++l)
        for (std::ptrdiff_t k = whole; k < size; ++k) to[l][k] = x[k].value[l];
}

struct Numbers {
    explicit Numbers(std::size_t bytes) : at(::operator new(bytes, line)) {
        std::memset(at, 0, bytes);
    }
    ~Numbers() { ::operator delete(at, line); }

    static constexpr std::align_val_t line{64};
    void* const at;
};

}  // namespace

// Writes `matrices` arrays of (states, size) numbers, group by group. Each group's numbers change in
// lanes before they leave, as if an algorithm had written them.
extern "C" __attribute__((visibility("default"))) void leave(int way, std::ptrdiff_t size,
                                                             int matrices, std::ptrdiff_t states,
                                                             double* results,
                                                             std::ptrdiff_t passes) {
    const std::ptrdiff_t padded = LineStore::padded(size);
    const Numbers numbers(padded * matrices * sizeof(Lane)), buffer(1 << 16);
    Lane* const lane_numbers = static_cast<Lane*>(numbers.at);
    Arena arena(buffer.at, 1 << 16);
    const LineStore lines(arena, true);
    Output out;
    out.size = size;
    const Stores stores = way == blocks     ? Stores::blocks
                          : way == in_lines ? Stores::lines
                                            : Stores::streamed;
    for (; passes > 0; --passes) {
        for (std::ptrdiff_t state = 0; state < states; state += lanes) {
            for (std::ptrdiff_t k = 0; k < padded * matrices; ++k) lane_numbers[k] += Lane(1.0);
            for (int m = 0; m < matrices; ++m) {
                const Lane* const x = lane_numbers + m * padded;
                double* to[lanes];
                for (int l = 0; l < lanes; ++l) to[l] = results + (m * states + state + l) * size;
                if (way == nothing)
                    asm volatile("" : : "r"(x) : "memory");
                else if (way == prefetched)
                    leave_prefetched(x, size, to);
                else
                    leave_group(x, lines, Results::dense, out, {}, lanes, stores, to);
            }
        }
        if (way == streamed) end_streams();
    }
}

}  // namespace dtau::DTAU_VARIANT
