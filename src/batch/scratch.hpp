// Keeps one block of scratch memory for each thread between calls, unless it is large: scratch().
#pragma once

#include <atomic>
#include <cstddef>
#include <memory>

namespace dtau {

// Returns at least so many bytes, aligned for every vector. The thread's next call reuses them.
void* scratch(std::size_t bytes);

// Frees the block if it is large.
void trim_scratch();

// Calls f(asked), which may compute on this thread too, in another block than the one in use.
bool spare_scratch(bool (*f)(void*), void* asked);

// The alignment of blocks, for every vector.
inline constexpr std::size_t scratch_alignment = 64;

// Owns blocks of scratch memory for so many threads at once.
class ScratchBlocks {
  public:
    ScratchBlocks() = default;
    ScratchBlocks(int count, std::size_t size);

  private:
    friend class LentScratch;
    struct Release {
        void operator()(void* block) const;
    };
    std::size_t size_ = 0;
    std::unique_ptr<void, Release> memory_;       // all blocks
    std::unique_ptr<std::atomic<void*>[]> free_;  // (count) null: lent
    int count_ = 0;
};

// While this object lives, scratch() of this thread returns a block of these if one is free and large
// enough.
class LentScratch {
  public:
    explicit LentScratch(const ScratchBlocks& blocks);
    ~LentScratch();
    LentScratch(const LentScratch&) = delete;
    LentScratch& operator=(const LentScratch&) = delete;

  private:
    std::atomic<void*>* slot_ = nullptr;
    void* block_ = nullptr;
    void* outer_block_ = nullptr;  // lent before
    std::size_t outer_size_ = 0;
};

}  // namespace dtau
