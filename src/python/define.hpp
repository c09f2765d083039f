// Defines the functions of a FunctionList in a Python module: define_functions().
#pragma once

#include "python/call.hpp"

namespace dtau {

// Raises ImportError in a sub-interpreter, or if the extension was imported before: a process has
// its classes and functions once, in the main interpreter.
void require_first_import(const nanobind::module_& module);

// Defines the functions that exist for an element type.
void define_functions(nanobind::module_& module, const FunctionList& (*list)(), ScalarKind scalar,
                      bool has_model = true);

// Describes their signatures in plain Python, for the stubs and the tests.
nanobind::list describe_functions(const FunctionList& list);

}  // namespace dtau
