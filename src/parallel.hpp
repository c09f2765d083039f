// Runs a kernel over all states of a job: in chunks of contiguous states, on several threads.
#pragma once

#include "kernels/table.hpp"

namespace dtau {

// The number of processors that this process may use.
int available_processors();

struct Schedule {
    int threads;            // the calling one included
    std::ptrdiff_t chunk;   // states
    bool (*interrupted)();  // asked by the calling thread every now and then
};

// Returns the number of states done: all of them, unless `interrupted` said so. Plain threads that
// end with the call: nothing survives that a fork could break.
std::ptrdiff_t run_parallel(Kernel kernel, const Tree& tree, const Job& job,
                            const Schedule& schedule);

}  // namespace dtau
