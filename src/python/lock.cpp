// Releases and takes the interpreter's lock: ReleasedLock, signal_raises().
#include "python/lock.hpp"

namespace dtau {
namespace {

bool interpreter_ends() {
#if defined(Py_LIMITED_API)
    return false;  // not to be asked: PyEval_RestoreThread ends the thread, which unless_ended catches
#elif PY_VERSION_HEX >= 0x030D0000
    return Py_IsFinalizing();
#else
    return _Py_IsFinalizing();
#endif
}

}  // namespace

void ReleasedLock::take() {
    if (interpreter_ends()) sleep_forever();
    unless_ended([this] { PyEval_RestoreThread(thread_); });
}

bool ReleasedLock::signal_raises() {
    take();
    const bool raised = unless_ended([] { return PyErr_CheckSignals() != 0; });
    thread_ = PyEval_SaveThread();
    return raised;
}

bool signal_raises(void* released_lock) {
    return static_cast<ReleasedLock*>(released_lock)->signal_raises();
}

}  // namespace dtau
