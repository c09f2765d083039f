// Registers inverse_dynamics_hessian and forward_dynamics_hessian.
#include "dtau/algorithms/second/forward_hessian.hpp"
#include "dtau/algorithms/second/inverse_hessian.hpp"
#include "functions/shared/hessians.hpp"
#include "registry/arguments.hpp"

namespace dtau::DTAU_VARIANT {
namespace products_hessians_rows {
namespace {

constexpr ByNumbers<Out<"dqdq", Quantity::torque_matrix>, Converted::columns | Converted::rows>
    tau_dqdq;
constexpr ByNumbers<Out<"dqdv", Quantity::torque_matrix>, Converted::rows> tau_dqdv;
constexpr Out<"dvdv", Quantity::torque_matrix> tau_dvdv;
constexpr ByQ<Out<"dadq", Quantity::torque_matrix>> tau_dadq;
constexpr ByNumbers<Out<"dqdq", Quantity::matrix>, Converted::columns | Converted::rows> a_dqdq;
constexpr ByNumbers<Out<"dqdv", Quantity::matrix>, Converted::rows> a_dqdv;
constexpr Out<"dvdv", Quantity::matrix> a_dvdv;
constexpr ByQ<Out<"dtaudq", Quantity::matrix>> a_dtaudq;

constexpr Row functions[] = {
    function({.name = "inverse_dynamics_hessian", .results = "InverseDynamicsHessian"},
             takes(q, v, a, torque_weights, f_ext, f_ext_axes, symmetric, parameters, coordinates),
             gives(tau_dqdq, tau_dqdv, tau_dvdv, tau_dadq),
             algorithm<InverseHessianWorkspace, KernelTraits{.results = Results::sparse}>(
                 []<class T>(const Tree& tree, const auto& x, const auto& w) {
                     const Blocks<T> H = {x[tau_dqdq], x[tau_dqdv], x[tau_dvdv], x[tau_dadq],
                                          tree.nv};
                     inverse_dynamics_hessian(tree, x[q], x[v], x[a], x[torque_weights], x[f_ext],
                                              H, x.options.symmetric, w);
                 })),
    function(
        {.name = "forward_dynamics_hessian", .solves = true, .results = "ForwardDynamicsHessian"},
        takes(q, v, tau, acceleration_weights, f_ext, f_ext_axes, symmetric, parameters,
              coordinates),
        gives(a_dqdq, a_dqdv, a_dvdv, a_dtaudq),
        algorithm<ForwardHessianWorkspace>([]<class T>(const Tree& tree, const auto& x,
                                                       const auto& w) {
            const Blocks<T> H = {x[a_dqdq], x[a_dqdv], x[a_dvdv], x[a_dtaudq], tree.independent.n};
            forward_dynamics_hessian(tree, x[q], x[v], x[tau], x[acceleration_weights], x[f_ext], H,
                                     x.options.symmetric, w);
        })),
};

}  // namespace
}  // namespace products_hessians_rows

extern const FunctionGroup products_hessians_functions = group<products_hessians_rows::functions>;

}  // namespace dtau::DTAU_VARIANT
