// One call from Python: from its arguments to a Job, and from there to the results.
#pragma once

#include <string>

#include <nanobind/nanobind.h>

#include "registry/signature.hpp"
#include "tree/compiled_tree.hpp"

namespace dtau {

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

// A function as Python calls it: name(model, arguments, out=None, threads=None), in the order of its
// row.
struct Callable {
    const FunctionList& (*list)();  // of the instruction set in use
    int group, place;               // of the function in that list
    Element element;
    // The classes of several results, without and with an optional one.
    nanobind::handle results, all_results;

    nanobind::object operator()(PyObject* const* values, Py_ssize_t count,
                                PyObject* keywords) const;
};

// What users call a function: with contacts, those of steps and linearizations are options of theirs.
std::string public_name(const char* function);

// Text of an object for a message; what has no UTF-8 is escaped.
std::string str(nanobind::handle object);

// Makes NumPy's C interface ready; once a module, when it is imported.
void import_numpy();

}  // namespace dtau
