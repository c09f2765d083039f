// The option inputs, as Python gives it: which torques drive the robot, or how inputs make them.
#include <string>

#include "python/arrays.hpp"
#include "python/call.hpp"
#include "python/lock.hpp"

namespace nb = nanobind;

namespace dtau {

nb::object CallOptions::read_inputs(nb::handle given, const Tree& tree, bool may_be_map) {
    nb::object numbers =
        PyArray_CheckExact(given.ptr()) ? nb::borrow(given) : nb::steal(unless_ended([&] {
            return PyArray_FromAny(given.ptr(), nullptr, 0, 0, NPY_ARRAY_ENSUREARRAY, nullptr);
        }));
    const bool numeric =
        numbers.is_valid() && (PyArray_ISNUMBER(array(numbers)) || PyArray_ISBOOL(array(numbers)));
    if (!numeric) {
        PyErr_Clear();
        return converted(given, "inputs", NPY_DOUBLE);  // raises what any other array would
    }
    PyArrayObject* a = array(numbers);
    const int nv = tree.independent.n, ndim = PyArray_NDIM(a);
    const bool mask = PyArray_TYPE(a) == NPY_BOOL;
    if (mask && ndim == 1 && PyArray_DIM(a, 0) == nv) {
        read_mask(numbers, tree);
        return {};
    }
    const std::string n = std::to_string(nv);
    if (mask || !may_be_map || ndim < 2 || PyArray_DIM(a, ndim - 2) != nv)
        throw nb::value_error(("inputs: expected a mask of shape (" + n + ",)" +
                               (may_be_map ? " or a map of shape (..., " + n + ", nu)" : "") +
                               ", got " +
                               str(nb::borrow(reinterpret_cast<PyObject*>(PyArray_DESCR(a)))) +
                               " of shape " + text(PyArray_DIMS(a), ndim))
                                  .c_str());
    return numbers;
}

// The torques that a mask selects.
void CallOptions::read_mask(nb::handle mask, const Tree& tree) {
    const int nv = tree.independent.n;
    const char* numbers = PyArray_BYTES(array(mask));
    const npy_intp stride = PyArray_STRIDE(array(mask), 0);
    columns_ = std::make_unique_for_overwrite<int[]>(nv);
    int count = 0;
    for (int k = 0; k < nv; ++k)
        if (numbers[k * stride] != 0) columns_[count++] = k;
    values.driven = {count, columns_.get()};
}

}  // namespace dtau
