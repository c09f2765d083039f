// Tests arena.hpp: alignment, measuring without a block, pieces that do not overlap, objects with arrays of
// their own, and that a block that is too small gives no piece.
#include "dtau/arena.hpp"

#include <csignal>
#include <cstdint>
#include <memory>

#if !defined(_WIN32)
#include <sys/wait.h>
#include <unistd.h>
#endif

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
}

// An object with an array, which it fills.
struct Squares {
    int count;
    double* at;

    Squares(Arena& arena, int n) : count(n), at(arena.take<double>(n)) {
        for (int k = 0; k < n && at; ++k) at[k] = k * k;
    }
};
struct Numbered {
    int number = 7;
};

TEST_CASE("an object is made in the block with its arrays, or measured with them") {
    Arena measure;
    CHECK(measure.make<Squares>(20) == nullptr);
    CHECK(measure.make<Numbered>() == nullptr);
    CHECK(measure.used() == 64 + 192 + 64);

    alignas(64) std::byte block[64 + 192 + 64];
    Arena arena(block, sizeof block);
    const Squares* const squares = arena.make<Squares>(20);
    CHECK(static_cast<const void*>(squares) == block);
    CHECK(static_cast<const void*>(squares->at) == block + 64);
    CHECK(squares->count == 20);
    CHECK(squares->at[19] == 361.0);
    CHECK(arena.make<Numbered>()->number == 7);
    CHECK(arena.used() == measure.used());
}

#if !defined(_WIN32)

TEST_CASE("a block that is too small ends the program before anything is written") {
    alignas(64) std::byte block[128] = {};
    const auto ends = [&](int count) {
        const pid_t child = fork();
        if (child == 0) {
            for (const int signal : {SIGILL, SIGTRAP}) std::signal(signal, SIG_DFL);
            Arena arena(block, sizeof block);
            Squares(arena, count);
            _exit(0);
        }
        int status = 0;
        REQUIRE(waitpid(child, &status, 0) == child);
        return WIFSIGNALED(status) && (WTERMSIG(status) == SIGILL || WTERMSIG(status) == SIGTRAP);
    };
    CHECK_FALSE(ends(16));
    CHECK(ends(17));
}

#endif

TEST_SUITE_END();

}  // namespace
}  // namespace dtau::DTAU_VARIANT
