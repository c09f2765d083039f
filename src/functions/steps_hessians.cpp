// Registers step_hessian.
#include "dtau/algorithms/constraints/step_hessian.hpp"
#include "functions/shared/constraints_hessians.hpp"
#include "functions/shared/linearizations.hpp"
#include "registry/active_constraints.hpp"
#include "registry/arguments.hpp"

namespace dtau::DTAU_VARIANT {
namespace steps_hessians_rows {
namespace {

constexpr ByNumbers<Out<"H", Quantity::step_matrix>, Converted::columns | Converted::rows> H;

constexpr Row functions[] = {
    function(
        {.name = "step_hessian", .solves = true},
        takes(q, v, tau, dt, lam_q, lam_v, integrator, f_ext, inputs, f_ext_axes, optional_contacts,
              active, held_positions, regularization, by, parameters, coordinates),
        gives(H),
        algorithm<ForwardStepHessianWorkspace>(
            []<class T>(const Tree& tree, const auto& x, const auto& w) {
                ForwardCurvature<T> dynamics = {w, x[f_ext]};
                step_hessian<T>(tree, x.options.integrator, {x.options.driven, x[inputs]}, x[q],
                                x[v], x[tau], *x[dt], x[lam_q], x[lam_v], x[H], x.all.reached,
                                w.step, dynamics);
            }),
        with_contacts<ConstrainedStepHessianWorkspace>(
            []<class T>(const Tree& tree, const auto& x, const auto& w) {
                ConstrainedCurvature<T> dynamics = {w, {x[active], x[held_positions]}, x[f_ext]};
                step_hessian<T>(tree, x.options.integrator, {x.options.driven, x[inputs]}, x[q],
                                x[v], x[tau], *x[dt], x[lam_q], x[lam_v], x[H], x.all.reached,
                                w.step, dynamics);
                for (int i = 0; w.stages && i < stage_count(x.options.integrator); ++i)
                    x.report(w.stages->stages[i].equations.schur.failures, i);
                x.report(w.hessian.equations.schur.failures);
            })),
};

}  // namespace
}  // namespace steps_hessians_rows

extern const FunctionGroup steps_hessians_functions = group<steps_hessians_rows::functions>;

}  // namespace dtau::DTAU_VARIANT
