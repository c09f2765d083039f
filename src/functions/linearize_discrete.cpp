#include "dtau/algorithms/steps/discrete_linearization.hpp"
#include "functions/arguments.hpp"
#include "functions/shared/algorithms.hpp"

namespace dtau::DTAU_VARIANT {
namespace {

constexpr Out<"A", Quantity::state_matrix> A;
constexpr Out<"B", Quantity::input_matrix> B;
constexpr Out<"q", Quantity::q> q_next;
constexpr Out<"v", Quantity::v> v_next;

constexpr Function functions[] = {
    function(
        {.name = "linearize_discrete",
         .options = {Option::integrator, Option::inputs, Option::wrench_axes},
         .solves = true,
         .results = "DiscreteLinearization"},
        takes(q, v, tau, dt, f_ext), gives(A, B, q_next, v_next),
        algorithm<DiscreteWorkspace>([]<class T>(const Tree& tree, const auto& x, const auto& w) {
            linearize_discrete(tree, x.options.integrator, x.options.input_map, x[q], x[v], x[tau],
                               *x[dt], x[f_ext], x[A], x[B], x[q_next], x[v_next], w);
        })),
};

}  // namespace

extern const FunctionGroup linearize_discrete_functions = functions;

}  // namespace dtau::DTAU_VARIANT
