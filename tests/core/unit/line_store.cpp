// Tests LineStore of batch/lanes.hpp: results that leave lanes in whole cache lines, and the memory
// around its buffer.
#include "batch/lanes.hpp"
#include "support.hpp"

namespace dtau::DTAU_VARIANT {
namespace {

TEST_SUITE_BEGIN("line_store");

TEST_CASE("results in several pieces, wherever cache lines begin, write in their buffer alone") {
    constexpr std::ptrdiff_t size = 300;
    constexpr std::size_t guard = 64 / sizeof(double);
    Random random(7);
    Output out;
    out.size = size;
    std::vector<Lane> numbers(LineStore::padded(size));
    for (Lane& x : numbers) x = random.scalar<Lane>();
    Arena measured;
    const LineStore absent(measured, true);
    const std::size_t bytes = measured.used() + 128;
    double* const block = static_cast<double*>(::operator new(bytes, std::align_val_t(64)));
    for (const Stores stores : {Stores::lines, Stores::streamed})
        for (int offset = 0; offset < cache_line; ++offset) {
            Arena arena(block, bytes);
            double* const before = arena.take_zeros<double>(guard);
            const LineStore lines(arena, true);
            double* const after = arena.take_zeros<double>(guard);
            std::vector<double> found(lanes * size + cache_line);
            double* to[lanes];
            for (int l = 0; l < lanes; ++l) to[l] = found.data() + offset + l * size;
            leave_group(numbers.data(), lines, Results::dense, out, {}, lanes, stores, to);
            bool same = true;
            for (int l = 0; l < lanes; ++l)
                for (std::ptrdiff_t k = 0; k < size; ++k)
                    same = same && to[l][k] == numbers[k].value[l];
            CHECK(same);
            for (std::size_t k = 0; k < guard; ++k)
                same = same && before[k] == 0.0 && after[k] == 0.0;
            CHECK(same);
        }
    ::operator delete(block, std::align_val_t(64));
}

TEST_SUITE_END();

}  // namespace
}  // namespace dtau::DTAU_VARIANT
