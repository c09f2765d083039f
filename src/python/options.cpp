#include "python/call.hpp"

#include <climits>
#include <cmath>
#include <string>
#include <string_view>

#include "python/arrays.hpp"
#include "python/lock.hpp"

namespace nb = nanobind;

namespace dtau {
namespace {

// Text as the object holds it; null for what is no text, or has no UTF-8.
std::string_view utf8(nb::handle object) {
    Py_ssize_t size = 0;
    const char* text =
        PyUnicode_Check(object.ptr()) ? PyUnicode_AsUTF8AndSize(object.ptr(), &size) : nullptr;
    if (text) return {text, static_cast<std::size_t>(size)};
    PyErr_Clear();
    return {};
}

// The repr of an object; of NumPy's text that of the text, without its class.
nb::object plain_repr(nb::handle object) {
    const nb::object plain = PyUnicode_Check(object.ptr())
                                 ? nb::steal(PyUnicode_FromObject(object.ptr()))
                                 : nb::borrow(object);
    if (!plain.is_valid()) throw nb::python_error();
    return nb::repr(plain);
}

// One of a few words: its place among them. `hint` ends the message about anything else.
template <std::size_t n>
int word(const char* option, nb::handle given, const std::string_view (&words)[n],
         std::string (*hint)(nb::handle) = nullptr) {
    const std::string_view got = utf8(given);
    for (std::size_t k = 0; k < n; ++k)
        if (got == words[k]) return static_cast<int>(k);
    std::string expected;
    for (std::size_t k = 0; k < n; ++k)
        expected += (k == 0 ? "'" : k + 1 < n ? ", '" : " or '") + std::string(words[k]) + "'";
    throw nb::value_error((std::string(option) + ": expected " + expected + ", got " +
                           str(plain_repr(given)) + (hint ? hint(given) : ""))
                              .c_str());
}

// What Pinocchio's name for axes is here.
std::string pinocchio_axes(nb::handle given) {
    if (!PyUnicode_Check(given.ptr()) && str(given.type().attr("__name__")) != "ReferenceFrame")
        return "";
    const std::string word = str(given);
    if (word == "LOCAL") return ": that is 'body' here";
    if (word == "WORLD") return ": that is 'world' here";
    if (word == "LOCAL_WORLD_ALIGNED") return ": that is 'mixed' here";
    return "";
}

constexpr std::string_view axes_words[] = {"body", "world", "mixed"};
constexpr std::string_view acceleration_words[] = {"spatial", "classical"};
constexpr std::string_view integrator_words[] = {"euler", "semi_implicit", "rk4"};

Axes axes(const char* name, nb::handle given) {
    return static_cast<Axes>(word(name, given, axes_words, pinocchio_axes));
}

// An object in a message, the first 80 letters of it.
std::string shown(nb::handle object) {
    const nb::object text = plain_repr(object);
    const nb::object first = nb::steal(PyUnicode_Substring(text.ptr(), 0, 80));
    if (!first.is_valid()) throw nb::python_error();
    return str(first);
}

// The frame of a name. Of one that is not there the model says what it may have meant.
const Frame& named_frame(nb::handle model, nb::handle name, const CompiledTree& tree) {
    const std::string_view text = utf8(name);
    if (const Frame* frame = text.data() ? tree.frame(text) : nullptr) return *frame;
    nb::steal(
        unless_ended([&] { return PyObject_CallMethod(model.ptr(), "frame", "(O)", name.ptr()); }));
    if (PyErr_Occurred()) throw nb::python_error();
    throw nb::value_error(("frames: no frame named " + shown(name)).c_str());
}

// A number of at least 0, and nothing else without contacts.
double damping(nb::handle given, bool without_contacts) {
    const nb::object number = nb::steal(unless_ended([&] { return PyNumber_Float(given.ptr()); }));
    const bool text = PyUnicode_Check(given.ptr()) || PyBytes_Check(given.ptr());
    if (!number.is_valid() || text) {
        PyErr_Clear();
        if (without_contacts) throw goes_with_contacts("damping");
        throw nb::type_error(("damping: expected a number, got " + shown(given)).c_str());
    }
    const double value = PyFloat_AsDouble(number.ptr());
    if (without_contacts && value != 0.0) throw goes_with_contacts("damping");
    if (!(value >= 0.0 && value < HUGE_VAL))
        throw nb::value_error(
            ("damping: expected a finite number of at least 0, got " + shown(given)).c_str());
    return value;
}

// Whether it is an array of so many axes whose numbers lie one after the other.
bool is_array(nb::handle given, int type, int ndim) {
    return PyArray_Check(given.ptr()) && PyArray_TYPE(array(given)) == type &&
           PyArray_NDIM(array(given)) == ndim && PyArray_IS_C_CONTIGUOUS(array(given)) &&
           PyArray_ISBEHAVED_RO(array(given));
}

}  // namespace

nb::object default_value(const Argument& argument) {
    switch (argument.by_default) {
        case Default::required:
        case Default::none:
            break;
        case Default::no:
            return nb::bool_(false);
        case Default::zero:
            return nb::float_(0.0);
        case Default::word:
            const std::string_view words[] = {
                argument.option == Option::acceleration ? acceleration_words[0]
                : argument.option == Option::integrator ? integrator_words[0]
                                                        : axes_words[0]};
            return nb::str(words[0].data(), words[0].size());
    }
    return nb::none();
}

int number(const char* expected, nb::handle given, int least, int most) {
    const bool integer = PyIndex_Check(given.ptr()) && !PyBool_Check(given.ptr());
    const Py_ssize_t value =
        integer ? unless_ended([&] { return PyNumber_AsSsize_t(given.ptr(), nullptr); }) : -1;
    if (!integer || value < least || value > most) {
        PyErr_Clear();
        const std::string message = std::string(expected) + ", got " + str(nb::repr(given));
        if (!integer) throw nb::type_error(message.c_str());
        throw nb::value_error(message.c_str());
    }
    return static_cast<int>(value);
}

void CallOptions::read_first(const Signature& signature, const GivenArguments& given,
                             const CompiledTree& tree) {
    static_assert(Options::max_order == 100, "as the message says");
    for (int k = 0; k < signature.narguments; ++k) {
        const Argument& argument = signature.arguments[k];
        const nb::handle value(given.at[k]);
        if (argument.input >= 0 || !value.is_valid()) continue;
        if (argument.option == Option::order && !value.is_none())
            order = number("order: expected an int from 0 to 100 or None", value, 0,
                           Options::max_order);
        if (argument.option == Option::contacts &&
            !(value.is_none() && argument.by_default == Default::none))
            read_contacts(given.model, value, tree);
        if (argument.option == Option::damping)
            values.contact_damping = damping(value, signature.maybe_contacts && !values.contacts);
        if (argument.option == Option::driven && !value.is_none())
            read_inputs(value, tree.tree(), false);
        if (argument.option != Option::frames) continue;
        read_frames(given.model, value, tree);
        for (int i = 0; i < signature.ninputs; ++i)
            if (signature.inputs[i].quantity == Quantity::wrench) require_moving(value);
    }
    if (signature.maybe_contacts && !values.contacts) require_contacts_of(signature, given);
    if (!values.driven.columns) values.driven = {tree.tree().nactuated, tree.tree().actuated};
}

void CallOptions::read(const Signature& signature, const GivenArguments& given,
                       const CompiledTree& tree) {
    for (int k = 0; k < signature.narguments; ++k) {
        const Argument& argument = signature.arguments[k];
        if (argument.input < 0 && given.at[k]) read(argument, given.at[k], tree);
    }
}

void CallOptions::read(const Argument& argument, nb::handle given, const CompiledTree& tree) {
    switch (argument.option) {
        case Option::axes:
            values.axes = axes(argument.name, given);
            return;
        case Option::wrench_axes:
            values.wrench_axes = axes(argument.name, given);
            return;
        case Option::acceleration:
            values.acceleration =
                static_cast<Acceleration>(word(argument.name, given, acceleration_words));
            return;
        case Option::prescribed:
            return read_prescribed(given, tree.tree());
        case Option::integrator:
            values.integrator =
                static_cast<Integrator>(word(argument.name, given, integrator_words));
            return;
        case Option::symmetric:
            values.symmetric = nb::cast<bool>(given);
            return;
        case Option::packed:
            values.packed = nb::cast<bool>(given);
            return;
        case Option::joint_parameters:
            values.joint_parameters = nb::cast<bool>(given);
            return;
        case Option::frames:  // read first
        case Option::contacts:
        case Option::damping:
        case Option::driven:
        case Option::order:
            return;
    }
}

// Of one wrench at one frame.
void CallOptions::require_moving(nb::handle given) const {
    if (!single_frame || values.frames[0].body < 0)
        throw nb::value_error(
            ("frame: " + shown(given) + " is fixed to the world, expected one of a moving body")
                .c_str());
}

// One name, or any number of them.
void CallOptions::read_frames(nb::handle model, nb::handle given, const CompiledTree& tree) {
    single_frame = PyUnicode_Check(given.ptr());
    if (single_frame) {
        values.frames = &named_frame(model, given, tree);
        values.nframes = 1;
        return;
    }
    const auto require = [](bool names, nb::handle got) {
        if (!names) throw nb::type_error(("frames: expected names, got " + shown(got)).c_str());
    };
    require(PyType_GetSlot(Py_TYPE(given.ptr()), Py_tp_iter) != nullptr, given);
    const nb::object names = nb::steal(unless_ended([&] { return PySequence_Tuple(given.ptr()); }));
    if (!names.is_valid()) throw nb::python_error();
    const Py_ssize_t count = NB_TUPLE_GET_SIZE(names.ptr());
    if (static_cast<double>(count) * 6 * tree.tree().nv > INT_MAX)
        throw nb::value_error("frames: too many for one call");
    frames_.reserve(count);
    for (Py_ssize_t f = 0; f < count; ++f) {
        const nb::handle name = NB_TUPLE_GET_ITEM(names.ptr(), f);
        require(PyUnicode_Check(name.ptr()), name);
        frames_.push_back(named_frame(model, name, tree));
    }
    values.frames = frames_.data();
    values.nframes = static_cast<int>(count);
}

void CallOptions::read_prescribed(nb::handle given, const Tree& tree) {
    if (!is_array(given, NPY_BOOL, 1))
        throw nb::type_error("prescribed: expected an array of bool");
    const int nv = tree.independent.n;
    if (PyArray_DIM(array(given), 0) != nv)
        throw nb::value_error("prescribed: of another length than v");
    const npy_bool* numbers = static_cast<const npy_bool*>(PyArray_DATA(array(given)));
    prescribed_ = std::make_unique_for_overwrite<bool[]>(nv);
    for (int k = 0; k < nv; ++k) prescribed_[k] = numbers[k] != 0;
    values.prescribed = prescribed_.get();
}

}  // namespace dtau
