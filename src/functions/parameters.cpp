#include "dtau/algorithms/first/parameter_products.hpp"
#include "functions/arguments.hpp"
#include "functions/shared/algorithms.hpp"

namespace dtau::DTAU_VARIANT {
namespace {

constexpr Out<"Y", Quantity::regressor> Y;
constexpr Out<"da_dparameters", Quantity::regressor> da_dparameters;
constexpr Out<"dtau", Quantity::torque> torque_tangent;
constexpr Out<"da", Quantity::v> acceleration_tangent;
constexpr Out<"by_parameters", Quantity::parameters> by_parameters;

template <class T>
struct ForwardMatrixWorkspace : ForwardRegressorWorkspace<T> {
    ForwardMatrixWorkspace(Arena& arena, const Tree& tree, const Options& options)
        : ForwardRegressorWorkspace<T>(arena, tree, options.joint_parameters) {}
};

constexpr Function functions[] = {
    function({.name = "inverse_dynamics_regressor",
              .options = {Option::joint_parameters},
              .smaller = "inverse_dynamics_parameter_vjp"},
             takes(q, v, a), gives(Y),
             algorithm<RegressorWorkspace, How{.results = Results::sparse}>(
                 []<class T>(const Tree& tree, const auto& x, const auto& w) {
                     inverse_dynamics_regressor(tree, x[q], x[v], x[a], x.options.joint_parameters,
                                                x[Y], w);
                 })),
    function({.name = "inverse_dynamics_parameter_jvp", .options = {Option::joint_parameters}},
             takes(q, v, a, dparameters), gives(torque_tangent),
             algorithm<InverseParameterWorkspace>([]<class T>(const Tree& tree, const auto& x,
                                                              const auto& w) {
                 inverse_dynamics_parameter_jvp(tree, x[q], x[v], x[a], x[dparameters],
                                                x.options.joint_parameters, x[torque_tangent], w);
             })),
    function({.name = "inverse_dynamics_parameter_vjp", .options = {Option::joint_parameters}},
             takes(q, v, a, torque_weights), gives(by_parameters),
             algorithm<InverseParameterWorkspace>([]<class T>(const Tree& tree, const auto& x,
                                                              const auto& w) {
                 inverse_dynamics_parameter_vjp(tree, x[q], x[v], x[a], x[torque_weights],
                                                x.options.joint_parameters, x[by_parameters], w);
             })),
    function({.name = "forward_dynamics_parameter_derivatives",
              .options = {Option::joint_parameters},
              .solves = true,
              .smaller = "forward_dynamics_parameter_vjp"},
             takes(q, v, tau, f_ext), gives(da_dparameters),
             algorithm<ForwardMatrixWorkspace>(
                 []<class T>(const Tree& tree, const auto& x, const auto& w) {
                     forward_dynamics_parameter_derivatives<T>(tree, x[q], x[v], x[tau], x[f_ext],
                                                               x.options.joint_parameters,
                                                               x[da_dparameters], w);
                 })),
    function({.name = "forward_dynamics_parameter_jvp",
              .options = {Option::joint_parameters},
              .solves = true},
             takes(q, v, tau, dparameters, f_ext), gives(acceleration_tangent),
             algorithm<ForwardParameterWorkspace>(
                 []<class T>(const Tree& tree, const auto& x, const auto& w) {
                     forward_dynamics_parameter_jvp(tree, x[q], x[v], x[tau], x[dparameters],
                                                    x[f_ext], x.options.joint_parameters,
                                                    x[acceleration_tangent], w);
                 }),
             algorithm<CoupledParameterWorkspace>(
                 []<class T>(const Tree& tree, const auto& x, const auto& w) {
                     coupled_parameter_jvp(tree, x[q], x[v], x[tau], x[dparameters], x[f_ext],
                                           x.options.joint_parameters, x[acceleration_tangent], w);
                 })),
    function({.name = "forward_dynamics_parameter_vjp",
              .options = {Option::joint_parameters},
              .solves = true},
             takes(q, v, tau, acceleration_weights, f_ext), gives(by_parameters),
             algorithm<ForwardParameterWorkspace>([]<class T>(const Tree& tree, const auto& x,
                                                              const auto& w) {
                 forward_dynamics_parameter_vjp(tree, x[q], x[v], x[tau], x[acceleration_weights],
                                                x[f_ext], x.options.joint_parameters,
                                                x[by_parameters], w);
             }),
             algorithm<CoupledParameterWorkspace>([]<class T>(const Tree& tree, const auto& x,
                                                              const auto& w) {
                 coupled_parameter_vjp(tree, x[q], x[v], x[tau], x[acceleration_weights], x[f_ext],
                                       x.options.joint_parameters, x[by_parameters], w);
             })),
};

}  // namespace

extern const FunctionGroup parameters_functions = functions;

}  // namespace dtau::DTAU_VARIANT
