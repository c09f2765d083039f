// Refuses work that needs more memory than is available: require_memory(), ask_for_memory().
#include "batch/require_memory.hpp"

#include <algorithm>
#include <cstdio>

#include "batch/kept_blocks.hpp"
#include "batch/system.hpp"

namespace dtau {

MemoryAnswer ask_for_memory(double bytes) {
    // Granted without asking the system: that takes longer than a call on a small batch.
    static const double unnoticed = std::min(256e6, memory_in_all() / 16.0);
    if (bytes < unnoticed) return {true, bytes};
    double available = available_memory();
    if (bytes < available) return {true, available};
    free_kept_blocks();
    available = available_memory();
    return {bytes < available, available};
}

void require_memory(const std::string& what, double bytes, const std::string& advice) {
    const MemoryAnswer answer = ask_for_memory(bytes);
    if (answer.enough) return;
    char numbers[120];
    std::snprintf(numbers, sizeof numbers, ": the arrays take %.0f bytes, and %.0f are available; ",
                  bytes, answer.available);
    throw OutOfMemory(what + numbers + advice);
}

}  // namespace dtau
