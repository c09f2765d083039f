#include "dtau/algorithms/values/coriolis.hpp"
#include "functions/shared/algorithms.hpp"
#include "registry/arguments.hpp"

namespace dtau::DTAU_VARIANT {
namespace {

constexpr Out<"C", Quantity::torque_matrix> C;

constexpr Function functions[] = {
    function({.name = "coriolis_matrix"}, takes(q, v), gives(C),
             algorithm<CoriolisWorkspace, How{.results = Results::sparse}>(
                 []<class T>(const Tree& tree, const auto& x, const auto& w) {
                     coriolis_matrix(tree, x[q], x[v], x[C], w);
                 })),
};

}  // namespace

extern const FunctionGroup coriolis_matrix_functions = functions;

}  // namespace dtau::DTAU_VARIANT
