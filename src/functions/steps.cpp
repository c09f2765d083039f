// Registers step, step_jvp and step_vjp.
#include "dtau/algorithms/constraints/steps.hpp"
#include "dtau/algorithms/steps/step_jvp.hpp"
#include "dtau/algorithms/steps/step_products.hpp"
#include "functions/shared/algorithms.hpp"
#include "functions/shared/constraints.hpp"
#include "registry/active_constraints.hpp"
#include "registry/arguments.hpp"

namespace dtau::DTAU_VARIANT {

namespace steps_rows {

// A step, its variation or its gradient, with any forward dynamics: of independent joints, of mimic
// joints, or with contacts.
template <template <class> class Steps, template <class> class Dynamics> struct With {
    template <class T> struct Workspace {
        Steps<T> step;
        Dynamics<T> dynamics;

        Workspace(Arena& arena, const Tree& tree, const Options& options)
            : step(arena, tree, options), dynamics(arena, tree, options) {}
    };
};
template <class T>
using StepAndWrenches = WithWrenches<StepWorkspace, WrenchAxesWorkspace>::Workspace<T>;

template <class T> using IndependentStep = With<StepAndWrenches, AbaWorkspace>::Workspace<T>;
template <class T> using MimicStep = With<StepAndWrenches, FactorizedWorkspace>::Workspace<T>;
template <class T>
using ConstrainedStep = With<StepAndWrenches, ConstrainedMotionWorkspace>::Workspace<T>;

template <class T>
using IndependentJvp = With<StepJvpWorkspace, IndependentVariation>::Workspace<T>;
template <class T> using MimicJvp = With<StepJvpWorkspace, MimicVariation>::Workspace<T>;
template <class T>
using ConstrainedJvp = With<StepJvpWorkspace, ConstrainedJvpWorkspace>::Workspace<T>;

template <class T> using IndependentVjp = With<StepVjpWorkspace, IndependentDynamics>::Workspace<T>;
template <class T> using MimicVjp = With<StepVjpWorkspace, MimicDynamics>::Workspace<T>;
template <class T>
using ConstrainedVjp = With<StepVjpWorkspace, ConstrainedVjpWorkspace>::Workspace<T>;

namespace {

constexpr KeptOut<"q", Quantity::q, Kept::all_of_euler> q_next;
constexpr Out<"v", Quantity::v> v_next;
constexpr ByQ<Out<"by_q", Quantity::torque>> by_q;
constexpr Out<"by_v", Quantity::torque> by_v;
constexpr Out<"by_tau", Quantity::v> by_tau;
constexpr Out<"by_f_ext", Quantity::wrenches, not_stacked, true> by_f_ext;
constexpr AskedOut<Asked::dt, "by_dt", Quantity::scalar> by_dt;
constexpr AskedOut<Asked::parameters, "by_parameters", Quantity::parameters> by_parameters;

constexpr ByNumbers<Out<"dq", Quantity::v>, Converted::reached_rows> dq_next;
constexpr Out<"dv", Quantity::v> dv_next;

constexpr auto variation = []<class T>(const Tree& tree, const auto& x, const auto& w,
                                       const auto& dynamics) {
    const StepDirection<T> along = {x[dq], x[dv], x[dtorque], x[df_ext], x[optional_dparameters],
                                    x[ddt]};
    step_jvp<T>(tree, x.options.integrator, x[q], x[v], x[tau], *x[dt], x[f_ext], along, x[dq_next],
                x[dv_next], w, dynamics);
    x.reach(tree, w.q_next);
};
constexpr auto free_variation = []<class T>(const Tree& tree, const auto& x, const auto& w) {
    variation.template operator()<T>(tree, x, w.step, w.dynamics);
};

constexpr auto gradient = []<class T>(const Tree& tree, const auto& x, const auto& w,
                                      const auto& dynamics) {
    step_vjp<T>(tree, x.options.integrator, x[q], x[v], x[tau], *x[dt], x[lam_q], x[lam_v],
                x[f_ext], x[by_q], x[by_v], x[by_tau], x[f_ext] ? x[by_f_ext] : nullptr,
                x.options.by_dt ? x[by_dt] : nullptr,
                x.options.by_parameters ? x[by_parameters] : nullptr, x.all.reached, w, dynamics);
};
constexpr auto free_gradient = []<class T>(const Tree& tree, const auto& x, const auto& w) {
    gradient.template operator()<T>(tree, x, w.step, w.dynamics);
};

constexpr Row functions[] = {
    function(
        {.name = "step",
         .links = {.derivatives = "linearize_discrete",
                   .hessian = "step_hessian",
                   .jvp = "step_jvp",
                   .vjp = "step_vjp"},
         .solves = true,
         .results = "NextState"},
        takes(q, v, tau, dt, integrator, f_ext, f_ext_axes, optional_contacts, active,
              held_positions, regularization, parameters),
        gives(q_next, v_next),
        algorithm<IndependentStep>([]<class T>(const Tree& tree, const auto& x, const auto& w) {
            Tree room;
            const Tree& robot = w.step.algorithm.damping.tree(tree, x[v], *x[dt], room);
            step(tree, x[q], x[v], *x[dt], x.options.integrator, x[q_next], x[v_next],
                 w.step.algorithm, [&](int, const T* qi, const T* vi, T* ai) {
                     const T* body_f_ext = along_body_axes(tree, qi, x[f_ext], w.step.wrenches);
                     aba(robot, qi, vi, x[tau], body_f_ext, ai, w.dynamics);
                 });
        }),
        algorithm<MimicStep>([]<class T>(const Tree& tree, const auto& x, const auto& w) {
            Tree room;
            const Tree& robot = w.step.algorithm.damping.tree(tree, x[v], *x[dt], room);
            step(tree, x[q], x[v], *x[dt], x.options.integrator, x[q_next], x[v_next],
                 w.step.algorithm, [&](int, const T* qi, const T* vi, T* ai) {
                     const T* body_f_ext = along_body_axes(tree, qi, x[f_ext], w.step.wrenches);
                     mimic_forward_dynamics(robot, qi, vi, x[tau], body_f_ext, ai, w.dynamics);
                 });
        }),
        with_contacts<ConstrainedStep>([]<class T>(const Tree& tree, const auto& x, const auto& w) {
            const Hold<T> hold = {x[active], x[held_positions]};
            Tree room;
            const Tree& robot = w.step.algorithm.damping.tree(tree, x[v], *x[dt], room);
            step(tree, x[q], x[v], *x[dt], x.options.integrator, x[q_next], x[v_next],
                 w.step.algorithm, [&](int, const T* qi, const T* vi, T* ai) {
                     const T* body_f_ext = along_body_axes(tree, qi, x[f_ext], w.step.wrenches);
                     constrained_acceleration(robot, qi, vi, x[tau], hold, body_f_ext, ai,
                                              w.dynamics);
                 });
            x.report(w.dynamics.equations.schur.failures);
        })),
    function(
        {.name = "step_jvp", .solves = true, .results = "StepJVP"},
        takes(q, v, tau, dt, dq, dv, dtorque, integrator, f_ext, df_ext, ddt, f_ext_axes,
              optional_contacts, active, held_positions, regularization, optional_dparameters,
              parameters, coordinates),
        gives(dq_next, dv_next), algorithm<IndependentJvp>(free_variation),
        algorithm<MimicJvp>(free_variation),
        with_contacts<ConstrainedJvp>([]<class T>(const Tree& tree, const auto& x, const auto& w) {
            const ConstrainedVariation<T> dynamics = {
                w.dynamics, {x[active], x[held_positions]}, w.step.dforces};
            variation.template operator()<T>(tree, x, w.step, dynamics);
            x.report(w.dynamics.value.equations.schur.failures);
        })),
    function(
        {.name = "step_vjp", .solves = true, .results = "StepVJP"},
        takes(q, v, tau, dt, lam_q, lam_v, integrator, f_ext, f_ext_axes, optional_contacts, active,
              held_positions, regularization, by, parameters, coordinates),
        gives(by_q, by_v, by_tau, by_f_ext, by_dt, by_parameters),
        algorithm<IndependentVjp>(free_gradient), algorithm<MimicVjp>(free_gradient),
        with_contacts<ConstrainedVjp>([]<class T>(const Tree& tree, const auto& x, const auto& w) {
            const ConstrainedDynamics<T> dynamics = {w.dynamics, {x[active], x[held_positions]}};
            gradient.template operator()<T>(tree, x, w.step, dynamics);
            x.report(w.dynamics.value.equations.schur.failures);
        })),
};

}  // namespace
}  // namespace steps_rows

extern const FunctionGroup steps_functions = group<steps_rows::functions>;

}  // namespace dtau::DTAU_VARIANT
