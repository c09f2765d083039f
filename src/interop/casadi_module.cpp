// Binds the CasADi slots to Python: fill_casadi_slot() builds a CasadiFunction from the
// plans of its roles, and puts it into a slot.
#include "python/bindings.hpp"

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

template <class Integer> std::vector<Integer> integers(nb::handle given) {
    const auto numbers =
        nb::cast<nb::ndarray<const Integer, nb::ndim<1>, nb::c_contig, nb::device::cpu>>(given);
    return {numbers.data(), numbers.data() + numbers.shape(0)};
}

std::vector<CasadiPattern> patterns(nb::handle given) {
    std::vector<CasadiPattern> result;
    for (nb::handle each : given) result.push_back(integers<CasadiInt>(each));
    return result;
}

// Reads (call, states, inputs, results): (each, places) or None for every input of the call;
// (result, terms, places, factors) for every result.
CasadiCall call(nb::handle given) {
    CasadiCall c = {
        nb::cast<std::shared_ptr<RawCall>>(given[0]), nb::cast<std::ptrdiff_t>(given[1]), {}, {}};
    for (nb::handle each : given[2]) {
        CasadiCall::Input& input = c.inputs.emplace_back();
        if (each.is_none()) continue;
        input = {true, nb::cast<bool>(each[0]), integers<std::int32_t>(each[1]), -1};
        const CasadiPlaces& places = input.places;
        const auto gap = std::adjacent_find(places.begin(), places.end(),
                                            [](int a, int b) { return b != a + 1; });
        if (gap == places.end() && !places.empty()) input.first = places.front();
    }
    for (nb::handle result : given[3])
        c.results.push_back({nb::cast<int>(result[0]), nb::cast<int>(result[1]),
                             integers<std::int32_t>(result[2]), integers<std::int32_t>(result[3])});
    return c;
}

// Takes the plan of each role: patterns of inputs and of results, groups of calls, the
// results without one, and the results that do not exist.
int fill(std::vector<std::string> input_names, std::vector<std::string> result_names,
         nb::list plans) {
    auto f = std::make_unique<CasadiFunction>();
    f->input_names = std::move(input_names);
    f->result_names = std::move(result_names);
    for (std::size_t role = 0; role < plans.size(); ++role) {
        CasadiPlan& plan = f->plans[role];
        plan.in = patterns(plans[role][0]);
        plan.out = patterns(plans[role][1]);
        plan.zero = integers<std::int32_t>(plans[role][3]);
        plan.missing = integers<std::int32_t>(plans[role][4]);
        for (nb::handle group : plans[role][2]) {
            plan.groups.emplace_back();
            for (nb::handle each : group) plan.groups.back().push_back(call(each));
        }
    }
    return hold_casadi_slot(std::move(f));
}

}  // namespace

void define_casadi_slots(nb::module_& m) {
    m.attr("casadi_slots") = casadi_slot_count;
    m.def("fill_casadi_slot", &fill, nb::arg("input_names"), nb::arg("result_names"),
          nb::arg("plans"),
          nb::sig("def fill_casadi_slot(input_names: list[str], result_names: list[str], plans: "
                  "list[tuple[object, ...]]) -> int"));
    m.def("casadi_slot_is_lost", &casadi_slot_is_lost, nb::arg("slot"));
    m.def("release_casadi_slot", &release_casadi_slot, nb::arg("slot"));
}

}  // namespace dtau
