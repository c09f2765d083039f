// The option contacts, as Python gives it.
#include <atomic>
#include <string>

#include "python/call.hpp"
#include "python/lock.hpp"

namespace nb = nanobind;

namespace dtau {

nb::builtin_exception goes_with_contacts(const char* argument) {
    return nb::value_error(
        (std::string(argument) + ": goes with contacts=, which is not given").c_str());
}

// Without contacts none of them can be active.
void CallOptions::require_contacts_of(const Signature& signature,
                                      const GivenArguments& given) const {
    for (int k = 0; k < signature.narguments; ++k) {
        const Argument& argument = signature.arguments[k];
        const bool active =
            argument.input >= 0 && signature.inputs[argument.input].quantity == Quantity::contacts;
        if (active && given.at[k] && given.at[k] != Py_None)
            throw goes_with_contacts(argument.name);
    }
}

// A dtau.Contacts of this model, or of an equal one.
void CallOptions::read_contacts(nb::handle model, nb::handle given, const CompiledTree& tree) {
    static const nb::handle attribute = PyUnicode_InternFromString("_compiled");
    // As of models: the class is looked for by its name in C++ once.
    static std::atomic<PyTypeObject*> known = nullptr;
    nb::object compiled =
        nb::steal(unless_ended([&] { return PyObject_GetAttr(given.ptr(), attribute.ptr()); }));
    if (!compiled.is_valid()) {
        if (!PyErr_ExceptionMatches(PyExc_AttributeError)) throw nb::python_error();
        PyErr_Clear();
    }
    bool right = compiled.is_valid() && Py_TYPE(compiled.ptr()) == known;
    if (!right && compiled.is_valid() && nb::isinstance<CompiledContacts>(compiled)) {
        right = true;
        known = Py_TYPE(compiled.ptr());
    }
    if (!right || !nb::inst_ready(compiled))
        throw nb::type_error(
            ("contacts: expected a dtau.Contacts, got " + str(given.type().attr("__name__")))
                .c_str());
    const CompiledContacts& found = *nb::inst_ptr<CompiledContacts>(compiled);
    if (&found.tree() != &tree) {
        const nb::object equal = nb::steal(unless_ended(
            [&] { return PyObject_CallMethod(given.ptr(), "_is_of", "(O)", model.ptr()); }));
        if (!equal.is_valid()) throw nb::python_error();
        if (equal.ptr() != Py_True || !found.fits(tree))
            throw nb::value_error("contacts: expected those of this model, got another model's");
    }
    contacts = nb::borrow(given);
    compiled_contacts_ = std::move(compiled);
    values.contacts = &found.contacts();
}

}  // namespace dtau
