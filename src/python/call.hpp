// One call from Python: its arguments by place or by name, its options and arrays, the job that they make,
// and how that is run.
#pragma once

#include <array>
#include <atomic>
#include <memory>
#include <string>
#include <vector>

#include <nanobind/ndarray.h>

#include "registry/signature.hpp"
#include "tree/compiled_contacts.hpp"
#include "tree/compiled_tree.hpp"

#define NPY_NO_DEPRECATED_API NPY_2_0_API_VERSION
#define NPY_TARGET_VERSION NPY_1_23_API_VERSION
#define PY_ARRAY_UNIQUE_SYMBOL dtau_numpy
#ifndef DTAU_IMPORTS_NUMPY  // one file does it for all
#define NO_IMPORT_ARRAY
#endif
#include <numpy/arrayobject.h>

namespace dtau {

// ---------------------------------------------------------------- arguments

// What a call was given: null where an argument was left out.
struct GivenArguments {
    PyObject* model;
    PyObject* at[Signature::max_arguments];
    PyObject *out, *threads;

    // Of a call by METH_FASTCALL | METH_KEYWORDS: name(model, arguments, out=None, threads=None).
    // TypeError for one that is missing, unknown or given twice.
    GivenArguments(const Signature& signature, PyObject* const* values, Py_ssize_t count,
                   PyObject* keywords);
    // Of a dict of options alone, where arrays come another way.
    GivenArguments(const Signature& signature, nanobind::handle model, nanobind::dict options);

  private:
    PyObject** place(const Signature& signature, PyObject* keyword);
};

// The compiled tree of a model, kept alive.
struct TreeReference {
    nanobind::object owner;
    const CompiledTree& compiled;
};

// TypeError unless it is a dtau.Model.
TreeReference compiled_tree(nanobind::handle model);

// ValueError if joints whose motion is not given have no inertia to accelerate. A call checks it of
// functions that solve with the mass matrix.
void require_inertia(const char* function, const CompiledTree& compiled, const bool* prescribed);

// ---------------------------------------------------------------- options

template <class X, int... Shape>
using Rows = nanobind::ndarray<const X, nanobind::shape<-1, Shape...>, nanobind::c_contig,
                               nanobind::device::cpu>;

template <std::size_t N, class Array>
std::array<double, N> row(const Array& a, std::size_t i) {
    std::array<double, N> result;
    for (std::size_t k = 0; k < N; ++k) result[k] = a.data()[i * N + k];
    return result;
}

// The options of one call, and what they point into.
class CallOptions {
  public:
    // Numbers and names of frames. May run the arguments' own code.
    void read_first(const Signature& signature, const GivenArguments& given,
                    const CompiledTree& tree);
    // What drives the robot: the map as an array of whatever numbers; or of a mask, which becomes the
    // option, nothing. May run the argument's own code.
    nanobind::object read_inputs(nanobind::handle given, const Tree& tree, bool may_be_map = true);
    // All others. Runs no Python code.
    void read(const Signature& signature, const GivenArguments& given, const CompiledTree& tree);

    Options values;
    nanobind::object contacts;  // the dtau.Contacts
    int order = -1;             // as it is asked for; negative: the stacks say it
    bool single_frame = false;  // results have no axis for frames

  private:
    void read(const Argument& argument, nanobind::handle given, const CompiledTree& tree);
    void read_frames(nanobind::handle model, nanobind::handle given, const CompiledTree& tree);
    void require_moving(nanobind::handle given) const;
    void read_prescribed(nanobind::handle given, const Tree& tree);
    void read_mask(nanobind::handle given, const Tree& tree);
    void require_contacts_of(const Signature& signature, const GivenArguments& given) const;
    void read_contacts(nanobind::handle model, nanobind::handle given, const CompiledTree& tree);

