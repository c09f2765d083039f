#define DTAU_IMPORTS_NUMPY
#include "python/call.hpp"

#include <algorithm>
#include <climits>

#include "python/arrays.hpp"
#include "dispatch.hpp"
#include "batch/parallel.hpp"

namespace nb = nanobind;

namespace dtau {
namespace {

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
    return 15.0 * (1.0 + job.order) * tree.nbodies + numbers * (solves ? 0.1 * tree.nv : 0.5);
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

// Is the motion of a joint with this name given?
bool is_prescribed(const std::string& name, const CompiledTree& compiled, const bool* prescribed) {
    const Tree& tree = compiled.tree();
    for (int i = 0; prescribed && i < tree.nbodies; ++i) {
        const int k = tree.bodies[i].v;
        if (compiled.joint_name(i) == name &&
            prescribed[tree.coupling ? tree.coupling->v_source[k] : k])
            return true;
    }
    return false;
}

// ValueError if joints whose motion is not given have no inertia to accelerate.
void require_inertia(const char* function, const CompiledTree& compiled, const bool* prescribed) {
    std::string names;
    for (const std::string& name : compiled.massless_joints())
        if (!is_prescribed(name, compiled, prescribed))
            names += (names.empty() ? "'" : ", '") + name + "'";
    if (names.empty()) return;
    throw nb::value_error((std::string(function) +
                           ": expected a model in which every joint has inertia to "
                           "accelerate, got none at joints " +
                           names + "; give them inertia or armature, or fix them with model.lock")
                              .c_str());
}

}  // namespace

void import_numpy() {
    if (_import_array() < 0) throw nb::python_error();
}

std::string type_signature(const Signature& signature, Element element, const char* choices) {
    const std::string array = element == Element::complex ? "numpy.typing.NDArray[numpy.complex128]"
                                                          : "numpy.typing.NDArray[numpy.float64]";
    std::string s = "def " + std::string(signature.name) + "(model: object, " + choices;
    for (const Parameter& parameter : signature.inputs)
        s += std::string(parameter.name) + ": numpy.typing.ArrayLike" +
             (parameter.optional ? " | None, " : ", ");
    if (signature.asks_symmetric) s += "symmetric: bool, ";
    const bool single = signature.outputs.size() == 1;
    s +=
        "out: " + (single ? array : "collections.abc.Sequence[" + array + "]") + " | None = None, ";
    s += "threads: int | None = None, /) -> ";
    if (single) return s + array;
    s += "dtau.results." + std::string(signature.named_tuple);
    return signature.shorter_tuple ? s + " | dtau.results." + signature.shorter_tuple : s;
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
                const Choices& choices) {
    const TreeReference reference = compiled_tree(model);
    const CompiledTree& compiled = reference.tree;
    const Tree& tree = compiled.tree();
    if (signature.needs_inertia) require_inertia(signature.name, compiled, choices.prescribed);
    const int type = element == Element::complex ? NPY_CDOUBLE : NPY_DOUBLE;
    Job job;
    job.element = element;
    job.symmetric = choices.symmetric;
    job.packed = signature.outputs[0].core == Core::packed_tensor;
    job.prescribed = choices.prescribed;
    job.integrator = choices.integrator;
    job.inputs = choices.inputs;
    if (choices.actuated) job.inputs = {tree.nactuated, tree.actuated, nullptr};
    int shape_frames = 0, order = -1;
    if (const FrameList* frames = choices.frames) {
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
        cores[i] = core_shape(parameter.core, tree, shape_frames, job.inputs.count);
        if (parameter.optional && given.is_none()) continue;
        arrays[i] = input_array(given, parameter, cores[i], order, type);
        PyArrayObject* a = array(arrays[i]);
        Input& input = job.in[i];
        input.data = PyArray_BYTES(a);
        input.spacing = core_spacing(arrays[i], cores[i]);
        input.size = 1;
        input.meaning = input_meaning(parameter.core);
        if (parameter.rows != not_stacked) input.stacked = order + parameter.rows;
        for (int k = 0; k < cores[i].ndim; ++k) input.size *= static_cast<int>(cores[i].size[k]);
    }
    job.order = order < 0 ? 0 : order;
    broadcast(job, signature, arrays, cores);
    const bool shorter = signature.shorter_tuple && !job.in[job.ninputs - 1].data;
    job.noutputs = static_cast<int>(signature.outputs.size()) - shorter;
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
    if (job.noutputs == 1) return results[0];
    return named_tuple(shorter ? signature.shorter_results : signature.results, results,
                       job.noutputs);
}

}  // namespace dtau
