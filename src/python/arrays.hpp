// NumPy arrays as the calls see them: shapes, checks, messages. Private to src/python.
#pragma once

#include <string>

#include "python/call.hpp"
#include "registry/signature.hpp"

#define NPY_NO_DEPRECATED_API NPY_2_0_API_VERSION
#define NPY_TARGET_VERSION NPY_1_23_API_VERSION
#define PY_ARRAY_UNIQUE_SYMBOL dtau_numpy
#ifndef DTAU_IMPORTS_NUMPY  // one file does it for all
#define NO_IMPORT_ARRAY
#endif
#include <numpy/arrayobject.h>

namespace dtau {

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
void take_outputs(nanobind::handle out, int count, nanobind::object* results);

// The arrays of the results: the caller's, after checks, or new ones where there are none.
void place_outputs(Job& job, const Signature& signature, const Shape* shapes, int type,
                   const nanobind::object* inputs, nanobind::object* results);

// Rows i, j, k: the indices of the entries of a packed tensor, (3, entries), in their order.
nanobind::object packed_indices(nanobind::handle model);

}  // namespace dtau
