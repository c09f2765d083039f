// Reads objects of Python, and makes errors with composed texts: str(), instance_of(), value_error().
#pragma once

#include <atomic>
#include <string>

#include <nanobind/nanobind.h>

namespace dtau {

inline nanobind::builtin_exception value_error(const std::string& text) {
    return nanobind::value_error(text.c_str());
}
inline nanobind::builtin_exception type_error(const std::string& text) {
    return nanobind::type_error(text.c_str());
}

// The text of an object for a message; text without UTF-8 is escaped.
std::string str(nanobind::handle object);
// The name of its type.
inline std::string type_text(nanobind::handle object) {
    return str(object.type().attr("__name__"));
}

// The X that an attribute is, as PyObject_GetAttr() gave it; null: there is no such attribute, or it is no X.
// `known` caches the class: looking it up by its C++ name takes longer than the rest of a call.
template <class X>
const X* instance_of(nanobind::handle attribute, std::atomic<PyTypeObject*>& known) {
    if (!attribute.is_valid()) {
        if (!PyErr_ExceptionMatches(PyExc_AttributeError)) throw nanobind::python_error();
        PyErr_Clear();
        return nullptr;
    }
    if (Py_TYPE(attribute.ptr()) != known) {
        if (!nanobind::isinstance<X>(attribute)) return nullptr;
        known = Py_TYPE(attribute.ptr());
    }
    return nanobind::inst_ready(attribute) ? nanobind::inst_ptr<X>(attribute) : nullptr;
}

}  // namespace dtau
