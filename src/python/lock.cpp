#include "python/lock.hpp"

#include <unistd.h>

namespace dtau {
namespace {

bool interpreter_ends() {
#if PY_VERSION_HEX >= 0x030D0000
    return Py_IsFinalizing();
#else
    return _Py_IsFinalizing();
#endif
}

}  // namespace

void wait_for_exit() {
    for (;;) pause();
}

void ReleasedLock::take() {
    if (interpreter_ends()) wait_for_exit();
    unless_ended([this] { PyEval_RestoreThread(thread_); });
}

bool ReleasedLock::signal_raises() {
    take();
    const bool raised = unless_ended([] { return PyErr_CheckSignals() != 0; });
    thread_ = PyEval_SaveThread();
    return raised;
}

}  // namespace dtau
