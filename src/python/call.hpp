// Declares the steps of a call from Python, call(): read arguments and options, check arrays,
// describe the job, run it.
#pragma once

#include <array>
#include <atomic>
#include <memory>
#include <string>
#include <vector>

#include <nanobind/ndarray.h>

#include "call/form.hpp"
#include "call/options.hpp"
#include "python/objects.hpp"
#include "tree/compiled_contacts.hpp"

#define NPY_NO_DEPRECATED_API NPY_2_0_API_VERSION
#define NPY_TARGET_VERSION NPY_1_23_API_VERSION
#define PY_ARRAY_UNIQUE_SYMBOL dtau_numpy
#ifndef DTAU_IMPORTS_NUMPY  // a single file imports NumPy's C interface for all
#define NO_IMPORT_ARRAY
#endif
#include <numpy/arrayobject.h>

namespace dtau {

// ---------------------------------------------------------------- arguments

// The arguments of a call; null where one was left out.
struct GivenArguments {
    PyObject* model;
    PyObject* at[Signature::max_arguments];
    PyObject *out, *threads;

    // Arguments of a METH_FASTCALL | METH_KEYWORDS call: name(model, arguments, out=None,
    // threads=None), without the model unless `has_model`. Raises TypeError if one is missing,
    // unknown or given twice.
    GivenArguments(const Signature& signature, PyObject* const* values, Py_ssize_t count,
                   PyObject* keywords, bool has_model);
    // Options alone, from a dict, for callers that pass arrays another way.
    GivenArguments(const Signature& signature, nanobind::handle model, nanobind::dict options);

  private:
    PyObject** place(const Signature& signature, PyObject* keyword, bool has_model);
};

// Keeps the compiled tree of a model alive.
struct TreeReference {
    nanobind::object owner;
    const CompiledTree& compiled;
};

// Returns the compiled tree of a model; TypeError unless it is a dtau.Model.
TreeReference compiled_tree(nanobind::handle model);

// Raises ValueError if a function that solves with the mass matrix finds joints without inertia.
void require_inertia(const Signature& signature, const CompiledTree& compiled,
                     const Options& options);

// ---------------------------------------------------------------- options

template <class X, int... Shape>
using Rows = nanobind::ndarray<const X, nanobind::shape<-1, Shape...>, nanobind::c_contig,
                               nanobind::device::cpu>;

template <std::size_t N, class Array> std::array<double, N> row(const Array& a, std::size_t i) {
    std::array<double, N> result;
    for (std::size_t k = 0; k < N; ++k) result[k] = a.data()[i * N + k];
    return result;
}

// The options of one call, read from Python's objects.
class CallOptions : public OptionValues {
  public:
    // Reads numbers, names and contacts. May run the arguments' own code.
    void read_first(const Signature& signature, const GivenArguments& given,
                    const CompiledTree& tree);
    // Reads the argument `inputs`: returns a map as an array of any number type; stores a mask as
    // the option and returns nothing. May run the argument's own code.
    nanobind::object read_inputs(nanobind::handle given, const Tree& tree, bool may_be_map = true);
    // Reads all other options. Runs no Python code.
    void read(const Signature& signature, const GivenArguments& given, const CompiledTree& tree);

    nanobind::object contacts;  // the dtau.Contacts

  private:
    void read_variables(const Signature& signature, nanobind::handle given);  // of `by`
    void read_frames(nanobind::handle model, nanobind::handle given, const CompiledTree& tree);
    void require_moving(nanobind::handle given) const;
    void read_prescribed(nanobind::handle given, const Tree& tree);
    void require_contacts_of(const Signature& signature, const GivenArguments& given) const;
    void read_contacts(nanobind::handle model, nanobind::handle given, const CompiledTree& tree);

