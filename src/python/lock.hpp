// The interpreter's lock, and the interpreter's end.
#pragma once

#include <nanobind/nanobind.h>

#include "batch/interruption.hpp"
#include "batch/system.hpp"

namespace dtau {

// Calls what may run Python code or take the lock: f(), which throws nothing. If the interpreter ends
// meanwhile, CPython before 3.14 ends the thread there with pthread_exit, which unwinds the stack as
// an exception does: through functions that none may leave, past destructors that need the lock.
// So it stays here.
template <class F>
auto unless_ended(const F& f) noexcept {
    try {
        return f();
    } catch (...) {
        sleep_forever();
    }
}

// Gives the lock up for as long as this lives.
class ReleasedLock {
  public:
    ReleasedLock() : thread_(PyEval_SaveThread()) {}
    ~ReleasedLock() { take(); }
    ReleasedLock(const ReleasedLock&) = delete;
    ReleasedLock& operator=(const ReleasedLock&) = delete;

    // Takes it for the handlers of signals that came; whether one raised an exception.
    bool signal_raises();

  private:
    void take();

    PyThreadState* thread_;
};

// The same of a released lock that is passed as a pointer to anything.
bool signal_raises(void* released_lock);

// Calls f() without the lock. A signal whose handler raises ends it where it calls
// check_interruption(), and its exception is raised.
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
