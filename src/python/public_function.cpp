// Makes public functions that Python calls without their Python code: public_function().
//
// A public function is a Python function with a signature and a docstring. A body that passes the
// arguments on to the core would take a third of a call that integrates a UR5. The object made here
// reads the arguments itself. Arguments that do not fit go to the Python function after all, which
// raises Python's own TypeError.
#include "python/public_function.hpp"

#include <cstddef>

#if PY_VERSION_HEX < 0x030C0000
#include <structmember.h>
#define Py_T_PYSSIZET T_PYSSIZET
#define Py_READONLY READONLY
#endif

#include "python/call.hpp"
#include "python/lock.hpp"

namespace nb = nanobind;

namespace dtau {
namespace {

struct PublicFunction {
    PyObject_HEAD vectorcallfunc call;
    const Callable* core;
    PyObject* python;
    Py_ssize_t positional;
    PyObject *attributes, *weak_references;
};

PublicFunction& at(PyObject* self) { return *reinterpret_cast<PublicFunction*>(self); }

PyObject* call_core(PyObject* self, PyObject* const* values, std::size_t nargsf,
                    PyObject* keywords) noexcept {
    const PublicFunction& function = at(self);
    const Py_ssize_t count = PyVectorcall_NARGS(nargsf);
    bool fits = count <= function.positional;
    if (fits) {
        PyObject* const result = try_call(*function.core, values, count, keywords, fits);
        if (fits) return result;
    }
    return PyObject_Vectorcall(function.python, values, static_cast<std::size_t>(count), keywords);
}

// As a function does, a public function that is an attribute of a class becomes a method. Python takes
// callables with this slot for routines: help() shows their signatures.
PyObject* bind(PyObject* self, PyObject* instance, PyObject*) {
    if (!instance || instance == Py_None) return Py_NewRef(self);
    PyObject* const types = PyImport_ImportModule("types");
    if (!types) return nullptr;
    PyObject* const method = PyObject_CallMethod(types, "MethodType", "OO", self, instance);
    Py_DECREF(types);
    return method;
}

PyObject* text(PyObject* self) {
    PyObject* const name = PyObject_GetAttrString(self, "__qualname__");
    if (!name) return nullptr;
    PyObject* const result = PyUnicode_FromFormat("<function %S>", name);
    Py_DECREF(name);
    return result;
}

// Pickles and copies refer to the function by its name.
PyObject* reduce(PyObject* self, PyObject*) { return PyObject_GetAttrString(self, "__qualname__"); }

int traverse(PyObject* self, visitproc visit, void* arg) {
    Py_VISIT(Py_TYPE(self));
    Py_VISIT(at(self).python);
    Py_VISIT(at(self).attributes);
    return 0;
}

int clear(PyObject* self) {
    Py_CLEAR(at(self).python);
    Py_CLEAR(at(self).attributes);
    return 0;
}

void release(PyObject* self) {
    PyTypeObject* const type = Py_TYPE(self);
    PyObject_GC_UnTrack(self);
    if (at(self).weak_references) PyObject_ClearWeakRefs(self);
    clear(self);
    reinterpret_cast<freefunc>(PyType_GetSlot(type, Py_tp_free))(self);
    Py_DECREF(type);
}

PyMemberDef members[] = {
    {"__vectorcalloffset__", Py_T_PYSSIZET, offsetof(PublicFunction, call), Py_READONLY, nullptr},
    {"__dictoffset__", Py_T_PYSSIZET, offsetof(PublicFunction, attributes), Py_READONLY, nullptr},
    {"__weaklistoffset__", Py_T_PYSSIZET, offsetof(PublicFunction, weak_references), Py_READONLY,
     nullptr},
    {},
};
PyMethodDef methods[] = {{"__reduce__", reduce, METH_NOARGS, nullptr}, {}};
PyGetSetDef attributes[] = {
    {"__dict__", PyObject_GenericGetDict, PyObject_GenericSetDict, nullptr, nullptr}, {}};

template <class F> PyType_Slot slot(int id, F* function) {
    return {id, reinterpret_cast<void*>(function)};
}

PyObject* new_type() {
    PyType_Slot slots[] = {
        slot(Py_tp_call, PyVectorcall_Call),
        slot(Py_tp_descr_get, bind),
        slot(Py_tp_repr, text),
        slot(Py_tp_traverse, traverse),
        slot(Py_tp_clear, clear),
        slot(Py_tp_dealloc, release),
        slot(Py_tp_members, members),
        slot(Py_tp_methods, methods),
        slot(Py_tp_getset, attributes),
        {},
    };
    PyType_Spec spec = {"dtau._core.Function", sizeof(PublicFunction), 0,
                        Py_TPFLAGS_DEFAULT | Py_TPFLAGS_HAVE_GC | Py_TPFLAGS_HAVE_VECTORCALL |
                            Py_TPFLAGS_DISALLOW_INSTANTIATION,
                        slots};
    return PyType_FromSpec(&spec);
}

}  // namespace

nb::object public_function(nb::handle core, nb::object python, int positional) {
    PyObject* const self =
        PyCFunction_Check(core.ptr()) ? PyCFunction_GetSelf(core.ptr()) : nullptr;
    if (!self || !PyCapsule_IsValid(self, nullptr))
        throw nb::type_error("core: expected a function of the core");
    static constinit KeptObject kept;
    PyObject* const type = kept.get(new_type);
    nb::object result = nb::steal(PyType_GenericAlloc(reinterpret_cast<PyTypeObject*>(type), 0));
    if (!result.is_valid()) throw nb::python_error();
    PublicFunction& function = at(result.ptr());
    function.call = call_core;
    function.core = static_cast<const Callable*>(PyCapsule_GetPointer(self, nullptr));
    function.python = python.release().ptr();
    function.positional = positional;
    return result;
}

}  // namespace dtau
