#include "dtau/algorithms/first/idsva.hpp"
#include "functions/arguments.hpp"
#include "functions/shared/algorithms.hpp"

namespace dtau::DTAU_VARIANT {
namespace {

constexpr Out<"dtau_dq", Quantity::torque_matrix> dtau_dq;
constexpr Out<"dtau_dv", Quantity::torque_matrix> dtau_dv;
constexpr Out<"dtau_da", Quantity::torque_matrix> dtau_da;

constexpr Function functions[] = {
    function({.name = "inverse_dynamics_derivatives", .results = "InverseDynamicsDerivatives"},
             takes(q, v, a, f_ext), gives(dtau_dq, dtau_dv, dtau_da),
             algorithm<IdsvaWorkspace, How{.results = Results::sparse}>(
                 []<class T>(const Tree& tree, const auto& x, const auto& w) {
                     idsva(tree, x[q], x[v], x[a], x[f_ext], x[dtau_dq], x[dtau_dv], x[dtau_da], w);
                 })),
};

}  // namespace

extern const FunctionGroup inverse_dynamics_derivatives_functions = functions;

}  // namespace dtau::DTAU_VARIANT
