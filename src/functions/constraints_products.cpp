// Registers constrained_dynamics_jvp and constrained_dynamics_vjp.
#include "dtau/algorithms/constraints/jvp.hpp"
#include "dtau/algorithms/constraints/vjp.hpp"
#include "dtau/algorithms/first/world_wrenches.hpp"
#include "functions/shared/constraints.hpp"
#include "registry/active_constraints.hpp"
#include "registry/arguments.hpp"

namespace dtau::DTAU_VARIANT {
namespace constraints_products_rows {

// The variation together with the torque of varied inertial parameters.
template <class T>
struct Jvp : WithWrenches<ConstrainedJvpWorkspace, WrenchVariationWorkspace>::Workspace<T> {
    InertialTorqueWorkspace<T> inertial;

    Jvp(Arena& arena, const Tree& tree, const Options& options)
        : WithWrenches<ConstrainedJvpWorkspace, WrenchVariationWorkspace>::Workspace<T>(arena, tree,
                                                                                        options),
          inertial(arena, tree, options) {}
};
template <class T>
struct Vjp : WithWrenches<ConstrainedVjpWorkspace, WrenchGradientWorkspace>::Workspace<T> {
    JointColumns<T> of_joints;

    Vjp(Arena& arena, const Tree& tree, const Options& options)
        : WithWrenches<ConstrainedVjpWorkspace, WrenchGradientWorkspace>::Workspace<T>(arena, tree,
                                                                                       options),
          of_joints(arena, tree, options.joint_parameters) {}
};

// The gradient by parameters: -Y^T mu, for mu = by_tau of the joints. [Derivations] eq. 18.6
template <class T>
void parameter_gradient(const Tree& tree, const T* q, const T* v, const T* mu, const Vjp<T>& w,
                        T* by_parameters) {
    const ConstrainedMotionWorkspace<T>& value = w.algorithm.value;
    for (int i = 0; i < tree.nnodes; ++i)
        parameters_of_motion(tree.bodies[i], i, value.dynamics.idsva.root_frame, value.a,
                             -w.algorithm.adjoint.Lam[i], by_parameters);
    if (!w.of_joints.s) return;
    T* const of_joints = by_parameters + body_parameters * tree.nbodies;
    w.of_joints.compute(tree, q, v);
    joint_gradient(tree, value.dynamics.a, v, mu, w.of_joints, of_joints);
    for (int k = 0; k < joint_parameter_kinds * tree.independent.n; ++k)
        of_joints[k] = -of_joints[k];
}

namespace {

constexpr In<"lam_forces", Quantity::rows> force_weights;
constexpr Out<"da", Quantity::v> acceleration_tangent;
constexpr Out<"dforces", Quantity::rows> force_tangent;
constexpr ByQ<Out<"by_q", Quantity::torque>> by_q;
constexpr Out<"by_v", Quantity::torque> by_v;
constexpr Out<"by_tau", Quantity::v> by_tau;
constexpr Out<"by_f_ext", Quantity::wrenches, not_stacked, true> by_f_ext;
constexpr AskedOut<Asked::parameters, "by_parameters", Quantity::parameters> by_parameters;

constexpr Row functions[] = {
    function(
        {.name = "constrained_dynamics_jvp", .solves = true, .results = "ConstrainedDynamicsJVP"},
        takes(q, v, tau, dq, dv, dtorque, contacts, f_ext, df_ext, f_ext_axes, active,
              held_positions, regularization, optional_dparameters, parameters, coordinates),
        gives(acceleration_tangent, force_tangent),
        on_active_constraints<Jvp>([]<class T>(const Tree& tree, const auto& x, const auto& w) {
            const WrenchVariation<T> wrenches =
                vary_along_body_axes(tree, x[q], x[dq], x[f_ext], x[df_ext], w.wrenches);
            const T* along_tau = x[dtorque];
            for (int left = x[optional_dparameters] ? 1 : 0; left >= 0; --left) {
                constrained_dynamics_jvp(tree, x[q], x[v], x[tau], x[dq], x[dv], along_tau,
                                         {x[active], x[held_positions]}, wrenches.f_ext,
                                         wrenches.df_ext, x[acceleration_tangent], x[force_tangent],
                                         w.algorithm);
                if (left)  // the acceleration is known
                    along_tau =
                        less_inertial_torque(tree, x[q], x[v], w.algorithm.value.dynamics.a,
                                             x[optional_dparameters], along_tau, w.inertial);
            }
            x.report(w.algorithm.value.constraints.schur.failures);
        })),
    function(
        {.name = "constrained_dynamics_vjp", .solves = true, .results = "ConstrainedDynamicsVJP"},
        takes(q, v, tau, acceleration_weights, force_weights, contacts, f_ext, f_ext_axes, active,
              held_positions, regularization, by, parameters, coordinates),
        gives(by_q, by_v, by_tau, by_f_ext, by_parameters),
        on_active_constraints<Vjp>([]<class T>(const Tree& tree, const auto& x, const auto& w) {
            const T* body_f_ext = along_body_axes(tree, x[q], x[f_ext], w.wrenches.value);
            T* const to_f_ext = x[f_ext] ? x[by_f_ext] : nullptr;
            constrained_dynamics_vjp(tree, x[q], x[v], x[tau], x[acceleration_weights],
                                     x[force_weights], {x[active], x[held_positions]}, body_f_ext,
                                     x[by_q], x[by_v], x[by_tau], to_f_ext, w.algorithm);
            if (x.options.by_parameters)
                parameter_gradient(tree, x[q], x[v], x[by_tau], w, x[by_parameters]);
            gradient_along_world_axes(tree, body_f_ext, x[by_q], to_f_ext, w.wrenches);
            x.report(w.algorithm.value.constraints.schur.failures);
        })),
};

}  // namespace
}  // namespace constraints_products_rows

extern const FunctionGroup constraints_products_functions =
    group<constraints_products_rows::functions>;

}  // namespace dtau::DTAU_VARIANT
