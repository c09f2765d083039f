#include "dtau/algorithms/first/fdsva.hpp"
#include "functions/shared/algorithms.hpp"
#include "registry/arguments.hpp"

namespace dtau::DTAU_VARIANT {
namespace {

constexpr Out<"da_dq", Quantity::matrix> da_dq;
constexpr Out<"da_dv", Quantity::matrix> da_dv;
constexpr Out<"da_dtau", Quantity::matrix> da_dtau;

constexpr Function functions[] = {
    function({.name = "forward_dynamics_derivatives",
              .solves = true,
              .results = "ForwardDynamicsDerivatives"},
             takes(q, v, tau, f_ext, f_ext_axes), gives(da_dq, da_dv, da_dtau),
             algorithm<FdsvaWorkspace>([]<class T>(const Tree& tree, const auto& x, const auto& w) {
                 fdsva(tree, x[q], x[v], x[tau], x[f_ext], x[da_dq], x[da_dv], tree.independent.n,
                       x[da_dtau], w);
             })),
};

}  // namespace

extern const FunctionGroup forward_dynamics_derivatives_functions = functions;

}  // namespace dtau::DTAU_VARIANT
