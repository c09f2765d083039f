#define DTAU_IMPORTS_NUMPY
#include "python/call.hpp"

#include <algorithm>
#include <atomic>
#include <string_view>

#include "dtau/mimic.hpp"
#include "python/arguments.hpp"
#include "python/arrays.hpp"
#include "python/lock.hpp"
#include "python/result_memory.hpp"
#include "python/work.hpp"

namespace nb = nanobind;

namespace dtau {
namespace {

// A named tuple of dtau.results, filled in place: its own constructor takes longer than a small
// robot.
nb::object named_tuple(nb::handle type, nb::object* results, int count) {
    PyTypeObject* tuple = reinterpret_cast<PyTypeObject*>(type.ptr());
    nb::object result = nb::steal(PyType_GenericAlloc(tuple, count));
    if (!result.is_valid()) throw nb::python_error();
    for (int o = 0; o < count; ++o) NB_TUPLE_SET_ITEM(result.ptr(), o, results[o].release().ptr());
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

// What stands for an array that is 0 if it is left out.
nb::handle zero() {
    static const nb::handle number = PyFloat_FromDouble(0.0);
    return number;
}

}  // namespace

std::string public_name(const char* function) {
    constexpr std::string_view prefix = "constrained_";
    const std::string_view name = function;
    if (!name.starts_with(prefix)) return function;
    const std::string_view rest = name.substr(prefix.size());
    const bool option = rest.starts_with("step") || rest.starts_with("linearize");
    return std::string(option ? rest : name);
}

void import_numpy() {
    if (_import_array() < 0) throw nb::python_error();
}

void require_inertia(const char* function, const CompiledTree& compiled, const bool* prescribed) {
    std::string names;
    for (const std::string& name : compiled.massless_joints())
        if (!is_prescribed(name, compiled, prescribed))
            names += (names.empty() ? "'" : ", '") + name + "'";
    if (names.empty()) return;
    throw nb::value_error((public_name(function) +
                           ": expected a model in which every joint has inertia to "
                           "accelerate, got none at joints " +
                           names + "; give them inertia or armature, or fix them with model.lock")
                              .c_str());
}

TreeReference compiled_tree(nb::handle model) {
    static const nb::handle attribute = PyUnicode_InternFromString("_tree");
    nb::object tree =
        nb::steal(unless_ended([&] { return PyObject_GetAttr(model.ptr(), attribute.ptr()); }));
    if (!tree.is_valid()) {
        if (!PyErr_ExceptionMatches(PyExc_AttributeError)) throw nb::python_error();
        PyErr_Clear();
    }
    // The class is looked for by its name in C++ once: that takes longer than all the rest.
    static std::atomic<PyTypeObject*> known = nullptr;
    bool right = tree.is_valid() && Py_TYPE(tree.ptr()) == known;
    if (!right && tree.is_valid() && nb::isinstance<CompiledTree>(tree)) {
        right = true;
        known = Py_TYPE(tree.ptr());
    }
    if (!right || !nb::inst_ready(tree))
        throw nb::type_error(
            ("model: expected a dtau.Model, got " + str(nb::type_name(model.type()))).c_str());
    return {tree, *nb::inst_ptr<CompiledTree>(tree)};
}

nb::object Callable::operator()(PyObject* const* values, Py_ssize_t count,
                                PyObject* keywords) const {
    release_interrupted();
    const FunctionList& functions = list();
    const Function& function = functions.groups[group]->functions[place];
    const Signature& signature = function.signature;
    const GivenArguments given(signature, values, count, keywords);
    const int type = element == Element::complex ? NPY_CDOUBLE : NPY_DOUBLE;
    const bool given_results = given.out && given.out != Py_None;

    // What may run the arguments' own code, which may change the other arguments.
    Work work(functions, function, compiled_tree(given.model));
    Job& job = work.job;
    job.element = element;
    job.ninputs = signature.ninputs;
    const CompiledTree& compiled = work.tree.compiled;
    work.options.read_first(signature, given, compiled);
    for (int k = 0; k < signature.narguments; ++k) {
        const Argument& argument = signature.arguments[k];
        if (argument.input < 0) continue;
        const ArraySignature& input = signature.inputs[argument.input];
        nb::handle x(given.at[k]);
        if (!x.is_valid() && argument.by_default == Default::zero) x = zero();
        if (!x.is_valid() || (input.optional && x.is_none())) continue;
        nb::object& to = work.inputs[argument.input];
        if (input.quantity == Quantity::input_map) {
            to = work.options.read_inputs(x, compiled.tree());
            if (!to.is_valid()) continue;
            x = to;
        }
        to = is_plain(x, type) ? nb::borrow(x) : converted(x, input.name, type);
    }
    job.noutputs = count_results(signature, work.options.values,
                                 [&](int i) { return work.inputs[i].is_valid(); });
    const int tuple_size = all_results.is_valid() ? job.noutputs : signature.noutputs;
    if (given_results) take_outputs(given.out, job.noutputs, tuple_size, work.results);
    const int threads = given.threads ? thread_count(given.threads) : 0;

    // From here on none of it runs: what is read now holds.
    work.options.read(signature, given, compiled);
    job.options = work.options.values;
    if (signature.solves) require_inertia(signature.name, compiled, job.options.prescribed);
    const Sizes sizes = {compiled.tree(), job.options, work.options.single_frame};
    Stacks stacks = {work.options.order, work.options.order >= 0};
    Shape cores[Job::max_inputs];
    for (int i = 0; i < job.ninputs; ++i) {
        const ArraySignature& expected = signature.inputs[i];
        if (expected.quantity == Quantity::input_map && work.inputs[i].is_valid())
            job.options.driven.count = input_count(work.inputs[i], expected.name, compiled.tree());
        cores[i] = core_shape(expected.quantity, sizes);
        if (!work.inputs[i].is_valid()) continue;
        work.inputs[i] =
            input_array(work.inputs[i], expected, cores[i], stacks, type, compiled.tree());
        Input& input = job.in[i];
        input.data = PyArray_BYTES(array(work.inputs[i]));
        input.spacing = core_spacing(work.inputs[i], cores[i]);
        input.size = 1;
        input.meaning = traits(expected.quantity).as_input;
        if (expected.rows != not_stacked) input.stacked = stacks.order + expected.rows;
        for (int k = 0; k < cores[i].ndim; ++k) input.size *= static_cast<int>(cores[i].size[k]);
    }
    refuse_batch_as_stack(signature, work.inputs, cores);
    job.options.order = std::max(stacks.order, 0);
    if (element == Element::real)
        job.options.code = compiled.code(signature.name, functions.lanes, job);
    broadcast(job, signature, work.inputs, cores);
    Shape shapes[Job::max_outputs];
    const double numbers = describe_outputs(job, signature, sizes, shapes);
    const Plan plan = dtau::plan(work, threads, numbers);
    const double number = type == NPY_CDOUBLE ? 16.0 : 8.0, states = static_cast<double>(job.count);
    const double fresh = given_results ? 0.0 : number * numbers * states;
    check_memory(work, plan, fresh);
    {
        const KeptMemory memory(fresh);
        place_outputs(job, signature, shapes, type, work.inputs, work.results);
    }
    for (int i = 0; i < job.ninputs && !signature.any_quaternions && element != Element::recorded;
         ++i)
        if (signature.inputs[i].quantity == Quantity::q)
            check_quaternions(work.inputs[i], signature.inputs[i].name, compiled, type);

    run(work, plan);
    if (signature.noutputs == 1) return work.results[0];
    for (int o = job.noutputs; o < tuple_size; ++o) work.results[o] = nb::none();
    const bool all = all_results.is_valid() && job.noutputs == signature.noutputs;
    return named_tuple(all ? all_results : results, work.results, tuple_size);
}

}  // namespace dtau
