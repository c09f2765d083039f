// Handles the interpreter's lock and the interpreter's end: unless_ended(), ReleasedLock, KeptObject.
#pragma once

#include <atomic>

#include <nanobind/nanobind.h>

#include "batch/interruption.hpp"
#include "batch/system.hpp"

namespace dtau {

// Calls f(), which may run Python code or take the lock and throws nothing. If the interpreter ends
// meanwhile, CPython before 3.14 ends the thread with pthread_exit. That unwinds the stack as an
// exception does, through functions that no exception may leave and past destructors that need the
// lock. So this function keeps the thread here instead.
template <class F> auto unless_ended(const F& f) noexcept {
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
template <class F> auto interruptible(const F& f) {
    try {
        ReleasedLock lock;
        const Interruptible watched(signal_raises, &lock);
        return f();
    } catch (const Interrupted&) {
        throw nanobind::python_error();
    }
}

// An object that its first user makes, in any thread, and that lives as long as the process. A static
// variable would make threads wait for the first one; if the interpreter stops all threads meanwhile,
// as its garbage collector does without the lock, none of them would go on.
class KeptObject {
  public:
    template <class Make> PyObject* get(const Make& make) {
        if (PyObject* const found = object_.load(std::memory_order_acquire)) return found;
        PyObject* const made = make();
        if (!made) throw nanobind::python_error();
        PyObject* kept = nullptr;  // of threads that make it at once, the first wins
        if (object_.compare_exchange_strong(kept, made)) return made;
        Py_DECREF(made);
        return kept;
    }

  private:
    std::atomic<PyObject*> object_ = nullptr;
};

}  // namespace dtau
