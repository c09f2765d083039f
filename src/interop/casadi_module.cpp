// Binds the CasADi slots to Python: fill_casadi_slot() builds a CasadiFunction from its calls and
// sparsity patterns, and puts it into a slot.
#include "interop/casadi_module.hpp"

#include <algorithm>
#include <string>

#include <nanobind/ndarray.h>
#include <nanobind/stl/shared_ptr.h>
#include <nanobind/stl/string.h>
#include <nanobind/stl/vector.h>

#include "interop/casadi_slots.hpp"

namespace nb = nanobind;

namespace dtau {
namespace {

using Integers = nb::ndarray<const CasadiInt, nb::ndim<1>, nb::c_contig, nb::device::cpu>;

std::vector<CasadiPattern> patterns(nb::handle given) {
    std::vector<CasadiPattern> result;
    for (nb::handle each : given) {
        const Integers numbers = nb::cast<Integers>(each);
        result.emplace_back(numbers.data(), numbers.data() + numbers.shape(0));
    }
    return result;
}

// Takes the calls by name, those with derivatives by the numbers of q; the kinds of input; and the
// patterns of each role's inputs and results.
int fill(nb::dict calls, nb::tuple sizes, const std::string& inputs,
         std::vector<std::string> input_names, std::vector<std::string> result_names,
         bool is_matrix, bool is_constrained, nb::list roles) {
    auto f = std::make_unique<CasadiFunction>();
    const auto call = [&](const char* name) {
        return calls.contains(name) ? nb::cast<std::shared_ptr<RawCall>>(calls[name]) : nullptr;
    };
    f->value = call("value");
    f->first = call("first");
    f->product = call("product");
    f->second = call("second");
    f->tensors = call("tensors");
    f->by_wrench = call("by_wrench");
    f->first_by[0] = call("first_by_dt");
    f->first_by[1] = call("first_by_all");
    f->second_by[0] = call("second_by_dt");
    f->second_by[1] = call("second_by_all");
    f->product_by_dt = call("product_by_dt");
    f->takes_v = inputs.find('v') != std::string::npos;
    f->takes_x = inputs.find('x') != std::string::npos;
    f->takes_dt = inputs.find('h') != std::string::npos;
    f->takes_wrenches = inputs.find('f') != std::string::npos;
    f->takes_mask = inputs.find('m') != std::string::npos;
    f->input_names = std::move(input_names);
    f->result_names = std::move(result_names);
    f->is_matrix = is_matrix;
    const Signature& s = f->value->signature();
    f->is_stack = std::any_of(s.inputs, s.inputs + s.ninputs,
                              [](const ArraySignature& x) { return x.rows != not_stacked; });
    f->nq = nb::cast<int>(sizes[0]);
    f->nv = nb::cast<int>(sizes[1]);
    f->nbodies = nb::cast<int>(sizes[2]);
    f->nrows = nb::cast<int>(sizes[3]);
    f->ncontacts = nb::cast<int>(sizes[4]);
    f->is_constrained = is_constrained;
    for (std::size_t role = 0; role < roles.size(); ++role)
        f->patterns[role] = {patterns(roles[role][0]), patterns(roles[role][1])};
    return hold_casadi_slot(std::move(f));
}

}  // namespace

void define_casadi_slots(nb::module_& m) {
    m.attr("casadi_slots") = casadi_slot_count;
    m.def(
        "fill_casadi_slot", &fill, nb::arg("calls"), nb::arg("sizes"), nb::arg("inputs"),
        nb::arg("input_names"), nb::arg("result_names"), nb::arg("is_matrix"),
        nb::arg("is_constrained"), nb::arg("roles"),
        nb::sig("def fill_casadi_slot(calls: dict[str, RawCall], sizes: tuple[int, int, int, int, "
                "int], inputs: str, input_names: list[str], result_names: list[str], is_matrix: "
                "bool, is_constrained: bool, roles: "
                "list[tuple[list[NDArray[numpy.int64]], list[NDArray[numpy.int64]]]]) -> int"));
    m.def("casadi_slot_is_lost", &casadi_slot_is_lost, nb::arg("slot"));
    m.def("release_casadi_slot", &release_casadi_slot, nb::arg("slot"));
}

}  // namespace dtau
