#include "scratch.hpp"

#include <memory>
#include <new>

namespace dtau {
namespace {

constexpr std::align_val_t alignment{64};

struct Free {
    void operator()(void* block) const { ::operator delete(block, alignment); }
};

}  // namespace

void* scratch(std::size_t bytes) {
    thread_local std::unique_ptr<void, Free> block;
    thread_local std::size_t size = 0;
    if (bytes > size) {
        block.reset();
        size = 0;
        block.reset(::operator new(bytes, alignment));
        size = bytes;
    }
    return block.get();
}

}  // namespace dtau
