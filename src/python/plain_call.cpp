// Computes states from arguments that need no conversion: Callable::plain_call(), the normal way of a call.
// They are contiguous arrays, of one state or of a batch with one axis. A call of one state takes about a
// microsecond, so it skips the steps for other axes, stacks of derivatives and contacts, and keeps the form
// of the call before. Callable::general_call() takes all other calls, and raises the errors of arrays.
#include <algorithm>
#include <atomic>
#include <cmath>
#include <memory>
#include <utility>
#include <vector>

#include "batch/first_failure.hpp"
#include "batch/parallel.hpp"
#include "batch/require_memory.hpp"
#include "python/call.hpp"
#include "python/lock.hpp"
#include "python/result_memory.hpp"
#include "registry/run_states.hpp"

namespace nb = nanobind;

namespace dtau {
namespace {

// Everything that plain calls of a function with one model have in common.
struct PlainForm : CallForm {
    std::uint64_t tree = 0;  // its number
    bool fits = false;       // the function and the model have such calls
    int coordinates;         // where this option is; -1: there is none
    PyObject* defaults[Signature::max_arguments] = {};  // of options; null: none
    bool takes[Job::max_inputs];                        // whether a plain call may have this input
    bool rotations[Job::max_inputs];  // whether the input has poses or rotations, which are checked
    // Options of the call: the frame alone, and with its words. They live here because zeroing them takes
    // as long as a small robot.
    Options options, with_words;
    nb::object frame_name;  // the last one
    const Frame* frame = nullptr;

