// The arguments of one call, by place or by name, put into the order of the function's row.
#pragma once

#include <nanobind/nanobind.h>

#include "registry/signature.hpp"

namespace dtau {

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

}  // namespace dtau
