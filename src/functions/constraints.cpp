// Registers constrained_dynamics and constrained_dynamics_derivatives.
#include "functions/shared/constraints.hpp"
#include "dtau/algorithms/constraints/derivatives.hpp"
#include "dtau/algorithms/values/wrench_axes.hpp"
#include "registry/acceleration_quantities.hpp"
#include "registry/active_constraints.hpp"
#include "registry/arguments.hpp"

namespace dtau::DTAU_VARIANT {

template <class T> struct ConstrainedWorkspace {
    FactorizedWorkspace<T> dynamics;
    ConstraintEquations<T> equations;
    WrenchAxesWorkspace<T> wrenches;

    ConstrainedWorkspace(Arena& arena, const Tree& tree, const Options& options)
        : dynamics(arena, tree, options),
          equations(arena, tree, options),
          wrenches(arena, tree, options) {}
};

namespace constraints_rows {
namespace {

constexpr Out<"a", Quantity::v> acceleration;
constexpr Out<"forces", Quantity::rows> forces;
constexpr Out<"residual", Quantity::rows> residual;

constexpr ByQ<Out<"da_dq", AccelerationQuantity::matrix>> da_dq;
constexpr Out<"da_dv", AccelerationQuantity::matrix> da_dv;
constexpr Out<"da_dtau", AccelerationQuantity::matrix> da_dtau;
constexpr ByQ<Out<"dforces_dq", Quantity::row_matrix>> dforces_dq;
constexpr Out<"dforces_dv", Quantity::row_matrix> dforces_dv;
constexpr Out<"dforces_dtau", Quantity::row_matrix> dforces_dtau;

constexpr ForceOut<"a", Quantity::v> acceleration_too;
constexpr ForceOut<"forces", Quantity::rows> forces_too;

constexpr Row functions[] = {
    function({.name = "constrained_dynamics",
              .links = {.derivatives = "constrained_dynamics_derivatives",
                        .second_derivatives = "constrained_dynamics_second_derivatives",
                        .hessian = "constrained_dynamics_hessian",
                        .jvp = "constrained_dynamics_jvp",
                        .vjp = "constrained_dynamics_vjp",
                        .time_derivatives = "constrained_dynamics_time_derivatives"},
              .solves = true,
              .results = "ConstrainedDynamics"},
             takes(q, v, tau, contacts, f_ext, f_ext_axes, active, held_positions, regularization,
                   parameters),
             gives(acceleration, forces, residual),
             on_active_constraints<ConstrainedWorkspace>(
                 []<class T>(const Tree& tree, const auto& x, const auto& w) {
                     const T* body_f_ext = along_body_axes(tree, x[q], x[f_ext], w.wrenches);
                     constrained_dynamics(false, tree, x[q], x[v], x[tau],
                                          {x[active], x[held_positions]}, body_f_ext, x[forces],
                                          x[residual], w.dynamics, w.equations);
                     for (int k = 0; k < tree.nv; ++k) x[acceleration][k] = w.dynamics.a[k];
                     x.report(w.equations.schur.failures);
                 })),
    function({.name = "constrained_dynamics_derivatives",
              .solves = true,
              .results = "ConstrainedDynamicsDerivatives"},
             takes(q, v, tau, contacts, f_ext, f_ext_axes, active, held_positions, regularization,
                   with_forces, layout, parameters, coordinates),
             gives(da_dq, da_dv, da_dtau, dforces_dq, dforces_dv, dforces_dtau, residual,
                   acceleration_too, forces_too),
             on_active_constraints<ConstrainedDerivativesWorkspace>(
                 []<class T>(const Tree& tree, const auto& x, const auto& w) {
                     constrained_dynamics_derivatives<T>(
                         tree, x[q], x[v], x[tau], {x[active], x[held_positions]}, x[f_ext],
                         x[da_dq], x[da_dv], tree.independent.n, x[da_dtau], x[dforces_dq],
                         x[dforces_dv], x[dforces_dtau], w);
                     const int nrows = x.options.contacts->nrows;
                     for (int r = 0; r < nrows; ++r) x[residual][r] = w.residual[r];
                     if (x.options.forces) {
                         for (int k = 0; k < tree.nv; ++k)
                             x[acceleration_too][k] = w.fdsva.dynamics.a[k];
                         for (int r = 0; r < nrows; ++r) x[forces_too][r] = w.forces[r];
                     }
                     x.report(w.equations.schur.failures);
                 })),
};

}  // namespace
}  // namespace constraints_rows

extern const FunctionGroup constraints_functions = group<constraints_rows::functions>;

}  // namespace dtau::DTAU_VARIANT
