// What one call computes with, once its arguments are read, and how it is computed.
#pragma once

#include <atomic>

#include "python/options.hpp"

namespace dtau {

struct Work {
    Work(const FunctionList& list, const Function& function, TreeReference tree)
        : list(list), function(function), tree(std::move(tree)) {}

    const FunctionList& list;
    const Function& function;
    TreeReference tree;
    CallOptions options;
    nanobind::object inputs[Job::max_inputs], results[Job::max_outputs];
    Job job;
};

struct Plan {
    int threads;
    std::ptrdiff_t chunk;  // states
    bool slow;             // so that a signal would wait too long for the end of a chunk
    double scratch;        // bytes that all threads take; 0 where they are few
};

// 0 for None, which leaves the number to the plan. May run the argument's own code.
int thread_count(nanobind::handle threads);

// For so many threads, and so many numbers of results a state.
Plan plan(const Work& work, int threads, double numbers);

// MemoryError before anything is allocated, where the system would only kill the process later:
// for new arrays of so many bytes, and for scratch.
void check_memory(const Work& work, const Plan& plan, double results);

// Computes the results. Raises what signals raised meanwhile, and ValueError for a state without results.
void run(Work& work, const Plan& plan);

// Calls that were interrupted leave slow states to be computed to their end; what these needed is
// given back here, by a later call: any thread may see their end, but only one with the lock may do
// that.
struct SlowWork;
extern std::atomic<SlowWork*> ended_work;
void release_ended_work();
inline void release_interrupted() {
    if (ended_work.load(std::memory_order_relaxed)) release_ended_work();
}

}  // namespace dtau
