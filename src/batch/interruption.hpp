// Interrupts long work on the calling thread after a signal: the work calls check_interruption()
// regularly.
#pragma once

#include <chrono>

namespace dtau {

// Thrown by check_interruption(). It is no std::exception, so no handler of errors catches it.
struct Interrupted {};

// While this object lives, check_interruption() on this thread calls `interrupted(asked)` some
// fifty times a second.
class Interruptible {
  public:
    Interruptible(bool (*interrupted)(void*), void* asked);
    ~Interruptible();
    Interruptible(const Interruptible&) = delete;
    Interruptible& operator=(const Interruptible&) = delete;

    void check();

  private:
    using Clock = std::chrono::steady_clock;

    bool (*interrupted_)(void*);
    void* asked_;
    Interruptible* outer_;
    Clock::time_point last_ = Clock::now();
    unsigned calls_ = 0;
};

// Throws Interrupted if the calling thread is to stop. It takes some nanoseconds: call it once for
// each element of the work, of a microsecond or less.
void check_interruption();

}  // namespace dtau
