// Registers linearize_stages.
#include "dtau/algorithms/constraints/discrete_linearization.hpp"
#include "functions/shared/linearizations.hpp"
#include "registry/active_constraints.hpp"
#include "registry/arguments.hpp"

namespace dtau::DTAU_VARIANT {
namespace steps_stages_rows {
namespace {

constexpr Out<"A", Quantity::state_matrix> A;
constexpr Out<"B", Quantity::input_matrix> B;
constexpr Out<"q", Quantity::q> q_next;
constexpr Out<"v", Quantity::v> v_next;

constexpr Axis stages = Axis{max_stages};
constexpr Quantity stages_of_q = {2, {stages, Axis::nq}}, stages_of_v = {2, {stages, Axis::nv}};
constexpr Quantity stages_by_state = {3, {stages, Axis::two_nv, Axis::two_nv}};
constexpr Quantity stages_by_inputs = {3, {stages, Axis::two_nv, Axis::ninputs}};
constexpr Out<"A_stages", stages_by_state> A_stages;
constexpr Out<"B_stages", stages_by_inputs> B_stages;
constexpr Out<"q_stages", stages_of_q> q_stages;
constexpr Out<"v_stages", stages_of_v> v_stages;

constexpr auto linearize = []<template <class> class Stages, class T>(
                               const Tree& tree, const auto& x, const Stages<T>& stages) {
    const StageResults<T> kept = {x[A_stages], x[B_stages], x[q_stages], x[v_stages]};
    linearize_discrete<T>(tree, Integrator::rk4, {x.options.driven, x[inputs]}, x[q], x[v], x[tau],
                          *x[dt], {x[A], x[B]}, x[q_next], x[v_next], stages, &kept);
};

constexpr Row functions[] = {
    function(
        {.name = "linearize_stages", .solves = true, .results = "StageLinearization"},
        takes(q, v, tau, dt, f_ext, inputs, f_ext_axes, optional_contacts, active, held_positions,
              regularization, parameters),
        gives(A, B, q_next, v_next, A_stages, B_stages, q_stages, v_stages),
        algorithm<DiscreteWorkspace>([]<class T>(const Tree& tree, const auto& x, const auto& w) {
            linearize(tree, x, FreeStages<T>{w, x[f_ext]});
            // Blocks of columns differ alone and in lanes.
            x.require_finite(A, B, A_stages, B_stages);
        }),
        with_contacts<ConstrainedDiscreteWorkspace>(
            []<class T>(const Tree& tree, const auto& x, const auto& w) {
                const Hold<T> hold = {x[active], x[held_positions]};
                linearize(tree, x, HeldStages<T>{w, hold, x[f_ext]});
                for (int i = 0; i < max_stages; ++i)
                    x.report(w.stages[i].equations.schur.failures, i);
                x.require_finite(A, B, A_stages, B_stages);
            })),
};

}  // namespace
}  // namespace steps_stages_rows

extern const FunctionGroup steps_stages_functions = group<steps_stages_rows::functions>;

}  // namespace dtau::DTAU_VARIANT
