// Defines the Python module dtau._core: the compiled tree, and every function on arrays. The Python
// layer has the documentation and the named tuples.
#include <nanobind/nanobind.h>
#include <nanobind/stl/string.h>
#include <nanobind/stl/vector.h>

#include "batch/kept_blocks.hpp"
#include "batch/memory_limit.hpp"
#include "batch/require_memory.hpp"
#include "batch/stores.hpp"
#include "dtau/sincos_constants.hpp"
#include "interop/xla_handler.hpp"
#include "python/bindings.hpp"
#include "python/call.hpp"
#include "python/define.hpp"
#include "python/public_function.hpp"
#include "registry/dispatch.hpp"

namespace {

// The constants by their names in sincos_constants.hpp, for generated code.
nanobind::dict sincos_constants() {
    namespace nb = nanobind;
    using namespace dtau;
    const auto numbers = [](const auto& array) {
        nb::list list;
        for (double x : array) list.append(x);
        return nb::tuple(list);
    };
    nb::dict found;
    found["reduction_limit"] = reduction_limit;
    found["reduction_number"] = reduction_number;
    found["two_over_pi"] = two_over_pi;
    found["half_pi"] = numbers(half_pi);
    found["sine_series"] = numbers(sine_series);
    found["cosine_series"] = numbers(cosine_series);
    return found;
}

}  // namespace

NB_MODULE(_core, m) {
    namespace nb = nanobind;
    using namespace dtau;
    require_first_import(m);
    import_numpy();
    instruction_set();
    nb::set_leak_warnings(false);  // models may live as long as the interpreter

    define_tree(m);
    define_contacts(m);
    define_robot_code(m);
    define_lqr(m);
    define_mujoco_steps(m);
    define_mujoco_copies(m);
    define_raw_calls(m);
    define_casadi_slots(m);
    define_tensor_reader(m);
    define_mujoco_warnings(m);
    define_patterns(m);
    m.def("instruction_sets", &instruction_sets);
    m.def("instruction_set", &instruction_set);
    m.def("use_instruction_set", &use_instruction_set, nb::arg("name"));
    m.def("stores", [] { return text_of(stores_in_use()); });
    m.def(
        "use_stores", [](const std::string& text) { use_stores(read_stores(text)); },
        nb::arg("text"));
    m.def(
        "xla_handler", [] { return nb::capsule(reinterpret_cast<void*>(&xla_handler)); },
        nb::sig("def xla_handler() -> object"));
    m.def(
        "xla_refusal", [] { return nb::capsule(reinterpret_cast<void*>(&xla_refusal)); },
        nb::sig("def xla_refusal() -> object"));
    m.def("sincos_constants", &sincos_constants,
          nb::sig("def sincos_constants() -> dict[str, Any]"));
    m.def("set_result_cache_limit", &keep_blocks, nb::arg("limit"));
    m.def("require_memory", &require_memory, nb::arg("what"), nb::arg("bytes"), nb::arg("advice"));
    m.def(
        "memory_limit",
        [](const std::string& root) {
            const MemoryLimit limit = memory_limit(root);
            return nb::make_tuple(limit.all, limit.left);
        },
        nb::arg("root"), nb::sig("def memory_limit(root: str) -> tuple[float, float]"));
    m.def(
        "peak_rate",
        [] {
            const PeakRate rate = functions().peak_rate();
            return nb::make_tuple(rate.alone, rate.in_lanes);
        },
        nb::sig("def peak_rate() -> tuple[float, float]"));
    m.def(
        "functions", [] { return describe_functions(functions()); },
        nb::sig("def functions() -> list[dict[str, Any]]"));
    m.def(
        "pose_functions", [] { return describe_functions(pose_functions()); },
        nb::sig("def pose_functions() -> list[dict[str, Any]]"));

    define_functions(m, functions, ScalarKind::real);
    define_functions(m, pose_functions, ScalarKind::real, false);
    m.def("public_function", &public_function, nb::arg("core"), nb::arg("python"),
          nb::arg("positional"),
          nb::sig("def public_function(core: object, python: object, positional: int) -> Any"));
    nb::module_ alone = m.def_submodule("alone", "The functions, state by state even in a batch.");
    define_functions(alone, functions, ScalarKind::alone);
    define_functions(alone, pose_functions, ScalarKind::alone, false);
}
