// Orders the states of a batch for its groups of lanes: order_states(). A group takes the time of all
// contacts that are on in one of its states, so states with the same contacts go into the same groups.
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

// Writes the numbers of the states of a window that starts with `begin` to its places in `order`.
// Returns false if the states stay in their order, because another one saves too little.
bool order_states(const Job& job, int lanes, std::ptrdiff_t begin, std::ptrdiff_t* order);

}  // namespace dtau
