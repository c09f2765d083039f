// Chooses how the results of a batch leave vector lanes for memory: stores_of(), by the processor.
#pragma once

#include <atomic>
#include <cstddef>
#include <cstdint>
#include <string>

namespace dtau {

// `blocks`: to each state of a group in turn, a vector at a time, wherever cache lines begin. `lines`: in
// pieces through a buffer in the nearest cache, and from there in whole cache lines, state by state; results
// of less than a piece go in blocks.
// `streamed`: the same with streaming stores, which bypass the caches.
enum class Stores : unsigned char { blocks, lines, streamed };

// The choice for a processor: ordinary stores up to so many bytes of results in a call, and streaming stores
// for more.
struct StoreChoice {
    Stores ordinary;
    std::ptrdiff_t most;

    static constexpr std::ptrdiff_t any = PTRDIFF_MAX;  // never streamed

    bool operator==(const StoreChoice&) const = default;
};

// What the processor's identification says.
struct Processor {
    std::string vendor;
    int family = 0;
    bool avx512 = false;
};
Processor this_processor();

StoreChoice stores_for(const Processor& processor);

// The words of DTAU_STORES, "blocks" or "lines", with ":BYTES" if larger results are streamed. Reading
// throws std::invalid_argument.
std::string text_of(const StoreChoice& choice);
StoreChoice read_stores(const std::string& text);

// The choice in use.
StoreChoice stores_in_use();
void use_stores(const StoreChoice& choice);
void use_stores_of_environment();  // DTAU_STORES, or else the row of the processor

// What stores_of() reads.
extern std::atomic<Stores> ordinary_stores;
extern std::atomic<std::ptrdiff_t> most_ordinary;

// For a call whose results take so many bytes.
inline Stores stores_of(std::ptrdiff_t bytes) {
    return bytes > most_ordinary.load(std::memory_order_relaxed)
               ? Stores::streamed
               : ordinary_stores.load(std::memory_order_relaxed);
}

}  // namespace dtau
