// Tests batch/stores.hpp: the table of processors, and the words of DTAU_STORES.
#include "batch/stores.hpp"

#include <stdexcept>

#include "support.hpp"

namespace dtau {
namespace {

TEST_SUITE_BEGIN("stores");

TEST_CASE(
    "processors that were measured or reasoned about have their rows, and others the default") {
    const auto text = [](const char* vendor, int family, bool avx512) {
        return text_of(stores_for({vendor, family, avx512}));
    };
    CHECK(text("AuthenticAMD", 0x19, true) == "blocks:4194304");
    CHECK(text("AuthenticAMD", 0x1a, true) == "blocks:4194304");
    CHECK(text("GenuineIntel", 0x06, true) == "lines:4194304");
    CHECK(text("GenuineIntel", 0x13, true) == "lines:4194304");
    CHECK(text("GenuineIntel", 0x06, false) == "blocks:4194304");
    CHECK(text("", 0, false) == "blocks:4194304");
}

TEST_CASE("words are read as they are written") {
    for (const StoreChoice& choice :
         {StoreChoice{Stores::blocks, StoreChoice::any}, StoreChoice{Stores::lines, 0},
          StoreChoice{Stores::lines, std::ptrdiff_t(1) << 40}})
        CHECK(read_stores(text_of(choice)) == choice);
    for (const char* wrong : {"", "streamed", "lines:", "lines:-1", "blocks:4M", "blocks: 4", ":4"})
        CHECK_THROWS_AS(read_stores(wrong), std::invalid_argument);
}

TEST_CASE("results of more bytes than the limit are streamed") {
    const StoreChoice before = stores_in_use();
    use_stores({Stores::lines, 1000});
    CHECK(stores_of(1000) == Stores::lines);
    CHECK(stores_of(1001) == Stores::streamed);
    use_stores({Stores::blocks, StoreChoice::any});
    CHECK(stores_of(std::ptrdiff_t(1) << 60) == Stores::blocks);
    use_stores(before);
}

TEST_SUITE_END();

}  // namespace
}  // namespace dtau
