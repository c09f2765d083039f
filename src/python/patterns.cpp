// Describes the patterns of a function's results for Python: patterns().
#include "python/bindings.hpp"

#include <algorithm>
#include <string>

#include <nanobind/stl/string.h>

#include "python/call.hpp"
#include "registry/dispatch.hpp"

namespace nb = nanobind;

namespace dtau {
namespace {

nb::object array_of(const Entries& entries) {
    npy_intp shape[] = {static_cast<npy_intp>(entries.size())};
    nb::object result = nb::steal(PyArray_SimpleNew(1, shape, NPY_INTP));
    if (!result.is_valid()) throw nb::python_error();
    std::copy(entries.begin(), entries.end(),
              reinterpret_cast<npy_intp*>(PyArray_BYTES(array(result))));
    return result;
}

// Returns name, dense shape and entries of each result that has a pattern. `inputs`: the argument of
// that name, or None.
nb::list patterns(nb::handle model, const std::string& name, const nb::dict& options,
                  nb::handle inputs) {
    const TreeReference reference = compiled_tree(model);
    const CompiledTree& compiled = reference.compiled;
    const Signature& signature = find_function(functions(), name).signature;
    const GivenArguments given(signature, model, options);
    CallOptions read;
    read.read_first(signature, given, compiled);
    if (!inputs.is_none()) {
        const nb::object map = read.read_inputs(inputs, compiled.tree());
        if (map.is_valid()) read.values.driven = {input_count(map, "inputs", compiled.tree())};
    }
    read.read(signature, given, compiled);
    const Sizes sizes = {compiled.tree(), read.values, read.single_frame};
    nb::list found;
    for (int o = 0; o < signature.noutputs; ++o) {
        const ArraySignature& result = signature.outputs[o];
        if (!has_pattern(*result.quantity)) continue;
        if (result.asked == Asked::forces && !read.values.contacts) continue;
        const Shape shape = core_shape(*result.quantity, sizes);
        nb::list dense;
        for (int k = 0; k < shape.ndim; ++k) dense.append(shape.size[k]);
        found.append(nb::make_tuple(result.name, nb::tuple(dense),
                                    array_of(entries(*result.quantity, sizes))));
    }
    return found;
}

}  // namespace

void define_patterns(nb::module_& m) {
    m.def("patterns", &patterns, nb::arg("model"), nb::arg("function"), nb::arg("options"),
          nb::arg("inputs").none(),
          nb::sig("def patterns(model: object, function: str, options: dict[str, object], inputs: "
                  "object | None) -> list[tuple[str, tuple[int, ...], NDArray[numpy.intp]]]"));
}

}  // namespace dtau
