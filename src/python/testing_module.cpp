// Defines the Python module dtau._testing: every function for complex step and with counted
// operations, and the algorithms of include/dtau/textbook/ for complex step.
#include <nanobind/nanobind.h>
#include <nanobind/stl/string.h>

#include "batch/memory_limit.hpp"
#include "python/define.hpp"

namespace dtau {

namespace test_scalars {
extern const FunctionList functions, poses, textbook;
}

namespace {
const FunctionList& test_functions() { return test_scalars::functions; }
const FunctionList& test_pose_functions() { return test_scalars::poses; }
const FunctionList& textbook_functions() { return test_scalars::textbook; }
}  // namespace

}  // namespace dtau

NB_MODULE(_testing, m) {
    namespace nb = nanobind;
    using namespace dtau;
    require_first_import(m);
    import_numpy();
    nb::set_leak_warnings(false);

    nb::module_ complex = m.def_submodule("complex128", "The functions for complex step.");
    define_functions(complex, test_functions, ScalarKind::complex);
    define_functions(complex, test_pose_functions, ScalarKind::complex, false);
    nb::module_ textbook = m.def_submodule("textbook", "Textbook algorithms, for complex numbers.");
    define_functions(textbook, textbook_functions, ScalarKind::complex);
    nb::module_ counting = m.def_submodule("counting", "The functions with counted operations.");
    define_functions(counting, test_functions, ScalarKind::counted);
    counting.def("take", [] {
        long long counts[3];
        test_functions().take_operation_counts(counts);
        return nb::make_tuple(counts[0], counts[1], counts[2]);
    });
    m.def("memory_limit", [](const std::string& root) {
        const MemoryLimit limit = memory_limit(root);
        return nb::make_tuple(limit.all, limit.left);
    });
}
