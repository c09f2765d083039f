// Registers time derivatives of inverse dynamics, bias torque and gravity torque.
#include "functions/shared/time_derivatives.hpp"
#include "dtau/algorithms/time/inverse_wrenches.hpp"
#include "registry/arguments.hpp"

namespace dtau::DTAU_VARIANT {
namespace time_derivatives_rows {
namespace {

constexpr Out<"tau", Quantity::torque, 1> torques;

constexpr Row functions[] = {
    function({.name = "inverse_dynamics_time_derivatives",
              .links = {.derivatives = "inverse_dynamics_time_derivatives_derivatives",
                        .jvp = "inverse_dynamics_time_derivatives_jvp",
                        .vjp = "inverse_dynamics_time_derivatives_vjp"}},
             takes(q, v_beyond, f_ext_stack, f_ext_axes, order), gives(torques),
             algorithm<InverseAndWrenchesWorkspace>(
                 []<class T>(const Tree& tree, const auto& x, const auto& w) {
                     inverse_with_wrenches(Part::all, tree, x.options.order, x[q], x[v_beyond],
                                           x[f_ext_stack], x[torques], w);
                 })),
    function({.name = "bias_torque_time_derivatives"},
             takes(q, v_stack, f_ext_stack, f_ext_axes, order), gives(torques),
             algorithm<InverseAndWrenchesWorkspace>(
                 []<class T>(const Tree& tree, const auto& x, const auto& w) {
                     inverse_with_wrenches(Part::bias, tree, x.options.order, x[q], x[v_stack],
                                           x[f_ext_stack], x[torques], w);
                 })),
    function({.name = "gravity_torque_time_derivatives"}, takes(q, v_below, order), gives(torques),
             algorithm<InverseSeriesWorkspace>(
                 []<class T>(const Tree& tree, const auto& x, const auto& w) {
                     inverse_time_derivatives<T>(Part::gravity, tree, x.options.order, x[q],
                                                 x[v_below], nullptr, x[torques], w);
                 })),
};

}  // namespace
}  // namespace time_derivatives_rows

extern const FunctionGroup time_derivatives_functions = group<time_derivatives_rows::functions>;

}  // namespace dtau::DTAU_VARIANT
