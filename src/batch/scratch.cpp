// Keeps one block of scratch memory for each thread: scratch(), trim_scratch().
#include "batch/scratch.hpp"

#include <new>

namespace dtau {
namespace {

constexpr std::align_val_t alignment{64};
constexpr std::size_t worth_keeping = std::size_t(8) << 20;

struct Holder {
    void* block = nullptr;
    std::size_t size = 0;

    ~Holder() { release(); }
    void release() {
        if (block) ::operator delete(block, alignment);
        block = nullptr;
        size = 0;
    }
    void* at_least(std::size_t bytes) {
        if (size < bytes) {
            release();
            block = ::operator new(bytes, alignment);
            size = bytes;
        }
        return block;
    }
};

thread_local Holder holder;

}  // namespace

void* scratch(std::size_t bytes) { return holder.at_least(bytes); }

void trim_scratch() {
    if (holder.size > worth_keeping) holder.release();
}

}  // namespace dtau
