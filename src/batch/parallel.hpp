// Runs a kernel over all states of a job: in chunks of contiguous states, on several threads.
#pragma once

#include "functions/table.hpp"

namespace dtau {

// The number of processors that this process may use.
int available_processors();

struct Schedule {
    int threads;            // the calling one included
    std::ptrdiff_t chunk;   // states
    bool (*interrupted)();  // asked by the calling thread every now and then
};

// Returns the number of states done: all of them, unless `interrupted` said so. The other threads
// wait for the next call; a child process after a fork starts its own.
std::ptrdiff_t run_parallel(Kernel kernel, const Tree& tree, const Job& job,
                            const Schedule& schedule);

}  // namespace dtau
