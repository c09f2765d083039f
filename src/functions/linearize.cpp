#include "dtau/algorithms/contacts/linearization.hpp"
#include "dtau/algorithms/steps/linearization.hpp"
#include "functions/shared/algorithms.hpp"
#include "functions/shared/contacts.hpp"
#include "registry/arguments.hpp"

namespace dtau::DTAU_VARIANT {
namespace {

constexpr Out<"A", Quantity::state_matrix> A;
constexpr Out<"B", Quantity::input_matrix> B;
constexpr Out<"a", Quantity::v> acceleration;
constexpr Out<"residual", Quantity::rows, not_stacked, true> residual;

template <class T>
struct Constrained : ConstrainedLinearizationWorkspace<T> {
    Constrained(Arena& arena, const Tree& tree, const Options& options)
        : ConstrainedLinearizationWorkspace<T>(arena, tree, *options.contacts, options.wrench_axes,
                                               options.contact_damping) {}
};

constexpr Function functions[] = {
    function({.name = "linearize",
              .solves = true,
              .results = "Linearization",
              .all_results = "ConstrainedLinearization"},
             takes(q, v, tau, f_ext, inputs, f_ext_axes, maybe_contacts, active, damping),
             gives(A, B, acceleration, residual),
             algorithm<LinearizationWorkspace, How{.results = Results::sparse}>(
                 []<class T>(const Tree& tree, const auto& x, const auto& w) {
                     linearize<T>(tree, {x.options.driven, x[inputs]}, x[q], x[v], x[tau], x[f_ext],
                                  x[A], x[B], x[acceleration], w);
                 }),
             with_contacts<Constrained, How{.results = Results::sparse}>(
                 []<class T>(const Tree& tree, const auto& x, const auto& w) {
                     constrained_linearize<T>(tree, {x.options.driven, x[inputs]}, x[q], x[v],
                                              x[tau], x[active], x[f_ext], x[A], x[B],
                                              x[acceleration], x[residual], w);
                     x.report(w.derivatives.contacts.solver.failures);
                 })),
};

}  // namespace

extern const FunctionGroup linearize_functions = functions;

}  // namespace dtau::DTAU_VARIANT
