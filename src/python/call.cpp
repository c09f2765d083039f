// Runs a call of a function from Python: call() reads the arguments and tries the way of plain arrays
// (plain_call.cpp); general_call() takes all others, and raises the errors of arrays.
#define DTAU_IMPORTS_NUMPY
#include "python/call.hpp"

#include <algorithm>
#include <string_view>

#include "python/lock.hpp"
#include "python/result_memory.hpp"

namespace nb = nanobind;

namespace dtau {
namespace {

// Arguments that do not fit a signature.
struct WrongArguments : nb::builtin_exception {
    explicit WrongArguments(const std::string& what)
        : nb::builtin_exception(nb::exception_type::type_error, what.c_str()) {}
};

[[noreturn]] void fail(const Signature& signature, const std::string& what) {
    throw WrongArguments(std::string(signature.name) + ": " + what);
}

bool is(PyObject* keyword, const char* name) {
    return PyUnicode_CompareWithASCIIString(keyword, name) == 0;
}

// The interned words, which a call in the source code gives.
PyObject* the_word_out() {
    static constinit KeptObject word;
    return word.get([] { return PyUnicode_InternFromString("out"); });
}
PyObject* the_word_threads() {
    static constinit KeptObject word;
    return word.get([] { return PyUnicode_InternFromString("threads"); });
}

// Fills a named tuple of dtau.results in place: its own constructor takes longer than computing a
// small robot.
nb::object named_tuple(nb::handle type, nb::object* results, int count) {
    PyTypeObject* tuple = reinterpret_cast<PyTypeObject*>(type.ptr());
    nb::object result = nb::steal(PyType_GenericAlloc(tuple, count));
    if (!result.is_valid()) throw nb::python_error();
    for (int o = 0; o < count; ++o) NB_TUPLE_SET_ITEM(result.ptr(), o, results[o].release().ptr());
    return result;
}

// The attributes of a named tuple beside its fields.
nb::object attributes_of(nb::handle result) {
    nb::object attributes = nb::steal(PyObject_GenericGetDict(result.ptr(), nullptr));
    if (!attributes.is_valid()) throw nb::python_error();
    return attributes;
}

// The tree of functions without a model: it has no bodies.
TreeReference no_tree() {
    static const CompiledTree none({}, {}, {}, {}, {}, {});
    return {nb::none(), none};
}

// The array that replaces an argument whose default is 0.
nb::handle zero() {
    static constinit KeptObject number;
    return number.get([] { return PyFloat_FromDouble(0.0); });
}

// Translates the C++ exception in flight into Python's.
void translate() {
    try {
        throw;
    } catch (nb::python_error& e) {
        e.restore();
    } catch (const nb::builtin_exception& e) {
        PyErr_SetString(
            e.type() == nb::exception_type::type_error ? PyExc_TypeError : PyExc_ValueError,
            e.what());
    } catch (const std::bad_alloc&) {
        PyErr_NoMemory();
    } catch (const std::exception& e) {
        PyErr_SetString(PyExc_RuntimeError, e.what());
    }
}

// Reads an array argument as a plain array; invalid for None, and for a mask, which becomes an
// option.
nb::object read_array(nb::handle given, const ArraySignature& input, CallOptions& options,
                      const Tree& tree) {
    if (input.optional && given.is_none()) return {};
    nb::object map;
    if (*input.quantity == Quantity::input_map) {
        map = options.read_inputs(given, tree);
        if (!map.is_valid()) return {};
        given = map;
    }
    return is_plain(given) ? nb::borrow(given) : converted(given, input.name);
}

}  // namespace

PyObject** GivenArguments::place(const Signature& signature, PyObject* keyword, bool has_model) {
    if (keyword == the_word_out()) return &out;
    if (keyword == the_word_threads()) return &threads;
    for (int k = 0; k < signature.narguments; ++k)
        if (is(keyword, signature.arguments[k].name)) return at + k;
    if (is(keyword, "out")) return &out;
    if (is(keyword, "threads")) return &threads;
    if (has_model && is(keyword, "model")) return &model;
    fail(signature, "got an unexpected argument '" + str(keyword) + "'");
}

GivenArguments::GivenArguments(const Signature& signature, PyObject* const* values,
                               Py_ssize_t count, PyObject* keywords, bool has_model)
    : model(nullptr), out(nullptr), threads(nullptr) {
    const Py_ssize_t n = signature.narguments, first = has_model;
    if (count > n + first + 2)
        fail(signature, "expected at most " + std::to_string(n + first + 2) + " arguments, got " +
                            std::to_string(count));
    if (has_model && count > 0) model = values[0];
    for (Py_ssize_t k = 0; k < n; ++k) at[k] = k + first < count ? values[k + first] : nullptr;
    if (count > n + first) out = values[n + first];
    if (count > n + first + 1) threads = values[n + first + 1];
    const Py_ssize_t named = keywords ? NB_TUPLE_GET_SIZE(keywords) : 0;
    for (Py_ssize_t k = 0; k < named; ++k) {
        PyObject* keyword = NB_TUPLE_GET_ITEM(keywords, k);
        PyObject** to = place(signature, keyword, has_model);
        if (*to) fail(signature, "got '" + str(keyword) + "' twice");
        *to = values[count + k];
    }
    if (has_model && !model) fail(signature, "missing the argument 'model'");
    for (Py_ssize_t k = std::max<Py_ssize_t>(count - first, 0); k < n; ++k)
        if (!at[k] && signature.arguments[k].by_default == Default::required)
            fail(signature,
                 std::string("missing the argument '") + signature.arguments[k].name + "'");
}

GivenArguments::GivenArguments(const Signature& signature, nb::handle given_model, nb::dict options)
    : model(nullptr), at{}, out(nullptr), threads(nullptr) {
    for (auto [keyword, value] : options) *place(signature, keyword.ptr(), true) = value.ptr();
    model = given_model.ptr();
    for (int k = 0; k < signature.narguments; ++k) {
        const Argument& argument = signature.arguments[k];
        if (argument.input < 0 && !at[k] && argument.by_default == Default::required)
            fail(signature, std::string("missing the option '") + argument.name + "'");
        if (argument.input >= 0 && at[k])
            fail(signature, std::string("'") + argument.name + "' is an array, expected options");
    }
}

void import_numpy() {
    if (_import_array() < 0) throw nb::python_error();
}

void require_inertia(const Signature& signature, const CompiledTree& compiled,
                     const Options& options) {
    const std::string missing = missing_inertia(signature, compiled, options);
    if (!missing.empty())
        throw value_error(std::string(signature.name) + ": " + missing +
                          ", or fix them with model.lock");
}

namespace {

// Whether results of their own have the derivatives by wrenches.
bool gives_by_f_ext(const Signature& s) {
    for (int o = s.noutputs - s.nby; o < s.noutputs; ++o)
        if (s.outputs[o].asked & Asked::f_ext) return true;
    return false;
}

}  // namespace

nb::object Callable::operator()(PyObject* const* values, Py_ssize_t count,
                                PyObject* keywords) const {
    release_interrupted();
    const FunctionList& functions = list();
    const Signature& signature = *described;
    const Function function = {signature, group, place};
    const GivenArguments given(signature, values, count, keywords, has_model);
    TreeReference tree = has_model ? compiled_tree(given.model) : no_tree();
    if (nb::object result = plain_call(functions, function, given, tree.compiled);
        result.is_valid())
        return result;
    Work work(functions, function, std::move(tree));
    return general_call(work, given);
}

nb::object Callable::general_call(Work& work, const GivenArguments& given) const {
    const Signature& signature = *described;
    const bool given_results = given.out && given.out != Py_None;

    // First, everything that may run the arguments' own code, which may change the other arguments.
    Job& job = work.job;
    job.scalar = scalar;
    const CompiledTree& compiled = work.tree.compiled;
    Options& options = work.options.values;
    work.options.read_first(signature, given, compiled);
    for (int k = 0; k < signature.narguments; ++k) {
        const Argument& argument = signature.arguments[k];
        if (argument.input < 0) continue;
        nb::handle given_array = given.at[k];
        if (!given_array.is_valid() && argument.by_default == Default::zero) given_array = zero();
        if (!given_array.is_valid()) continue;
        work.inputs[argument.input] = read_array(given_array, signature.inputs[argument.input],
                                                 work.options, compiled.tree());
    }
    const auto is_given = [&](int i) { return work.inputs[i].is_valid(); };
    const int nresults = count_results(signature, options, is_given);
    if (options.by_f_ext && misses_one(signature, nresults) && !gives_by_f_ext(signature))
        throw nb::value_error(
            "by: expected f_ext= with 'f_ext', got none: by_f_ext is the gradient by the wrenches "
            "that are given, zeros too");
    if (given_results && count_outputs(signature, options, nresults) > nresults)
        throw nb::value_error("out: expected None with by=, got arrays; leave one of the two out");
    if (given_results)
        take_outputs(with_attributes(given.out, nresults), nresults, signature.noutputs > 1,
                     work.results);
    const int threads = given.threads ? thread_count(given.threads) : 0;

    // Now nothing runs Python code, so everything read from here on stays valid.
    work.options.read(signature, given, compiled);
    const bool has_order = work.options.order >= 0;
    options.order = std::max(work.options.order, 0);
    read_sizes(options, signature, work.inputs, compiled.tree(), has_order);
    if (signature.solves && !(signature.parameters >= 0 && is_given(signature.parameters)))
        require_inertia(signature, compiled, options);
    for (int i = 0; i < job.ninputs; ++i)
        if (is_given(i)) job.inputs[i].data = PyArray_BYTES(array(work.inputs[i]));
    job.options = &options;
    if (scalar == ScalarKind::real) job.code = compiled.code(signature.name, work.list.lanes, job);
    work.describe(signature, compiled, options, work.options.single_frame);
    int batch_axes = 0;
    for (int i = 0; i < job.ninputs; ++i) {
        if (!is_given(i)) continue;
        Shape& core = work.input_shapes[i];
        work.inputs[i] = input_array(work.inputs[i], signature.inputs[i], core, has_order,
                                     compiled.tree(), batch_axes, job.inputs[i].spacing);
        batch_axes = std::max(batch_axes, PyArray_NDIM(array(work.inputs[i])) - core.ndim);
        job.inputs[i].data = PyArray_BYTES(array(work.inputs[i]));
        if (i == signature.parameters)  // they may belong to bodies alone
            job.inputs[i].size = static_cast<int>(count_numbers(core));
    }
    refuse_batch_as_stack(signature, work.inputs, work.input_shapes);
    choose_results(job, signature, is_given);
    if (job.noutputs > nresults && misses_one(signature, nresults))
        work.result_shapes[nresults] = {1, {0}};  // the optional one, before results of `by`
    broadcast(job, signature, work.inputs, work.input_shapes);
    const double numbers = count_numbers(job), stored = work.entries ? count_stored(job) : numbers;
    const RunPlan plan = dtau::plan(States(work), threads, numbers);
    const double bytes = sizeof(double) * stored * static_cast<double>(job.count);
    const double fresh = given_results ? 0.0 : bytes;
    check_memory(work, plan, fresh);
    nb::handle inputs[Job::max_inputs];
    std::copy_n(work.inputs, job.ninputs, inputs);
    {
        const KeptMemory memory(fresh);
        place_outputs(job, signature, work.result_shapes, inputs, work.results);
    }
    const bool unchecked = signature.any_quaternions || scalar == ScalarKind::recorded;
    for (int i = 0; i < job.ninputs && !unchecked; ++i)
        if (*signature.inputs[i].quantity != Quantity::q)
            check_poses(inputs[i], signature.inputs[i], work.input_shapes[i]);
        else if (!options.by_numbers)
            check_quaternions(inputs[i], signature.inputs[i].name, compiled);

    run(work, plan);
    return returned(signature, work.results, nresults, options);
}

nb::object Callable::with_attributes(nb::handle out, int count) const {
    const int fields = described->nalways;
    if (count <= fields || Py_TYPE(out.ptr()) != reinterpret_cast<PyTypeObject*>(results.ptr()) ||
        NB_TUPLE_GET_SIZE(out.ptr()) != fields)
        return nb::borrow(out);
    const nb::object attributes = attributes_of(out);
    nb::object arrays = nb::steal(PyTuple_New(count));
    if (!arrays.is_valid()) throw nb::python_error();
    for (int o = 0; o < count; ++o) {
        PyObject* const array = o < fields ? item_of(out, o).release().ptr()
                                           : PyObject_GetItem(attributes.ptr(), names[o].ptr());
        if (!array) {  // too few: take_outputs() says so
            PyErr_Clear();
            return nb::borrow(out);
        }
        NB_TUPLE_SET_ITEM(arrays.ptr(), o, array);
    }
    return arrays;
}

nb::object Callable::returned(const Signature& signature, nb::object* arrays, int count,
                              const Options& options) const {
    if (signature.noutputs == 1) return std::move(arrays[0]);
    nb::object result = named_tuple(results, arrays, signature.nalways);
    const int end = count_outputs(signature, options, count);
    if (end == signature.nalways) return result;
    const nb::object attributes = attributes_of(result);
    const auto add = [&](int o) {
        if (PyDict_SetItem(attributes.ptr(), names[o].ptr(), arrays[o].ptr()) < 0)
            throw nb::python_error();
    };
    for (int o = signature.nalways; o < count; ++o) add(o);
    for (int o = signature.noutputs - signature.nby; o < end; ++o)
        if (Asked::is_there(signature.outputs[o], options)) add(o);
    return result;
}

PyObject* call(PyObject* self, PyObject* const* values, Py_ssize_t count,
               PyObject* keywords) noexcept {
    try {
        const void* callable = PyCapsule_GetPointer(self, nullptr);
        return (*static_cast<const Callable*>(callable))(values, count, keywords).release().ptr();
    } catch (...) {
        translate();
        return nullptr;
    }
}

PyObject* try_call(const Callable& callable, PyObject* const* values, Py_ssize_t count,
                   PyObject* keywords, bool& fits) noexcept {
    try {
        return callable(values, count, keywords).release().ptr();
    } catch (const WrongArguments&) {
        fits = false;
        return nullptr;
    } catch (...) {
        translate();
        return nullptr;
    }
}

}  // namespace dtau