    nanobind::object compiled_contacts_;  // keeps alive what the options point into
};

// Finds a frame by its name. For an unknown name the model's error suggests similar names.
const Frame& named_frame(nanobind::handle model, nanobind::handle name, const CompiledTree& tree);

// Reads an int from `least` to `most`. `expected` begins the message of the TypeError or ValueError
// otherwise. May run the argument's own code.
int number(const char* expected, nanobind::handle given, int least, int most);

// The error for an argument that has no use without contacts.
nanobind::builtin_exception goes_with_contacts(const char* argument);

// The default of an argument, as a Python object.
nanobind::object default_value(const Argument& argument);

// ---------------------------------------------------------------- arrays

inline PyArrayObject* array(nanobind::handle object) {
    return reinterpret_cast<PyArrayObject*>(object.ptr());
}

// A shape for a message, after an optional prefix such as "..."; the element type of an array.
std::string text(const npy_intp* shape, int ndim, const char* prefix = "");
inline std::string dtype_text(PyArrayObject* a) {
    return str(nanobind::borrow(reinterpret_cast<PyObject*>(PyArray_DESCR(a))));
}
// Whether the object is an aligned array of float64.
inline bool is_plain(nanobind::handle given) {
    return PyArray_CheckExact(given.ptr()) && PyArray_TYPE(array(given)) == NPY_DOUBLE &&
           PyArray_ISBEHAVED_RO(array(given));
}

// Reads an argument as an array of any type. Refuses masks and gradients. Runs the argument's own code.
nanobind::object whole_array(nanobind::handle given, const char* name);

// Converts any other argument to such an array. Runs the argument's own code, which may change any
// array that others know.
nanobind::object converted(nanobind::handle given, const char* name);

// Calls a function of dtau.support.foreign_arrays with the argument's name and an object of another library.
nanobind::object from_other_library(const char* function, nanobind::handle given,
                                    const std::string& name);

// Reads from plain arrays what they decide, as options: whether parameters include parameters of joints, how
// many inputs a map has, and, unless the argument `order` says it, the order of stacks of time derivatives.
void read_sizes(Options& options, const Signature& signature, const nanobind::object* inputs,
                const Tree& tree, bool has_order);

// Checks the last axes of a plain array against a form's shape, and makes them evenly spaced, by `spacing` bytes;
// writes which of its shapes parameters have. A stack may be longer where the argument `order` says how much of
// it is read. The arrays before it have batch_axes axes of a batch. Runs no other code.
nanobind::object input_array(nanobind::handle plain, const ArraySignature& input, Shape& core,
                             bool has_order, const Tree& tree, int batch_axes, npy_intp& spacing);

// Raises ValueError if a stack could be a batch of its first rows: its leading axes equal the batch
// axes of another argument.
void refuse_batch_as_stack(const Signature& signature, const nanobind::object* inputs,
                           const Shape* cores);

// The number of inputs of a map (..., nv, ninputs).
int input_count(nanobind::handle map, const char* name, const Tree& tree);

// The distance in bytes between adjacent numbers of such an array's last axes.
npy_intp core_spacing(nanobind::handle input, const Shape& core);

// Broadcasts the batch axes of all inputs against each other and writes their strides.
void broadcast(Job& job, const Signature& signature, const nanobind::object* arrays,
               const Shape* cores);

// Raises ValueError unless every quaternion of q has unit norm within 1e-6. (Numbers that are not
// finite give NaN later.)
void check_quaternions(nanobind::handle q, const char* name, const CompiledTree& tree);

// Raises ValueError unless an input of poses or rotations has unit quaternions, or rotation
// matrices, within 1e-6. Does nothing for other inputs.
void check_poses(nanobind::handle input, const ArraySignature& signature, const Shape& core);
bool has_rotations(const Quantity& quantity);

// Returns a reference to an item of a tuple or a list, which other threads may change meanwhile.
nanobind::object item_of(nanobind::handle out, Py_ssize_t place);

// Reads `out`, the caller's array, or a tuple of so many, without checks: returns references, and arrays
// that share the memory of other libraries' tensors. May run the tensors' own code.
void take_outputs(nanobind::handle out, int count, bool several, nanobind::object* results);

// Sets the arrays of the results: the caller's, after checks, or new ones. `inputs` are invalid where
// none was given.
void place_outputs(Job& job, const Signature& signature, const Shape* shapes,
                   const nanobind::handle* inputs, nanobind::object* results);

// ---------------------------------------------------------------- work

// One call with its arguments read.
struct Work : CallForm {
    Work(const FunctionList& list, const Function& function, TreeReference tree)
        : CallForm(function.signature), list(list), function(function), tree(std::move(tree)) {}

    const FunctionList& list;
    const Function function;
    TreeReference tree;
    CallOptions options;
    nanobind::object inputs[Job::max_inputs], results[Job::max_outputs];
    std::vector<Place> order;  // of the states in groups of lanes, if the job has one
};

// The states of a job, and what computes them.
struct States {
    const FunctionList& list;
    const Function& function;
    const Tree& tree;
    const Job& job;

