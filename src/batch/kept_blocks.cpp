#include "batch/kept_blocks.hpp"

#include <algorithm>
#include <atomic>
#include <bit>
#include <mutex>
#include <new>

#include <pthread.h>
#include <sys/mman.h>
#include <unistd.h>

namespace dtau {
namespace {

// Before every block stands its size, on a cache line of its own.
constexpr std::size_t head = 64;
constexpr std::align_val_t alignment{head};

// Smaller blocks are given back by a call along with large ones, and cost the system nothing.
constexpr std::size_t worth_keeping = 4096;

// Larger ones come from the system itself, for the heap need not give back what is freed; and with
// pages of 2 MB where these are worth it, as NumPy's do.
constexpr std::size_t of_the_system = std::size_t(128) << 10;
constexpr std::size_t of_large_pages = std::size_t(4) << 20;

std::size_t& size_of(void* block) {
    return *reinterpret_cast<std::size_t*>(static_cast<char*>(block) - head);
}

// Up to an eighth more, so that blocks are for results of about a size. (What is not touched takes no
// memory.)
std::size_t rounded(std::size_t bytes) {
    const std::size_t step = std::bit_floor(bytes) / 8;
    return step == 0 ? bytes : (bytes + step - 1) / step * step;
}

void* mapped(std::size_t bytes) {
    void* memory = mmap(nullptr, bytes, PROT_READ | PROT_WRITE, MAP_PRIVATE | MAP_ANONYMOUS, -1, 0);
    if (memory == MAP_FAILED) return nullptr;
#if defined(__linux__)
    if (bytes >= of_large_pages) madvise(memory, bytes, MADV_HUGEPAGE);
#endif
    return memory;
}

void* new_block(std::size_t least) {
    const std::size_t bytes = rounded(least + head);
    void* memory =
        bytes < of_the_system ? ::operator new(bytes, alignment, std::nothrow) : mapped(bytes);
    if (!memory) return nullptr;
    void* block = static_cast<char*>(memory) + head;
    size_of(block) = bytes - head;
    return block;
}

void free_block(void* block) {
    void* memory = static_cast<char*>(block) - head;
    const std::size_t bytes = head + size_of(block);
    if (bytes < of_the_system)
        ::operator delete(memory, alignment);
    else
        munmap(memory, bytes);
}

std::size_t default_limit() {
    const double all =
        static_cast<double>(sysconf(_SC_PHYS_PAGES)) * static_cast<double>(sysconf(_SC_PAGESIZE));
    return static_cast<std::size_t>(std::clamp(all / 16.0, 0.0, double(256 << 20)));
}

// Those that are kept, the one that was given back first first: so few that it takes no time to look
// through them.
struct Kept {
    static constexpr int most = 128;

    struct Entry {
        void* block;
        std::size_t bytes;
    };
    Entry entries[most];
    int count = 0;
    std::size_t bytes = 0;
    std::atomic<std::size_t> limit = default_limit();
    std::mutex mutex;

    void* remove(int k) {
        void* block = entries[k].block;
        bytes -= entries[k].bytes;
        std::copy(entries + k + 1, entries + count, entries + k);
        --count;
        return block;
    }
    // Of those that fit, and are not much too large, the smallest that was given back last.
    void* take(std::size_t wanted) {
        int best = -1;
        for (int k = count - 1; k >= 0; --k) {
            const std::size_t there = entries[k].bytes;
            const bool fits = wanted <= there && there - wanted <= there / 4;
            if (fits && (best < 0 || there < entries[best].bytes)) best = k;
        }
        return best < 0 ? nullptr : remove(best);
    }
    void free_until(std::size_t least_bytes, int least_count) {
        while (bytes > least_bytes || count > least_count) free_block(remove(0));
    }
    // Or false: it is not to be kept.
    bool keep(void* block) {
        const std::size_t size = size_of(block), all = limit;
        if (size < worth_keeping || size > all) return false;
        free_until(all - size, most - 1);
        entries[count++] = {block, size};
        bytes += size;
        return true;
    }
};

Kept kept;

// A fork finds no other thread amidst a change.
[[maybe_unused]] const int at_fork = pthread_atfork(
    [] { kept.mutex.lock(); }, [] { kept.mutex.unlock(); }, [] { kept.mutex.unlock(); });

}  // namespace

void* take_block(std::size_t bytes) {
    if (bytes >= worth_keeping) {
        const std::lock_guard lock(kept.mutex);
        if (void* block = kept.take(bytes)) return block;
    }
    if (void* block = new_block(bytes)) return block;
    free_kept_blocks();
    return new_block(bytes);
}

void give_block(void* block) {
    if (!block) return;
    {
        const std::lock_guard lock(kept.mutex);
        if (kept.keep(block)) return;
    }
    free_block(block);
}

std::size_t block_bytes(const void* block) { return size_of(const_cast<void*>(block)); }

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
