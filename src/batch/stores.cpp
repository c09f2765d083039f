// Chooses how results leave vector lanes: a table of processors, stores_for(), and the environment
// variable over it, use_stores_of_environment().
#include "batch/stores.hpp"

#include <charconv>
#include <cstdlib>
#include <cstring>
#include <stdexcept>

#if defined(__x86_64__)
#include <cpuid.h>
#endif

namespace dtau {
namespace {

// Results of more bytes would leave the caches before anyone reads them. Measured on AMD's Zen 3 and Zen 4.
constexpr std::ptrdiff_t cached = std::ptrdiff_t(4) << 20;
constexpr StoreChoice others = {Stores::blocks, cached};

struct Row {
    const char* vendor;
    int first_family, last_family;
    bool avx512;  // the row is for processors that have it
    StoreChoice choice;
};

// The first row that fits. docs/derivations.md §10 has the numbers behind each.
constexpr Row rows[] = {
    {"AuthenticAMD", 0x19, 0x19, false, {Stores::blocks, cached}},  // Zen 3, Zen 4: measured
    // From Ice Lake on, and Skylake's servers: reasoned from bandwidths that were measured on one of them.
    {"GenuineIntel", 0x06, 0xff, true, {Stores::lines, cached}},
};

}  // namespace

std::atomic<Stores> ordinary_stores = others.ordinary;
std::atomic<std::ptrdiff_t> most_ordinary = others.most;

Processor this_processor() {
    Processor found;
#if defined(__x86_64__)
    unsigned a = 0, b = 0, c = 0, d = 0;
    if (!__get_cpuid(0, &a, &b, &c, &d)) return found;
    char vendor[12];
    std::memcpy(vendor, &b, 4);
    std::memcpy(vendor + 4, &d, 4);
    std::memcpy(vendor + 8, &c, 4);
    found.vendor.assign(vendor, sizeof vendor);
    __get_cpuid(1, &a, &b, &c, &d);
    const int family = a >> 8 & 0xf;
    found.family = family < 0xf ? family : family + static_cast<int>(a >> 20 & 0xff);
    __builtin_cpu_init();
    found.avx512 = __builtin_cpu_supports("avx512f");
#endif
    return found;
}

StoreChoice stores_for(const Processor& processor) {
    for (const Row& row : rows)
        if (processor.vendor == row.vendor && row.first_family <= processor.family &&
            processor.family <= row.last_family && (processor.avx512 || !row.avx512))
            return row.choice;
    return others;
}

std::string text_of(const StoreChoice& choice) {
    const std::string word = choice.ordinary == Stores::lines ? "lines" : "blocks";
    return choice.most == StoreChoice::any ? word : word + ":" + std::to_string(choice.most);
}

StoreChoice read_stores(const std::string& text) {
    const std::size_t colon = text.find(':');
    const std::string word = text.substr(0, colon);
    StoreChoice choice = {word == "lines" ? Stores::lines : Stores::blocks, StoreChoice::any};
    bool valid = word == "lines" || word == "blocks";
    if (colon != std::string::npos) {
        const char *const begin = text.data() + colon + 1, *const end = text.data() + text.size();
        const auto [stop, error] = std::from_chars(begin, end, choice.most);
        valid = valid && error == std::errc() && stop == end && choice.most >= 0;
    }
    if (!valid)
        throw std::invalid_argument(
            "DTAU_STORES: expected 'blocks' or 'lines', and ':BYTES' after it if "
            "larger results are to be streamed, got '" +
            text + "'");
    return choice;
}

StoreChoice stores_in_use() { return {ordinary_stores, most_ordinary}; }

void use_stores(const StoreChoice& choice) {
    ordinary_stores = choice.ordinary;
    most_ordinary = choice.most;
}

void use_stores_of_environment() {
    const char* wanted = std::getenv("DTAU_STORES");
    use_stores(wanted && *wanted ? read_stores(wanted) : stores_for(this_processor()));
}

}  // namespace dtau
