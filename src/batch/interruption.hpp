// Ends long work on the calling thread when a signal asks for it: the work calls check_interruption()
// every now and then.
#pragma once

#include <chrono>

namespace dtau {

// What check_interruption() throws: no std::exception, so that no handler of errors takes it for one.
struct Interrupted {};

// For as long as this lives, check_interruption() on this thread asks `interrupted(asked)` some fifty
// times a second.
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

// Throws Interrupted if the calling thread is to stop. It takes some nanoseconds: one call an element
// of the work, of a microsecond or less, is right.
void check_interruption();

}  // namespace dtau
