#include "dtau/algorithms/time/inverse.hpp"
#include "functions/arguments.hpp"
#include "functions/shared/algorithms.hpp"

namespace dtau::DTAU_VARIANT {
namespace {

constexpr Out<"tau", Quantity::torque, 1> torques;

constexpr Function functions[] = {
    function({.name = "inverse_dynamics_time_derivatives",
              .options = {Option::wrench_axes, Option::order}},
             takes(q, v_beyond, f_ext_stack), gives(torques),
             algorithm<InverseSeriesWorkspace>(
                 []<class T>(const Tree& tree, const auto& x, const auto& w) {
                     inverse_time_derivatives<Part::all>(tree, x.options.order, x[q], x[v_beyond],
                                                         x[f_ext_stack], x[torques], w);
                 })),
    function(
        {.name = "bias_torque_time_derivatives", .options = {Option::wrench_axes, Option::order}},
        takes(q, v_stack, f_ext_stack), gives(torques),
        algorithm<InverseSeriesWorkspace>(
            []<class T>(const Tree& tree, const auto& x, const auto& w) {
                inverse_time_derivatives<Part::bias>(tree, x.options.order, x[q], x[v_stack],
                                                     x[f_ext_stack], x[torques], w);
            })),
    function({.name = "gravity_torque_time_derivatives", .options = {Option::order}},
             takes(q, v_below), gives(torques),
             algorithm<InverseSeriesWorkspace>(
                 []<class T>(const Tree& tree, const auto& x, const auto& w) {
                     inverse_time_derivatives<Part::gravity, T>(tree, x.options.order, x[q],
                                                                x[v_below], nullptr, x[torques], w);
                 })),
};

}  // namespace

extern const FunctionGroup inverse_time_derivatives_functions = functions;

}  // namespace dtau::DTAU_VARIANT
