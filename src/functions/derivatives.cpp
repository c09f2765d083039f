// Registers first derivatives of inverse and forward dynamics.
#include "dtau/algorithms/first/fdsva.hpp"
#include "dtau/algorithms/first/idsva.hpp"
#include "dtau/algorithms/first/world_wrenches.hpp"
#include "dtau/algorithms/first/wrench_derivatives.hpp"
#include "functions/shared/algorithms.hpp"
#include "registry/acceleration_quantities.hpp"
#include "registry/arguments.hpp"

namespace dtau::DTAU_VARIANT {
namespace derivatives_rows {
namespace {

constexpr ByQ<Out<"dtau_dq", Quantity::torque_matrix>> dtau_dq;
constexpr Out<"dtau_dv", Quantity::torque_matrix> dtau_dv;
constexpr Out<"dtau_da", Quantity::torque_matrix> dtau_da;

template <class T>
using IdsvaAndWrenches = WithWrenches<IdsvaWorkspace, WrenchPartialsWorkspace>::Workspace<T>;

constexpr ByQ<Out<"da_dq", AccelerationQuantity::matrix>> da_dq;
constexpr Out<"da_dv", AccelerationQuantity::matrix> da_dv;
constexpr Out<"da_dtau", AccelerationQuantity::matrix> da_dtau;

constexpr Out<"dtau_df_ext", Quantity::wrench_matrix> dtau_df_ext;
constexpr Out<"da_df_ext", Quantity::wrench_matrix> da_df_ext;

constexpr Row functions[] = {
    function({.name = "inverse_dynamics_derivatives",
              .links = {.time_derivatives = "inverse_dynamics_derivatives_time_derivatives"},
              .results = "InverseDynamicsDerivatives"},
             takes(q, v, a, f_ext, f_ext_axes, layout, parameters, coordinates),
             gives(dtau_dq, dtau_dv, dtau_da),
             algorithm<IdsvaAndWrenches, KernelTraits{.results = Results::sparse}>(
                 []<class T>(const Tree& tree, const auto& x, const auto& w) {
                     const IdsvaWorkspace<T>& idsva_w = w.algorithm;
                     const T* body_f_ext = along_body_axes(tree, x[q], x[f_ext], w.wrenches.value);
                     idsva(tree, x[q], x[v], x[a], body_f_ext, x[dtau_dq], x[dtau_dv], x[dtau_da],
                           idsva_w);
                     add_world_wrench_partials(tree, body_f_ext, idsva_w.root_frame, x[dtau_dq],
                                               tree.nv, w.wrenches);
                 })),
    function({.name = "forward_dynamics_derivatives",
              .links = {.time_derivatives = "forward_dynamics_derivatives_time_derivatives"},
              .solves = true,
              .results = "ForwardDynamicsDerivatives"},
             takes(q, v, tau, f_ext, f_ext_axes, layout, parameters, coordinates),
             gives(da_dq, da_dv, da_dtau),
             algorithm<FdsvaWorkspace>([]<class T>(const Tree& tree, const auto& x, const auto& w) {
                 fdsva(tree, x[q], x[v], x[tau], x[f_ext], x[da_dq], x[da_dv], tree.independent.n,
                       x[da_dtau], w);
             })),
    function({.name = "inverse_dynamics_wrench_derivatives"}, takes(q, f_ext_axes),
             gives(dtau_df_ext),
             algorithm<InverseWrenchDerivativesWorkspace>(
                 []<class T>(const Tree& tree, const auto& x, const auto& w) {
                     inverse_dynamics_wrench_derivatives(tree, x[q], x[dtau_df_ext], w);
                 })),
    function({.name = "forward_dynamics_wrench_derivatives", .solves = true},
             takes(q, f_ext_axes, parameters), gives(da_df_ext),
             algorithm<ForwardWrenchDerivativesWorkspace>(
                 []<class T>(const Tree& tree, const auto& x, const auto& w) {
                     forward_dynamics_wrench_derivatives(tree, x[q], x[da_df_ext], w);
                 })),
};

}  // namespace
}  // namespace derivatives_rows

extern const FunctionGroup derivatives_functions = group<derivatives_rows::functions>;

}  // namespace dtau::DTAU_VARIANT
