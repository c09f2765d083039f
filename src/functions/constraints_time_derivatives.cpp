// Registers time derivatives of constrained dynamics, forward and inverse.
#include "dtau/algorithms/time/constrained.hpp"
#include "dtau/algorithms/time/constrained_inverse.hpp"
#include "functions/shared/constraints.hpp"
#include "functions/shared/time_derivatives.hpp"
#include "registry/active_constraints.hpp"
#include "registry/arguments.hpp"

namespace dtau::DTAU_VARIANT {
namespace constraints_time_derivatives_rows {
namespace {

constexpr Out<"a", Quantity::v, 1> accelerations;
constexpr Out<"forces", Quantity::rows, 1> forces;
constexpr Out<"residual", Quantity::rows, 1> residual;
constexpr Out<"tau", Quantity::torque, 1> torques;

constexpr Row functions[] = {
    function({.name = "constrained_dynamics_time_derivatives",
              .solves = true,
              .results = "ConstrainedDynamics"},
             takes(q, v, tau_stack, contacts, f_ext_stack, f_ext_axes, active, held_positions,
                   regularization, order),
             gives(accelerations, forces, residual),
             on_active_constraints<ConstrainedSeriesWorkspace>(
                 []<class T>(const Tree& tree, const auto& x, const auto& w) {
                     constrained_time_derivatives(tree, x.options.order, x[q], x[v], x[tau_stack],
                                                  {x[active], x[held_positions]}, x[f_ext_stack],
                                                  x[accelerations], x[forces], x[residual], w);
                     x.report(w.equations.schur.failures);
                 })),
    function({.name = "constrained_inverse_dynamics_time_derivatives",
              .results = "ConstrainedInverseDynamics"},
             takes(q, v_beyond, contacts, f_ext_stack, f_ext_axes, active, driven, regularization,
                   order),
             gives(torques, forces),
             on_active_constraints<ConstrainedInverseSeriesWorkspace>(
                 []<class T>(const Tree& tree, const auto& x, const auto& w) {
                     constrained_inverse_time_derivatives(tree, x.options.order, x[q], x[v_beyond],
                                                          x[active], x[f_ext_stack], x[torques],
                                                          x[forces], w);
                     x.report(w.value.failures);
                 })),
};

}  // namespace
}  // namespace constraints_time_derivatives_rows

extern const FunctionGroup constraints_time_derivatives_functions =
    group<constraints_time_derivatives_rows::functions>;

}  // namespace dtau::DTAU_VARIANT
