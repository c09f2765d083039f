// Collects MuJoCo's solutions, for dtau/mujoco/solved.py and noslip.py, and compares its arrays, for
// plan.py: mujoco_collect(), mujoco_collect_before_sweeps(), mujoco_copy_contacts(), mujoco_is_same(),
// mujoco_is_within().
#include <algorithm>
#include <cmath>
#include <cstring>
#include <stdexcept>
#include <string>
#include <vector>

#include "python/bindings.hpp"
#include "python/mujoco_arrays.hpp"

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

Index size_of(nb::handle data, const char* name) { return nb::cast<Index>(data.attr(name)); }

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

// The first rows of the constraints' Jacobian, without zeros left out.
nb::object dense_jacobian(nb::handle data, Index rows, Index nv, bool sparse) {
    nb::object result = new_array({rows, nv});
    const auto read = [&](const char* name) { return nb::make_tuple(data.attr(name)); };
    const nb::tuple values = read("efc_J");
    const double* from = ArrayReader(values).take_any<double>();
    double* to = mujoco::data(result);
    if (!sparse) {
        std::copy_n(from, rows * nv, to);
        return result;
    }
    const nb::tuple counts = read("efc_J_rownnz"), starts = read("efc_J_rowadr"),
                    columns = read("efc_J_colind");
    const auto* count = ArrayReader(counts).take_any<std::int32_t>();
    const auto* start = ArrayReader(starts).take_any<std::int32_t>();
    const auto* column = ArrayReader(columns).take_any<std::int32_t>();
    std::fill_n(to, rows * nv, 0.0);
    for (Index i = 0; i < rows; ++i)
        for (Index j = start[i]; j < start[i] + count[i]; ++j) to[i * nv + column[j]] = from[j];
    return result;
}

// Copies numbers of a solution to row `place` of arrays, and writes how many rows of constraints, rows
// that are not of contacts and contacts there are to column place + 1 of `counts` (3, n + 1). Returns
// copies of attributes of the rows, the Jacobian of those that are not of contacts, and whether there are
// others; None for what is empty.
nb::tuple collect(nb::handle data, nb::tuple from, nb::tuple to, nb::handle counts, Index place,
                  nb::tuple of_rows, Index nv, bool sparse) {
    copy_rows(from, to, place);
    nb::object rows = nb::none(), jacobian = nb::none();
    const Index nefc = size_of(data, "nefc");
    if (nefc == 0) return nb::make_tuple(rows, jacobian, false);
    const Index plain = size_of(data, "ne") + size_of(data, "nf") + size_of(data, "nl");
    const bool touching = plain < nefc;
    const nb::tuple numbers_of = nb::make_tuple(counts);
    ArrayReader read(numbers_of);
    Index* count = const_cast<Index*>(read.take_any<Index>()) + place + 1;
    const Index columns = read.size() / 3;
    if (place + 1 >= columns) throw std::invalid_argument("counts: expected more columns");
    count[0] = nefc, count[columns] = plain;
    count[2 * columns] = touching ? size_of(data, "ncon") : 0;
    rows = copies(data, of_rows);
    if (plain) jacobian = dense_jacobian(data, plain, nv, sparse);
    return nb::make_tuple(rows, jacobian, touching);
}

// Lets MuJoCo solve without the noslip solver, by `solve`, and restores the solution. Copies the
// accelerations and composite inertias to row `place` of `to`, and returns the sweeps of each row of
// constraints. `arrays`: iterations by island, accelerations, constraint forces, composite inertias.
nb::object collect_before_sweeps(nb::handle data, nb::tuple arrays, nb::tuple to, Index place,
                                 nb::handle solve, nb::handle without) {
    ArrayReader read(arrays);
    auto* iterations = read.take_any<std::int32_t>();
    const Index islands = read.size();
    auto* acceleration = const_cast<double*>(read.take_any<double>());
    const Index nv = read.size();
    auto* force = const_cast<double*>(read.take<double>(nv));
    std::vector<std::int32_t> sweeps(iterations, iterations + islands);
    std::vector<double> kept(acceleration, acceleration + nv);
    kept.insert(kept.end(), force, force + nv);
    solve(without, data);
    copy_rows(nb::make_tuple(arrays[1], arrays[3]), to, place);
    std::copy_n(kept.begin(), nv, acceleration);
    std::copy_n(kept.begin() + nv, nv, force);
    for (Index i = 0; i < islands; ++i) sweeps[static_cast<std::size_t>(i)] -= iterations[i];
    const Index rows = size_of(data, "nefc");
    nb::object result = new_array({rows}, NPY_INTP);
    Index* out = mujoco::data<Index>(result);
    std::fill_n(out, rows, sweeps[0]);
    if (rows > 0 && size_of(data, "nisland") > 0) {
        const nb::tuple of_rows = nb::make_tuple(data.attr("efc_island"));
        const auto* island = ArrayReader(of_rows).take<std::int32_t>(rows);
        for (Index i = 0; i < rows; ++i) out[i] = sweeps[static_cast<std::size_t>(island[i])];
    }
    return result;
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

// Whether no number of arrays exceeds a bound, or is NaN.
bool is_within(nb::tuple arrays, double bound) {
    ArrayReader read(arrays);
    for (std::size_t i = 0; i < arrays.size(); ++i) {
        const double* x = read.take_any<double>();
        if (!std::all_of(x, x + read.size(), [&](double y) { return std::fabs(y) <= bound; }))
            return false;
    }
    return true;
}

}  // namespace

void define_mujoco_copies(nb::module_& m) {
    m.def("mujoco_collect", &collect, nb::arg("data"), nb::arg("from_"), nb::arg("to"),
          nb::arg("counts"), nb::arg("place"), nb::arg("of_rows"), nb::arg("nv"), nb::arg("sparse"),
          nb::sig("def mujoco_collect(data: object, from_: tuple[Any, ...], to: tuple[Any, ...], "
                  "counts: NDArray[numpy.intp], place: int, of_rows: tuple[str, ...], nv: int, "
                  "sparse: bool) -> tuple[Any, Any, bool]"));
    m.def("mujoco_collect_before_sweeps", &collect_before_sweeps, nb::arg("data"),
          nb::arg("arrays"), nb::arg("to"), nb::arg("place"), nb::arg("solve"), nb::arg("without"),
          nb::sig("def mujoco_collect_before_sweeps(data: object, arrays: tuple[Any, ...], to: "
                  "tuple[Any, ...], place: int, solve: object, without: object) -> "
                  "NDArray[numpy.intp]"));
    m.def("mujoco_copy_contacts", &copy_contacts, nb::arg("first"), nb::arg("layout"),
          nb::sig("def mujoco_copy_contacts(first: NDArray[numpy.float64], layout: "
                  "NDArray[numpy.intp]) -> tuple[Any, ...]"));
    m.def("mujoco_is_same", &is_same, nb::arg("arrays"), nb::arg("bytes"),
          nb::sig("def mujoco_is_same(arrays: tuple[Any, ...], bytes: bytes) -> bool"));
    m.def("mujoco_is_within", &is_within, nb::arg("arrays"), nb::arg("bound"),
          nb::sig("def mujoco_is_within(arrays: tuple[Any, ...], bound: float) -> bool"));
}

}  // namespace dtau
