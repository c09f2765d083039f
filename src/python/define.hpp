// The functions of a list as functions of a Python module.
#pragma once

#include "python/call.hpp"

namespace dtau {

// ImportError in a sub-interpreter, and if the extension was imported before: a process has its classes
// and functions once, in the main interpreter.
void require_first_import(const nanobind::module_& module);

// Defines those that there are for an element type.
void define_functions(nanobind::module_& module, const FunctionList& (*list)(), ScalarKind scalar);

// Their signatures, in plain Python: for the stubs and the tests.
nanobind::list describe_functions(const FunctionList& list);

}  // namespace dtau
