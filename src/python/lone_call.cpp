// Computes a single state from arguments that need no conversion: Callable::lone_call(), the normal way of a
// call. It takes about a microsecond, so it skips the steps for batches, stacks of derivatives, contacts and
// threads, and keeps the form of the call before. Callable::batch_call() takes all other calls, and raises
// the errors of arrays.
#include <algorithm>
#include <atomic>
#include <cmath>
#include <memory>
#include <utility>
#include <vector>

#include "batch/first_failure.hpp"
#include "python/call.hpp"
#include "python/lock.hpp"
#include "python/result_memory.hpp"
#include "registry/run_states.hpp"

namespace nb = nanobind;

namespace dtau {
namespace {

// Everything that lone calls of a function with one model have in common.
struct LoneForm : CallForm {
    std::uint64_t tree = 0;  // its number
    bool fits = false;       // the function and the model have such calls
    int coordinates;         // where this option is; -1: there is none
    PyObject* defaults[Signature::max_arguments] = {};  // of options; null: none
    bool takes[Job::max_inputs];                        // whether a lone call may have this input
    bool rotations[Job::max_inputs];  // whether the input has poses or rotations, which are checked
    // Options of the call: the frame alone, and with its words. They live here because zeroing them takes
    // as long as a small robot.
    Options options, with_words;
    nb::object frame_name;  // the last one
    const Frame* frame = nullptr;

    LoneForm(const Signature& signature, bool by_numbers);
    // Describes the arrays for another model.
    void describe(const Signature& signature, const CompiledTree& compiled);
};

// The steps of a call, in the order in which it takes them; they are defined below.
LoneForm& form_of(std::size_t number, const Signature& signature, PyObject* const* given);
bool has_only_arrays(PyObject* out);
bool is_default(const Argument& argument, nb::handle given, PyObject* expected);
bool is_word(Option option, nb::handle given);
const char* numbers_of(nb::handle given, const Shape& shape, double& number);
bool has_unit_quaternions(const char* numbers, const CompiledTree& tree);
Options with_words(const Options& options, const Signature& signature, const GivenArguments& given,
                   const CompiledTree& compiled);
nb::object new_array(const Shape& shape);

}  // namespace

nb::object Callable::lone_call(const FunctionList& functions, const Function& function,
                               const GivenArguments& given, const CompiledTree& compiled) const {
    const Signature& signature = *described;
    if (scalar != ScalarKind::real || (given.threads && given.threads != Py_None)) return {};
    LoneForm& form = form_of(number, signature, given.at);
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
            input.data =
                form.takes[i] ? numbers_of(value, form.input_shapes[i], floats[i]) : nullptr;
            if (!input.data) return {};
            if (*signature.inputs[i].quantity == Quantity::q && !signature.any_quaternions &&
                !form.options.by_numbers && !has_unit_quaternions(input.data, compiled))
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
    job.options = &form.options;  // no Python code runs until the call is done
    if (has_words) {
        form.with_words = with_words(form.options, signature, given, compiled);
        job.options = &form.with_words;
    }
    name_inputs(job, signature);
    job.code = compiled.code(signature.name, functions.lanes, job);
    std::uninitialized_copy_n(form.job.outputs, job.noutputs, job.outputs);
    if (given_results) place_outputs(job, signature, form.result_shapes, arrays, results);
    for (int o = 0; o < job.noutputs && !given_results; ++o) {
        results[o] = new_array(form.result_shapes[o]);
        job.outputs[o].data = PyArray_BYTES(array(results[o]));
    }
    for (int i = 0; i < job.ninputs; ++i)
        if (form.rotations[i] && arrays[i].is_valid())
            check_poses(arrays[i], signature.inputs[i], form.input_shapes[i]);

    FirstFailure failure;
    job.failure = &failure;
    run_states(functions, function, compiled.tree(), job, 0, 1);
    // An input that is not finite gives NaN and no failure. Failures are raised by batch_call().
    return failure.state() < 0 ? returned(signature, results, job.noutputs, form.options)
                               : nb::object();
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
    std::vector<LoneForm*> at;
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

LoneForm::LoneForm(const Signature& signature, bool by_numbers)
    : CallForm(signature), coordinates(place(signature, Option::coordinates)) {
    for (int k = 0; k < signature.narguments; ++k)
        defaults[k] = default_object(signature.arguments[k]);
    options.by_numbers = by_numbers;
    if (by_numbers) defaults[coordinates] = the_word_numbers();
}

void LoneForm::describe(const Signature& signature, const CompiledTree& compiled) {
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
    // So few numbers need no plan, always find memory, and take no cached memory.
    const double count = count_numbers(job);
    const bool few =
        is_short(count, compiled.tree(), 1.0) && sizeof(double) * count < KeptMemory::noticed;
    fits = few && job.count == 1 && !(signature.solves && !compiled.massless_joints().empty());
    tree = compiled.number();
}

LoneForm& form_of_number(std::size_t number, const Signature& signature, bool by_numbers) {
    if (!forms_of_thread) forms_holder.hold();
    std::vector<LoneForm*>& forms = forms_of_thread->at;
    if (number >= forms.size()) forms.resize(number + 1);
    if (!forms[number]) forms[number] = new LoneForm(signature, by_numbers);
    return *forms[number];
}

// The form of this thread for a function, which has two numbers: calls by tangents, and by numbers.
LoneForm& form_of(std::size_t number, const Signature& signature, PyObject* const* given) {
    LoneForm& form = form_of_number(2 * number, signature, false);
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

bool has_shape(PyArrayObject* a, const Shape& shape) {
    if (PyArray_NDIM(a) != shape.ndim) return false;
    for (int k = 0; k < shape.ndim; ++k)
        if (PyArray_DIM(a, k) != shape.size[k]) return false;
    return true;
}

// Finds the numbers of an input given as one state's contiguous array, or as a float, which goes to
// `number`. Null: it was given otherwise.
const char* numbers_of(nb::handle given, const Shape& shape, double& number) {
    if (is_plain(given)) {
        PyArrayObject* a = array(given);
        return PyArray_IS_C_CONTIGUOUS(a) && has_shape(a, shape) ? PyArray_BYTES(a) : nullptr;
    }
    if (shape.ndim > 0 || !PyFloat_CheckExact(given.ptr())) return nullptr;
    number = PyFloat_AsDouble(given.ptr());
    return reinterpret_cast<const char*>(&number);
}

bool has_unit_quaternions(const char* numbers, const CompiledTree& tree) {
    const double* q = reinterpret_cast<const double*>(numbers);
    for (const auto& [first, body] : tree.quaternions()) {
        double squared = 0.0;
        for (int k = first; k < first + 4; ++k) squared += q[k] * q[k];
        if (!(std::fabs(squared - 1.0) < 1e-6)) return false;
    }
    return true;
}

nb::object new_array(const Shape& shape) {
    npy_intp sizes[max_core_axes];
    for (int k = 0; k < shape.ndim; ++k) sizes[k] = shape.size[k];
    // PyArray_SimpleNew() would look up the element type.
    static constinit KeptObject kept;
    PyObject* const type =
        kept.get([] { return reinterpret_cast<PyObject*>(PyArray_DescrFromType(NPY_DOUBLE)); });
    Py_INCREF(type);  // for the array
    nb::object result =
        nb::steal(PyArray_NewFromDescr(&PyArray_Type, reinterpret_cast<PyArray_Descr*>(type),
                                       shape.ndim, sizes, nullptr, nullptr, 0, nullptr));
    if (!result.is_valid()) throw nb::python_error();
    return result;
}

}  // namespace

}  // namespace dtau
