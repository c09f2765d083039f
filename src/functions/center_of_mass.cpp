#include "dtau/algorithms/values/center_of_mass.hpp"
#include "functions/arguments.hpp"

namespace dtau::DTAU_VARIANT {
namespace {

constexpr Out<"center", Quantity::vector> center;

constexpr Function functions[] = {
    function(
        {.name = "center_of_mass"}, takes(q), gives(center),
        algorithm<PlacementsWorkspace>([]<class T>(const Tree& tree, const auto& x, const auto& w) {
            center_of_mass(tree, x[q], x[center], w);
        })),
};

}  // namespace

extern const FunctionGroup center_of_mass_functions = functions;

}  // namespace dtau::DTAU_VARIANT
