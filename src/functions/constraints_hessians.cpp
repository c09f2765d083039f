// Registers constrained_dynamics_hessian and impulse_dynamics_hessian.
#include "functions/shared/constraints_hessians.hpp"
#include "dtau/algorithms/constraints/impulse_hessian.hpp"
#include "registry/active_constraints.hpp"
#include "registry/arguments.hpp"

namespace dtau::DTAU_VARIANT {
namespace constraints_hessians_rows {
namespace {

constexpr In<"lam_forces", Quantity::rows> force_weights;
constexpr In<"lam_impulses", Quantity::rows> impulse_weights;
constexpr In<"restitution", Quantity::scalar, not_stacked, Default::zero> restitution;
constexpr ByNumbers<Out<"dqdq", Quantity::matrix>, Converted::columns | Converted::rows> dqdq;
constexpr ByNumbers<Out<"dqdv", Quantity::matrix>, Converted::rows> dqdv;
constexpr Out<"dvdv", Quantity::matrix> dvdv;
constexpr ByQ<Out<"dtaudq", Quantity::matrix>> dtaudq;

constexpr Row functions[] = {
    function({.name = "constrained_dynamics_hessian",
              .solves = true,
              .results = "ConstrainedDynamicsHessian"},
             takes(q, v, tau, contacts, acceleration_weights, force_weights, f_ext, f_ext_axes,
                   active, held_positions, regularization, symmetric, parameters, coordinates),
             gives(dqdq, dqdv, dvdv, dtaudq),
             on_active_constraints<ConstrainedHessianWorkspace>(
                 []<class T>(const Tree& tree, const auto& x, const auto& w) {
                     const Blocks<T> H = {x[dqdq], x[dqdv], x[dvdv], x[dtaudq], tree.independent.n};
                     constrained_dynamics_hessian<T>(
                         tree, x[q], x[v], x[tau], x[acceleration_weights], x[force_weights],
                         {x[active], x[held_positions]}, x[f_ext], H, x.options.symmetric, w);
                     x.report(w.equations.schur.failures);
                 })),
    function(
        {.name = "impulse_dynamics_hessian", .solves = true, .results = "ImpulseDynamicsHessian"},
        takes(q, v, contacts, acceleration_weights, impulse_weights, restitution, active,
              regularization, symmetric, parameters, coordinates),
        gives(dqdq, dqdv),
        on_active_constraints<ImpulseHessianWorkspace>(
            []<class T>(const Tree& tree, const auto& x, const auto& w) {
                impulse_dynamics_hessian<T>(tree, x[q], x[v], x[acceleration_weights],
                                            x[impulse_weights], x[restitution][0], x[active],
                                            x[dqdq], x[dqdv], x.options.symmetric, w);
                x.report(w.hessian.equations.schur.failures);
            })),
};

}  // namespace
}  // namespace constraints_hessians_rows

extern const FunctionGroup constraints_hessians_functions =
    group<constraints_hessians_rows::functions>;

}  // namespace dtau::DTAU_VARIANT
