// Reads the arrays of a call: read_sizes() reads what they decide, input_array() checks shapes, broadcast()
// batch axes, check_quaternions() norms.
#include <algorithm>
#include <climits>
#include <cmath>

#include "dtau/mimic.hpp"
#include "python/batch_states.hpp"
#include "python/call.hpp"
#include "python/lock.hpp"

namespace nb = nanobind;

namespace dtau {

namespace {

// Returns the message of NumPy's exception and clears it.
std::string take_error() {
    nb::python_error error;
    return str(error.value());
}

nb::object from_any(nb::handle given, PyArray_Descr* type, int flags) {
    return nb::steal(
        unless_ended([&] { return PyArray_FromAny(given.ptr(), type, 0, 0, flags, nullptr); }));
}

// Whether the numbers of the last axes are evenly spaced. Strides of axes with one number or none
// do not matter.
bool evenly_spaced(PyArrayObject* a, const Shape& core, npy_intp& spacing) {
    const npy_intp* strides = PyArray_STRIDES(a) + PyArray_NDIM(a) - core.ndim;
    npy_intp count = 1;
    spacing = PyArray_ITEMSIZE(a);
    for (int k = core.ndim - 1; k >= 0; --k) {
        if (core.size[k] <= 1) continue;
        if (count == 1) spacing = strides[k];
        if (strides[k] != spacing * count) return false;
        count *= core.size[k];
    }
    return true;
}

// Whether the last axes are the axes of `core`; with `longer`, the first of them may be longer.
bool has_core(PyArrayObject* a, const Shape& core, bool longer) {
    const int batch = PyArray_NDIM(a) - core.ndim;
    if (batch < 0) return false;
    const npy_intp* shape = PyArray_DIMS(a) + batch;
    for (int k = 0; k < core.ndim; ++k)
        if (shape[k] != core.size[k] && !(longer && k == 0 && shape[k] > core.size[k]))
            return false;
    return true;
}

// Advice for torques without the free roots' torques, which is the input of other packages.
std::string torque_hint(PyArrayObject* a, const ArraySignature& input, const Tree& tree) {
    const int ndim = PyArray_NDIM(a), missing = tree.independent.n - tree.nactuated;
    if (*input.quantity != Quantity::torque || missing == 0 || ndim == 0 ||
        PyArray_DIM(a, ndim - 1) != tree.nactuated)
        return "";
    return ": the " + std::to_string(missing) +
           " numbers of the free root are missing; give zeros if nothing drives it (inputs= of "
           "dtau.linearize and dtau.equilibrium leaves them out)";
}

// Inertial parameters of the bodies in rows, as Model.parameters has them.
Shape rows_of_bodies(const Tree& tree) { return {2, {tree.nbodies, body_parameters}}; }

// Parameters of the bodies, and of the joints too, one behind the other.
Shape flat_parameters(const Tree& tree, bool of_joints) {
    return {1, {parameter_count(tree, of_joints)}};
}

// Whether parameters in place of the model's include parameters of joints.
bool has_joint_parameters(PyArrayObject* a, const Tree& tree) {
    return tree.independent.n > 0 && has_core(a, flat_parameters(tree, true), false);
}

// The shapes that parameters in place of the model's may have, for a message.
std::string shapes_of_parameters(const Tree& tree) {
    const Shape rows = rows_of_bodies(tree), bodies = flat_parameters(tree, false),
                all = flat_parameters(tree, true);
    return text(bodies.size, 1, "...") + ", " + text(rows.size, 2, "...") +
           " or, with armature, damping, stiffness and friction of the velocities behind, " +
           text(all.size, 1, "...");
}

// Advice for variations of parameters that are in rows, or have numbers of joints where `expected` has none, or
// the other way round.
std::string parameters_hint(PyArrayObject* a, const ArraySignature& input, const Shape& expected,
                            const Tree& tree) {
    const int ndim = PyArray_NDIM(a);
    if (*input.quantity != Quantity::parameters) return "";
    if (expected.size[0] > parameter_count(tree, false))
        return ": numbers of joints behind those of bodies, as the call has them in parameters= or "
               "asks for them";
    if (has_joint_parameters(a, tree))
        return ": numbers of joints go with such numbers in parameters=, or with "
               "joint_parameters=True "
               "where the function has it";
    if (!has_core(a, rows_of_bodies(tree), false)) return "";
    const std::string name = input.name;
    return ": the rows of all bodies one behind the other, " + name +
           (ndim == 2 ? ".ravel()" : ".reshape(*" + name + ".shape[:-2], -1)");
}

// Checks the last axes and returns the array with them evenly spaced, copied only if necessary.
nb::object with_core(nb::handle given, const ArraySignature& input, const Shape& core, bool longer,
                     const Tree& tree, npy_intp& spacing) {
    PyArrayObject* a = array(given);
    if (!has_core(a, core, longer))
        throw value_error(std::string(input.name) + " has shape " +
                          text(PyArray_DIMS(a), PyArray_NDIM(a)) + ", expected " +
                          (*input.quantity == Quantity::given_parameters
                               ? shapes_of_parameters(tree)
                               : text(core.size, core.ndim, "...")) +
                          torque_hint(a, input, tree) + parameters_hint(a, input, core, tree));
    if (evenly_spaced(a, core, spacing)) return nb::borrow(given);
    spacing = PyArray_ITEMSIZE(a);
    nb::object copy = nb::steal(reinterpret_cast<PyObject*>(PyArray_NewCopy(a, NPY_CORDER)));
    if (!copy.is_valid()) throw nb::python_error();
    return copy;
}

// The axes of parameters: the last two decide, unless they could be of a single body and of a batch that other
// arguments, of so many batch axes, do not have.
Shape axes_of_parameters(PyArrayObject* a, const ArraySignature& input, const Tree& tree,
                         int batch_axes) {
    const Shape rows = rows_of_bodies(tree), flat = flat_parameters(tree, false);
    if (has_joint_parameters(a, tree)) return flat_parameters(tree, true);
    if (!has_core(a, rows, false)) return flat;
    if (!has_core(a, flat, false)) return rows;
    if (PyArray_SIZE(a) == body_parameters && PyArray_NDIM(a) <= batch_axes + 1) return flat;
    const std::string name = input.name;
    throw value_error(name + " has shape " + text(PyArray_DIMS(a), PyArray_NDIM(a)) +
                      ", expected " + text(flat.size, flat.ndim, "...") + " or " +
                      text(rows.size, rows.ndim, "...") +
                      ": with one body it may be either; give " + name + "[..., 0, :]");
}

// A longer stack is most likely a batch: it needs order=.
constexpr int max_order_unasked = 20;

// Returns "v" for "v_derivatives".
std::string without_derivatives(const char* name) {
    const std::string all = name;
    return all.substr(0, all.find("_derivatives"));
}

[[noreturn]] void refuse_stack(PyArrayObject* a, const ArraySignature& input, const Tree& tree,
                               const std::string& expected, const std::string& what) {
    const Shape core = core_shape(*input.quantity, {tree, Options(), false});
    throw value_error(std::string(input.name) + " has shape " +
                      text(PyArray_DIMS(a), PyArray_NDIM(a)) + ", expected " +
                      text(core.size, core.ndim, "..., n") + " with n = " + expected + ": " + what);
}

constexpr const char* a_stack = "a stack of the value and its time derivatives";

// The length of a stack; -1: the array has no such axis.
npy_intp stack_length(PyArrayObject* a, const ArraySignature& input) {
    const int axis = PyArray_NDIM(a) - input.quantity->naxes - 1;
    return axis >= 0 ? PyArray_DIM(a, axis) : -1;
}

// The order of a stack, all of which is read.
int whole_order(PyArrayObject* a, const ArraySignature& input, const Tree& tree) {
    const npy_intp length = stack_length(a, input);
    const int least = input.rows > 0 ? input.rows : 1;
    if (length < least) refuse_stack(a, input, tree, std::to_string(least) + " or more", a_stack);
    if (length - input.rows > max_order_unasked)
        refuse_stack(
            a, input, tree,
            "at most " + std::to_string(max_order_unasked + input.rows) + " unless order= is given",
            a_stack + ("; a batch is " + without_derivatives(input.name)) + "[:, None]");
    return static_cast<int>(length) - input.rows;
}

// Checks the length of a stack against the length of its shape.
void require_length(PyArrayObject* a, const ArraySignature& input, const Shape& stack,
                    bool has_order, const Tree& tree) {
    const npy_intp length = stack_length(a, input), expected = stack.size[0];
    if (has_order && (length < expected || !has_core(a, stack, true)))
        refuse_stack(a, input, tree, std::to_string(expected) + " or more",
                     "the value and its time derivatives, for order " +
                         std::to_string(expected - input.rows));
    if (!has_order && length != expected)
        refuse_stack(a, input, tree, std::to_string(expected) + ", to match the stack before it",
                     a_stack);
}

// Whether NumPy reads the object whole, or fails: subclasses of its array may have a mask, and
// objects without __array__ may need DLPack.
bool is_read_whole(nb::handle given) {
    PyObject* x = given.ptr();
    return PyArray_CheckExact(x) || PyList_CheckExact(x) || PyTuple_CheckExact(x) ||
           PyFloat_CheckExact(x) || PyLong_CheckExact(x) ||
           (!PyArray_Check(x) && nb::hasattr(given.type(), "__array__"));
}

// Whether a list, which NumPy has read as numbers, holds arrays of a subclass: they may have a mask.
bool holds_subclass(nb::handle given) {
    PyObject* x = given.ptr();
    if (!PyList_CheckExact(x) && !PyTuple_CheckExact(x))
        return PyArray_Check(x) && !PyArray_CheckExact(x);
    for (const nb::handle item : given)
        if (holds_subclass(item)) return true;
    return false;
}

}  // namespace

nb::object from_other_library(const char* function, nb::handle given, const std::string& name) {
    return nb::module_::import_("dtau.support.foreign_arrays").attr(function)(name.c_str(), given);
}

nb::object whole_array(nb::handle given, const char* name) {
    const nb::object read =
        is_read_whole(given) ? nb::borrow(given) : from_other_library("readable", given, name);
    nb::object any = from_any(read, nullptr, NPY_ARRAY_ENSUREARRAY);
    if (!any.is_valid()) {
        if (PyErr_ExceptionMatches(PyExc_RuntimeError)) {
            nb::python_error error;
            from_other_library("refuse_gradients", given, name);
            throw error;
        }
        if (!PyErr_ExceptionMatches(PyExc_ValueError) && !PyErr_ExceptionMatches(PyExc_TypeError))
            throw nb::python_error();
        throw value_error(std::string(name) + ": expected an array of real numbers, got " +
                          type_text(given) + " (" + take_error() + ")");
    }
    if ((PyArray_ISNUMBER(array(any)) || PyArray_ISBOOL(array(any))) && holds_subclass(given))
        from_other_library("refuse_masks", given, name);
    return any;
}

nb::object converted(nb::handle given, const char* name) {
    const nb::object any = whole_array(given, name);
    const char kind = PyArray_DESCR(array(any))->kind;
    const bool number = kind == 'f' || kind == 'i' || kind == 'u' || kind == 'b';
    if (!number)
        throw type_error(std::string(name) + ": expected real numbers, got dtype " +
                         dtype_text(array(any)));
    nb::object result =
        from_any(any, PyArray_DescrFromType(NPY_DOUBLE), NPY_ARRAY_ALIGNED | NPY_ARRAY_FORCECAST);
    if (!result.is_valid()) throw nb::python_error();
    return result;
}

void read_sizes(Options& options, const Signature& signature, const nb::object* inputs,
                const Tree& tree, bool has_order) {
    for (int i = 0; i < signature.ninputs; ++i) {
        if (!inputs[i].is_valid()) continue;
        const ArraySignature& input = signature.inputs[i];
        PyArrayObject* const a = array(inputs[i]);
        if (i == signature.parameters) options.joint_parameters |= has_joint_parameters(a, tree);
        if (input.quantity->axes[1] == Axis::ninputs && *input.quantity == Quantity::input_map)
            options.driven = {input_count(inputs[i], input.name, tree)};
        if (input.rows != not_stacked && !has_order) {
            options.order = whole_order(a, input, tree);
            has_order = true;  // the first stack decides
        }
    }
}

nb::object input_array(nb::handle plain, const ArraySignature& input, Shape& core, bool has_order,
                       const Tree& tree, int batch_axes, npy_intp& spacing) {
    if (!is_plain(plain))
        throw value_error(std::string(input.name) +
                          ": another argument changed it during the call");
    const bool is_stack = input.rows != not_stacked;
    if (is_stack) require_length(array(plain), input, core, has_order, tree);
    if (input.quantity->axes[0] == Axis::ngiven_parameters)
        core = axes_of_parameters(array(plain), input, tree, batch_axes);
    return with_core(plain, input, core, has_order && is_stack, tree, spacing);
}

void refuse_batch_as_stack(const Signature& signature, const nb::object* inputs,
                           const Shape* cores) {
    for (int i = 0; i < signature.ninputs; ++i) {
        const ArraySignature& stack = signature.inputs[i];
        if (stack.rows == not_stacked || !inputs[i].is_valid()) continue;
        PyArrayObject* a = array(inputs[i]);
        const int axes =
            PyArray_NDIM(a) - cores[i].ndim + 1;  // batch axes and the axis of derivatives
        if (PyArray_DIM(a, axes - 1) == 1)
            continue;  // a batch of one and a stack of one are the same
        for (int j = 0; j < signature.ninputs; ++j) {
            if (signature.inputs[j].rows != not_stacked || !inputs[j].is_valid()) continue;
            PyArrayObject* b = array(inputs[j]);
            if (PyArray_NDIM(b) - cores[j].ndim != axes ||
                !std::equal(PyArray_DIMS(a), PyArray_DIMS(a) + axes, PyArray_DIMS(b)))
                continue;
            const std::string value = without_derivatives(stack.name);
            throw value_error(
                std::string(stack.name) + " has shape " + text(PyArray_DIMS(a), PyArray_NDIM(a)) +
                ", expected a stack of " + value + " and its time derivatives; a batch of " +
                value + " has this shape, too, beside the batch " + text(PyArray_DIMS(a), axes) +
                " of " + signature.inputs[j].name + ": give a batch as " + value +
                "[:, None], or one stack for all states as " + stack.name + "[None]");
        }
    }
}

int input_count(nb::handle map, const char* name, const Tree& tree) {
    const int ndim = PyArray_NDIM(array(map));
    const npy_intp count = ndim > 0 ? PyArray_DIM(array(map), ndim - 1) : 0;
    if (count > INT_MAX / std::max(tree.independent.n, 1))
        throw value_error(std::string(name) + ": expected a map of fewer than 2**31 numbers, got " +
                          std::to_string(count) + " columns; use several calls");
    return static_cast<int>(count);
}

npy_intp core_spacing(nb::handle input, const Shape& core) {
    npy_intp spacing;
    evenly_spaced(array(input), core, spacing);
    return spacing;
}

void broadcast(Job& job, const Signature& signature, const nb::object* arrays, const Shape* cores) {
    for (int i = 0; i < job.ninputs; ++i) {
        if (!arrays[i].is_valid()) continue;
        const int axes = PyArray_NDIM(array(arrays[i])) - cores[i].ndim;
        if (axes > Job::max_axes)
            throw value_error(std::string(signature.inputs[i].name) + " has " +
                              std::to_string(axes) + " batch axes, expected at most " +
                              std::to_string(Job::max_axes));
        if (axes > job.naxes) job.naxes = axes;
    }
    for (int axis = 0; axis < job.naxes; ++axis) job.shape[axis] = 1;
    for (int i = 0; i < job.ninputs; ++i) {
        if (!arrays[i].is_valid()) continue;
        PyArrayObject* a = array(arrays[i]);
        const int axes = PyArray_NDIM(a) - cores[i].ndim, skip = job.naxes - axes;
        for (int axis = 0; axis < skip; ++axis) job.inputs[i].stride[axis] = 0;
        for (int axis = 0; axis < axes; ++axis) {
            const npy_intp n = PyArray_DIM(a, axis);
            std::ptrdiff_t& size = job.shape[skip + axis];
            if (n != 1 && size != 1 && n != size) {
                std::string shapes;
                for (int j = 0; j < job.ninputs; ++j) {
                    if (!arrays[j].is_valid()) continue;
                    PyArrayObject* b = array(arrays[j]);
                    shapes += (shapes.empty() ? "" : ", ") + std::string(signature.inputs[j].name) +
                              " " + text(PyArray_DIMS(b), PyArray_NDIM(b) - cores[j].ndim);
                }
                throw value_error("batch shapes do not broadcast against each other: " + shapes);
            }
            if (n != 1) size = n;
            job.inputs[i].stride[skip + axis] = n == 1 ? 0 : PyArray_STRIDE(a, axis);
        }
    }
    for (int axis = 0; axis < job.naxes; ++axis)
        if (__builtin_mul_overflow(job.count, job.shape[axis], &job.count))
            throw nb::value_error(
                "expected fewer than 2**63 states, got a larger batch; use several calls");
}

void check_quaternions(nb::handle q, const char* name, const CompiledTree& tree) {
    if (tree.quaternions().empty()) return;
    PyArrayObject* a = array(q);
    const npy_intp spacing = PyArray_STRIDE(a, PyArray_NDIM(a) - 1);
    for_batch_states(a, 1, [&](const char* state, const npy_intp* index, int naxes) {
        for (const auto& [first, body] : tree.quaternions()) {
            double x[4], squared = 0.0;
            for (int k = 0; k < 4; ++k) {
                x[k] = *reinterpret_cast<const double*>(state + (first + k) * spacing);
                squared += x[k] * x[k];
            }
            if (std::fabs(squared - 1.0) < 1e-6)
                continue;  // the exact test runs only where this one fails
            const double norm = std::hypot(std::hypot(x[0], x[1], x[2]), x[3]);
            const double finite = (x[0] - x[0]) + (x[1] - x[1]) + (x[2] - x[2]) + (x[3] - x[3]);
            if (std::fabs(norm - 1.0) > 1e-6 && finite == 0.0)
                throw value_error(
                    std::string(name) + ": the quaternion of joint '" + tree.joint_name(body) +
                    "'" + at_index(index, naxes) + " has norm " + str(nb::float_(norm)) +
                    ", expected 1 within 1e-6 (order x y z w); dtau.normalize normalizes it");
        }
    });
}

}  // namespace dtau
