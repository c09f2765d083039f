// Allocates new results, new_output(), from cached blocks: KeptMemory.
#pragma once

#include <algorithm>

#include "python/call.hpp"
#include "python/lock.hpp"

namespace dtau {

// While this object lives, arrays that NumPy allocates take cached blocks and release them at their
// end, if new results of so many bytes in all gain by it. It does nothing if the cache is off or
// the program has set a memory handler of its own.
class KeptMemory {
  public:
    static constexpr double noticed = 64e3;

    explicit KeptMemory(double bytes) {
        if (bytes >= noticed) begin();
    }
    ~KeptMemory() {
        if (before_.is_valid()) end();
    }
    KeptMemory(const KeptMemory&) = delete;
    KeptMemory& operator=(const KeptMemory&) = delete;

  private:
    void begin();
    void end();

    nanobind::object before_;
};

// A new array for a result with these axes of a state. Here, as a lone call takes less than a microsecond.
inline nanobind::object new_output(const Job& job, const Shape& core) {
    npy_intp shape[Job::max_axes + max_core_axes];
    for (int axis = 0; axis < job.naxes; ++axis) shape[axis] = job.shape[axis];
    std::copy_n(core.size, max_core_axes, shape + job.naxes);
    // PyArray_SimpleNew() would look up the element type.
    static constinit KeptObject kept;
    PyObject* const type =
        kept.get([] { return reinterpret_cast<PyObject*>(PyArray_DescrFromType(NPY_DOUBLE)); });
    Py_INCREF(type);  // for the array
    nanobind::object result = nanobind::steal(
        PyArray_NewFromDescr(&PyArray_Type, reinterpret_cast<PyArray_Descr*>(type),
                             job.naxes + core.ndim, shape, nullptr, nullptr, 0, nullptr));
    if (!result.is_valid()) throw nanobind::python_error();
    return result;
}

}  // namespace dtau
