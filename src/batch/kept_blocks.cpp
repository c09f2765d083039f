// Caches released blocks of result memory up to a limit: take_block(), give_block().
#include "batch/kept_blocks.hpp"

#include <algorithm>
#include <atomic>
#include <bit>
#include <mutex>
#include <new>

#include "batch/system.hpp"

namespace dtau {
namespace {

// The header of every block, on a cache line of its own.
struct alignas(64) Head {
    std::size_t bytes;  // of the block
};

Head* head_of(void* block) { return static_cast<Head*>(block) - 1; }

// Smaller blocks are freed along with large ones of the same call, and cost the system nothing.
constexpr std::size_t worth_keeping = 4096;

// Larger blocks come from the system itself, as the heap may keep the memory that is freed.
constexpr std::size_t of_the_system = std::size_t(128) << 10;

// Rounds up by at most an eighth, so that a block serves results of similar sizes. (Untouched pages
// take no memory.)
std::size_t rounded(std::size_t bytes) {
    const std::size_t step = std::max(std::bit_floor(bytes) / 8, sizeof(Head));
    return (bytes + step - 1) / step * step;
}

Head* new_block(std::size_t least) {
    constexpr std::align_val_t alignment{alignof(Head)};
    const std::size_t all = rounded(sizeof(Head) + least);
    void* memory =
        all < of_the_system ? ::operator new(all, alignment, std::nothrow) : map_memory(all);
    return memory ? new (memory) Head{all - sizeof(Head)} : nullptr;
}

void free_block(Head* block) {
    const std::size_t all = sizeof(Head) + block->bytes;
    if (all < of_the_system)
        ::operator delete(block, std::align_val_t(alignof(Head)));
    else
        unmap_memory(block, all);
}

std::size_t default_limit() {
    return static_cast<std::size_t>(std::clamp(memory_in_all() / 16.0, 0.0, double(256 << 20)));
}

// The cached blocks, in order of release: so few that a search takes no time.
struct Kept {
    static constexpr int most = 128;

    Head* blocks[most];
    std::size_t sizes[most];
    int count = 0;
    std::size_t bytes = 0;
    std::atomic<std::size_t> limit = default_limit();
    std::mutex mutex;

    Head* remove(int k) {
        Head* block = blocks[k];
        bytes -= sizes[k];
        --count;
        std::copy(blocks + k + 1, blocks + count + 1, blocks + k);
        std::copy(sizes + k + 1, sizes + count + 1, sizes + k);
        return block;
    }
    // Takes the smallest block that fits and is not much too large; of equal ones the last one
    // released.
    Head* take(std::size_t wanted) {
        int best = -1;
        for (int k = count - 1; k >= 0; --k) {
            const bool fits = wanted <= sizes[k] && sizes[k] - wanted <= sizes[k] / 4;
            if (fits && (best < 0 || sizes[k] < sizes[best])) best = k;
        }
        return best < 0 ? nullptr : remove(best);
    }
    void free_until(std::size_t most_bytes, int most_blocks) {
        while (bytes > most_bytes || count > most_blocks) free_block(remove(0));
    }
    // Adds a block to the cache; false: it is too small to be worth it, or larger than the limit.
    bool keep(Head* block) {
        const std::size_t size = block->bytes, all = limit;
        if (size < worth_keeping || size > all) return false;
        free_until(all - size, most - 1);
        blocks[count] = block;
        sizes[count] = size;
        ++count;
        bytes += size;
        return true;
    }
};

Kept kept;

// Holds the lock during a fork, so that the child never finds the cache in the middle of a change.
[[maybe_unused]] const int at_fork =
    at_forks([] { kept.mutex.lock(); }, [] { kept.mutex.unlock(); }, [] { kept.mutex.unlock(); });

}  // namespace

void* take_block(std::size_t bytes) {
    if (bytes >= worth_keeping) {
        const std::lock_guard lock(kept.mutex);
        if (Head* block = kept.take(bytes)) return block + 1;
    }
    Head* block = new_block(bytes);
    if (!block) {
        free_kept_blocks();
        block = new_block(bytes);
    }
    return block ? block + 1 : nullptr;
}

void give_block(void* block) {
    if (!block) return;
    Head* head = head_of(block);
    {
        const std::lock_guard lock(kept.mutex);
        if (kept.keep(head)) return;
    }
    free_block(head);
}

std::size_t block_bytes(void* block) { return head_of(block)->bytes; }

std::size_t keep_blocks(std::size_t limit) {
    const std::lock_guard lock(kept.mutex);
    const std::size_t before = kept.limit.exchange(limit);
    kept.free_until(limit, Kept::most);
    return before;
}

bool keeps_blocks() { return kept.limit.load(std::memory_order_relaxed) > 0; }

void free_kept_blocks() {
    const std::lock_guard lock(kept.mutex);
    kept.free_until(0, 0);
}

}  // namespace dtau