    PlainForm(const Signature& signature, bool by_numbers);
    // Describes the arrays for another model.
    void describe(const Signature& signature, const CompiledTree& compiled);
};

// The steps of a call, in the order in which it takes them; they are defined below.
PlainForm& form_of(std::size_t number, const Signature& signature, PyObject* const* given);
bool has_only_arrays(PyObject* out);
bool is_default(const Argument& argument, nb::handle given, PyObject* expected);
bool is_word(Option option, nb::handle given);
int plain_threads(PyObject* given);
bool read_input(nb::handle given, const Shape& shape, double& number, Job& job, Input& input);
bool has_unit_quaternions(const Job& job, const Input& q, const CompiledTree& tree);
Options with_words(const Options& options, const Signature& signature, const GivenArguments& given,
                   const CompiledTree& compiled);

}  // namespace

nb::object Callable::plain_call(const FunctionList& functions, const Function& function,
                                const GivenArguments& given, const CompiledTree& compiled) const {
    const Signature& signature = *described;
    const int threads = plain_threads(given.threads);
    if (scalar != ScalarKind::real || threads < 0) return {};
    PlainForm& form = form_of(number, signature, given.at);
    if (form.tree != compiled.number()) form.describe(signature, compiled);
    if (!form.fits) return {};

    Job job(signature.ninputs);
    nb::handle arrays[Job::max_inputs];
    double floats[Job::max_inputs];
    nb::handle frame;
    bool has_words = false;  // options with other values than the default
    for (int k = 0; k < signature.narguments; ++k) {
        const Argument& argument = signature.arguments[k];
        const nb::handle value = given.at[k];
        const int i = argument.input;
        if (i < 0) {
            if (!value.is_valid() || is_default(argument, value, form.defaults[k])) continue;
            if (argument.option == Option::frames && PyUnicode_CheckExact(value.ptr()))
                frame = value;
            else if (is_word(argument.option, value))
                has_words = true;
            else
                return {};
        } else if (value.is_valid() && !(signature.inputs[i].optional && value.is_none())) {
            Input& input = job.inputs[i];
            const Input& described = form.job.inputs[i];
            if (!form.takes[i] || !read_input(value, form.input_shapes[i], floats[i], job, input) ||
                (i == signature.parameters && job.naxes > 0))
                return {};
            if (*signature.inputs[i].quantity == Quantity::q && !signature.any_quaternions &&
                !form.options.by_numbers && !has_unit_quaternions(job, input, compiled))
                return {};
            input.size = described.size, input.spacing = described.spacing;
            input.mimic_role = described.mimic_role;
            if (input.data != reinterpret_cast<const char*>(&floats[i])) arrays[i] = value;
        } else if (argument.by_default == Default::zero) {
            return {};
        }
    }

    // These steps have the order of operator(), and so do their errors.
    if (frame.is_valid() && frame.ptr() != form.frame_name.ptr()) {
        CallOptions first;
        first.read_first(signature, given, compiled);
        form.frame_name = nb::borrow(frame), form.frame = first.values.frames;
    }
    job.noutputs = count_results(signature, form.options,
                                 [&](int i) { return job.inputs[i].data != nullptr; });
    nb::object results[Job::max_outputs];
    const bool given_results = given.out && given.out != Py_None;
    if (given_results && !take_arrays(given.out, job.noutputs, results)) return {};
    form.options.frames = frame.is_valid() ? form.frame : nullptr;
    form.options.nframes = frame.is_valid();
    job.options = &form.options;
    if (has_words) {
        form.with_words = with_words(form.options, signature, given, compiled);
        job.options = &form.with_words;
    }
    // The collector may have run code that called the function with another model. From here on, no
    // Python code runs until a lone state is computed.
    if (form.tree != compiled.number()) return {};
    name_inputs(job, signature);
    job.code = compiled.code(signature.name, functions.lanes, job);
    std::uninitialized_copy_n(form.job.outputs, job.noutputs, job.outputs);
    if (job.count > 1) {
        const States states(functions, function, compiled.tree(), job);
        return plain_batch(states, job, form, arrays, results, threads);
    }
    if (given_results) place_outputs(job, signature, form.result_shapes, arrays, results);
    for (int o = 0; o < job.noutputs && !given_results; ++o) {
        results[o] = new_output(job, form.result_shapes[o]);
        job.outputs[o].data = PyArray_BYTES(array(results[o]));
    }
    for (int i = 0; i < job.ninputs; ++i)
        if (form.rotations[i] && arrays[i].is_valid())
            check_poses(arrays[i], signature.inputs[i], form.input_shapes[i]);

    FirstFailure failure;
    job.failure = &failure;
    run_states(functions, function, compiled.tree(), job, 0, 1);
    // An input that is not finite gives NaN and no failure. Failures are raised by general_call().
    return failure.state() < 0 || job.naxes > 0
               ? returned(signature, results, job.noutputs, form.options)
               : nb::object();
}

nb::object Callable::plain_batch(const States& states, Job& job, const CallForm& form,
                                 const nb::handle* inputs, nb::object* results, int threads) const {
    const Signature& signature = *described;
    // While memory is prepared and the batch runs, the collector and handlers of signals may run code that calls
    // the function, and changes its form.
    const Options options = *job.options;
    job.options = &options;
    Shape input_shapes[Job::max_inputs], result_shapes[Job::max_outputs];
    std::copy_n(form.input_shapes, job.ninputs, input_shapes);
    std::copy_n(form.result_shapes, job.noutputs, result_shapes);
    const double numbers = count_numbers(job);
    const RunPlan plan = dtau::plan(states, threads, numbers);
    const double fresh = results[0].is_valid() ? 0.0 : sizeof(double) * numbers * double(job.count);
    if (plan.slow || !ask_for_memory(fresh + plan.scratch).enough) return {};
    {
        const KeptMemory memory(fresh);
        place_outputs(job, signature, result_shapes, inputs, results);
    }
    for (int i = 0; i < job.ninputs && !signature.any_quaternions; ++i)
        if (inputs[i].is_valid()) check_poses(inputs[i], signature.inputs[i], input_shapes[i]);
    run_batch(states, plan);
    return returned(signature, results, job.noutputs, options);
}

bool Callable::take_arrays(nb::handle out, int count, nb::object* to) const {
    const nb::object arrays = with_attributes(out, count);
    if (!has_only_arrays(arrays.ptr())) return false;
    take_outputs(arrays, count, described->noutputs > 1, to);
    return true;
}

namespace {

// ---------------------------------------------------------------- forms

// The forms of a thread, by the numbers of their functions; null: no lone call of it came yet.
struct ThreadForms {
    std::vector<PlainForm*> at;
    ThreadForms* next = nullptr;
};

// Forms of threads that have ended, for new threads. Only a thread that holds the interpreter could
// release their objects.
std::atomic<ThreadForms*> forms_left = nullptr;

void leave(ThreadForms* first, ThreadForms* last) {
    last->next = forms_left;
    while (!forms_left.compare_exchange_weak(last->next, first)) {
    }
}

ThreadForms* inherit() {
    ThreadForms* const all = forms_left.exchange(nullptr);
    if (!all) return new ThreadForms;
    if (ThreadForms* const rest = std::exchange(all->next, nullptr)) {
        ThreadForms* last = rest;
        while (last->next) last = last->next;
        leave(rest, last);
    }
    return all;
}

// Apart from the holder, whose destructor makes its first use on a thread allocate.
constinit thread_local ThreadForms* forms_of_thread = nullptr;
struct FormsHolder {
    ~FormsHolder() {
        if (ThreadForms* const forms = std::exchange(forms_of_thread, nullptr)) leave(forms, forms);
    }
    void hold() { forms_of_thread = inherit(); }
};
thread_local FormsHolder forms_holder;

PyObject* default_object(const Argument& argument) {
    switch (argument.by_default) {
        case Default::none: return Py_None;
        case Default::no: return Py_False;
        case Default::word: {
            PyObject* word = default_value(argument).release().ptr();
            PyUnicode_InternInPlace(&word);
            return word;
        }
        case Default::required:
        case Default::zero: break;
    }
    return nullptr;
}

// The interned word, which a call in the source code gives.
PyObject* the_word_numbers() {
    static constinit KeptObject word;
    return word.get([] { return PyUnicode_InternFromString("numbers"); });
}

PlainForm::PlainForm(const Signature& signature, bool by_numbers)
    : CallForm(signature), coordinates(place(signature, Option::coordinates)) {
    for (int k = 0; k < signature.narguments; ++k)
        defaults[k] = default_object(signature.arguments[k]);
    options.by_numbers = by_numbers;
    if (by_numbers) defaults[coordinates] = the_word_numbers();
}

void PlainForm::describe(const Signature& signature, const CompiledTree& compiled) {
    options.driven = {compiled.tree().nactuated, compiled.tree().actuated};
    Options of_a_frame = options;
    of_a_frame.nframes = 1;
    job = Job(signature.ninputs, signature.noutputs);
    CallForm::describe(signature, compiled, of_a_frame, true);
    job.options = nullptr;  // a call has its own
    for (int i = 0; i < signature.ninputs; ++i) {
        const ArraySignature& input = signature.inputs[i];
        takes[i] = input.rows == not_stacked && *input.quantity != Quantity::input_map &&
                   input.quantity->axes[0] != Axis::ncontacts && job.inputs[i].size > 0;
        rotations[i] = has_rotations(*input.quantity) && !signature.any_quaternions;
    }
    frame_name.reset();
    // So few numbers a state need no plan, always find memory, and take no cached memory.
    const double count = count_numbers(job);
    const bool few =
        is_short(count, compiled.tree(), 1.0) && sizeof(double) * count < KeptMemory::noticed;
    fits = few && job.count == 1 && !(signature.solves && !compiled.massless_joints().empty());
    tree = compiled.number();
}

PlainForm& form_of_number(std::size_t number, const Signature& signature, bool by_numbers) {
    if (!forms_of_thread) forms_holder.hold();
    std::vector<PlainForm*>& forms = forms_of_thread->at;
    if (number >= forms.size()) forms.resize(number + 1);
    if (!forms[number]) forms[number] = new PlainForm(signature, by_numbers);
    return *forms[number];
}

// The form of this thread for a function, which has two numbers: calls by tangents, and by numbers.
PlainForm& form_of(std::size_t number, const Signature& signature, PyObject* const* given) {
    PlainForm& form = form_of_number(2 * number, signature, false);
    if (form.coordinates < 0 || given[form.coordinates] != the_word_numbers()) return form;
    return form_of_number(2 * number + 1, signature, true);
}

// ---------------------------------------------------------------- arguments

// Whether `out` holds NumPy's own arrays alone, which are taken without Python code.
bool has_only_arrays(PyObject* out) {
    if (PyArray_CheckExact(out)) return true;
    const bool tuple = PyTuple_Check(out);
    if (!tuple && !PyList_Check(out)) return false;
    const Py_ssize_t length = tuple ? NB_TUPLE_GET_SIZE(out) : NB_LIST_GET_SIZE(out);
    for (Py_ssize_t o = 0; o < length; ++o) {
        const nb::object item = item_of(out, o);
        if (!item.is_none() && !PyArray_CheckExact(item.ptr())) return false;
    }
    return true;
}

bool is_default(const Argument& argument, nb::handle given, PyObject* expected) {
    if (argument.by_default != Default::zero) return given.ptr() == expected;
    return PyFloat_CheckExact(given.ptr()) && PyFloat_AsDouble(given.ptr()) == 0.0;
}

// Whether an option is one of a few words, none of which changes an array of the call.
bool is_word(Option option, nb::handle given) {
    switch (option) {
        case Option::axes:
        case Option::wrench_axes:
        case Option::acceleration:
        case Option::integrator: return PyUnicode_CheckExact(given.ptr());
        default: return false;
    }
}

// Adds such words to options.
Options with_words(const Options& options, const Signature& signature, const GivenArguments& given,
                   const CompiledTree& compiled) {
    CallOptions words;
    words.values = options;
    words.read(signature, given, compiled);
    return words.values;
}

// The number of threads, 0 for as many as are of use; negative: it was given otherwise, or is wrong.
int plain_threads(PyObject* given) {
    if (!given || given == Py_None) return 0;
    if (!PyLong_CheckExact(given)) return -1;
    int overflow;
    const long count = PyLong_AsLongAndOverflow(given, &overflow);
    return overflow == 0 && count >= 1 && count <= max_threads ? static_cast<int>(count) : -1;
}

// Whether the last axes of an array are these.
bool has_last_axes(PyArrayObject* a, const Shape& shape) {
    const npy_intp* const last = PyArray_DIMS(a) + PyArray_NDIM(a) - shape.ndim;
    for (int k = 0; k < shape.ndim; ++k)
        if (last[k] != shape.size[k]) return false;
    return true;
}

// Reads an input given as a contiguous array, of one state or of as many as other inputs have, or as a float,
// which goes to `number`. False: it was given otherwise.
bool read_input(nb::handle given, const Shape& shape, double& number, Job& job, Input& input) {
    input.stride[0] = 0;
    if (!is_plain(given)) {
        if (shape.ndim > 0 || !PyFloat_CheckExact(given.ptr())) return false;
        number = PyFloat_AsDouble(given.ptr());
        input.data = reinterpret_cast<const char*>(&number);
        return true;
    }
    PyArrayObject* const a = array(given);
    const int axes = PyArray_NDIM(a) - shape.ndim;
    if (axes < 0 || axes > 1 || !PyArray_IS_C_CONTIGUOUS(a) || !has_last_axes(a, shape))
        return false;
    input.data = PyArray_BYTES(a);
    if (axes == 0) return true;
    const npy_intp count = PyArray_DIM(a, 0);
    if (count == 0 || (job.naxes > 0 && job.count != count)) return false;
    job.naxes = 1;
    job.shape[0] = job.count = count;
    input.stride[0] = PyArray_STRIDE(a, 0);
    return true;
}

bool has_unit_quaternions(const Job& job, const Input& q, const CompiledTree& tree) {
    if (tree.quaternions().empty()) return true;
    const std::ptrdiff_t states = q.stride[0] == 0 ? 1 : job.count;
    for (std::ptrdiff_t k = 0; k < states; ++k) {
        const double* const numbers = reinterpret_cast<const double*>(q.data + k * q.stride[0]);
        for (const auto& [first, body] : tree.quaternions()) {
            double squared = 0.0;
            for (int i = first; i < first + 4; ++i) squared += numbers[i] * numbers[i];
            if (!(std::fabs(squared - 1.0) < 1e-6)) return false;
        }
    }
    return true;
}

}  // namespace

}  // namespace dtau
