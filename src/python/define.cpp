#include "python/define.hpp"

#include <atomic>
#include <deque>
#include <new>
#include <stdexcept>
#include <string>

#include "python/arrays.hpp"
#include "python/options.hpp"

namespace nb = nanobind;

namespace dtau {
namespace {

// The exception in flight becomes Python's.
void translate() {
    try {
        throw;
    } catch (nb::python_error& e) {
        e.restore();
    } catch (const nb::builtin_exception& e) {
        PyErr_SetString(
            e.type() == nb::exception_type::type_error ? PyExc_TypeError : PyExc_ValueError,
            e.what());
    } catch (const std::bad_alloc&) {
        PyErr_NoMemory();
    } catch (const std::exception& e) {
        PyErr_SetString(PyExc_RuntimeError, e.what());
    }
}

PyObject* call(PyObject* self, PyObject* const* arguments, Py_ssize_t count) noexcept {
    try {
        const void* callable = PyCapsule_GetPointer(self, nullptr);
        return (*static_cast<const Callable*>(callable))(arguments, count).release().ptr();
    } catch (...) {
        translate();
        return nullptr;
    }
}

// A class of dtau.results. The reference is kept for good, as are the functions that return it.
nb::handle result_class(const Signature& signature, const char* suffix) {
    if (!signature.results) return {};
    const std::string name = std::string(signature.results) + suffix;
    return nb::object(nb::module_::import_("dtau.results").attr(name.c_str())).release();
}

// What Python needs of a function for as long as it lives.
struct Definition {
    Callable callable;
    PyMethodDef method;
};

const char* shape(Quantity quantity) {
    switch (quantity) {
        case Quantity::q:
            return "(nq,)";
        case Quantity::v:
        case Quantity::torque:
            return "(nv,)";
        case Quantity::matrix:
        case Quantity::torque_matrix:
            return "(nv, nv)";
        case Quantity::from_tangent:
            return "(nq, nv)";
        case Quantity::to_tangent:
            return "(nv, nq)";
        case Quantity::wrenches:
        case Quantity::twists:
            return "(nbodies, 6)";
        case Quantity::rotations:
            return "(nbodies, 3, 3)";
        case Quantity::positions:
            return "(nbodies, 3)";
        case Quantity::frame_rotations:
            return "(nframes, 3, 3)";
        case Quantity::frame_positions:
            return "(nframes, 3)";
        case Quantity::frame_twists:
            return "(nframes, 6)";
        case Quantity::jacobians:
            return "(nframes, 6, nv)";
        case Quantity::tensor:
            return "(nv, nv, nv)";
        case Quantity::wrench:
        case Quantity::momentum:
            return "(6,)";
        case Quantity::scalar:
            return "()";
        case Quantity::vector:
            return "(3,)";
        case Quantity::vector_matrix:
            return "(3, nv)";
        case Quantity::momentum_matrix:
            return "(6, nv)";
        case Quantity::state_matrix:
            return "(2 nv, 2 nv)";
        case Quantity::input_map:
            return "(nv, ninputs)";
        case Quantity::input_matrix:
            return "(2 nv, ninputs)";
        case Quantity::parameters:
            return "(10 nbodies,)";
        case Quantity::regressor:
            return "(nv, 10 nbodies)";
        case Quantity::wrench_matrix:
            return "(nv, nbodies, 6)";
        case Quantity::contacts:
            return "(ncontacts,)";
        case Quantity::rows:
            return "(nrows,)";
        case Quantity::row_matrix:
            return "(nrows, nv)";
    }
    return "";
}

nb::list describe(const ArraySignature* arrays, int count) {
    nb::list result;
    for (int k = 0; k < count; ++k) {
        const ArraySignature& a = arrays[k];
        result.append(nb::make_tuple(a.name, shape(a.quantity), a.optional, a.rows != not_stacked));
    }
    return result;
}

}  // namespace

void require_first_import(const nb::module_& module) {
    if (PyInterpreterState_GetID(PyInterpreterState_Get()) != 0)
        throw std::runtime_error(str(module.attr("__name__")) +
                                 " cannot be imported in a sub-interpreter: use a process instead");
    static std::atomic<bool> imported = false;
    if (imported.exchange(true))
        throw std::runtime_error(str(module.attr("__name__")) +
                                 " was imported before, and cannot be imported twice in a process: "
                                 "leave it in sys.modules, or start a new process");
}

void define_functions(nb::module_& module, const FunctionList& (*list)(), Element element) {
    static std::deque<Definition> definitions;
    const FunctionList& functions = list();
    for (int g = 0; g < functions.ngroups; ++g)
        for (int k = 0; k < functions.groups[g]->count; ++k) {
            const Function& function = functions.groups[g]->functions[k];
            const Signature& signature = function.signature;
            if (!functions.has(function, element)) continue;
            const bool more = signature.outputs[signature.noutputs - 1].optional;
            Definition& definition = definitions.emplace_back();
            definition.callable = {list,
                                   g,
                                   k,
                                   element,
                                   result_class(signature, ""),
                                   more ? result_class(signature, "WithWrenches") : nb::handle()};
            definition.method = {signature.name,
                                 reinterpret_cast<PyCFunction>(reinterpret_cast<void (*)()>(call)),
                                 METH_FASTCALL, nullptr};
            const nb::object self =
                nb::steal(PyCapsule_New(&definition.callable, nullptr, nullptr));
            const nb::object name = module.attr("__name__");
            module.attr(signature.name) =
                nb::steal(PyCFunction_NewEx(&definition.method, self.ptr(), name.ptr()));
        }
}

nb::list describe_functions(const FunctionList& list) {
    nb::list result;
    for (int g = 0; g < list.ngroups; ++g)
        for (int k = 0; k < list.groups[g]->count; ++k) {
            const Signature& s = list.groups[g]->functions[k].signature;
            nb::dict function;
            nb::list options;
            for (int o = 0; o < s.noptions; ++o) options.append(name(s.options[o]));
            function["name"] = s.name;
            function["options"] = options;
            function["inputs"] = describe(s.inputs, s.ninputs);
            function["results"] = describe(s.outputs, s.noutputs);
            function["solves"] = s.solves;
            function["result_class"] = s.results ? nb::object(nb::str(s.results)) : nb::none();
            result.append(function);
        }
    return result;
}

}  // namespace dtau
