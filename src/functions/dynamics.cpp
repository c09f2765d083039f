// Registers inverse_dynamics, bias_torque, gravity_torque and forward_dynamics.
#include "dtau/algorithms/solve/factorized.hpp"
#include "dtau/algorithms/values/aba.hpp"
#include "dtau/algorithms/values/rnea.hpp"
#include "dtau/algorithms/values/wrench_axes.hpp"
#include "functions/shared/algorithms.hpp"
#include "registry/arguments.hpp"

namespace dtau::DTAU_VARIANT {
namespace dynamics_rows {
namespace {

constexpr Out<"tau", Quantity::torque> torque;

template <class T>
using RneaAndWrenches = WithWrenches<RneaWorkspace, WrenchAxesWorkspace>::Workspace<T>;

constexpr Out<"a", Quantity::v> acceleration;

template <class T>
using AbaAndWrenches = WithWrenches<AbaWorkspace, WrenchAxesWorkspace>::Workspace<T>;
template <class T>
using MimicAndWrenches = WithWrenches<FactorizedWorkspace, WrenchAxesWorkspace>::Workspace<T>;

constexpr Row functions[] = {
    function(
        {.name = "inverse_dynamics",
         .links = {.derivatives = "inverse_dynamics_derivatives",
                   .second_derivatives = "inverse_dynamics_second_derivatives",
                   .hessian = "inverse_dynamics_hessian",
                   .jvp = "inverse_dynamics_jvp",
                   .vjp = "inverse_dynamics_vjp",
                   .parameter_derivatives = "inverse_dynamics_regressor",
                   .parameter_jvp = "inverse_dynamics_parameter_jvp",
                   .parameter_vjp = "inverse_dynamics_parameter_vjp",
                   .wrench_derivatives = "inverse_dynamics_wrench_derivatives",
                   .time_derivatives = "inverse_dynamics_time_derivatives"}},
        takes(q, v, a, f_ext, f_ext_axes, parameters), gives(torque),
        algorithm<RneaAndWrenches>([]<class T>(const Tree& tree, const auto& x, const auto& w) {
            const T* body_f_ext = along_body_axes(tree, x[q], x[f_ext], w.wrenches);
            rnea<T>(tree, x[q], x[v], x[a], body_f_ext, x[torque], w.algorithm);
        })),
    function(
        {.name = "bias_torque", .links = {.time_derivatives = "bias_torque_time_derivatives"}},
        takes(q, v, f_ext, f_ext_axes, parameters), gives(torque),
        algorithm<RneaAndWrenches>([]<class T>(const Tree& tree, const auto& x, const auto& w) {
            const T* body_f_ext = along_body_axes(tree, x[q], x[f_ext], w.wrenches);
            rnea<T>(tree, x[q], x[v], nullptr, body_f_ext, x[torque], w.algorithm);
        })),
    function({.name = "gravity_torque",
              .links = {.time_derivatives = "gravity_torque_time_derivatives"}},
             takes(q, parameters), gives(torque),
             algorithm<RneaWorkspace>([]<class T>(const Tree& tree, const auto& x, const auto& w) {
                 rnea<T>(tree, x[q], nullptr, nullptr, nullptr, x[torque], w);
             })),
    function(
        {.name = "forward_dynamics",
         .links = {.derivatives = "forward_dynamics_derivatives",
                   .second_derivatives = "forward_dynamics_second_derivatives",
                   .hessian = "forward_dynamics_hessian",
                   .jvp = "forward_dynamics_jvp",
                   .vjp = "forward_dynamics_vjp",
                   .parameter_derivatives = "forward_dynamics_parameter_derivatives",
                   .parameter_jvp = "forward_dynamics_parameter_jvp",
                   .parameter_vjp = "forward_dynamics_parameter_vjp",
                   .wrench_derivatives = "forward_dynamics_wrench_derivatives",
                   .time_derivatives = "forward_dynamics_time_derivatives"},
         .solves = true},
        takes(q, v, tau, f_ext, f_ext_axes, parameters), gives(acceleration),
        algorithm<AbaAndWrenches>([]<class T>(const Tree& tree, const auto& x, const auto& w) {
            const T* body_f_ext = along_body_axes(tree, x[q], x[f_ext], w.wrenches);
            aba(tree, x[q], x[v], x[tau], body_f_ext, x[acceleration], w.algorithm);
        }),
        algorithm<MimicAndWrenches>([]<class T>(const Tree& tree, const auto& x, const auto& w) {
            const T* body_f_ext = along_body_axes(tree, x[q], x[f_ext], w.wrenches);
            mimic_forward_dynamics(tree, x[q], x[v], x[tau], body_f_ext, x[acceleration],
                                   w.algorithm);
        })),
};

}  // namespace
}  // namespace dynamics_rows

extern const FunctionGroup dynamics_functions = group<dynamics_rows::functions>;

}  // namespace dtau::DTAU_VARIANT
