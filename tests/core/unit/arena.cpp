// Tests arena.hpp: alignment, measuring without a block, and pieces that do not overlap.
#include "dtau/arena.hpp"

#include <cstdint>
#include <memory>

#include "support.hpp"

namespace dtau::DTAU_VARIANT {
namespace {

TEST_SUITE_BEGIN("arena");

struct Pieces {
    char* bytes;
    int* none;
    Lane* vectors;
    double* zeros;
    double* last;

    explicit Pieces(Arena& arena)
        : bytes(arena.take<char>(1)),
          none(arena.take<int>(0)),
          vectors(arena.take<Lane>(3)),
          zeros(arena.take_zeros<double>(9)),
          last(arena.take<double>(8)) {}
};

TEST_CASE("an arena without a block measures what one with a block takes") {
    Arena measure;
    const Pieces nothing(measure);
    CHECK(nothing.bytes == nullptr);
    CHECK(nothing.zeros == nullptr);
    // One line for one byte, whole lines for lanes, two for 9 doubles and one for 8.
    CHECK(measure.used() == 64 + (3 * sizeof(Lane) + 63) / 64 * 64 + 128 + 64);

    const std::unique_ptr<std::byte[]> memory(new std::byte[measure.used() + 64]);
    void* block = memory.get();
    std::size_t room = measure.used() + 64;
    REQUIRE(std::align(64, measure.used(), block, room) != nullptr);
    std::memset(block, 0xff, measure.used());
    Arena arena(block, measure.used());
    const Pieces pieces(arena);
    CHECK(arena.used() == measure.used());

    const auto offset = [&](const void* piece) {
        return reinterpret_cast<std::uintptr_t>(piece) - reinterpret_cast<std::uintptr_t>(block);
    };
    const void* all[] = {pieces.bytes, pieces.none, pieces.vectors, pieces.zeros, pieces.last};
    for (const void* piece : all) CHECK(offset(piece) % 64 == 0);
    CHECK(offset(pieces.bytes) == 0);
    CHECK(offset(pieces.vectors) >= 1);
    CHECK(offset(pieces.zeros) >= offset(pieces.vectors) + 3 * sizeof(Lane));
    CHECK(offset(pieces.last) >= offset(pieces.zeros) + 9 * sizeof(double));
    CHECK(offset(pieces.last) + 8 * sizeof(double) <= arena.used());
    for (int k = 0; k < 9; ++k) CHECK(pieces.zeros[k] == 0.0);
    CHECK(std::isnan(pieces.last[0]));  // it has what was there

    // The last piece does not fit into a block that is one byte too small.
    Arena small(block, measure.used() - 1);
    const Pieces cut(small);
    CHECK(small.used() == measure.used());
    CHECK(cut.zeros == pieces.zeros);
    CHECK(cut.last == nullptr);
}

TEST_SUITE_END();

}  // namespace
}  // namespace dtau::DTAU_VARIANT
