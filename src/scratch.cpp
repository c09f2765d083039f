#include "scratch.hpp"

#include <atomic>
#include <new>

namespace dtau {
namespace {

constexpr std::align_val_t alignment{64};

struct Block {
    std::size_t size;
    // the numbers follow, aligned
    void* numbers() { return reinterpret_cast<char*>(this) + static_cast<std::size_t>(alignment); }
};

Block* allocate(std::size_t bytes) {
    Block* block =
        static_cast<Block*>(::operator new(bytes + static_cast<std::size_t>(alignment), alignment));
    block->size = bytes;
    return block;
}

void release(Block* block) { ::operator delete(block, alignment); }

// Blocks that ended threads leave to new ones: fresh memory costs more than a small batch. Atomic
// slots, so that a fork at any moment does no harm. Large blocks are given back at once.
constexpr std::size_t worth_keeping = std::size_t(8) << 20;
std::atomic<Block*> spare[16];

struct Holder {
    Block* block = nullptr;

    ~Holder() {
        if (block && block->size <= worth_keeping)
            for (std::atomic<Block*>& slot : spare) {
                Block* empty = nullptr;
                if (slot.compare_exchange_strong(empty, block)) return;
            }
        if (block) release(block);
    }
    void* at_least(std::size_t bytes) {
        if (!block)
            for (std::atomic<Block*>& slot : spare)
                if ((block = slot.exchange(nullptr))) break;
        if (!block || block->size < bytes) {
            if (block) release(block);
            block = nullptr;
            block = allocate(bytes);
        }
        return block->numbers();
    }
};

}  // namespace

void* scratch(std::size_t bytes) {
    thread_local Holder holder;
    return holder.at_least(bytes);
}

}  // namespace dtau
