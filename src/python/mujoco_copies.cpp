// Copies MuJoCo's arrays, for dtau/mujoco/solved.py, and compares them, for dtau/mujoco/plan.py:
// mujoco_copy_rows(), mujoco_copies(), mujoco_copy_contacts(), mujoco_is_same().
#include <algorithm>
#include <cstring>
#include <stdexcept>
#include <string>
#include <vector>

#include "python/mujoco_arrays.hpp"
#include "python/mujoco_steps.hpp"

namespace nb = nanobind;

namespace dtau {
namespace {

using mujoco::ArrayReader;
using mujoco::Index;
using mujoco::new_array;
using mujoco::numbers;
using mujoco::writable;

// Copies arrays of numbers to row `place` of others.
void copy_rows(nb::tuple from, nb::tuple to, Index place) {
    if (from.size() != to.size()) throw std::invalid_argument("expected an array for every array");
    for (std::size_t i = 0; i < from.size(); ++i) {
        PyArrayObject* const out = writable(to[i], 0);
        const Index rows = PyArray_DIM(out, 0);
        if (place < 0 || place >= rows)
            throw std::invalid_argument("place: expected less than " + std::to_string(rows) +
                                        ", got " + std::to_string(place));
        const Index size = PyArray_SIZE(out) / rows;
        std::copy_n(numbers(from[i], size), size,
                    static_cast<double*>(PyArray_DATA(out)) + place * size);
    }
}

// Returns contiguous copies of attributes of an object, arrays.
nb::tuple copies(nb::handle source, nb::tuple names) {
    nb::object result = nb::steal(PyTuple_New(static_cast<Py_ssize_t>(names.size())));
    for (std::size_t i = 0; i < names.size(); ++i) {
        const nb::object from = nb::getattr(source, names[i]);
        PyObject* copy = PyArray_NewCopy(array(from), NPY_CORDER);
        if (!copy) throw nb::python_error();
        if (PyTuple_SetItem(result.ptr(), static_cast<Py_ssize_t>(i), copy) != 0)  // takes the copy
            throw nb::python_error();
    }
    return nb::cast<nb::tuple>(result);
}

// Returns copies of numbers of contacts. `first` is a view of one number in MuJoCo's array of structs;
// the rows of `layout` have the offset, count and size of numbers by the place of this one.
nb::tuple copy_contacts(nb::handle first, nb::handle layout) {
    if (!PyArray_CheckExact(first.ptr()) || PyArray_NDIM(array(first)) != 1)
        throw std::invalid_argument("expected an array with one axis");
    ArrayReader read_layout(nb::make_tuple(layout));
    const Index* rows = read_layout.take_any<Index>();
    const Index fields = read_layout.size() / 3, n = PyArray_DIM(array(first), 0);
    const npy_intp stride = n > 1 ? PyArray_STRIDE(array(first), 0) : 0;
    const char* const begin = PyArray_BYTES(array(first));
    nb::object result = nb::steal(PyTuple_New(fields));
    for (Index i = 0; i < fields; ++i) {
        const Index offset = rows[3 * i], count = rows[3 * i + 1], size = rows[3 * i + 2];
        std::vector<npy_intp> shape = {n};
        if (count > 1) shape.push_back(count);
        nb::object copy = new_array(shape, size == 4 ? NPY_INT32 : NPY_DOUBLE);
        char* to = PyArray_BYTES(array(copy));
        for (Index k = 0; k < n; ++k, to += count * size)
            std::copy_n(begin + k * stride + offset, count * size, to);
        if (PyTuple_SetItem(result.ptr(), i, copy.release().ptr()) != 0)  // takes the copy
            throw nb::python_error();
    }
    return nb::cast<nb::tuple>(result);
}

// Whether arrays, one behind the other, have these bytes.
bool is_same(nb::tuple arrays, nb::bytes bytes) {
    const char *at = bytes.c_str(), *const end = at + bytes.size();
    for (const nb::handle x : arrays) {
        if (!PyArray_CheckExact(x.ptr()) || !PyArray_IS_C_CONTIGUOUS(array(x)))
            throw std::invalid_argument("expected contiguous arrays");
        const npy_intp size = PyArray_NBYTES(array(x));
        if (end - at < size ||
            std::memcmp(PyArray_BYTES(array(x)), at, static_cast<std::size_t>(size)) != 0)
            return false;
        at += size;
    }
    return at == end;
}

}  // namespace

void define_mujoco_copies(nb::module_& m) {
    m.def("mujoco_copy_rows", &copy_rows, nb::arg("from_"), nb::arg("to"), nb::arg("place"),
          nb::sig("def mujoco_copy_rows(from_: tuple[Any, ...], to: tuple[Any, ...], place: int) "
                  "-> None"));
    m.def("mujoco_copy_contacts", &copy_contacts, nb::arg("first"), nb::arg("layout"),
          nb::sig("def mujoco_copy_contacts(first: NDArray[numpy.float64], layout: "
                  "NDArray[numpy.intp]) -> tuple[Any, ...]"));
    m.def("mujoco_is_same", &is_same, nb::arg("arrays"), nb::arg("bytes"),
          nb::sig("def mujoco_is_same(arrays: tuple[Any, ...], bytes: bytes) -> bool"));
    m.def("mujoco_copies", &copies, nb::arg("source"), nb::arg("names"),
          nb::sig("def mujoco_copies(source: object, names: tuple[str, ...]) -> tuple[Any, ...]"));
}

}  // namespace dtau
