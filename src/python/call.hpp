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
