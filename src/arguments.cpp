#include "arguments.hpp"

#define NPY_NO_DEPRECATED_API NPY_2_0_API_VERSION
#include <numpy/arrayobject.h>

#include <algorithm>
#include <climits>
#include <cmath>

#include "dispatch.hpp"
#include "parallel.hpp"

namespace nb = nanobind;

namespace dtau {
namespace {

PyArrayObject* array(nb::handle object) { return reinterpret_cast<PyArrayObject*>(object.ptr()); }

struct Shape {
    int ndim;
    npy_intp size[3];
};

// nframes -1: a single frame, without an axis for it.
Shape core_shape(Core core, const Tree& tree, int nframes) {
    const bool single = nframes < 0;
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
            return single ? Shape{2, {3, 3}} : Shape{3, {nframes, 3, 3}};
        case Core::frame_positions:
            return single ? Shape{1, {3}} : Shape{2, {nframes, 3}};
        case Core::wrench:
            return {1, {6}};
        case Core::jacobians:
            return single ? Shape{2, {6, tree.nv}} : Shape{3, {nframes, 6, tree.nv}};
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
    if (!converted.is_valid()) {
        if (!PyErr_ExceptionMatches(PyExc_ValueError) && !PyErr_ExceptionMatches(PyExc_TypeError))
            throw nb::python_error();
        throw nb::value_error((std::string(name) + ": expected an array of real numbers, got " +
                               str(given.type().attr("__name__")) + " (" + take_error() + ")")
                                  .c_str());
    }
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
        if (core.size[k - 1] == 1 || strides[batch + k - 1] == strides[batch + k] * core.size[k])
            continue;
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
        for (int axis = 0; axis < skip; ++axis) job.in[i].stride[axis] = 0;
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
    for (int axis = 0; axis < job.naxes; ++axis)
        if (__builtin_mul_overflow(job.count, job.shape[axis], &job.count))
            throw nb::value_error("the batch has more states than can be counted");
}

// Every quaternion of q must have unit norm within 1e-6. (Those that are not finite give NaN
// later.)
void check_quaternions(nb::handle q, const char* name, const CompiledTree& tree, int type) {
    if (tree.quaternions().empty() || type != NPY_DOUBLE) return;
    PyArrayObject* a = array(q);
    const int last = PyArray_NDIM(a) - 1;
    const npy_intp spacing = PyArray_STRIDE(a, last);
    npy_intp index[Job::max_axes];
    const char* state = PyArray_BYTES(a);
    npy_intp shape[Job::max_axes];  // axes that only repeat a state are walked once
    for (int axis = 0; axis < last; ++axis) {
        shape[axis] = PyArray_STRIDE(a, axis) == 0 ? std::min<npy_intp>(PyArray_DIM(a, axis), 1)
                                                   : PyArray_DIM(a, axis);
        if (shape[axis] == 0) return;
        index[axis] = 0;
    }
    for (;;) {
        for (const auto& [first, body] : tree.quaternions()) {
            double x[4], squared = 0.0;
            for (int k = 0; k < 4; ++k) {
                x[k] = *reinterpret_cast<const double*>(state + (first + k) * spacing);
                squared += x[k] * x[k];
            }
            if (std::fabs(squared - 1.0) < 1e-6) continue;  // the exact test only where it may fail
            const double norm = std::hypot(std::hypot(x[0], x[1], x[2]), x[3]);
            const double finite = (x[0] - x[0]) + (x[1] - x[1]) + (x[2] - x[2]) + (x[3] - x[3]);
            if (std::fabs(norm - 1.0) > 1e-6 && finite == 0.0) {
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
            if (++index[axis] < shape[axis]) break;
            state -= PyArray_STRIDE(a, axis) * shape[axis];
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
        npy_intp shape[Job::max_axes + 3];
        for (int axis = 0; axis < job.naxes; ++axis) shape[axis] = job.shape[axis];
        for (int k = 0; k < core.ndim; ++k) shape[job.naxes + k] = core.size[k];
        fail("shape " + text(shape, job.naxes + core.ndim) + ", got " +
             text(PyArray_DIMS(a), PyArray_NDIM(a)));
    }
    if (!PyArray_ISWRITEABLE(a)) fail("a writable array, got a read-only one");
    if (!PyArray_IS_C_CONTIGUOUS(a)) fail("a C-contiguous array, got one with other strides");
    if (!PyArray_ISALIGNED(a)) fail("an aligned array, got one at an odd address");
}

// The arrays for the results: the caller's, after checks, or new ones.
void make_outputs(Job& job, const Signature& signature, const Tree& tree, int nframes,
                  nb::handle out, int type, const nb::object* inputs, nb::object* results) {
    const int count = static_cast<int>(signature.outputs.size());
    const bool given = !out.is_none();
    if (given && count > 1 && (!PyTuple_Check(out.ptr()) && !PyList_Check(out.ptr())))
        throw nb::type_error(("out: expected a tuple of " + std::to_string(count) +
                              " arrays, got " + str(out.type().attr("__name__")))
                                 .c_str());
    if (given && count > 1 && static_cast<int>(nb::len(out)) != count)
        throw nb::value_error(("out: expected a tuple of " + std::to_string(count) +
                               " arrays, got " + std::to_string(nb::len(out)))
                                  .c_str());
    for (int o = 0; o < count; ++o) {
        const Shape shape = core_shape(signature.outputs[o], tree, nframes);
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
        for (int k = 0; k < shape.ndim; ++k) job.out[o].size *= shape.size[k];
    }
    job.noutputs = count;
}

// Asked while the interpreter's lock is released.
bool signal_pending() {
    nb::gil_scoped_acquire acquire;
    return PyErr_CheckSignals() != 0;
}

// A rough price of a state in nanoseconds, to choose threads and chunks: a share for every body and
// every number of the result, and for solving with the mass matrix.
double price(const Job& job, const Tree& tree, bool solves) {
    double numbers = 0.0;
    for (int o = 0; o < job.noutputs; ++o) numbers += static_cast<double>(job.out[o].size);
    return 15.0 * tree.nbodies + numbers * (solves ? 0.1 * tree.nv : 0.5);
}

int thread_count(nb::handle threads, double work) {
    constexpr double threshold = 200e3;  // nanoseconds; what starting threads is worth
    if (threads.is_none()) return work < threshold ? 1 : available_processors();
    const bool integer = PyIndex_Check(threads.ptr()) && !PyBool_Check(threads.ptr());
    const Py_ssize_t count = integer ? PyNumber_AsSsize_t(threads.ptr(), nullptr) : 0;
    if (count < 1 || count > 1024) {
        PyErr_Clear();
        const std::string message =
            "threads: expected a number from 1 to 1024, got " + str(nb::repr(threads));
        if (!integer) throw nb::type_error(message.c_str());
        throw nb::value_error(message.c_str());
    }
    return static_cast<int>(count);
}

void run_batch(Kernel kernel, const Tree& tree, const Job& job, bool solves, nb::handle threads) {
    const double state = price(job, tree, solves);
    const int wanted = thread_count(threads, state * static_cast<double>(job.count));
    // A chunk is worth about a millisecond at most, so that a signal is seen soon, and is of whole
    // groups of lanes; threads that start late find something left to do.
    const std::ptrdiff_t group = kernels().lanes;
    std::ptrdiff_t chunk = static_cast<std::ptrdiff_t>(1e6 / state);
    if (wanted > 1) chunk = std::min(chunk, job.count / (8 * wanted) + 1);
    chunk = std::max<std::ptrdiff_t>(1, (chunk + group - 1) / group) * group;
    const int useful = static_cast<int>((job.count + chunk - 1) / chunk);

    std::ptrdiff_t done;
    {
        nb::gil_scoped_release release;
        done = run_parallel(kernel, tree, job, {std::min(wanted, useful), chunk, signal_pending});
    }
    if (!PyErr_Occurred()) return;
    if (PyErr_ExceptionMatches(PyExc_KeyboardInterrupt)) {
        PyErr_Clear();
        PyErr_Format(PyExc_KeyboardInterrupt,
                     "%zd of %zd states are done; out holds their results, in no order that could "
                     "be relied on, and is unchanged elsewhere",
                     done, job.count);
    }
    throw nb::python_error();
}

// A named tuple of dtau.results, filled in place: its own constructor takes longer than a small
// robot.
nb::object named_tuple(nb::handle type, nb::object* results, int count) {
    PyTypeObject* tuple = reinterpret_cast<PyTypeObject*>(type.ptr());
    nb::object result = nb::steal(tuple->tp_alloc(tuple, count));
    if (!result.is_valid()) throw nb::python_error();
    for (int o = 0; o < count; ++o) PyTuple_SET_ITEM(result.ptr(), o, results[o].release().ptr());
    return result;
}

}  // namespace

void import_numpy() {
    if (_import_array() < 0) throw nb::python_error();
}

std::string type_signature(const Signature& signature, Element element, const char* frame_inputs) {
    const std::string array = element == Element::complex ? "numpy.typing.NDArray[numpy.complex128]"
                                                          : "numpy.typing.NDArray[numpy.float64]";
    std::string s = "def " + std::string(signature.name) + "(model: object, " + frame_inputs;
    for (const Parameter& parameter : signature.inputs)
        s += std::string(parameter.name) + ": numpy.typing.ArrayLike" +
             (parameter.optional ? " | None, " : ", ");
    const bool single = signature.outputs.size() == 1;
    s +=
        "out: " + (single ? array : "collections.abc.Sequence[" + array + "]") + " | None = None, ";
    s += "threads: int | None = None, /) -> ";
    return s + (single ? array : "dtau.results." + std::string(signature.named_tuple));
}

TreeReference compiled_tree(nb::handle model) {
    static const nb::handle attribute = PyUnicode_InternFromString("_tree");
    nb::object tree = nb::steal(PyObject_GetAttr(model.ptr(), attribute.ptr()));
    if (!tree.is_valid()) {
        if (!PyErr_ExceptionMatches(PyExc_AttributeError)) throw nb::python_error();
        PyErr_Clear();
    }
    if (!tree.is_valid() || !nb::isinstance<CompiledTree>(tree) || !nb::inst_ready(tree))
        throw nb::type_error(
            ("model: expected a dtau.Model, got " + str(model.type().attr("__name__"))).c_str());
    return {tree, *nb::inst_ptr<CompiledTree>(tree)};
}

nb::object call(const Signature& signature, nb::handle model,
                std::initializer_list<nb::handle> inputs, Options options, Element element,
                const FrameList* frames) {
    const TreeReference reference = compiled_tree(model);
    const CompiledTree& compiled = reference.tree;
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
    const int type = element == Element::complex ? NPY_CDOUBLE : NPY_DOUBLE;
    Job job;
    job.element = element;
    int shape_frames = 0;
    if (frames) {
        job.frames = frames->frames.data();
        job.nframes = static_cast<int>(frames->frames.size());
        job.axes = frames->axes;
        shape_frames = frames->single ? -1 : job.nframes;
        if (static_cast<double>(job.nframes) * 6 * tree.nv > INT_MAX)
            throw nb::value_error("frames: too many for one call");
    }

    nb::object arrays[Job::max_inputs];
    Shape cores[Job::max_inputs];
    for (nb::handle given : inputs) {
        const int i = job.ninputs++;
        const Parameter& parameter = signature.inputs[i];
        cores[i] = core_shape(parameter.core, tree, shape_frames);
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
    nb::object results[Job::max_outputs];
    make_outputs(job, signature, tree, shape_frames, options.out, type, arrays, results);
    if (signature.kernel != &KernelTable::normalize)
        for (int i = 0; i < job.ninputs; ++i)
            if (signature.inputs[i].core == Core::q)
                check_quaternions(arrays[i], signature.inputs[i].name, compiled, type);

    const bool ordinary = element == Element::real || element == Element::alone;
    const KernelTable& table = ordinary ? kernels() : test_kernels();
    const Kernel kernel = table.*signature.kernel;
    if (job.count == 1) {
        if (!options.threads.is_none())
            thread_count(options.threads, 0.0);  // a wrong one is an error
        kernel(tree, job, 0, 1);
    } else {
        run_batch(kernel, tree, job, signature.needs_inertia, options.threads);
    }
    return job.noutputs == 1 ? results[0] : named_tuple(signature.results, results, job.noutputs);
}

}  // namespace dtau
