// Installs a NumPy memory handler that takes cached blocks, for the arrays of one call: KeptMemory.
#include "python/result_memory.hpp"

#include <algorithm>
#include <cstring>

#include "batch/kept_blocks.hpp"
#include "python/lock.hpp"

namespace nb = nanobind;

namespace dtau {
namespace {

// The functions of NumPy's memory handler, which serve any array.

void* take(void*, std::size_t bytes) { return take_block(bytes); }

void* take_zeros(void*, std::size_t count, std::size_t size) {
    void* block = take_block(count * size);
    return block ? std::memset(block, 0, count * size) : nullptr;
}

void* resize(void*, void* block, std::size_t bytes) {
    void* other = take_block(bytes);
    if (!other || !block) return other;
    std::memcpy(other, block, std::min(bytes, block_bytes(block)));
    give_block(block);
    return other;
}

void give_back(void*, void* block, std::size_t) { give_block(block); }

PyDataMem_Handler handler = {"dtau", 1, {nullptr, take, take_zeros, resize, give_back}};

// Lives as long as the process, as arrays may.
PyObject* kept_memory() {
    static constinit KeptObject capsule;
    return capsule.get([] { return PyCapsule_New(&handler, "mem_handler", nullptr); });
}

// The handler is a context variable. Before Python 3.12 the collector may run while one is set, and code that
// it runs may set another: Python then reads freed memory (github.com/python/cpython/issues/148891).
nb::object set_handler(PyObject* to) {
    const bool pauses = PY_VERSION_HEX < 0x030C0000 && PyGC_Disable();
    nb::object before = nb::steal(PyDataMem_SetHandler(to));
    if (pauses) PyGC_Enable();
    return before;
}

}  // namespace

void KeptMemory::begin() {
    if (!keeps_blocks()) return;
    const nb::object now = nb::steal(PyDataMem_GetHandler());
    if (!now.is_valid()) throw nb::python_error();
    if (now.ptr() != PyDataMem_DefaultHandler) return;
    before_ = set_handler(kept_memory());
    if (!before_.is_valid()) throw nb::python_error();
}

void KeptMemory::end() {
    const nb::object ours = set_handler(before_.ptr());
    if (!ours.is_valid()) PyErr_Clear();  // other arrays of this thread then take cached blocks too
}

}  // namespace dtau
