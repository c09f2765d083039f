// Keeps one block of scratch memory for each thread: scratch(), trim_scratch(), LentScratch.
#include "batch/scratch.hpp"

#include <new>

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

ScratchBlock present_scratch() { return {current.at, current.size}; }

void trim_scratch() {
    if (current.size > worth_keeping && !current.lent) holder.release();
}

LentScratch::LentScratch(void* block, std::size_t size) { current = {block, size, true}; }
LentScratch::~LentScratch() { current = {}; }

}  // namespace dtau
