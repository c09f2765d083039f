// Keeps one block of scratch memory for each thread: scratch(), trim_scratch(), spare_scratch(), LentScratch.
#include "batch/scratch.hpp"

#include <new>
#include <utility>

namespace dtau {
namespace {

constexpr std::align_val_t alignment{scratch_alignment};
constexpr std::size_t worth_keeping = std::size_t(8) << 20;

// The block in use: lent, or the holder's. Apart from the holder, whose destructor makes its first
// use on a thread allocate.
struct Block {
    void* at = nullptr;
    std::size_t size = 0;
    bool lent = false;
};
constinit thread_local Block current;

struct Holder {
    Block own;

    ~Holder() { release(); }
    void release() {
        if (own.at) ::operator delete(own.at, alignment);
        own = current = {};
    }
    void* at_least(std::size_t bytes) {
        if (own.size < bytes || !own.at) {
            release();
            own = {::operator new(bytes, alignment), bytes};
        }
        current = own;
        return own.at;
    }
};

thread_local Holder holder;

}  // namespace

void* scratch(std::size_t bytes) {
    return current.at && bytes <= current.size ? current.at : holder.at_least(bytes);
}

void trim_scratch() {
    if (current.size > worth_keeping && !current.lent) holder.release();
}

bool spare_scratch(bool (*f)(void*), void* asked) {
    if (!current.at || current.lent) return f(asked);  // who lends a block runs no other code
    const Block in_use = std::exchange(holder.own, {});
    current = {};
    const bool result = f(asked);
    holder.release();
    holder.own = current = in_use;
    return result;
}

ScratchBlocks::ScratchBlocks(int count, std::size_t size)
    : size_((size + scratch_alignment - 1) / scratch_alignment * scratch_alignment),
      memory_(::operator new(size_* count, alignment)),
      free_(new std::atomic<void*>[count]),
      count_(count) {
    for (int k = 0; k < count; ++k) free_[k] = static_cast<char*>(memory_.get()) + k * size_;
}
void ScratchBlocks::Release::operator()(void* block) const { ::operator delete(block, alignment); }

LentScratch::LentScratch(const ScratchBlocks& blocks) {
    if (current.lent) outer_block_ = current.at, outer_size_ = current.size;
    for (int k = 0; k < blocks.count_ && !block_; ++k) {
        slot_ = &blocks.free_[k];
        block_ = slot_->exchange(nullptr);
    }
    if (block_) current = {block_, blocks.size_, true};
}
LentScratch::~LentScratch() {
    if (!block_) return;
    slot_->store(block_);
    current = {outer_block_, outer_size_, outer_block_ != nullptr};
}

}  // namespace dtau
