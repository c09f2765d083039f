#include "dtau/algorithms/steps/linearization.hpp"
#include "functions/arguments.hpp"
#include "functions/shared/algorithms.hpp"

namespace dtau::DTAU_VARIANT {
namespace {

constexpr Out<"A", Quantity::state_matrix> A;
constexpr Out<"B", Quantity::input_matrix> B;
constexpr Out<"a", Quantity::v> acceleration;

constexpr Function functions[] = {
    function({.name = "linearize",
              .options = {Option::inputs, Option::wrench_axes},
              .solves = true,
              .results = "Linearization"},
             takes(q, v, tau, f_ext), gives(A, B, acceleration),
             algorithm<LinearizationWorkspace, How{.results = Results::sparse}>(
                 []<class T>(const Tree& tree, const auto& x, const auto& w) {
                     linearize(tree, x.options.input_map, x[q], x[v], x[tau], x[f_ext], x[A], x[B],
                               x[acceleration], w);
                 })),
};

}  // namespace

extern const FunctionGroup linearize_functions = functions;

}  // namespace dtau::DTAU_VARIANT
