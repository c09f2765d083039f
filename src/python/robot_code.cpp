// Attaches compiled code for one robot to its tree: add_code().
#include <string>
#include <vector>

#include <nanobind/nanobind.h>
#include <nanobind/stl/string.h>
#include <nanobind/stl/vector.h>

#include "python/bindings.hpp"
#include "python/call.hpp"
#include "registry/dispatch.hpp"

namespace nb = nanobind;

namespace dtau {
namespace {

// Takes the options by name, whether each input is given, and the addresses of the functions.
void add_code(nb::handle model, const std::string& function, const nb::dict& options,
              const std::vector<bool>& given, int lanes, std::size_t alone, std::size_t in_lanes,
              std::size_t memory) {
    const TreeReference tree = compiled_tree(model);
    const Signature& signature = find_function(functions(), function).signature;
    if (static_cast<int>(given.size()) != signature.ninputs)
        throw value_error("given: expected " + std::to_string(signature.ninputs) +
                          " values, one for each input of " + function + ", got " +
                          std::to_string(given.size()));
    const GivenArguments options_given(signature, model, options);
    CallOptions read;
    read.read_first(signature, options_given, tree.compiled);
    read.read(signature, options_given, tree.compiled);
    RobotFunction code = {function, read.values, lanes, {}, {}};
    code.options.order = read.order > 0 ? read.order : 0;
    for (std::size_t i = 0; i < given.size(); ++i) code.given[i] = given[i];
    code.code = {reinterpret_cast<decltype(RobotCode::alone)>(alone),
                 reinterpret_cast<decltype(RobotCode::in_lanes)>(in_lanes), memory};
    nb::inst_ptr<CompiledTree>(tree.owner)->add_code(std::move(code));
}

}  // namespace

void define_robot_code(nb::module_& m) {
    m.def("lanes", [] { return functions().lanes; });
    m.def("add_code", &add_code, nb::arg("model"), nb::arg("function"), nb::arg("options"),
          nb::arg("given"), nb::arg("lanes"), nb::arg("alone"), nb::arg("in_lanes"),
          nb::arg("memory"),
          nb::sig("def add_code(model: object, function: str, options: dict[str, object], given: "
                  "Sequence[bool], lanes: int, alone: int, in_lanes: int, memory: int) -> None"));
}

}  // namespace dtau
