// Registers impulse_dynamics, impulse_dynamics_derivatives and constrained_inverse_dynamics.
#include "dtau/algorithms/constraints/impulse.hpp"
#include "dtau/algorithms/constraints/inverse.hpp"
#include "dtau/algorithms/values/wrench_axes.hpp"
#include "functions/shared/constraints.hpp"
#include "registry/acceleration_quantities.hpp"
#include "registry/active_constraints.hpp"
#include "registry/arguments.hpp"

namespace dtau::DTAU_VARIANT {
namespace constraints_impulses_rows {
namespace {

constexpr In<"restitution", Quantity::scalar, not_stacked, Default::zero> restitution;
constexpr Out<"v", Quantity::v> v_after;
constexpr Out<"impulses", Quantity::rows> impulses;
constexpr ByQ<Out<"dv_dq", AccelerationQuantity::matrix>> dv_dq;
constexpr Out<"dv_dv", AccelerationQuantity::matrix> dv_dv;
constexpr ByQ<Out<"dimpulses_dq", Quantity::row_matrix>> dimpulses_dq;
constexpr Out<"dimpulses_dv", Quantity::row_matrix> dimpulses_dv;
constexpr Out<"tau", Quantity::torque> torque;
constexpr Out<"forces", Quantity::rows> forces;

template <class T>
using Inverse = WithWrenches<ConstrainedInverseWorkspace, WrenchAxesWorkspace>::Workspace<T>;

constexpr Row functions[] = {
    function({.name = "impulse_dynamics",
              .links = {.derivatives = "impulse_dynamics_derivatives",
                        .second_derivatives = "impulse_dynamics_second_derivatives",
                        .hessian = "impulse_dynamics_hessian",
                        .jvp = "impulse_dynamics_jvp",
                        .vjp = "impulse_dynamics_vjp"},
              .solves = true,
              .results = "ImpulseDynamics"},
             takes(q, v, contacts, restitution, active, regularization, parameters),
             gives(v_after, impulses),
             on_active_constraints<ImpulseWorkspace>(
                 []<class T>(const Tree& tree, const auto& x, const auto& w) {
                     impulse_dynamics<T>(tree, x[q], x[v], x[restitution][0], x[active], x[v_after],
                                         x[impulses], w.dynamics, w.equations);
                     x.report(w.equations.schur.failures);
                 })),
    function(
        {.name = "impulse_dynamics_derivatives",
         .solves = true,
         .results = "ImpulseDynamicsDerivatives"},
        takes(q, v, contacts, restitution, active, regularization, layout, parameters, coordinates),
        gives(dv_dq, dv_dv, dimpulses_dq, dimpulses_dv),
        on_active_constraints<ImpulseDerivativesWorkspace>(
            []<class T>(const Tree& tree, const auto& x, const auto& w) {
                impulse_dynamics_derivatives<T>(tree, x[q], x[v], x[restitution][0], x[active],
                                                x[dv_dq], x[dv_dv], x[dimpulses_dq],
                                                x[dimpulses_dv], w);
                x.report(w.value.equations.schur.failures);
            })),
    function(
        {.name = "constrained_inverse_dynamics",
         .links = {.time_derivatives = "constrained_inverse_dynamics_time_derivatives"},
         .results = "ConstrainedInverseDynamics"},
        takes(q, v, a, contacts, f_ext, f_ext_axes, active, driven, regularization, parameters),
        gives(torque, forces),
        on_active_constraints<Inverse>([]<class T>(const Tree& tree, const auto& x, const auto& w) {
            const T* body_f_ext = along_body_axes(tree, x[q], x[f_ext], w.wrenches);
            constrained_inverse_dynamics(tree, x[q], x[v], x[a], x[active], body_f_ext, x[torque],
                                         x[forces], w.algorithm);
            x.report(w.algorithm.failures);
        })),
};

}  // namespace
}  // namespace constraints_impulses_rows

extern const FunctionGroup constraints_impulses_functions =
    group<constraints_impulses_rows::functions>;

}  // namespace dtau::DTAU_VARIANT
