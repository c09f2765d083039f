// Computes a single state from arguments that need no conversion: Callable::alone(). Such a call takes
// about a microsecond, so it skips the steps for batches, stacks of derivatives, contacts and threads, and
// keeps the shapes of its arrays from the call before. Callable::operator() takes all other calls, and
// raises the errors of arrays.
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
struct LoneForm {
    std::uint64_t tree;                            // its number
    bool fits;                                     // the function and the model have such calls
    int coordinates;                               // where this option is; -1: there is none
    PyObject* defaults[Signature::max_arguments];  // of options; null: none
    Shape inputs[Job::max_inputs], outputs[Job::max_outputs];
    Input numbers[Job::max_inputs];   // size 0: a lone call does not take this input
    bool rotations[Job::max_inputs];  // whether the input has poses or rotations, which are checked
    Output results[Job::max_outputs];
    // Options of the call: the frame alone, and with its words. They live here because zeroing them takes
    // as long as a small robot.
    Options options, with_words;
    nb::object frame_name;  // the last one
    const Frame* frame;
};

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
        case Default::none:
            return Py_None;
        case Default::no:
            return Py_False;
        case Default::word: {
            PyObject* word = default_value(argument).release().ptr();
            PyUnicode_InternInPlace(&word);
            return word;
        }
        case Default::required:
        case Default::zero:
            break;
    }
    return nullptr;
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
        case Option::integrator:
            return PyUnicode_CheckExact(given.ptr());
        default:
            return false;
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
    if (is_plain(given, NPY_DOUBLE)) {
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

// The interned word, which a call in the source code gives.
PyObject* the_word_numbers() {
    static constinit KeptObject word;
    return word.get([] { return PyUnicode_InternFromString("numbers"); });
}

LoneForm* new_form(const Signature& signature, bool by_numbers) {
    LoneForm* form = new LoneForm{};
    for (int k = 0; k < signature.narguments; ++k)
        form->defaults[k] = default_object(signature.arguments[k]);
    form->coordinates = place(signature, Option::coordinates);
    form->options.by_numbers = by_numbers;
    if (by_numbers) form->defaults[form->coordinates] = the_word_numbers();
    return form;
}

// The form of this thread for the function of this number, of calls by tangents or by numbers.
LoneForm& form_of(std::size_t number, const Signature& signature, bool by_numbers) {
    number = 2 * number + by_numbers;
    if (!forms_of_thread) forms_holder.hold();
    std::vector<LoneForm*>& forms = forms_of_thread->at;
    if (number >= forms.size()) forms.resize(number + 1);
    if (!forms[number]) forms[number] = new_form(signature, by_numbers);
    return *forms[number];
}

// Describes the arrays for another model.
void describe(LoneForm& form, const Signature& signature, const CompiledTree& compiled) {
    form.options.driven = {compiled.tree().nactuated, compiled.tree().actuated};
    Options options = form.options;
    options.nframes = 1;
    const Sizes sizes = {compiled.tree(), options, true};
    for (int i = 0; i < signature.ninputs; ++i) {
        const ArraySignature& input = signature.inputs[i];
        const bool other = input.rows != not_stacked || *input.quantity == Quantity::input_map ||
                           input.quantity->axes[0] == Axis::ncontacts;
        form.inputs[i] = input_shape(input, sizes);
        form.numbers[i].size = other ? 0 : 1;
        for (int k = 0; k < form.inputs[i].ndim; ++k)
            form.numbers[i].size *= static_cast<int>(form.inputs[i].size[k]);
        form.numbers[i].spacing = sizeof(double);
        form.numbers[i].mimic_role = input.quantity->as_input;
        form.rotations[i] = has_rotations(*input.quantity) && !signature.any_quaternions;
    }
    form.frame_name.reset();
    Job job(signature.ninputs, signature.noutputs);
    const double count = describe_outputs(job, signature, sizes, form.outputs);
    std::copy_n(job.outputs, signature.noutputs, form.results);
    // So few numbers need no plan, always find memory, and take no cached memory.
    const bool few =
        is_short(count, compiled.tree(), 1.0) && sizeof(double) * count < KeptMemory::noticed;
    form.fits = few && job.count == 1 && !(signature.solves && !compiled.massless_joints().empty());
    form.tree = compiled.number();
}

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

}  // namespace

nb::object Callable::alone(const FunctionList& functions, const Function& function,
                           const GivenArguments& given, const CompiledTree& compiled) const {
    const Signature& signature = *described;
    if (scalar != ScalarKind::real || (given.threads && given.threads != Py_None)) return {};
    if (given.out && given.out != Py_None && !has_only_arrays(given.out)) return {};
    LoneForm* found = &form_of(number, signature, false);
    if (found->coordinates >= 0 && given.at[found->coordinates] == the_word_numbers())
        found = &form_of(number, signature, true);
    LoneForm& form = *found;
    if (form.tree != compiled.number()) describe(form, signature, compiled);
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
            const Input& numbers = form.numbers[i];
            input.data = numbers.size > 0 ? numbers_of(value, form.inputs[i], floats[i]) : nullptr;
            if (!input.data) return {};
            if (*signature.inputs[i].quantity == Quantity::q && !signature.any_quaternions &&
                !form.options.by_numbers && !has_unit_quaternions(input.data, compiled))
                return {};
            input.size = numbers.size, input.spacing = numbers.spacing;
            input.mimic_role = numbers.mimic_role;
            if (input.data != reinterpret_cast<const char*>(&floats[i])) arrays[i] = value;
        } else if (argument.by_default == Default::zero) {
            return {};
        }
    }

    // The order of these steps is that of operator(), and so are their errors.
    if (frame.is_valid() && frame.ptr() != form.frame_name.ptr()) {
        CallOptions first;
        first.read_first(signature, given, compiled);
        form.frame_name = nb::borrow(frame), form.frame = first.values.frames;
    }
    form.options.frames = frame.is_valid() ? form.frame : nullptr;
    form.options.nframes = frame.is_valid();
    job.options = &form.options;  // no Python code runs until the call is done
    job.noutputs = count_results(signature, form.options,
                                 [&](int i) { return job.inputs[i].data != nullptr; });
    nb::object results[Job::max_outputs];
    const bool given_results = given.out && given.out != Py_None;
    if (given_results)
        take_outputs(given.out, job.noutputs, tuple_size(signature, job.noutputs, false), results);
    if (has_words) {
        form.with_words = with_words(form.options, signature, given, compiled);
        job.options = &form.with_words;
    }
    name_inputs(job, signature);
    job.code = compiled.code(signature.name, functions.lanes, job);
    std::uninitialized_copy_n(form.results, job.noutputs, job.outputs);
    if (given_results) place_outputs(job, signature, form.outputs, NPY_DOUBLE, arrays, results);
    for (int o = 0; o < job.noutputs && !given_results; ++o) {
        results[o] = new_array(form.outputs[o]);
        job.outputs[o].data = PyArray_BYTES(array(results[o]));
    }
    for (int i = 0; i < job.ninputs; ++i)
        if (form.rotations[i] && arrays[i].is_valid())
            check_poses(arrays[i], signature.inputs[i], form.inputs[i], NPY_DOUBLE);

    FirstFailure failure;
    job.failure = &failure;
    run_states(functions, function, compiled.tree(), job, 0, 1);
    return failure.state() < 0 ? returned(signature, results, job.noutputs, form.options)
                               : nb::object();
}

}  // namespace dtau
