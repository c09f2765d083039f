// Work over all states of a batch: in chunks of contiguous states, on several threads.
#pragma once

#include <cstddef>

namespace dtau {

// Computes the states begin ... end of `count`; may throw.
struct BatchWork {
    void (*compute)(const void* self, std::ptrdiff_t begin, std::ptrdiff_t end);
    const void* self;
    std::ptrdiff_t count;
};

struct Schedule {
    int threads;                       // the calling one included
    std::ptrdiff_t chunk;              // states
    bool (*interrupted)(void* asked);  // called by the calling thread every now and then
    void* asked;
};

// Returns the number of states done: all of them, unless `interrupted` said so. The other threads
// wait for the next call; a child process after a fork starts its own.
std::ptrdiff_t run_parallel(const BatchWork& work, const Schedule& schedule);

}  // namespace dtau
