// Chooses threads and chunks for the states of a batch: split_batch().
#pragma once

#include "registry/signature.hpp"

namespace dtau {

struct BatchSplit {
    int threads;           // the calling one included
    std::ptrdiff_t chunk;  // states that a thread takes at once: whole groups of lanes
    double state;          // estimate of a state's nanoseconds
};

// For `count` states of so many nanoseconds each. `threads` is the most that may share them; 0: as many as
// are of use.
BatchSplit split_batch(double state, int lanes, std::ptrdiff_t count, int threads);
// The same for states whose results have so many numbers each.
BatchSplit split_batch(const Signature& signature, const Tree& tree, const Options& options,
                       int lanes, std::ptrdiff_t count, int threads, double numbers);

}  // namespace dtau
