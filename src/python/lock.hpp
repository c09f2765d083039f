// Handles the interpreter's lock and the interpreter's end: unless_ended(), ReleasedLock.
#pragma once

#include <nanobind/nanobind.h>

#include "batch/interruption.hpp"
#include "batch/system.hpp"

namespace dtau {

// Calls f(), which may run Python code or take the lock and throws nothing. If the interpreter ends
// meanwhile, CPython before 3.14 ends the thread with pthread_exit. That unwinds the stack as an
// exception does, through functions that no exception may leave and past destructors that need the
// lock. So this function keeps the thread here instead.
template <class F>
auto unless_ended(const F& f) noexcept {
    try {
        return f();
    } catch (...) {
        sleep_forever();
    }
}

// Releases the lock for as long as this object lives.
class ReleasedLock {
  public:
    ReleasedLock() : thread_(PyEval_SaveThread()) {}
    ~ReleasedLock() { take(); }
    ReleasedLock(const ReleasedLock&) = delete;
    ReleasedLock& operator=(const ReleasedLock&) = delete;

    // Takes the lock to run the handlers of pending signals; true if one raised an exception.
    bool signal_raises();

  private:
    void take();

    PyThreadState* thread_;
};

// Does the same for a ReleasedLock passed as a void pointer.
bool signal_raises(void* released_lock);

// Calls f() without the lock. If a signal handler raises, f() ends at its next
// check_interruption(), and the exception is raised.
template <class F>
auto interruptible(const F& f) {
    try {
        ReleasedLock lock;
        const Interruptible watched(signal_raises, &lock);
        return f();
    } catch (const Interrupted&) {
        throw nanobind::python_error();
    }
}

}  // namespace dtau
