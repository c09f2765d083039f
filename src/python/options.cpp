// Reads the options of a call: CallOptions::read().
#include "python/call.hpp"

#include <climits>
#include <cmath>
#include <string>
#include <string_view>

#include "python/lock.hpp"
#include "python/messages.hpp"

namespace nb = nanobind;

namespace dtau {
namespace {

// Translates Pinocchio's name for axes into dtau's.
std::string pinocchio_axes(nb::handle given) {
    if (!PyUnicode_Check(given.ptr()) && type_text(given) != "ReferenceFrame") return "";
    const std::string word = str(given);
    if (word == "LOCAL") return ": that is 'body' here";
    if (word == "WORLD") return ": that is 'world' here";
    if (word == "LOCAL_WORLD_ALIGNED") return ": that is 'mixed' here";
    return "";
}

[[noreturn]] void refuse(const Argument& argument, const std::string& expected, nb::handle given) {
    const bool axes = words(argument.option).at == axes_words;
    throw value_error(std::string(argument.name) + ": expected " + expected + ", got " +
                      str(plain_repr(given)) + (axes ? pinocchio_axes(given) : ""));
}

bool flag(const Argument& argument, nb::handle given) {
    if (PyBool_Check(given.ptr())) return given.ptr() == Py_True;
    const nb::handle kind = given.type();
    const std::string module = str(kind.attr("__module__"));
    throw type_error(std::string(argument.name) + ": expected bool, got " +
                     (module == "builtins" ? "" : module + ".") + str(kind.attr("__qualname__")));
}

// Reads a number. Without contacts, anything but 0 is refused as such.
double regularization(nb::handle given, bool without_contacts) {
    const nb::object number = nb::steal(unless_ended([&] { return PyNumber_Float(given.ptr()); }));
    const bool text = PyUnicode_Check(given.ptr()) || PyBytes_Check(given.ptr());
    const bool reads = number.is_valid() && !text;
    const double value = reads ? PyFloat_AsDouble(number.ptr()) : 0.0;
    if (without_contacts && !(reads && value == 0.0)) {
        PyErr_Clear();
        throw goes_with_contacts("regularization");
    }
    if (reads) return value;
    PyErr_Clear();
    throw type_error("regularization: expected a number, got " + shown(given));
}

}  // namespace

nb::object default_value(const Argument& argument) {
    switch (argument.by_default) {
        case Default::required:
        case Default::none: break;
        case Default::no: return nb::bool_(false);
        case Default::zero: return nb::float_(0.0);
        case Default::word:
            const std::string_view first = words(argument.option).at[0];
            return nb::str(first.data(), first.size());
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
        if (!integer) throw type_error(message);
        throw value_error(message);
    }
    return static_cast<int>(value);
}

void CallOptions::read_first(const Signature& signature, const GivenArguments& given,
                             const CompiledTree& tree) {
    for (int k = 0; k < signature.narguments; ++k) {
        const Argument& argument = signature.arguments[k];
        const nb::handle value(given.at[k]);
        const bool has_none = argument.by_default == Default::none;
        if (argument.input >= 0 || !value.is_valid() || (has_none && value.is_none())) continue;
        switch (argument.option) {
            case Option::order:
                set_order(number("order: expected an int from 0 to 100 or None", value, 0,
                                 Options::max_order));
                break;
            case Option::contacts: read_contacts(given.model, value, tree); break;
            case Option::regularization: {
                const bool without = signature.optional_contacts && !values.contacts;
                const std::string expected = set_regularization(regularization(value, without));
                if (!expected.empty()) refuse(argument, expected, value);
                break;
            }
            case Option::forces: set_flag(Option::forces, flag(argument, value)); break;
            case Option::by: read_variables(signature, value); break;
            case Option::driven: read_inputs(value, tree.tree(), false); break;
            case Option::frames:
                read_frames(given.model, value, tree);
                for (int i = 0; i < signature.ninputs; ++i)
                    if (*signature.inputs[i].quantity == Quantity::wrench) require_moving(value);
                break;
            default:  // read() reads it
                break;
        }
    }
    if (const char* problem = conflict(signature)) throw nb::value_error(problem);
    if (signature.optional_contacts && !values.contacts) require_contacts_of(signature, given);
    if (!values.driven.columns) values.driven = {tree.tree().nactuated, tree.tree().actuated};
}

void CallOptions::read(const Signature& signature, const GivenArguments& given,
                       const CompiledTree& tree) {
    for (int k = 0; k < signature.narguments; ++k) {
        const Argument& argument = signature.arguments[k];
        const nb::handle value(given.at[k]);
        if (argument.input >= 0 || !value.is_valid()) continue;
        if (words(argument.option).count > 0) {
            const std::string expected = set_word(argument.option, utf8(value));
            if (!expected.empty()) refuse(argument, expected, value);
        } else if (argument.option == Option::prescribed) {
            read_prescribed(value, tree.tree());
        } else if (argument.option == Option::symmetric ||
                   argument.option == Option::joint_parameters) {
            set_flag(argument.option, flag(argument, value));
        }
    }
    if (const char* problem = conflict(signature)) throw nb::value_error(problem);
}

void CallOptions::read_variables(const Signature& signature, nb::handle given) {
    const auto refuse = [&](const char* advice = "") {
        return "by: expected " + add_variable(signature, "") + ", or a sequence of them, got " +
               shown(given) + advice;
    };
    const bool word = PyUnicode_Check(given.ptr());
    if (!word && !PySequence_Check(given.ptr())) throw type_error(refuse());
    const nb::object names = word ? nb::make_tuple(given) : nb::borrow(given);
    for (const nb::handle name : nb::tuple(names)) {
        if (!PyUnicode_Check(name.ptr())) throw type_error(refuse());
        const std::string text = str(name);
        if (add_variable(signature, text).empty()) continue;
        throw value_error(refuse(text == "parameters" ? "; dtau.step_jvp and dtau.step_vjp have "
                                                        "derivatives by parameters"
                                                      : ""));
    }
}

}  // namespace dtau
