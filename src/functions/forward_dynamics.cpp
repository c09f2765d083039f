#include "dtau/algorithms/solve/factorized.hpp"
#include "dtau/algorithms/values/aba.hpp"
#include "functions/arguments.hpp"
#include "functions/shared/algorithms.hpp"

namespace dtau::DTAU_VARIANT {
namespace {

constexpr Out<"a", Quantity::v> acceleration;

constexpr Function functions[] = {
    function(
        {.name = "forward_dynamics", .solves = true}, takes(q, v, tau, f_ext), gives(acceleration),
        algorithm<ForwardDynamicsWorkspace>(
            []<class T>(const Tree& tree, const auto& x, const auto& w) {
                forward_dynamics(tree, x[q], x[v], x[tau], x[f_ext], x[acceleration], w);
            }),
        algorithm<FactorizedWorkspace>([]<class T>(const Tree& tree, const auto& x, const auto& w) {
            coupled_forward_dynamics(tree, x[q], x[v], x[tau], x[f_ext], x[acceleration], w);
        })),
};

}  // namespace

extern const FunctionGroup forward_dynamics_functions = functions;

}  // namespace dtau::DTAU_VARIANT
