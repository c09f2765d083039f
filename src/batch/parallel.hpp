// Runs work over all states of a batch on several threads, in chunks of contiguous states:
// run_parallel().
#pragma once

#include <cstddef>

namespace dtau {

// Computes the states begin ... end - 1 of `count`; may throw.
struct BatchWork {
    void (*compute)(const void* self, std::ptrdiff_t begin, std::ptrdiff_t end);
    const void* self;
    std::ptrdiff_t count;
};

struct Schedule {
    int threads;                       // the calling one included
    std::ptrdiff_t chunk;              // states
    bool (*interrupted)(void* asked);  // called regularly by the calling thread
    void* asked;
    bool long_chunks = false;  // called also while the calling thread waits for others
};

inline constexpr int max_threads = 1024;

// Returns the number of states done: all of them, unless `interrupted` returned true. The other
// threads then wait for the next call. A child process after a fork starts its own.
std::ptrdiff_t run_parallel(const BatchWork& work, const Schedule& schedule);

// Starts threads that wait for run_parallel(), which then starts none and allocates nothing: up to 64
// in a process. It starts fewer if the system has no more.
void start_threads(int count);

}  // namespace dtau