    explicit States(const Work& work)
        : States(work.list, work.function, work.tree.compiled.tree(), work.job) {}
    States(const FunctionList& list, const Function& function, const Tree& tree, const Job& job)
        : list(list), function(function), tree(tree), job(job) {}
};

struct RunPlan {
    int threads = 1;
    std::ptrdiff_t chunk = 1;  // states
    bool slow = false;         // a chunk takes so long that a signal would wait too long
    bool brief = true;         // all of it is so short that it keeps the interpreter's lock
    double scratch = 0.0;      // bytes for all threads; 0 if they are few
};

// Reads `threads`: 0 for None, which leaves the number to plan(). May run the argument's own code.
int thread_count(nanobind::handle threads);

// Whether a lone state needs no plan, by its numbers of results and the orders of its derivatives.
inline bool is_short(double numbers, const Tree& tree, double orders) {
    return numbers + double(tree.nv) * tree.nv * orders < 1e5;
}

// For so many threads, and so many numbers of results a state.
RunPlan plan(const States& states, int threads, double numbers);

// Raises MemoryError before anything is allocated if the system would kill the process later: for
// new arrays of so many bytes, and for scratch memory.
void check_memory(const Work& work, const RunPlan& plan, double results);

// Computes the states in their order. Raises what signal handlers raised meanwhile.
void run_batch(const States& states, const RunPlan& plan);
// Computes the results of a call. Raises ValueError for a state without results, too.
void run(Work& work, const RunPlan& plan);

// Interrupted calls leave slow states to be computed to their end. A later call releases the
// objects that these needed: any thread may find them done, but only one that holds the
// interpreter's lock may release them.
struct SlowWork;
extern std::atomic<SlowWork*> ended_work;
void release_ended_work();
inline void release_interrupted() {
    if (ended_work.load(std::memory_order_relaxed)) release_ended_work();
}

// ---------------------------------------------------------------- functions

// A function as Python calls it: name(model, arguments, out=None, threads=None), with arguments in
// the order of its signature. Functions of poses take no model.
struct Callable {
    const FunctionList& (*list)();  // of the instruction set in use
    int group, place;               // indices of the function in that list
    const Signature* described;     // the same for all sets
    ScalarKind scalar;
    bool has_model;
    nanobind::handle results;  // class of several results
    std::size_t number;        // among all, for what each thread keeps of its lone calls
    nanobind::handle names[Job::max_outputs] = {};  // of results that are attributes of others

    nanobind::object operator()(PyObject* const* values, Py_ssize_t count,
                                PyObject* keywords) const;

  private:
    // Computes states from arguments of the most common form; invalid for all other calls, and for a lone
    // state without results.
    nanobind::object plain_call(const FunctionList& functions, const Function& function,
                                const GivenArguments& given, const CompiledTree& compiled) const;
    // The rest of it for a batch; `results` are the arrays of `out`, or invalid.
    nanobind::object plain_batch(const States& states, Job& job, const CallForm& form,
                                 const nanobind::handle* inputs, nanobind::object* results,
                                 int threads) const;
    // Computes any states from any arguments.
    nanobind::object general_call(Work& work, const GivenArguments& given) const;
    // `out` with room for so many results: an earlier result has some of its arrays as attributes.
    nanobind::object with_attributes(nanobind::handle out, int count) const;
    // Takes `out` of a plain call; false if it holds anything but NumPy's own arrays.
    bool take_arrays(nanobind::handle out, int count, nanobind::object* to) const;
    // One array, or a named tuple; results that not every call has are its attributes.
    nanobind::object returned(const Signature&, nanobind::object*, int count, const Options&) const;
};

// The C function that Python calls; `self` is a capsule of a Callable.
PyObject* call(PyObject* self, PyObject* const* values, Py_ssize_t count,
               PyObject* keywords) noexcept;
// The same for a Callable. If the arguments do not fit its signature, it says so in `fits` instead of
// setting an error.
PyObject* try_call(const Callable& callable, PyObject* const* values, Py_ssize_t count,
                   PyObject* keywords, bool& fits) noexcept;

// Imports NumPy's C interface, once for each module at its import.
void import_numpy();

}  // namespace dtau
