#include "dtau/algorithms/first/products.hpp"
#include "dtau/algorithms/first/forward_products.hpp"
#include "functions/arguments.hpp"
#include "functions/shared/algorithms.hpp"

namespace dtau::DTAU_VARIANT {
namespace {

constexpr Out<"dtau", Quantity::torque> torque_tangent;
constexpr Out<"da", Quantity::v> acceleration_tangent;
constexpr Out<"by_q", Quantity::torque> by_q;
constexpr Out<"by_v", Quantity::torque> by_v;
constexpr Out<"by_a", Quantity::torque> by_a;
constexpr Out<"by_tau", Quantity::v> by_tau;
constexpr Out<"by_f_ext", Quantity::wrenches, not_stacked, true> by_f_ext;

constexpr Function functions[] = {
    function(
        {.name = "inverse_dynamics_jvp"}, takes(q, v, a, dq, dv, da, f_ext, df_ext),
        gives(torque_tangent),
        algorithm<InverseJvpWorkspace>([]<class T>(const Tree& tree, const auto& x, const auto& w) {
            inverse_dynamics_jvp(tree, x[q], x[v], x[a], x[dq], x[dv], x[da], x[f_ext], x[df_ext],
                                 x[torque_tangent], w);
        })),
    function(
        {.name = "inverse_dynamics_vjp", .results = "InverseDynamicsProducts"},
        takes(q, v, a, torque_weights, f_ext), gives(by_q, by_v, by_a, by_f_ext),
        algorithm<InverseVjpWorkspace>([]<class T>(const Tree& tree, const auto& x, const auto& w) {
            inverse_dynamics_vjp(tree, x[q], x[v], x[a], x[torque_weights], x[f_ext], x[by_q],
                                 x[by_v], x[by_a], x[by_f_ext], w);
        })),
    function(
        {.name = "forward_dynamics_jvp", .solves = true},
        takes(q, v, tau, dq, dv, dtorque, f_ext, df_ext), gives(acceleration_tangent),
        algorithm<ForwardJvpWorkspace>([]<class T>(const Tree& tree, const auto& x, const auto& w) {
            forward_dynamics_jvp(tree, x[q], x[v], x[tau], x[dq], x[dv], x[dtorque], x[f_ext],
                                 x[df_ext], x[acceleration_tangent], w);
        }),
        algorithm<CoupledForwardJvpWorkspace>(
            []<class T>(const Tree& tree, const auto& x, const auto& w) {
                coupled_forward_dynamics_jvp(tree, x[q], x[v], x[tau], x[dq], x[dv], x[dtorque],
                                             x[f_ext], x[df_ext], x[acceleration_tangent], w);
            })),
    function(
        {.name = "forward_dynamics_vjp", .solves = true, .results = "ForwardDynamicsProducts"},
        takes(q, v, tau, acceleration_weights, f_ext), gives(by_q, by_v, by_tau, by_f_ext),
        algorithm<ForwardVjpWorkspace>([]<class T>(const Tree& tree, const auto& x, const auto& w) {
            forward_dynamics_vjp(tree, x[q], x[v], x[tau], x[acceleration_weights], x[f_ext],
                                 x[by_q], x[by_v], x[by_tau], x[by_f_ext], w);
        }),
        algorithm<CoupledForwardVjpWorkspace>(
            []<class T>(const Tree& tree, const auto& x, const auto& w) {
                coupled_forward_dynamics_vjp(tree, x[q], x[v], x[tau], x[acceleration_weights],
                                             x[f_ext], x[by_q], x[by_v], x[by_tau], x[by_f_ext], w);
            })),
};

}  // namespace

extern const FunctionGroup products_functions = functions;

}  // namespace dtau::DTAU_VARIANT
