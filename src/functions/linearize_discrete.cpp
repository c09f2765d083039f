#include "dtau/algorithms/contacts/discrete_linearization.hpp"
#include "dtau/algorithms/steps/discrete_linearization.hpp"
#include "functions/shared/algorithms.hpp"
#include "functions/shared/contacts.hpp"
#include "registry/arguments.hpp"

namespace dtau::DTAU_VARIANT {
namespace {

constexpr Out<"A", Quantity::state_matrix> A;
constexpr Out<"B", Quantity::input_matrix> B;
constexpr Out<"q", Quantity::q> q_next;
constexpr Out<"v", Quantity::v> v_next;
constexpr Out<"residual", Quantity::rows, not_stacked, true> residual;

template <class T>
struct Constrained : ConstrainedDiscreteWorkspace<T> {
    Constrained(Arena& arena, const Tree& tree, const Options& options)
        : ConstrainedDiscreteWorkspace<T>(arena, tree, *options.contacts, options.wrench_axes,
                                          options.contact_damping) {}
};

constexpr Function functions[] = {
    function(
        {.name = "linearize_discrete",
         .solves = true,
         .results = "DiscreteLinearization",
         .all_results = "ConstrainedDiscreteLinearization"},
        takes(q, v, tau, dt, integrator, f_ext, inputs, f_ext_axes, maybe_contacts, active,
              damping),
        gives(A, B, q_next, v_next, residual),
        algorithm<DiscreteWorkspace>([]<class T>(const Tree& tree, const auto& x, const auto& w) {
            linearize_discrete<T>(tree, x.options.integrator, {x.options.driven, x[inputs]}, x[q],
                                  x[v], x[tau], *x[dt], x[f_ext], x[A], x[B], x[q_next], x[v_next],
                                  w);
        }),
        with_contacts<Constrained>([]<class T>(const Tree& tree, const auto& x, const auto& w) {
            constrained_linearize_discrete<T>(
                tree, x.options.integrator, {x.options.driven, x[inputs]}, x[q], x[v], x[tau],
                *x[dt], x[active], x[f_ext], x[A], x[B], x[q_next], x[v_next], x[residual], w);
            for (int i = 0; i < stage_count(x.options.integrator); ++i)
                x.report(w.stages[i].contacts.solver.failures, i);
        })),
};

}  // namespace

extern const FunctionGroup linearize_discrete_functions = functions;

}  // namespace dtau::DTAU_VARIANT
