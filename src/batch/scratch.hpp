// One block of scratch memory a thread, kept between calls unless it is large.
#pragma once

#include <cstddef>

namespace dtau {

// At least this many bytes, aligned for every vector; the thread's next call reuses them.
void* scratch(std::size_t bytes);

// Gives a large block back.
void trim_scratch();

}  // namespace dtau
