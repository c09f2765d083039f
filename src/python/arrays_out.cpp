#include <unistd.h>

#include <cstdio>

#include "dtau/algorithms/second/packed.hpp"
#include "python/arrays.hpp"

namespace nb = nanobind;

namespace dtau {
namespace {

Shape result_shape(const ArraySignature& result, const Sizes& sizes) {
    const Shape shape = core_shape(result.quantity, sizes);
    return result.rows == not_stacked ? shape : stacked(shape, sizes.options.order + result.rows);
}

nb::object new_output(const Job& job, const Shape& core, int type) {
    npy_intp shape[Job::max_axes + max_core_axes];
    for (int axis = 0; axis < job.naxes; ++axis) shape[axis] = job.shape[axis];
    for (int k = 0; k < core.ndim; ++k) shape[job.naxes + k] = core.size[k];
    nb::object result = nb::steal(PyArray_SimpleNew(job.naxes + core.ndim, shape, type));
    if (!result.is_valid()) throw nb::python_error();
    return result;
}

// First and last byte that an array may touch.
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

// Checks an array that the caller gave for results; `name` is out, or out[1] of several.
void check_output(nb::handle out, const std::string& name, const Job& job, const Shape& core,
                  int type) {
    const auto fail = [&](const std::string& message) {
        throw nb::value_error((name + ": expected " + message).c_str());
    };
    if (!PyArray_Check(out.ptr()))
        throw nb::type_error(
            (name + ": expected a NumPy array, got " + str(out.type().attr("__name__"))).c_str());
    PyArrayObject* a = array(out);
    if (PyArray_TYPE(a) != type || !PyArray_ISNOTSWAPPED(a))
        throw nb::type_error((name + ": expected dtype float64, got " +
                              str(nb::borrow(reinterpret_cast<PyObject*>(PyArray_DESCR(a)))))
                                 .c_str());
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

// Bytes of memory that can still be taken; where the system does not say, what there is in all.
double available_memory() {
    double kilobytes = 0.0;
    if (std::FILE* file = std::fopen("/proc/meminfo", "r")) {
        char line[128];
        while (kilobytes == 0.0 && std::fgets(line, sizeof line, file))
            std::sscanf(line, "MemAvailable: %lf", &kilobytes);
        std::fclose(file);
    }
    if (kilobytes > 0.0) return 1024.0 * kilobytes;
    return static_cast<double>(sysconf(_SC_PHYS_PAGES)) *
           static_cast<double>(sysconf(_SC_PAGESIZE));
}

// MemoryError before anything is allocated, where the system would only kill the process later.
void check_memory(const Job& job, const Signature& signature, const Sizes& sizes, int type) {
    constexpr double unnoticed = 256e6;  // bytes that are asked for without a look
    double bytes = type == NPY_CDOUBLE ? 16.0 : 8.0, numbers = 0.0;
    for (int axis = 0; axis < job.naxes; ++axis) bytes *= static_cast<double>(job.shape[axis]);
    for (int o = 0; o < job.noutputs; ++o) {
        const Shape shape = result_shape(signature.outputs[o], sizes);
        double size = 1.0;
        for (int k = 0; k < shape.ndim; ++k) size *= static_cast<double>(shape.size[k]);
        numbers += size;
    }
    bytes *= numbers;
    if (bytes < unnoticed) return;
    const double available = available_memory();
    if (bytes < available) return;
    char message[200];
    std::snprintf(message, sizeof message,
                  ": the results take %.0f bytes, and %.0f are available; use a smaller batch",
                  bytes, available);
    std::string advice = signature.smaller ? std::string(", or ") : std::string();
    for (int k = 0; k < signature.noptions; ++k)
        if (signature.options[k] == Option::packed && !sizes.options.packed)
            advice += "packed=True or ";
    if (signature.smaller) advice += signature.smaller;
    PyErr_SetString(PyExc_MemoryError, (signature.name + (message + advice)).c_str());
    throw nb::python_error();
}

}  // namespace

nb::object packed_indices(nb::handle model) {
    const TreeReference reference = compiled_tree(model);
    const Paths& dofs = reference.tree.tree().independent;
    npy_intp shape[2] = {3, baseline::packed_size(dofs)};
    nb::object result = nb::steal(PyArray_SimpleNew(2, shape, NPY_INTP));
    if (!result.is_valid()) throw nb::python_error();
    npy_intp* entry = reinterpret_cast<npy_intp*>(PyArray_BYTES(array(result)));
    std::vector<int> path(dofs.max_depth + 1);
    baseline::forget_path(dofs, path.data());
    for (int m = 0; m < dofs.n; ++m) {
        baseline::follow_path(dofs, m, path.data());
        baseline::for_packed_group(m, dofs.depth[m], path.data(), [&](int i, int j, int k) {
            entry[0] = i, entry[shape[1]] = j, entry[2 * shape[1]] = k;
            ++entry;
        });
    }
    return result;
}

void make_outputs(Job& job, const Signature& signature, const Sizes& sizes, nb::handle out,
                  int type, const nb::object* inputs, nb::object* results) {
    const Tree& tree = sizes.tree;
    const int count = job.noutputs;
    const bool given = !out.is_none();
    if (given && count > 1 && (!PyTuple_Check(out.ptr()) && !PyList_Check(out.ptr())))
        throw nb::type_error(("out: expected a tuple of " + std::to_string(count) +
                              " arrays, got " + str(out.type().attr("__name__")))
                                 .c_str());
    if (given && count > 1 && static_cast<int>(nb::len(out)) != count)
        throw nb::value_error(("out: expected a tuple of " + std::to_string(count) +
                               " arrays, got " + std::to_string(nb::len(out)))
                                  .c_str());
    if (!given) check_memory(job, signature, sizes, type);
    for (int o = 0; o < count; ++o) {
        const ArraySignature& result = signature.outputs[o];
        const Shape shape = result_shape(result, sizes);
        if (given) {
            results[o] = count > 1 ? nb::object(out[o]) : nb::borrow(out);
            const std::string name = count > 1 ? "out[" + std::to_string(o) + "]" : "out";
            check_output(results[o], name, job, shape, type);
            for (int i = 0; i < job.ninputs; ++i)
                if (inputs[i].is_valid() && overlap(results[o], inputs[i]))
                    throw nb::value_error((name + ": expected memory of its own, got memory that " +
                                           signature.inputs[i].name + " uses")
                                              .c_str());
            for (int other = 0; other < o; ++other)
                if (overlap(results[o], results[other]))
                    throw nb::value_error((name + ": expected memory of its own, got memory that " +
                                           "out[" + std::to_string(other) + "] uses")
                                              .c_str());
        } else {
            results[o] = new_output(job, shape, type);
        }
        job.out[o].data = PyArray_BYTES(array(results[o]));
        job.out[o].size = 1;
        job.out[o].meaning = output_meaning(result.quantity);
        job.out[o].stacked = result.rows == not_stacked ? 1 : job.options.order + result.rows;
        for (int k = 0; k < shape.ndim; ++k) job.out[o].size *= shape.size[k];
        if (result.quantity == Quantity::torque_matrix && job.out[o].stacked == 1)
            job.out[o].spans = tree.related, job.out[o].nspans = tree.nrelated;
        if (result.quantity == Quantity::state_matrix)
            job.out[o].spans = tree.state_matrix, job.out[o].nspans = tree.nstate_matrix;
        if (result.quantity == Quantity::input_matrix) {
            job.input_matrix = {job.out[o].size / 2, job.out[o].size};
            job.out[o].spans = &job.input_matrix, job.out[o].nspans = 1;
        }
    }
    std::ptrdiff_t numbers = 0;
    for (int o = 0; o < count; ++o) numbers += job.out[o].size;
    if (numbers == 0) job.count = 0;  // no frames: nothing to compute, for any number of states
}

}  // namespace dtau
