// Registers constrained_dynamics_jvp, constrained_dynamics_vjp, impulse_dynamics_jvp and impulse_dynamics_vjp.
#include "dtau/algorithms/constraints/impulse_products.hpp"
#include "dtau/algorithms/first/world_wrenches.hpp"
#include "functions/shared/constraints.hpp"
#include "registry/active_constraints.hpp"
#include "registry/arguments.hpp"

namespace dtau::DTAU_VARIANT {
namespace constraints_products_rows {

template <class T>
using Jvp = WithWrenches<ConstrainedJvpWorkspace, WrenchVariationWorkspace>::Workspace<T>;
template <class T>
using Vjp = WithWrenches<ConstrainedVjpWorkspace, WrenchGradientWorkspace>::Workspace<T>;

namespace {

constexpr In<"restitution", Quantity::scalar, not_stacked, Default::zero> restitution;
constexpr In<"drestitution", Quantity::scalar, not_stacked, Default::none> drestitution;
constexpr In<"lam_forces", Quantity::rows> force_weights;
constexpr In<"lam_impulses", Quantity::rows> impulse_weights;
constexpr Out<"da", Quantity::v> acceleration_tangent;
constexpr Out<"dforces", Quantity::rows> force_tangent;
constexpr Out<"dv", Quantity::v> velocity_tangent;
constexpr Out<"dimpulses", Quantity::rows> impulse_tangent;
constexpr ByQ<Out<"by_q", Quantity::torque>> by_q;
constexpr Out<"by_v", Quantity::torque> by_v;
constexpr Out<"by_tau", Quantity::v> by_tau;
constexpr Out<"by_restitution", Quantity::scalar> by_restitution;
constexpr Out<"by_f_ext", Quantity::wrenches, not_stacked, true> by_f_ext;
constexpr AskedOut<Asked::parameters, "by_parameters", Quantity::parameters> by_parameters;

// -Y^T mu, at the accelerations of the motion; v is null at rest. [Derivations] eq. 18.6
constexpr auto parameter_gradient = []<class T>(const Tree& tree, const T* q, const T* v,
                                                const T* mu, const ConstrainedVjpWorkspace<T>& w,
                                                T* gradient) {
    for (int i = 0; i < tree.nnodes; ++i)
        parameters_of_motion(tree.bodies[i], i, w.value.dynamics.idsva.root_frame, w.value.a,
                             -w.adjoint.Lam[i], gradient);
    if (!w.of_joints.s) return;
    T* const of_joints = gradient + body_parameters * tree.nbodies;
    if (v) {
        w.of_joints.compute(tree, q, v);
        joint_gradient(tree, w.value.dynamics.a, v, mu, w.of_joints, of_joints);
    } else {
        armature_gradient(tree, w.value.dynamics.a, mu, of_joints);
    }
    for (int c = 0; c < joint_parameter_kinds * tree.independent.n; ++c)
        of_joints[c] = -of_joints[c];
};

constexpr Row functions[] = {
    function(
        {.name = "constrained_dynamics_jvp", .solves = true, .results = "ConstrainedDynamicsJVP"},
        takes(q, v, tau, contacts, dq, dv, dtorque, f_ext, df_ext, f_ext_axes, active,
              held_positions, regularization, optional_dparameters, parameters, coordinates),
        gives(acceleration_tangent, force_tangent),
        on_active_constraints<Jvp>([]<class T>(const Tree& tree, const auto& x, const auto& w) {
            const WrenchVariation<T> wrenches =
                vary_along_body_axes(tree, x[q], x[dq], x[f_ext], x[df_ext], w.wrenches);
            constrained_dynamics_jvp(tree, x[q], x[v], x[tau], x[dq], x[dv], x[dtorque],
                                     {x[active], x[held_positions]}, wrenches.f_ext,
                                     wrenches.df_ext, x[optional_dparameters],
                                     x[acceleration_tangent], x[force_tangent], w.algorithm);
            x.report(w.algorithm.value.equations.schur.failures);
        })),
    function(
        {.name = "constrained_dynamics_vjp", .solves = true, .results = "ConstrainedDynamicsVJP"},
        takes(q, v, tau, contacts, acceleration_weights, force_weights, f_ext, f_ext_axes, active,
              held_positions, regularization, by, parameters, coordinates),
        gives(by_q, by_v, by_tau, by_f_ext, by_parameters),
        on_active_constraints<Vjp>([]<class T>(const Tree& tree, const auto& x, const auto& w) {
            const T* body_f_ext = along_body_axes(tree, x[q], x[f_ext], w.wrenches.value);
            T* const to_f_ext = x[f_ext] ? x[by_f_ext] : nullptr;
            constrained_dynamics_vjp(tree, x[q], x[v], x[tau], x[acceleration_weights],
                                     x[force_weights], {x[active], x[held_positions]}, body_f_ext,
                                     x[by_q], x[by_v], x[by_tau], to_f_ext, w.algorithm);
            if (x.options.by_parameters)
                parameter_gradient(tree, x[q], x[v], x[by_tau], w.algorithm, x[by_parameters]);
            gradient_along_world_axes(tree, body_f_ext, x[by_q], to_f_ext, w.wrenches);
            x.report(w.algorithm.value.equations.schur.failures);
        })),
    function({.name = "impulse_dynamics_jvp", .solves = true, .results = "ImpulseDynamicsJVP"},
             takes(q, v, contacts, dq, dv, restitution, drestitution, active, regularization,
                   optional_dparameters, parameters, coordinates),
             gives(velocity_tangent, impulse_tangent),
             on_active_constraints<ImpulseJvpWorkspace>(
                 []<class T>(const Tree& tree, const auto& x, const auto& w) {
                     impulse_dynamics_jvp<T>(tree, x[q], x[v], *x[restitution], x[dq], x[dv],
                                             x[drestitution] ? *x[drestitution] : T(0.0),
                                             x[optional_dparameters], x[active],
                                             x[velocity_tangent], x[impulse_tangent], w);
                     x.report(w.product.value.equations.schur.failures);
                 })),
    function({.name = "impulse_dynamics_vjp", .solves = true, .results = "ImpulseDynamicsVJP"},
             takes(q, v, contacts, acceleration_weights, impulse_weights, restitution, active,
                   regularization, by, parameters, coordinates),
             gives(by_q, by_v, by_restitution, by_parameters),
             on_active_constraints<ImpulseVjpWorkspace>(
                 []<class T>(const Tree& tree, const auto& x, const auto& w) {
                     impulse_dynamics_vjp<T>(tree, x[q], x[v], *x[restitution],
                                             x[acceleration_weights], x[impulse_weights], x[active],
                                             x[by_q], x[by_v], *x[by_restitution], w);
                     const T* const at_rest = nullptr;
                     if (x.options.by_parameters)
                         parameter_gradient(tree, x[q], at_rest, w.mu, w.product, x[by_parameters]);
                     x.report(w.product.value.equations.schur.failures);
                 })),
};

}  // namespace
}  // namespace constraints_products_rows

extern const FunctionGroup constraints_products_functions =
    group<constraints_products_rows::functions>;

}  // namespace dtau::DTAU_VARIANT
