// Calls the interruption test of a thread some fifty times a second:
// check_interruption().
#include "batch/interruption.hpp"

#include "batch/scratch.hpp"

namespace dtau {
namespace {

thread_local Interruptible* current = nullptr;

}  // namespace

Interruptible::Interruptible(bool (*interrupted)(void*), void* asked)
    : interrupted_(interrupted), asked_(asked), outer_(current) {
    current = this;
}

Interruptible::~Interruptible() { current = outer_; }

bool Interruptible::interrupted() {
    if (Clock::now() - last_ < std::chrono::milliseconds(20)) return false;
    current = nullptr;  // a handler of signals may call the package, with the lock
    const bool stops = spare_scratch(interrupted_, asked_);
    current = this;
    last_ = Clock::now();
    return stops;
}

void Interruptible::check(double microseconds) {
    constexpr double a_look = 256.0;  // microseconds between readings of the clock
    work_ += microseconds;
    if (work_ < a_look) return;
    work_ = 0.0;
    if (interrupted()) throw Interrupted();
}

void check_interruption(double microseconds) {
    if (current) current->check(microseconds);
}

}  // namespace dtau
