// Defines the functions of a FunctionList in a Python module, define_functions(), and describes
// their signatures in plain Python, describe_functions().
#include "python/define.hpp"

#include <atomic>
#include <deque>
#include <new>
#include <stdexcept>
#include <string>

#include "python/call.hpp"

namespace nb = nanobind;

namespace dtau {
namespace {

// Finds a class of dtau.results. The reference is never released, as the functions that return the
// class live as long as the process.
nb::handle result_class(const char* name) {
    if (!name) return {};
    return nb::object(nb::module_::import_("dtau.results").attr(name)).release();
}

// Everything that Python needs of a function for as long as the function lives.
struct Definition {
    Callable callable;
    PyMethodDef method;
};

const char* symbol(Axis axis) {
    switch (axis) {
        case Axis::nq: return "nq";
        case Axis::nv: return "nv";
        case Axis::nbodies: return "nbodies";
        case Axis::nframes: return "nframes";
        case Axis::ninputs: return "ninputs";
        case Axis::ncontacts: return "ncontacts";
        case Axis::nrows: return "nrows";
        case Axis::ngiven_parameters: return "10 nbodies";
        case Axis::nparameters: return "nparameters";
        case Axis::two_nv: return "2 nv";
        case Axis::norders: return "r + 1";
        case Axis::norders_beyond: return "r + 2";
        case Axis::step_variables: return "2 nv + ninputs";
        case Axis::three:
        case Axis::six: break;
    }
    return nullptr;
}

nb::dict describe(const ArraySignature& a) {
    nb::list axes;
    for (int k = 0; k < a.quantity->naxes; ++k) {
        const Axis axis = a.quantity->axes[k];
        axes.append(symbol(axis) ? nb::object(nb::str(symbol(axis)))
                                 : nb::object(nb::int_(static_cast<int>(axis))));
    }
    nb::dict result;
    result["name"] = a.name;
    result["axes"] = nb::tuple(axes);
    result["rows"] = a.rows == not_stacked ? nb::object(nb::none()) : nb::object(nb::int_(a.rows));
    result["optional"] = a.optional;
    nb::list asked;
    if (a.asked & Asked::forces) asked.append("forces");
    if (a.asked & Asked::dt) asked.append("dt");
    if (a.asked & Asked::f_ext) asked.append("f_ext");
    if (a.asked & Asked::parameters) asked.append("parameters");
    result["asked"] = nb::tuple(asked);
    const bool changes = a.numbers & (Converted::tangent | Converted::weights);
    result["numbers"] = nb::bool_(changes);
    return result;
}

nb::dict describe(const Argument& argument, const Signature& signature) {
    nb::dict result;
    if (argument.input >= 0)
        result = describe(signature.inputs[argument.input]);
    else
        result["name"] = argument.name;
    result["option"] = argument.input < 0;
    result["required"] = argument.by_default == Default::required;
    result["default"] = default_value(argument);
    return result;
}

nb::dict describe(const Links& links) {
    nb::dict result;
    const auto add = [&](const char* kind, const char* function) {
        if (function) result[kind] = function;
    };
    add("derivatives", links.derivatives);
    add("second_derivatives", links.second_derivatives);
    add("hessian", links.hessian);
    add("jvp", links.jvp);
    add("vjp", links.vjp);
    add("parameter_derivatives", links.parameter_derivatives);
    add("parameter_jvp", links.parameter_jvp);
    add("parameter_vjp", links.parameter_vjp);
    add("wrench_derivatives", links.wrench_derivatives);
    add("time_derivatives", links.time_derivatives);
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

void define_functions(nb::module_& module, const FunctionList& (*list)(), ScalarKind scalar,
                      bool has_model) {
    static std::deque<Definition> definitions;
    const FunctionList& functions = list();
    for (int g = 0; g < functions.ngroups; ++g)
        for (int k = 0; k < functions.groups[g]->count; ++k) {
            const Function function = functions.function(g, k);
            const Signature& signature = function.signature;
            if (!functions.has(function, scalar)) continue;
            Definition& definition = definitions.emplace_back();
            definition.callable = {list,
                                   g,
                                   k,
                                   &signature,
                                   scalar,
                                   has_model,
                                   result_class(signature.results),
                                   definitions.size() - 1};
            for (int o = signature.nalways; o < signature.noutputs; ++o)
                definition.callable.names[o] =
                    PyUnicode_InternFromString(signature.outputs[o].name);
            definition.method = {signature.name,
                                 reinterpret_cast<PyCFunction>(reinterpret_cast<void (*)()>(call)),
                                 METH_FASTCALL | METH_KEYWORDS, nullptr};
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
            const Signature& s = list.function(g, k).signature;
            nb::dict function;
            nb::list arguments, results;
            for (int i = 0; i < s.narguments; ++i) arguments.append(describe(s.arguments[i], s));
            nb::list force_results, by_results;
            for (int o = 0; o < s.noutputs; ++o) {
                const int asked = s.outputs[o].asked;
                (asked == 0               ? results
                 : asked == Asked::forces ? force_results
                                          : by_results)
                    .append(describe(s.outputs[o]));
            }
            function["name"] = s.name;
            function["arguments"] = arguments;
            function["results"] = results;
            function["force_results"] = force_results;
            function["by_results"] = by_results;
            function["links"] = describe(s.links);
            function["solves"] = s.solves;
            function["result_class"] = s.results ? s.results : "";
            result.append(function);
        }
    return result;
}

}  // namespace dtau
