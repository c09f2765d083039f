#define DTAU_IMPORTS_NUMPY
#include "python/call.hpp"

#include <algorithm>

#include "batch/parallel.hpp"
#include "dtau/coupling.hpp"
#include "python/arrays.hpp"
#include "python/options.hpp"

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
    return 15.0 * (1.0 + job.options.order) * tree.nbodies +
           numbers * (solves ? 0.1 * tree.nv : 0.5);
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

// A function on its way through a job.
struct Work {
    const FunctionList& list;
    const Function& function;
    const Tree& tree;
    const Job& job;

    static void compute(const void* self, std::ptrdiff_t begin, std::ptrdiff_t end) {
        const Work& work = *static_cast<const Work*>(self);
        work.list.run(work.function, work.tree, work.job, begin, end);
    }
};

void run_batch(const Work& work, nb::handle threads) {
    const std::ptrdiff_t count = work.job.count;
    const double state = price(work.job, work.tree, work.function.signature.solves);
    const int wanted = thread_count(threads, state * static_cast<double>(count));
    // A chunk is worth about a millisecond at most, so that a signal is seen soon, and is of whole
    // groups of lanes; threads that start late find something left to do.
    const std::ptrdiff_t group = work.list.lanes;
    std::ptrdiff_t chunk = static_cast<std::ptrdiff_t>(1e6 / state);
    if (wanted > 1) chunk = std::min(chunk, count / (8 * wanted) + 1);
    chunk = std::max<std::ptrdiff_t>(1, (chunk + group - 1) / group) * group;
    const int useful = static_cast<int>((count + chunk - 1) / chunk);

    std::ptrdiff_t done;
    {
        nb::gil_scoped_release release;
        done = run_parallel({Work::compute, &work, count},
                            {std::min(wanted, useful), chunk, signal_pending});
    }
    if (!PyErr_Occurred()) return;
    if (PyErr_ExceptionMatches(PyExc_KeyboardInterrupt)) {
        PyErr_Clear();
        PyErr_Format(PyExc_KeyboardInterrupt,
                     "%zd of %zd states are done; out holds their results, in no order that could "
                     "be relied on, and is unchanged elsewhere",
                     done, count);
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
        if (compiled.joint_name(i) == name && prescribed[independent_dof(tree, k)]) return true;
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

nb::object Callable::operator()(PyObject* const* arguments, Py_ssize_t count) const {
    const FunctionList& functions = list();
    const Function& function = functions.groups[group]->functions[place];
    const Signature& signature = function.signature;
    const int first = 1 + signature.noptions, all = first + signature.ninputs;
    if (count < all || count > all + 2)
        throw nb::type_error((std::string(signature.name) + ": expected " + std::to_string(all) +
                              " to " + std::to_string(all + 2) + " arguments, got " +
                              std::to_string(count))
                                 .c_str());
    const nb::handle none(Py_None),
        out = count > all ? nb::handle(arguments[all]) : none,
        threads = count > all + 1 ? nb::handle(arguments[all + 1]) : none;

    const TreeReference reference = compiled_tree(arguments[0]);
    const CompiledTree& compiled = reference.tree;
    const Tree& tree = compiled.tree();
    const CallOptions options(signature, arguments + 1, compiled);
    if (signature.solves) require_inertia(signature.name, compiled, options.values.prescribed);
    const int type = element == Element::complex ? NPY_CDOUBLE : NPY_DOUBLE;
    Job job;
    job.element = element;
    job.options = options.values;
    const Sizes sizes = {tree, job.options, options.single_frame};

    int order = -1;
    nb::object arrays[Job::max_inputs];
    Shape cores[Job::max_inputs];
    for (int i = 0; i < signature.ninputs; ++i) {
        const ArraySignature& expected = signature.inputs[i];
        const nb::handle given(arguments[first + i]);
        cores[i] = core_shape(expected.quantity, sizes);
        if (expected.optional && given.is_none()) continue;
        arrays[i] = input_array(given, expected, cores[i], order, type);
        PyArrayObject* a = array(arrays[i]);
        Input& input = job.in[i];
        input.data = PyArray_BYTES(a);
        input.spacing = core_spacing(arrays[i], cores[i]);
        input.size = 1;
        input.meaning = input_meaning(expected.quantity);
        if (expected.rows != not_stacked) input.stacked = order + expected.rows;
        for (int k = 0; k < cores[i].ndim; ++k) input.size *= static_cast<int>(cores[i].size[k]);
    }
    job.ninputs = signature.ninputs;
    job.options.order = order < 0 ? 0 : order;
    broadcast(job, signature, arrays, cores);
    const ArraySignature& last = signature.outputs[signature.noutputs - 1];
    const bool fewer = last.optional && !job.in[job.ninputs - 1].data;
    job.noutputs = signature.noutputs - fewer;
    nb::object made[Job::max_outputs];
    make_outputs(job, signature, sizes, out, type, arrays, made);
    for (int i = 0; i < job.ninputs && !signature.any_quaternions; ++i)
        if (signature.inputs[i].quantity == Quantity::q)
            check_quaternions(arrays[i], signature.inputs[i].name, compiled, type);

    if (job.count == 1) {
        if (!threads.is_none()) thread_count(threads, 0.0);  // a wrong one is an error
        functions.run(function, tree, job, 0, 1);
    } else {
        run_batch({functions, function, tree, job}, threads);
    }
    if (job.noutputs == 1) return made[0];
    return named_tuple(last.optional && !fewer ? more_results : results, made, job.noutputs);
}

}  // namespace dtau
