// Calls the interruption test of the calling thread some fifty times a second:
// check_interruption().
#include "batch/interruption.hpp"

namespace dtau {
namespace {

thread_local Interruptible* current = nullptr;

}  // namespace

Interruptible::Interruptible(bool (*interrupted)(void*), void* asked)
    : interrupted_(interrupted), asked_(asked), outer_(current) {
    current = this;
}

Interruptible::~Interruptible() { current = outer_; }

void Interruptible::check() {
    constexpr unsigned calls_a_look = 256;  // between readings of the clock
    if (++calls_ % calls_a_look != 0 || Clock::now() - last_ < std::chrono::milliseconds(20))
        return;
    current = nullptr;  // a handler of signals may call the package, with the lock
    const bool stops = interrupted_(asked_);
    current = this;
    last_ = Clock::now();
    if (stops) throw Interrupted();
}

void check_interruption() {
    if (current) current->check();
}

}  // namespace dtau
