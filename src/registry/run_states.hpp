// Runs a function over a range of a job's states, by code for one robot where there is some: run_states().
#pragma once

#include "registry/function.hpp"

namespace dtau {

// As FunctionList::run. Code for one robot cannot tell why contacts do not hold a state, whose results
// are NaN: the core computes such a state again, and reports it.
void run_states(const FunctionList& list, const Function& function, const Tree& tree,
                const Job& job, std::ptrdiff_t begin, std::ptrdiff_t end);

}  // namespace dtau
