#include "arguments.hpp"

#define NPY_NO_DEPRECATED_API NPY_2_0_API_VERSION
#include <numpy/arrayobject.h>

#include <cmath>

#include "dispatch.hpp"

namespace nb = nanobind;

namespace dtau {
namespace {

PyArrayObject* array(nb::handle object) { return reinterpret_cast<PyArrayObject*>(object.ptr()); }

struct Shape {
    int ndim;
    npy_intp size[3];
};

Shape core_shape(Core core, const Tree& tree, int nframes) {
    switch (core) {
        case Core::q:
            return {1, {tree.nq}};
        case Core::v:
            return {1, {tree.nv}};
        case Core::matrix:
            return {2, {tree.nv, tree.nv}};
        case Core::wrenches:
            return {2, {tree.nbodies, 6}};
        case Core::rotations:
            return {3, {tree.nbodies, 3, 3}};
        case Core::positions:
            return {2, {tree.nbodies, 3}};
        case Core::frame_rotations:
            return {3, {nframes, 3, 3}};
        case Core::frame_positions:
            return {2, {nframes, 3}};
        case Core::wrench:
            return {1, {6}};
        case Core::jacobians:
            return {3, {nframes, 6, tree.nv}};
    }
    return {};
}

std::string text(const npy_intp* shape, int ndim, const char* prefix = "") {
    std::string s = std::string("(") + prefix;
    for (int k = 0; k < ndim; ++k) {
        if (k > 0 || *prefix) s += ", ";
        s += std::to_string(shape[k]);
    }
    return s + (ndim == 1 && !*prefix ? ",)" : ")");
}

std::string str(nb::handle object) { return nb::str(object).c_str(); }

// The message of the exception that NumPy raised, which is cleared.
std::string take_error() {
    nb::python_error error;
    return str(error.value());
}

// An aligned array of the element type; the argument itself where it is one.
nb::object as_array(nb::handle given, const char* name, int type) {
    if (PyArray_CheckExact(given.ptr()) && PyArray_TYPE(array(given)) == type &&
        PyArray_ISBEHAVED_RO(array(given)))
        return nb::borrow(given);

    nb::object converted = nb::steal(PyArray_FromAny(given.ptr(), nullptr, 0, 0, 0, nullptr));
    if (!converted.is_valid())
        throw nb::value_error((std::string(name) + ": expected an array of real numbers, got " +
                               str(nb::str(given.type())) + " (" + take_error() + ")")
                                  .c_str());
    const char kind = PyArray_DESCR(array(converted))->kind;
    const bool number = kind == 'f' || kind == 'i' || kind == 'u' || kind == 'b' ||
                        (kind == 'c' && type == NPY_CDOUBLE);
    if (!number)
        throw nb::type_error(
            (std::string(name) + ": expected real numbers, got dtype " +
             str(nb::borrow(reinterpret_cast<PyObject*>(PyArray_DESCR(array(converted))))))
                .c_str());
    nb::object result =
        nb::steal(PyArray_FromAny(converted.ptr(), PyArray_DescrFromType(type), 0, 0,
                                  NPY_ARRAY_ALIGNED | NPY_ARRAY_FORCECAST, nullptr));
    if (!result.is_valid()) throw nb::python_error();
    return result;
}

// Checks the last axes, and returns the array with them evenly spaced (a copy only if they are
// not).
nb::object with_core(nb::object given, const char* name, const Shape& core) {
    PyArrayObject* a = array(given);
    const int ndim = PyArray_NDIM(a), batch = ndim - core.ndim;
    const npy_intp* shape = PyArray_DIMS(a);
    bool matches = batch >= 0;
    for (int k = 0; matches && k < core.ndim; ++k) matches = shape[batch + k] == core.size[k];
    if (!matches)
        throw nb::value_error((std::string(name) + " has shape " + text(shape, ndim) +
                               ", expected " + text(core.size, core.ndim, "..."))
                                  .c_str());
    const npy_intp* strides = PyArray_STRIDES(a);
    for (int k = core.ndim - 1; k > 0; --k) {
        if (strides[batch + k - 1] == strides[batch + k] * core.size[k]) continue;
        nb::object copy = nb::steal(reinterpret_cast<PyObject*>(PyArray_NewCopy(a, NPY_CORDER)));
        if (!copy.is_valid()) throw nb::python_error();
        return copy;
    }
    return given;
}

// Broadcasts the batch axes of all inputs against each other and writes their strides.
void broadcast(Job& job, const Signature& signature, const nb::object* arrays, const Shape* cores) {
    for (int i = 0; i < job.ninputs; ++i) {
        if (!arrays[i].is_valid()) continue;
        const int axes = PyArray_NDIM(array(arrays[i])) - cores[i].ndim;
        if (axes > Job::max_axes) throw nb::value_error("too many batch axes: expected at most 32");
        if (axes > job.naxes) job.naxes = axes;
    }
    for (int axis = 0; axis < job.naxes; ++axis) job.shape[axis] = 1;
    for (int i = 0; i < job.ninputs; ++i) {
        if (!arrays[i].is_valid()) continue;
        PyArrayObject* a = array(arrays[i]);
        const int axes = PyArray_NDIM(a) - cores[i].ndim, skip = job.naxes - axes;
        for (int axis = 0; axis < axes; ++axis) {
            const npy_intp n = PyArray_DIM(a, axis);
            std::ptrdiff_t& size = job.shape[skip + axis];
            if (n != 1 && size != 1 && n != size) {
                std::string shapes;
                for (int j = 0; j < job.ninputs; ++j) {
                    if (!arrays[j].is_valid()) continue;
                    PyArrayObject* b = array(arrays[j]);
                    shapes += (shapes.empty() ? "" : ", ") + std::string(signature.inputs[j].name) +
                              " " + text(PyArray_DIMS(b), PyArray_NDIM(b) - cores[j].ndim);
                }
                throw nb::value_error(
                    ("batch shapes do not broadcast against each other: " + shapes).c_str());
            }
            if (n != 1) size = n;
            job.in[i].stride[skip + axis] = n == 1 ? 0 : PyArray_STRIDE(a, axis);
        }
    }
    for (int axis = 0; axis < job.naxes; ++axis) job.count *= job.shape[axis];
}

// Every quaternion of q must have unit norm within 1e-6. (Those that are not finite give NaN
// later.)
void check_quaternions(nb::handle q, const char* name, const CompiledTree& tree, int type) {
    if (tree.quaternions().empty() || type != NPY_DOUBLE) return;
    PyArrayObject* a = array(q);
    const int last = PyArray_NDIM(a) - 1;
    const npy_intp spacing = PyArray_STRIDE(a, last);
    npy_intp index[Job::max_axes] = {};
    const char* state = PyArray_BYTES(a);
    for (int axis = 0; axis < last; ++axis)
        if (PyArray_DIM(a, axis) == 0) return;
    for (;;) {
        for (const auto& [first, body] : tree.quaternions()) {
            double x[4], squared = 0.0;
            for (int k = 0; k < 4; ++k) {
                x[k] = *reinterpret_cast<const double*>(state + (first + k) * spacing);
                squared += x[k] * x[k];
            }
            if (std::fabs(squared - 1.0) < 1e-6) continue;  // the exact test only where it may fail
            const double norm = std::hypot(std::hypot(x[0], x[1], x[2]), x[3]);
            if (std::fabs(norm - 1.0) > 1e-6 && std::isfinite(norm)) {
                std::string where = last > 0 ? " at batch index " + text(index, last) : "";
                throw nb::value_error(
                    (std::string(name) + ": the quaternion of joint '" + tree.joint_name(body) +
                     "'" + where + " has norm " + str(nb::float_(norm)) +
                     ", expected 1 within 1e-6 (order x y z w; dtau.normalize makes it so)")
                        .c_str());
            }
        }
        int axis = last - 1;
        for (; axis >= 0; --axis) {
            state += PyArray_STRIDE(a, axis);
            if (++index[axis] < PyArray_DIM(a, axis)) break;
            state -= PyArray_STRIDE(a, axis) * PyArray_DIM(a, axis);
            index[axis] = 0;
        }
        if (axis < 0) return;
    }
}

nb::object new_output(const Job& job, const Shape& core, int type) {
    npy_intp shape[Job::max_axes + 3];
    for (int axis = 0; axis < job.naxes; ++axis) shape[axis] = job.shape[axis];
    for (int k = 0; k < core.ndim; ++k) shape[job.naxes + k] = core.size[k];
    nb::object result = nb::steal(PyArray_SimpleNew(job.naxes + core.ndim, shape, type));
    if (!result.is_valid()) throw nb::python_error();
    return result;
}

}  // namespace

void import_numpy() {
    if (_import_array() < 0) throw nb::python_error();
}

std::string type_signature(const Signature& signature, Element element, const char* frame_inputs) {
    std::string s = "def " + std::string(signature.name) + "(model: object, " + frame_inputs;
    for (const Parameter& parameter : signature.inputs)
        s += std::string(parameter.name) + ": numpy.typing.ArrayLike" +
             (parameter.optional ? " | None, " : ", ");
    const std::string array = element == Element::complex ? "numpy.typing.NDArray[numpy.complex128]"
                                                          : "numpy.typing.NDArray[numpy.float64]";
    std::string result = array;
    for (std::size_t o = 1; o < signature.outputs.size(); ++o) result += ", " + array;
    if (signature.outputs.size() > 1) result = "tuple[" + result + "]";
    return s + "/) -> " + result;
}

const CompiledTree& compiled_tree(nb::handle model) {
    static const nb::handle attribute = PyUnicode_InternFromString("_tree");
    nb::object tree = nb::steal(PyObject_GetAttr(model.ptr(), attribute.ptr()));
    if (!tree.is_valid() || !nb::isinstance<CompiledTree>(tree)) {
        PyErr_Clear();
        throw nb::type_error(
            ("model: expected a dtau.Model, got " + str(model.type().attr("__name__"))).c_str());
    }
    return *nb::inst_ptr<CompiledTree>(tree);  // the model keeps it alive
}

nb::object call(const Signature& signature, nb::handle model,
                std::initializer_list<nb::handle> inputs, Element element,
                const FrameList* frames) {
    const CompiledTree& compiled = compiled_tree(model);
    const Tree& tree = compiled.tree();
    if (signature.needs_inertia && !compiled.massless_joints().empty()) {
        std::string names;
        for (const std::string& name : compiled.massless_joints())
            names += (names.empty() ? "'" : ", '") + name + "'";
        throw nb::value_error((std::string(signature.name) +
                               ": expected a model in which every joint has inertia to "
                               "accelerate, got none at joints " +
                               names +
                               "; give them inertia or armature, or fix them with model.lock")
                                  .c_str());
    }
    const bool complex = element == Element::complex;
    const int type = complex ? NPY_CDOUBLE : NPY_DOUBLE;
    Job job;
    job.element = element;
    if (frames) {
        job.frames = frames->frames.data();
        job.nframes = static_cast<int>(frames->frames.size());
        job.axes = frames->axes;
    }

    nb::object arrays[Job::max_inputs];
    Shape cores[Job::max_inputs];
    for (nb::handle given : inputs) {
        const int i = job.ninputs++;
        const Parameter& parameter = signature.inputs[i];
        cores[i] = core_shape(parameter.core, tree, job.nframes);
        if (parameter.optional && given.is_none()) continue;
        arrays[i] = with_core(as_array(given, parameter.name, type), parameter.name, cores[i]);
        PyArrayObject* a = array(arrays[i]);
        Input& input = job.in[i];
        input.data = PyArray_BYTES(a);
        input.spacing = PyArray_STRIDE(a, PyArray_NDIM(a) - 1);
        input.size = 1;
        for (int k = 0; k < cores[i].ndim; ++k) input.size *= static_cast<int>(cores[i].size[k]);
    }
    broadcast(job, signature, arrays, cores);
    if (signature.kernel != &KernelTable::normalize)
        for (int i = 0; i < job.ninputs; ++i)
            if (signature.inputs[i].core == Core::q)
                check_quaternions(arrays[i], signature.inputs[i].name, compiled, type);

    nb::object results[Job::max_outputs];
    for (Core core : signature.outputs) {
        const int o = job.noutputs++;
        const Shape shape = core_shape(core, tree, job.nframes);
        results[o] = new_output(job, shape, type);
        job.out[o].data = PyArray_BYTES(array(results[o]));
        job.out[o].size = 1;
        for (int k = 0; k < shape.ndim; ++k) job.out[o].size *= shape.size[k];
    }
    const Kernel kernel = (complex ? complex_kernels() : kernels()).*signature.kernel;
    if (job.count == 1) {
        kernel(tree, job, 0, 1);
    } else if (job.count > 1) {
        nb::gil_scoped_release release;
        kernel(tree, job, 0, job.count);
    }
    if (job.noutputs == 1) return results[0];
    if (job.noutputs == 2) return nb::make_tuple(results[0], results[1]);
    return nb::make_tuple(results[0], results[1], results[2]);
}

}  // namespace dtau
