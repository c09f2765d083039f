// Interrupts long work after a signal: the work calls check_interruption() regularly, on the calling
// thread, or on any thread of run_parallel().
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

    // Asks unless it did so within 20 milliseconds.
    bool interrupted();
    void check(double microseconds);

  private:
    using Clock = std::chrono::steady_clock;

    bool (*interrupted_)(void*);
    void* asked_;
    Interruptible* outer_;
    Clock::time_point last_ = Clock::now();
    double work_ = 0.0;  // microseconds since the clock was read
};

// Throws Interrupted if this thread is to stop. It takes some nanoseconds: call it once for each element
// of the work, of so many microseconds or less.
void check_interruption(double microseconds = 1.0);

}  // namespace dtau
