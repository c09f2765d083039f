// Registers linearize and linearize_discrete.
#include "dtau/algorithms/constraints/discrete_linearization.hpp"
#include "dtau/algorithms/steps/discrete_linearization.hpp"
#include "dtau/algorithms/steps/linearization.hpp"
#include "functions/shared/linearizations.hpp"
#include "registry/acceleration_quantities.hpp"
#include "registry/active_constraints.hpp"
#include "registry/arguments.hpp"

namespace dtau::DTAU_VARIANT {
namespace steps_linearizations_rows {

// The continuous linearization, with the derivatives of any forward dynamics.
template <template <class> class Derivatives> struct Continuous {
    template <class T> struct Workspace {
        Derivatives<T> derivatives;
        T* da_dtau;

        Workspace(Arena& arena, const Tree& tree, const Options& options)
            : derivatives(arena, tree, options),
              da_dtau(arena.take<T>(tree.independent.n * tree.independent.n)) {}
    };
};
template <class T> using FreeLinearization = Continuous<FdsvaWorkspace>::Workspace<T>;
template <class T>
using ConstrainedLinearization = Continuous<ConstrainedDerivativesWorkspace>::Workspace<T>;

namespace {

constexpr KeptOut<"A", Quantity::state_matrix, Kept::upper_half> A;
constexpr KeptOut<"B", Quantity::input_matrix, Kept::upper_half> B;
constexpr Out<"a", Quantity::v> acceleration;
constexpr Out<"residual", Quantity::rows, not_stacked, true> residual;

constexpr ByNumbers<KeptOut<"A", AccelerationQuantity::state_matrix, Kept::upper_half_of_euler>,
                    Converted::columns | Converted::reached_rows>
    A_step;
template <class Result> using Reaching = ByNumbers<Result, Converted::reached_rows>;
constexpr Reaching<KeptOut<"B", AccelerationQuantity::input_matrix, Kept::upper_half_of_euler>>
    B_step;
constexpr KeptOut<"q", Quantity::q, Kept::all_of_euler> q_next;
constexpr Out<"v", Quantity::v> v_next;

constexpr ForceOut<"forces", Quantity::rows> forces;
constexpr ByQ<ForceOut<"dforces_dz", AccelerationQuantity::forces_by_states>> dforces_dz;
constexpr ForceOut<"dforces_du", AccelerationQuantity::forces_by_inputs> dforces_du;
constexpr Quantity by_length = {1, {Axis::nv}};
constexpr Quantity forces_by_wrenches = {3, {Axis::nrows, Axis::nbodies, Axis::six}};
constexpr Reaching<AskedOut<Asked::dt, "dq_ddt", by_length>> dq_ddt;
constexpr AskedOut<Asked::dt, "dv_ddt", by_length> dv_ddt;
constexpr Reaching<AskedOut<Asked::f_ext, "dq_df_ext", Quantity::wrench_matrix>> dq_df_ext;
constexpr AskedOut<Asked::f_ext, "dv_df_ext", Quantity::wrench_matrix> dv_df_ext;
constexpr AskedOut<Asked::forces | Asked::f_ext, "dforces_df_ext", forces_by_wrenches>
    dforces_df_ext;

// Where the derivatives of a step go.
constexpr auto step_derivatives = []<class T>(const auto& x, T* A) -> StepDerivatives<T> {
    return {A, x[B_step], x[dq_df_ext], x[dv_df_ext], x[dq_ddt], x[dv_ddt]};
};

// Blocks of columns differ alone and in lanes.
constexpr auto require_finite = [](const auto& x) {
    x.require_finite(A_step, B_step);
    if (x.options.by_dt) x.require_finite(dq_ddt, dv_ddt);
    if (x.options.by_f_ext) x.require_finite(dq_df_ext, dv_df_ext);
};

template <class T> void copy(const T* from, int count, T* to) {
    for (int k = 0; k < count; ++k) to[k] = from[k];
}

constexpr Row functions[] = {
    function({.name = "linearize",
              .links = {.time_derivatives = "linearize_time_derivatives"},
              .solves = true,
              .results = "Linearization"},
             takes(q, v, tau, f_ext, inputs, f_ext_axes, optional_contacts, active, held_positions,
                   regularization, layout, parameters),
             gives(A, B, acceleration, residual),
             algorithm<FreeLinearization, KernelTraits{.results = Results::sparse}>(
                 []<class T>(const Tree& tree, const auto& x, const auto& w) {
                     linearize<T>(tree, {x.options.driven, x[inputs]}, x[v], x[A], x[B], w.da_dtau,
                                  [&](T* da_dq, T* da_dv, int stride) {
                                      fdsva(tree, x[q], x[v], x[tau], x[f_ext], da_dq, da_dv,
                                            stride, w.da_dtau, w.derivatives);
                                  });
                     copy(w.derivatives.dynamics.a, tree.nv, x[acceleration]);
                 }),
             with_contacts<ConstrainedLinearization, KernelTraits{.results = Results::sparse}>(
                 []<class T>(const Tree& tree, const auto& x, const auto& w) {
                     T* const no_matrix = nullptr;
                     linearize<T>(tree, {x.options.driven, x[inputs]}, x[v], x[A], x[B], w.da_dtau,
                                  [&](T* da_dq, T* da_dv, int stride) {
                                      constrained_dynamics_derivatives<T>(
                                          tree, x[q], x[v], x[tau], {x[active], x[held_positions]},
                                          x[f_ext], da_dq, da_dv, stride, w.da_dtau, no_matrix,
                                          no_matrix, no_matrix, w.derivatives);
                                  });
                     const auto& schur = w.derivatives.equations.schur;
                     copy(w.derivatives.fdsva.dynamics.a, tree.nv, x[acceleration]);
                     copy(w.derivatives.residual, schur.constraints->nrows, x[residual]);
                     x.report(schur.failures);
                 })),
    function(
        {.name = "linearize_discrete", .solves = true, .results = "DiscreteLinearization"},
        takes(q, v, tau, dt, integrator, f_ext, inputs, f_ext_axes, optional_contacts, active,
              held_positions, regularization, with_forces, by, layout, parameters, coordinates),
        gives(A_step, B_step, q_next, v_next, residual, forces, dforces_dz, dforces_du, dq_ddt,
              dv_ddt, dq_df_ext, dv_df_ext, dforces_df_ext),
        algorithm<DiscreteWorkspace>([]<class T>(const Tree& tree, const auto& x, const auto& w) {
            linearize_discrete<T>(tree, x.options.integrator, {x.options.driven, x[inputs]}, x[q],
                                  x[v], x[tau], *x[dt], step_derivatives(x, x[A_step]), x[q_next],
                                  x[v_next], FreeStages<T>{w, x[f_ext]});
            x.reach(tree, x[q_next]);
            require_finite(x);
        }),
        with_contacts<ConstrainedDiscreteWorkspace>(
            []<class T>(const Tree& tree, const auto& x, const auto& w) {
                HeldStages<T> stages = {w, {x[active], x[held_positions]}, x[f_ext], x[residual]};
                if (x.options.forces)
                    stages.forces = {x[forces], x[dforces_dz], x[dforces_du], x[dforces_df_ext]};
                linearize_discrete<T>(tree, x.options.integrator, {x.options.driven, x[inputs]},
                                      x[q], x[v], x[tau], *x[dt], step_derivatives(x, x[A_step]),
                                      x[q_next], x[v_next], stages);
                x.reach(tree, x[q_next]);
                for (int i = 0; i < stage_count(x.options.integrator); ++i)
                    x.report(w.stages[i].equations.schur.failures, i);
                require_finite(x);
            })),
};

}  // namespace
}  // namespace steps_linearizations_rows

extern const FunctionGroup steps_linearizations_functions =
    group<steps_linearizations_rows::functions>;

}  // namespace dtau::DTAU_VARIANT
