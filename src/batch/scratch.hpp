// Keeps one block of scratch memory for each thread between calls, unless it is large: scratch().
#pragma once

#include <cstddef>

namespace dtau {

// Returns at least so many bytes, aligned for every vector. The thread's next call reuses them.
void* scratch(std::size_t bytes);

// Frees the block if it is large.
void trim_scratch();

}  // namespace dtau
