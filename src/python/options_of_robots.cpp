// Reads the options that belong to a robot: frames, contacts, driven torques and prescribed joints.
#include <atomic>
#include <climits>
#include <string>

#include "python/call.hpp"
#include "python/lock.hpp"
#include "python/messages.hpp"

namespace nb = nanobind;

namespace dtau {
namespace {

// Whether the object is a contiguous array with so many axes.
bool is_array(nb::handle given, int type, int ndim) {
    return PyArray_Check(given.ptr()) && PyArray_TYPE(array(given)) == type &&
           PyArray_NDIM(array(given)) == ndim && PyArray_IS_C_CONTIGUOUS(array(given)) &&
           PyArray_ISBEHAVED_RO(array(given));
}

}  // namespace

// ---------------------------------------------------------------- frames

const Frame& named_frame(nb::handle model, nb::handle name, const CompiledTree& tree) {
    const std::string_view text = utf8(name);
    if (const Frame* frame = text.data() ? tree.frame(text) : nullptr) return *frame;
    nb::steal(
        unless_ended([&] { return PyObject_CallMethod(model.ptr(), "frame", "(O)", name.ptr()); }));
    if (PyErr_Occurred()) throw nb::python_error();
    throw value_error("frames: no frame named " + shown(name));
}

// Refuses a wrench at several frames, or at a frame fixed to the world.
void CallOptions::require_moving(nb::handle given) const {
    if (!single_frame || values.frames[0].body < 0)
        throw value_error("frame: " + shown(given) +
                          " is fixed to the world, expected one of a moving body");
}

// Reads one name or any number of names.
void CallOptions::read_frames(nb::handle model, nb::handle given, const CompiledTree& tree) {
    if (PyUnicode_Check(given.ptr())) return set_frame(named_frame(model, given, tree));
    const auto require = [](bool names, nb::handle got) {
        if (!names) throw type_error("frames: expected names, got " + shown(got));
    };
    require(PyType_GetSlot(Py_TYPE(given.ptr()), Py_tp_iter) != nullptr, given);
    const nb::object names = nb::steal(unless_ended([&] { return PySequence_Tuple(given.ptr()); }));
    if (!names.is_valid()) throw nb::python_error();
    const Py_ssize_t count = NB_TUPLE_GET_SIZE(names.ptr());
    std::vector<Frame> frames;
    frames.reserve(count);
    for (Py_ssize_t f = 0; f < count; ++f) {
        const nb::handle name = NB_TUPLE_GET_ITEM(names.ptr(), f);
        require(PyUnicode_Check(name.ptr()), name);
        frames.push_back(named_frame(model, name, tree));
    }
    const std::string expected = set_frames(std::move(frames), tree.tree());
    if (!expected.empty())
        throw value_error("frames: expected " + expected + ", got " + std::to_string(count) +
                          " frames; use several calls");
}

// ---------------------------------------------------------------- contacts

nb::builtin_exception goes_with_contacts(const char* argument) {
    return value_error(std::string(argument) + ": goes with contacts=, which is not given");
}

// Raises an error for `active` or `positions` without contacts.
void CallOptions::require_contacts_of(const Signature& signature,
                                      const GivenArguments& given) const {
    for (int k = 0; k < signature.narguments; ++k) {
        const Argument& argument = signature.arguments[k];
        const bool of_contacts =
            argument.input >= 0 &&
            signature.inputs[argument.input].quantity->axes[0] == Axis::ncontacts;
        if (of_contacts && given.at[k] && given.at[k] != Py_None)
            throw goes_with_contacts(argument.name);
    }
}

// Reads a dtau.Contacts of this model or of an equal one.
void CallOptions::read_contacts(nb::handle model, nb::handle given, const CompiledTree& tree) {
    static constinit KeptObject name;
    const nb::handle attribute = name.get([] { return PyUnicode_InternFromString("_compiled"); });
    nb::object compiled =
        nb::steal(unless_ended([&] { return PyObject_GetAttr(given.ptr(), attribute.ptr()); }));
    static std::atomic<PyTypeObject*> known = nullptr;
    const CompiledContacts* const found = instance_of<CompiledContacts>(compiled, known);
    if (!found) throw type_error("contacts: expected a dtau.Contacts, got " + type_text(given));
    if (&found->tree() != &tree) {
        const nb::object equal = nb::steal(unless_ended(
            [&] { return PyObject_CallMethod(given.ptr(), "_is_of", "(O)", model.ptr()); }));
        if (!equal.is_valid()) throw nb::python_error();
        if (equal.ptr() != Py_True || !found->fits(tree))
            throw nb::value_error(
                "contacts: expected those of this model, got another model's; make "
                "dtau.Contacts for this one");
    }
    contacts = nb::borrow(given);
    compiled_contacts_ = std::move(compiled);
    values.contacts = &found->constraints();
}

// ---------------------------------------------------------------- torques

nb::object CallOptions::read_inputs(nb::handle given, const Tree& tree, bool may_be_map) {
    nb::object numbers = whole_array(given, "inputs");
    if (!PyArray_ISNUMBER(array(numbers)) && !PyArray_ISBOOL(array(numbers)))
        return converted(numbers, "inputs");  // raises the same error as any other array
    PyArrayObject* a = array(numbers);
    const int nv = tree.independent.n, ndim = PyArray_NDIM(a);
    const bool mask = PyArray_TYPE(a) == NPY_BOOL;
    if (mask && ndim == 1 && PyArray_DIM(a, 0) == nv) {
        set_driven(nv, [&](int k) { return *static_cast<npy_bool*>(PyArray_GETPTR1(a, k)) != 0; });
        return {};
    }
    const std::string n = std::to_string(nv);
    if (mask || !may_be_map || ndim < 2 || PyArray_DIM(a, ndim - 2) != nv)
        throw value_error("inputs: expected a mask of shape (" + n + ",)" +
                          (may_be_map ? " or a map of shape (..., " + n + ", nu)" : "") + ", got " +
                          dtype_text(a) + " of shape " + text(PyArray_DIMS(a), ndim));
    return numbers;
}

void CallOptions::read_prescribed(nb::handle given, const Tree& tree) {
    if (!is_array(given, NPY_BOOL, 1))
        throw nb::type_error("prescribed: expected a contiguous array of bool with one axis");
    const int nv = tree.independent.n;
    if (PyArray_DIM(array(given), 0) != nv)
        throw value_error("prescribed: expected shape (" + std::to_string(nv) + ",), got " +
                          text(PyArray_DIMS(array(given)), 1));
    const npy_bool* numbers = static_cast<const npy_bool*>(PyArray_DATA(array(given)));
    set_prescribed(nv, [&](int k) { return numbers[k] != 0; });
}

}  // namespace dtau
