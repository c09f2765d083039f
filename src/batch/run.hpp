// Runs an algorithm over a range of a job's states, in groups of lanes or one by one.
//
// A state in which any given number is not finite gets NaN in all its results and spoils no other.
#pragma once

#include "batch/algorithm.hpp"

namespace dtau::DTAU_VARIANT {

// Computes the states begin ... end of a job: a batch in lanes, a lone state alone.
void run(const Algorithms& algorithms, const Tree& tree, const Job& job, std::ptrdiff_t begin,
         std::ptrdiff_t end);

// Bytes of scratch memory that a thread takes for it.
std::size_t scratch_bytes(const Algorithms& algorithms, const Tree& tree, const Job& job);

}  // namespace dtau::DTAU_VARIANT
