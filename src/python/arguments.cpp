#include "python/arguments.hpp"

#include <string>

#include "python/call.hpp"

namespace nb = nanobind;

namespace dtau {
namespace {

[[noreturn]] void fail(const Signature& signature, const std::string& what) {
    throw nb::type_error((std::string(signature.name) + ": " + what).c_str());
}

bool is(PyObject* keyword, const char* name) {
    return PyUnicode_CompareWithASCIIString(keyword, name) == 0;
}

}  // namespace

PyObject** GivenArguments::place(const Signature& signature, PyObject* keyword) {
    for (int k = 0; k < signature.narguments; ++k)
        if (is(keyword, signature.arguments[k].name)) return at + k;
    if (is(keyword, "out")) return &out;
    if (is(keyword, "threads")) return &threads;
    if (is(keyword, "model")) return &model;
    fail(signature, "got an unexpected argument '" + str(keyword) + "'");
}

GivenArguments::GivenArguments(const Signature& signature, PyObject* const* values,
                               Py_ssize_t count, PyObject* keywords)
    : model(nullptr), out(nullptr), threads(nullptr) {
    const Py_ssize_t n = signature.narguments;
    if (count > n + 3)
        fail(signature, "expected at most " + std::to_string(n + 3) + " arguments, got " +
                            std::to_string(count));
    if (count > 0) model = values[0];
    for (Py_ssize_t k = 0; k < n; ++k) at[k] = k + 1 < count ? values[k + 1] : nullptr;
    if (count > n + 1) out = values[n + 1];
    if (count > n + 2) threads = values[n + 2];
    const Py_ssize_t named = keywords ? NB_TUPLE_GET_SIZE(keywords) : 0;
    for (Py_ssize_t k = 0; k < named; ++k) {
        PyObject* keyword = NB_TUPLE_GET_ITEM(keywords, k);
        PyObject** to = place(signature, keyword);
        if (*to) fail(signature, "got '" + str(keyword) + "' twice");
        *to = values[count + k];
    }
    if (!model) fail(signature, "missing the argument 'model'");
    for (Py_ssize_t k = count - 1; k < n; ++k)
        if (!at[k] && signature.arguments[k].by_default == Default::required)
            fail(signature,
                 std::string("missing the argument '") + signature.arguments[k].name + "'");
}

GivenArguments::GivenArguments(const Signature& signature, nb::handle given_model, nb::dict options)
    : model(nullptr), at{}, out(nullptr), threads(nullptr) {
    for (auto [keyword, value] : options) *place(signature, keyword.ptr()) = value.ptr();
    model = given_model.ptr();
    for (int k = 0; k < signature.narguments; ++k) {
        const Argument& argument = signature.arguments[k];
        if (argument.input < 0 && !at[k] && argument.by_default == Default::required)
            fail(signature, std::string("missing the option '") + argument.name + "'");
        if (argument.input >= 0 && at[k])
            fail(signature, std::string("'") + argument.name + "' is an array, expected options");
    }
}

}  // namespace dtau
