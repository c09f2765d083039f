// Checks the caller's `out` arrays and allocates new results: take_outputs(), place_outputs().
#include "python/result_memory.hpp"

namespace nb = nanobind;

namespace dtau {
namespace {

// The first and last byte that an array may touch.
struct Extent {
    const char *begin, *end;
};

Extent extent(PyArrayObject* a) {
    const char *begin = PyArray_BYTES(a), *end = begin + PyArray_ITEMSIZE(a);
    for (int axis = 0; axis < PyArray_NDIM(a); ++axis) {
        if (PyArray_DIM(a, axis) == 0) return {begin, begin};
        const npy_intp reach = (PyArray_DIM(a, axis) - 1) * PyArray_STRIDE(a, axis);
        (reach < 0 ? begin : end) += reach;
    }
    return {begin, end};
}

bool overlap(nb::handle a, nb::handle b) {
    const Extent x = extent(array(a)), y = extent(array(b));
    return x.begin < y.end && y.begin < x.end;
}

// out, or out[1] of several.
std::string name_of(int o, int count) {
    return count > 1 ? "out[" + std::to_string(o) + "]" : "out";
}

// Puts arrays that share the memory of other libraries' tensors in place of the tensors.
void share(nb::object* results, int count) {
    for (int o = 0; o < count; ++o)
        if (!PyArray_CheckExact(results[o].ptr()))
            results[o] = from_other_library("writable", results[o], name_of(o, count));
}

// Checks array o that the caller gave for a result.
void check_output(nb::handle out, int o, const Job& job, const Shape& core) {
    const auto name = [&] { return name_of(o, job.noutputs); };
    const auto fail = [&](const std::string& message) {
        throw value_error(name() + ": expected " + message);
    };
    if (!PyArray_Check(out.ptr()))
        throw type_error(name() + ": expected a NumPy array, got " + type_text(out));
    PyArrayObject* a = array(out);
    if (PyArray_TYPE(a) != NPY_DOUBLE || !PyArray_ISNOTSWAPPED(a))
        throw type_error(name() + ": expected dtype float64, got " + dtype_text(a));
    bool matches = PyArray_NDIM(a) == job.naxes + core.ndim;
    for (int axis = 0; matches && axis < PyArray_NDIM(a); ++axis)
        matches = PyArray_DIM(a, axis) ==
                  (axis < job.naxes ? job.shape[axis] : core.size[axis - job.naxes]);
    if (!matches) {
        npy_intp shape[Job::max_axes + max_core_axes];
        for (int axis = 0; axis < job.naxes; ++axis) shape[axis] = job.shape[axis];
        for (int k = 0; k < core.ndim; ++k) shape[job.naxes + k] = core.size[k];
        fail("shape " + text(shape, job.naxes + core.ndim) + ", got " +
             text(PyArray_DIMS(a), PyArray_NDIM(a)));
    }
    if (!PyArray_ISWRITEABLE(a)) fail("a writable array, got a read-only one");
    if (!PyArray_IS_C_CONTIGUOUS(a)) fail("a C-contiguous array, got one with other strides");
    if (!PyArray_ISALIGNED(a)) fail("an aligned array, got one at an odd address");
}

}  // namespace

nb::object item_of(nb::handle out, Py_ssize_t place) {
    if (PyTuple_Check(out.ptr())) return nb::borrow(NB_TUPLE_GET_ITEM(out.ptr(), place));
#if PY_VERSION_HEX >= 0x030D0000 && !defined(Py_LIMITED_API)
    nb::object item = nb::steal(PyList_GetItemRef(out.ptr(), place));
    if (!item.is_valid()) throw nb::python_error();
    return item;
#else
    return nb::borrow(NB_LIST_GET_ITEM(out.ptr(), place));
#endif
}

void take_outputs(nb::handle out, int count, bool several, nb::object* results) {
    if (!several) {
        results[0] = nb::borrow(out);
        share(results, 1);
        return;
    }
    const bool tuple = PyTuple_Check(out.ptr());
    if (!tuple && !PyList_Check(out.ptr()))
        throw type_error("out: expected a tuple of " + std::to_string(count) + " arrays, got " +
                         type_text(out));
    const Py_ssize_t length = tuple ? NB_TUPLE_GET_SIZE(out.ptr()) : NB_LIST_GET_SIZE(out.ptr());
    if (length != count)
        throw value_error("out: expected a tuple of " + std::to_string(count) + " arrays, got " +
                          std::to_string(length));
    for (int o = 0; o < count; ++o) results[o] = item_of(out, o);
    share(results, count);
}

void place_outputs(Job& job, const Signature& signature, const Shape* shapes,
                   const nb::handle* inputs, nb::object* results) {
    const int count = job.noutputs;
    for (int o = 0; o < count; ++o) {
        if (results[o].is_valid()) {
            check_output(results[o], o, job, shapes[o]);
            const auto refuse = [&](const std::string& user) {
                throw value_error(name_of(o, count) + ": expected memory of its own, got " +
                                  "memory that " + user + " uses");
            };
            for (int i = 0; i < job.ninputs; ++i)
                if (inputs[i].is_valid() && overlap(results[o], inputs[i]))
                    refuse(signature.inputs[i].name);
            for (int other = 0; other < o; ++other)
                if (overlap(results[o], results[other])) refuse(name_of(other, count));
        } else {
            results[o] = new_output(job, shapes[o]);
        }
        job.outputs[o].data = PyArray_BYTES(array(results[o]));
    }
}

}  // namespace dtau
