// Registers Jacobian-vector products of inverse and forward dynamics (JVP and VJP).
#include "dtau/algorithms/first/products.hpp"
#include "dtau/algorithms/first/forward_products.hpp"
#include "dtau/algorithms/first/world_wrenches.hpp"
#include "functions/shared/algorithms.hpp"
#include "registry/arguments.hpp"

namespace dtau::DTAU_VARIANT {
namespace products_rows {
namespace {

constexpr Out<"dtau", Quantity::torque> torque_tangent;
constexpr Out<"da", Quantity::v> acceleration_tangent;
constexpr ByQ<Out<"by_q", Quantity::torque>> by_q;
constexpr Out<"by_v", Quantity::torque> by_v;
constexpr Out<"by_a", Quantity::torque> by_a;
constexpr Out<"by_tau", Quantity::v> by_tau;
constexpr Out<"by_f_ext", Quantity::wrenches, not_stacked, true> by_f_ext;

template <class T>
using InverseJvp = WithWrenches<InverseJvpWorkspace, WrenchVariationWorkspace>::Workspace<T>;
template <class T>
using InverseVjp = WithWrenches<InverseVjpWorkspace, WrenchGradientWorkspace>::Workspace<T>;
template <class T>
using ForwardJvp = WithWrenches<ForwardJvpWorkspace, WrenchVariationWorkspace>::Workspace<T>;
template <class T>
using ForwardVjp = WithWrenches<ForwardVjpWorkspace, WrenchGradientWorkspace>::Workspace<T>;
template <class T>
using MimicForwardJvp =
    WithWrenches<MimicForwardJvpWorkspace, WrenchVariationWorkspace>::Workspace<T>;
template <class T>
using MimicForwardVjp =
    WithWrenches<MimicForwardVjpWorkspace, WrenchGradientWorkspace>::Workspace<T>;

constexpr Row functions[] = {
    function({.name = "inverse_dynamics_jvp"},
             takes(q, v, a, dq, dv, da, f_ext, df_ext, f_ext_axes, parameters, coordinates),
             gives(torque_tangent),
             algorithm<InverseJvp>([]<class T>(const Tree& tree, const auto& x, const auto& w) {
                 const WrenchVariation<T> wrenches =
                     vary_along_body_axes(tree, x[q], x[dq], x[f_ext], x[df_ext], w.wrenches);
                 inverse_dynamics_jvp(tree, x[q], x[v], x[a], x[dq], x[dv], x[da], wrenches.f_ext,
                                      wrenches.df_ext, x[torque_tangent], w.algorithm);
             })),
    function({.name = "inverse_dynamics_vjp", .results = "InverseDynamicsVJP"},
             takes(q, v, a, torque_weights, f_ext, f_ext_axes, parameters, coordinates),
             gives(by_q, by_v, by_a, by_f_ext),
             algorithm<InverseVjp>([]<class T>(const Tree& tree, const auto& x, const auto& w) {
                 const T* body_f_ext = along_body_axes(tree, x[q], x[f_ext], w.wrenches.value);
                 inverse_dynamics_vjp(tree, x[q], x[v], x[a], x[torque_weights], body_f_ext,
                                      x[by_q], x[by_v], x[by_a], x[by_f_ext], w.algorithm);
                 gradient_along_world_axes(tree, body_f_ext, x[by_q], x[by_f_ext], w.wrenches);
             })),
    function(
        {.name = "forward_dynamics_jvp", .solves = true},
        takes(q, v, tau, dq, dv, dtorque, f_ext, df_ext, f_ext_axes, parameters, coordinates),
        gives(acceleration_tangent),
        algorithm<ForwardJvp>([]<class T>(const Tree& tree, const auto& x, const auto& w) {
            const WrenchVariation<T> wrenches =
                vary_along_body_axes(tree, x[q], x[dq], x[f_ext], x[df_ext], w.wrenches);
            forward_dynamics_jvp(tree, x[q], x[v], x[tau], x[dq], x[dv], x[dtorque], wrenches.f_ext,
                                 wrenches.df_ext, x[acceleration_tangent], w.algorithm);
        }),
        algorithm<MimicForwardJvp>([]<class T>(const Tree& tree, const auto& x, const auto& w) {
            const WrenchVariation<T> wrenches =
                vary_along_body_axes(tree, x[q], x[dq], x[f_ext], x[df_ext], w.wrenches);
            mimic_forward_dynamics_jvp(tree, x[q], x[v], x[tau], x[dq], x[dv], x[dtorque],
                                       wrenches.f_ext, wrenches.df_ext, x[acceleration_tangent],
                                       w.algorithm);
        })),
    function(
        {.name = "forward_dynamics_vjp", .solves = true, .results = "ForwardDynamicsVJP"},
        takes(q, v, tau, acceleration_weights, f_ext, f_ext_axes, parameters, coordinates),
        gives(by_q, by_v, by_tau, by_f_ext),
        algorithm<ForwardVjp>([]<class T>(const Tree& tree, const auto& x, const auto& w) {
            const T* body_f_ext = along_body_axes(tree, x[q], x[f_ext], w.wrenches.value);
            forward_dynamics_vjp(tree, x[q], x[v], x[tau], x[acceleration_weights], body_f_ext,
                                 x[by_q], x[by_v], x[by_tau], x[by_f_ext], w.algorithm);
            gradient_along_world_axes(tree, body_f_ext, x[by_q], x[by_f_ext], w.wrenches);
        }),
        algorithm<MimicForwardVjp>([]<class T>(const Tree& tree, const auto& x, const auto& w) {
            const T* body_f_ext = along_body_axes(tree, x[q], x[f_ext], w.wrenches.value);
            mimic_forward_dynamics_vjp(tree, x[q], x[v], x[tau], x[acceleration_weights],
                                       body_f_ext, x[by_q], x[by_v], x[by_tau], x[by_f_ext],
                                       w.algorithm);
            gradient_along_world_axes(tree, body_f_ext, x[by_q], x[by_f_ext], w.wrenches);
        })),
};

}  // namespace
}  // namespace products_rows

extern const FunctionGroup products_functions = group<products_rows::functions>;

}  // namespace dtau::DTAU_VARIANT
