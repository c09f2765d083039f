// Registers linearize and linearize_discrete.
#include "dtau/algorithms/constraints/discrete_linearization.hpp"
#include "dtau/algorithms/constraints/linearization.hpp"
#include "dtau/algorithms/steps/discrete_linearization.hpp"
#include "dtau/algorithms/steps/linearization.hpp"
#include "functions/shared/linearizations.hpp"
#include "registry/acceleration_quantities.hpp"
#include "registry/active_constraints.hpp"
#include "registry/arguments.hpp"

namespace dtau::DTAU_VARIANT {
namespace steps_linearizations_rows {
namespace {

constexpr KeptOut<"A", Quantity::state_matrix, Kept::upper_half> A;
constexpr KeptOut<"B", Quantity::input_matrix, Kept::upper_half> B;
constexpr Out<"a", Quantity::v> acceleration;
constexpr Out<"residual", Quantity::rows, not_stacked, true> residual;

constexpr KeptOut<"A", AccelerationQuantity::state_matrix, Kept::upper_half_of_euler> A_step;
constexpr KeptOut<"B", AccelerationQuantity::input_matrix, Kept::upper_half_of_euler> B_step;
constexpr KeptOut<"q", Quantity::q, Kept::all_of_euler> q_next;
constexpr Out<"v", Quantity::v> v_next;

constexpr ForceOut<"forces", Quantity::rows> forces;
constexpr ForceOut<"dforces_dz", AccelerationQuantity::forces_by_states> dforces_dz;
constexpr ForceOut<"dforces_du", AccelerationQuantity::forces_by_inputs> dforces_du;

constexpr Function functions[] = {
    function(
        {.name = "linearize",
         .solves = true,
         .results = "Linearization",
         .results_with_contacts = "ConstrainedLinearization"},
        takes(q, v, tau, f_ext, inputs, f_ext_axes, optional_contacts, active, held_positions,
              regularization, layout, parameters),
        gives(A, B, acceleration, residual),
        algorithm<LinearizationWorkspace, KernelTraits{.results = Results::sparse}>(
            []<class T>(const Tree& tree, const auto& x, const auto& w) {
                linearize<T>(tree, {x.options.driven, x[inputs]}, x[q], x[v], x[tau], x[f_ext],
                             x[A], x[B], x[acceleration], w);
            }),
        with_contacts<ConstrainedLinearizationWorkspace, KernelTraits{.results = Results::sparse}>(
            []<class T>(const Tree& tree, const auto& x, const auto& w) {
                constrained_linearize<T>(tree, {x.options.driven, x[inputs]}, x[q], x[v], x[tau],
                                         {x[active], x[held_positions]}, x[f_ext], x[A], x[B],
                                         x[acceleration], x[residual], w);
                x.report(w.derivatives.constraints.schur.failures);
            })),
    function(
        {.name = "linearize_discrete",
         .solves = true,
         .results = "DiscreteLinearization",
         .results_with_contacts = "ConstrainedDiscreteLinearization",
         .force_results = "DiscreteLinearizationWithForces"},
        takes(q, v, tau, dt, integrator, f_ext, inputs, f_ext_axes, optional_contacts, active,
              held_positions, regularization, with_forces, layout, parameters),
        gives(A_step, B_step, q_next, v_next, residual, forces, dforces_dz, dforces_du),
        algorithm<DiscreteWorkspace>([]<class T>(const Tree& tree, const auto& x, const auto& w) {
            linearize_discrete<T>(tree, x.options.integrator, {x.options.driven, x[inputs]}, x[q],
                                  x[v], x[tau], *x[dt], x[f_ext], x[A_step], x[B_step], x[q_next],
                                  x[v_next], w);
            x.require_finite(A_step, B_step);  // blocks of columns differ alone and in lanes
        }),
        with_contacts<ConstrainedDiscreteWorkspace>(
            []<class T>(const Tree& tree, const auto& x, const auto& w) {
                StepForces<T> wanted = {nullptr, nullptr, nullptr, 2 * tree.independent.n,
                                        x.options.driven.count};
                if (x.options.forces) {
                    wanted.forces = x[forces];
                    wanted.by_z = x[dforces_dz], wanted.by_u = x[dforces_du];
                }
                constrained_linearize_discrete<T>(
                    tree, x.options.integrator, {x.options.driven, x[inputs]}, x[q], x[v], x[tau],
                    *x[dt], {x[active], x[held_positions]}, x[f_ext], x[A_step], x[B_step],
                    x[q_next], x[v_next], x[residual], wanted, w);
                for (int i = 0; i < stage_count(x.options.integrator); ++i)
                    x.report(w.stages[i].constraints.schur.failures, i);
                x.require_finite(A_step, B_step);
            })),
};

}  // namespace
}  // namespace steps_linearizations_rows

extern const FunctionGroup steps_linearizations_functions = steps_linearizations_rows::functions;

}  // namespace dtau::DTAU_VARIANT
