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

constexpr std::string_view axes_words[] = {"body", "world", "mixed"};
constexpr std::string_view acceleration_words[] = {"spatial", "classical"};
constexpr std::string_view layout_words[] = {"dense", "pattern"};
constexpr std::string_view integrator_words[] = {"euler", "semi_implicit", "rk4"};
constexpr std::string_view coordinates_words[] = {"tangent", "numbers"};

// Reads one of a few words and returns its index. `hint` ends the message about any other value.
template <const auto& words>
int word(const char* option, nb::handle given, std::string (*hint)(nb::handle) = nullptr) {
    // Most calls give the default, whose object is known: addresses compare faster than texts.
    static constinit KeptObject first;
    if (given.ptr() == first.get([] { return PyUnicode_InternFromString(words[0].data()); }))
        return 0;
    constexpr std::size_t n = std::size(words);
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

// Translates Pinocchio's name for axes into dtau's.
std::string pinocchio_axes(nb::handle given) {
    if (!PyUnicode_Check(given.ptr()) && str(given.type().attr("__name__")) != "ReferenceFrame")
        return "";
    const std::string word = str(given);
    if (word == "LOCAL") return ": that is 'body' here";
    if (word == "WORLD") return ": that is 'world' here";
    if (word == "LOCAL_WORLD_ALIGNED") return ": that is 'mixed' here";
    return "";
}

Axes axes(const char* name, nb::handle given) {
    return static_cast<Axes>(word<axes_words>(name, given, pinocchio_axes));
}

// Reads a number of at least 0. Without contacts it refuses any value but 0.
double regularization(nb::handle given, bool without_contacts) {
    const nb::object number = nb::steal(unless_ended([&] { return PyNumber_Float(given.ptr()); }));
    const bool text = PyUnicode_Check(given.ptr()) || PyBytes_Check(given.ptr());
    if (!number.is_valid() || text) {
        PyErr_Clear();
        if (without_contacts) throw goes_with_contacts("regularization");
        throw nb::type_error(("regularization: expected a number, got " + shown(given)).c_str());
    }
    const double value = PyFloat_AsDouble(number.ptr());
    if (without_contacts && value != 0.0) throw goes_with_contacts("regularization");
    if (!(value >= 0.0 && value < HUGE_VAL))
        throw nb::value_error(
            ("regularization: expected a finite number of at least 0, got " + shown(given))
                .c_str());
    return value;
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
                argument.option == Option::acceleration  ? acceleration_words[0]
                : argument.option == Option::integrator  ? integrator_words[0]
                : argument.option == Option::layout      ? layout_words[0]
                : argument.option == Option::coordinates ? coordinates_words[0]
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
        if (argument.option == Option::regularization)
            values.regularization =
                regularization(value, signature.optional_contacts && !values.contacts);
        if (argument.option == Option::forces) {
            values.forces = nb::cast<bool>(value);
            if (values.forces && signature.optional_contacts && !values.contacts)
                throw goes_with_contacts(argument.name);
        }
        if (argument.option == Option::by && !value.is_none()) read_variables(signature, value);
        if (argument.option == Option::driven && !value.is_none())
            read_inputs(value, tree.tree(), false);
        if (argument.option != Option::frames) continue;
        read_frames(given.model, value, tree);
        for (int i = 0; i < signature.ninputs; ++i)
            if (*signature.inputs[i].quantity == Quantity::wrench) require_moving(value);
    }
    if (signature.optional_contacts && !values.contacts) require_contacts_of(signature, given);
    if (!values.driven.columns) values.driven = {tree.tree().nactuated, tree.tree().actuated};
}

void CallOptions::read(const Signature& signature, const GivenArguments& given,
                       const CompiledTree& tree) {
    for (int k = 0; k < signature.narguments; ++k) {
        const Argument& argument = signature.arguments[k];
        if (argument.input < 0 && given.at[k]) read(argument, given.at[k], tree);
    }
    if (const char* problem = refused_by_numbers(values)) throw nb::value_error(problem);
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
                static_cast<Acceleration>(word<acceleration_words>(argument.name, given));
            return;
        case Option::prescribed:
            return read_prescribed(given, tree.tree());
        case Option::integrator:
            values.integrator =
                static_cast<Integrator>(word<integrator_words>(argument.name, given));
            return;
        case Option::symmetric:
            values.symmetric = nb::cast<bool>(given);
            return;
        case Option::layout:
            values.layout = static_cast<Layout>(word<layout_words>(argument.name, given));
            return;
        case Option::joint_parameters:
            values.joint_parameters = nb::cast<bool>(given);
            return;
        case Option::coordinates:
            values.by_numbers = word<coordinates_words>(argument.name, given) == 1;
            return;
        case Option::frames:  // read_first() has read it
        case Option::contacts:
        case Option::regularization:
        case Option::driven:
        case Option::order:
        case Option::forces:
        case Option::by:
            return;
    }
}

void CallOptions::read_variables(const Signature& signature, nb::handle given) {
    Options none;
    const std::string known = ask_for(signature, "", none);
    const auto refuse = [&](const char* advice = "") {
        return "by: expected " + known + " or a sequence of them, got " + shown(given) + advice;
    };
    const bool word = PyUnicode_Check(given.ptr());
    if (!word && !PySequence_Check(given.ptr())) throw nb::type_error(refuse().c_str());
    const nb::object words = word ? nb::make_tuple(given) : nb::borrow(given);
    for (const nb::handle name : nb::tuple(words)) {
        if (!PyUnicode_Check(name.ptr())) throw nb::type_error(refuse().c_str());
        const std::string text = str(name);
        if (ask_for(signature, text, values).empty()) continue;
        throw nb::value_error(refuse(text == "parameters"
                                         ? "; dtau.step_jvp and dtau.step_vjp have "
                                           "derivatives by parameters"
                                         : "")
                                  .c_str());
    }
}

}  // namespace dtau