    // What the values point into.
    std::vector<Frame> frames_;  // of several names
    nanobind::object compiled_contacts_;
    // Copies: what these say is checked once, and others could write into the arguments.
    std::unique_ptr<bool[]> prescribed_;
    std::unique_ptr<int[]> columns_;
};

// An int from `least` to `most`; `expected` begins the message of the TypeError or ValueError about
// anything else. May run the argument's own code.
int number(const char* expected, nanobind::handle given, int least, int most);

// The error of an argument that is of no use without contacts.
nanobind::builtin_exception goes_with_contacts(const char* argument);

// What an argument is that is left out, as Python has it.
nanobind::object default_value(const Argument& argument);

// ---------------------------------------------------------------- arrays

inline PyArrayObject* array(nanobind::handle object) {
    return reinterpret_cast<PyArrayObject*>(object.ptr());
}

// A shape for a message, after an optional prefix such as "...".
std::string text(const npy_intp* shape, int ndim, const char* prefix = "");

// Whether it is an aligned array of the element type.
inline bool is_plain(nanobind::handle given, int type) {
    return PyArray_CheckExact(given.ptr()) && PyArray_TYPE(array(given)) == type &&
           PyArray_ISBEHAVED_RO(array(given));
}

// Such an array of another argument. Runs the argument's own code, which may change any array that
// others know.
nanobind::object converted(nanobind::handle given, const char* name, int type);

// How far a call's stacks of time derivatives are read: to the order that is asked for, be they longer;
// else all of them, and the first writes the order, negative before, that the others must have.
struct Stacks {
    int order;
    bool asked;
};

// A plain array that is an input: its last axes checked, and evenly spaced. The axis of what is read of
// a stack is added to `core`. Runs no other code.
nanobind::object input_array(nanobind::handle plain, const ArraySignature& input, Shape& core,
                             Stacks& stacks, int type, const Tree& tree);

// ValueError where a stack has the shape of a batch of its first rows: its axes but the last ones are
// those of another argument's batch.
void refuse_batch_as_stack(const Signature& signature, const nanobind::object* inputs,
                           const Shape* cores);

// How many inputs a map (..., nv, ninputs) has.
int input_count(nanobind::handle map, const char* name, const Tree& tree);

// The distance in bytes of neighbouring numbers of such an array's last axes.
npy_intp core_spacing(nanobind::handle input, const Shape& core);

// Broadcasts the batch axes of all inputs against each other and writes their strides.
void broadcast(Job& job, const Signature& signature, const nanobind::object* arrays,
               const Shape* cores);

// Every quaternion of q must have unit norm within 1e-6. (What is not finite gives NaN later.)
void check_quaternions(nanobind::handle q, const char* name, const CompiledTree& tree, int type);

// The arrays that the caller gives for so many results, unchecked: references to them.
void take_outputs(nanobind::handle out, int count, int tuple_size, nanobind::object* results);

// The arrays of the results: the caller's, after checks, or new ones where there are none.
void place_outputs(Job& job, const Signature& signature, const Shape* shapes, int type,
                   const nanobind::object* inputs, nanobind::object* results);

// Rows i, j, k: the indices of the entries of a packed tensor, (3, entries), in their order.
nanobind::object packed_indices(nanobind::handle model);

// ---------------------------------------------------------------- work

// What one call computes with, once its arguments are read.
struct Work {
    Work(const FunctionList& list, const Function& function, TreeReference tree)
        : list(list), function(function), tree(std::move(tree)) {}

    const FunctionList& list;
    const Function& function;
    TreeReference tree;
    CallOptions options;
    nanobind::object inputs[Job::max_inputs], results[Job::max_outputs];
    Job job;
};

struct RunPlan {
    int threads;
    std::ptrdiff_t chunk;  // states
    bool slow;             // so that a signal would wait too long for the end of a chunk
    double scratch;        // bytes that all threads take; 0 where they are few
};

// 0 for None, which leaves the number to the plan. May run the argument's own code.
int thread_count(nanobind::handle threads);

// For so many threads, and so many numbers of results a state.
RunPlan plan(const Work& work, int threads, double numbers);

// MemoryError before anything is allocated, where the system would only kill the process later:
// for new arrays of so many bytes, and for scratch.
void check_memory(const Work& work, const RunPlan& plan, double results);

// Computes the results. Raises what signals raised meanwhile, and ValueError for a state without results.
void run(Work& work, const RunPlan& plan);

// Calls that were interrupted leave slow states to be computed to their end; what these needed is
// given back here, by a later call: any thread may see their end, but only one with the lock may do
// that.
struct SlowWork;
extern std::atomic<SlowWork*> ended_work;
void release_ended_work();
inline void release_interrupted() {
    if (ended_work.load(std::memory_order_relaxed)) release_ended_work();
}

// ---------------------------------------------------------------- functions

// A function as Python calls it: name(model, arguments, out=None, threads=None), in the order of its
// row.
struct Callable {
    const FunctionList& (*list)();  // of the instruction set in use
    int group, place;               // of the function in that list
    ScalarKind scalar;
    // The classes of several results, without and with an optional one.
    nanobind::handle results, all_results;

    nanobind::object operator()(PyObject* const* values, Py_ssize_t count,
                                PyObject* keywords) const;
};

// What Python calls: `self` is a capsule of a Callable.
PyObject* call(PyObject* self, PyObject* const* values, Py_ssize_t count,
               PyObject* keywords) noexcept;

// Text of an object for a message; what has no UTF-8 is escaped.
std::string str(nanobind::handle object);

// Makes NumPy's C interface ready; once a module, when it is imported.
void import_numpy();

}  // namespace dtau
