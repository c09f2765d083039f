// Orders the states of a batch for its groups of lanes: order_states(). A group takes the time of all
// contacts that are on in one of its states, so states with the same contacts go into the same groups. The
// rest of these goes into a group with other states, fills a group in part, or stays out of lanes: whatever
// takes the least time.
#pragma once

#include "batch/job.hpp"

namespace dtau {

// Whether the contacts that are on can differ from state to state (InputRoles::active). Code for one robot
// and lone states leave nothing out.
bool may_order(const Job& job);

// States change their places within windows of so many, so that threads can share the work.
inline constexpr std::ptrdiff_t order_window = 2048;  // whole groups of lanes

// Scratch memory of order_states() for a job of so many states.
std::size_t order_scratch_bytes(std::ptrdiff_t count);

// Writes the states of a window that starts with `begin` to its places in `order`.
// Returns false if the states stay in their order, because another one saves too little.
bool order_states(const Tree& tree, const Job& job, int lanes, std::ptrdiff_t begin, Place* order);

// The most states that take less time one by one than in lanes. A group of lanes takes as long as two
// lone states, and longer if its results leave the nearest cache, or a larger one.
inline int few_states(const Job& job, int lanes) {
    constexpr std::size_t nearest = 30'000, larger = 300'000;  // bytes
    std::size_t bytes = 0;
    for (int o = 0; o < job.noutputs; ++o) bytes += job.outputs[o].size * lanes * sizeof(double);
    return bytes < nearest ? 1 : bytes < larger ? 2 : 3;
}

}  // namespace dtau
