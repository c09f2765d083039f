// Keeps one block of scratch memory for each thread between calls, unless it is large: scratch().
#pragma once

#include <cstddef>

namespace dtau {

// Returns at least so many bytes, aligned for every vector. The thread's next call reuses them.
void* scratch(std::size_t bytes);

// The block that scratch() would return for few bytes. Null: there is none.
struct ScratchBlock {
    void* at;
    std::size_t size;
};
ScratchBlock present_scratch();

// Frees the block if it is large.
void trim_scratch();

// While this object lives, scratch() of this thread returns the given block if it is large enough.
class LentScratch {
  public:
    LentScratch(void* block, std::size_t size);
    ~LentScratch();
    LentScratch(const LentScratch&) = delete;
    LentScratch& operator=(const LentScratch&) = delete;
};

// The alignment of blocks, for every vector.
inline constexpr std::size_t scratch_alignment = 64;

}  // namespace dtau
