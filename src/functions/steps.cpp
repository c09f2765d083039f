// Registers step and step_vjp.
#include "dtau/algorithms/constraints/steps.hpp"
#include "dtau/algorithms/steps/step_products.hpp"
#include "functions/shared/algorithms.hpp"
#include "functions/shared/constraints.hpp"
#include "registry/active_constraints.hpp"
#include "registry/arguments.hpp"

namespace dtau::DTAU_VARIANT {

template <template <class> class Dynamics>
struct Vjp {
    template <class T>
    struct Workspace {
        StepVjpWorkspace<T> step;
        Dynamics<T> dynamics;

        Workspace(Arena& arena, const Tree& tree, const Options& options)
            : step(arena, tree, options), dynamics(arena, tree, options) {}
    };
};
namespace steps_rows {
namespace {

constexpr KeptOut<"q", Quantity::q, Kept::all_of_euler> q_next;
constexpr Out<"v", Quantity::v> v_next;
constexpr Out<"by_q", Quantity::torque> by_q;
constexpr Out<"by_v", Quantity::torque> by_v;
constexpr Out<"by_tau", Quantity::v> by_tau;
constexpr Out<"by_f_ext", Quantity::wrenches, not_stacked, true> by_f_ext;

// A time step with any forward dynamics: with independent joints, or with mimic joints.
template <template <class> class Dynamics>
struct Step {
    template <class T>
    struct Workspace {
        StepWorkspace<T> step;
        Dynamics<T> dynamics;
        WrenchAxesWorkspace<T> wrenches;

        Workspace(Arena& arena, const Tree& tree, const Options& options)
            : step(arena, tree, options),
              dynamics(arena, tree, options),
              wrenches(arena, tree, options) {}
    };
};
template <class T>
using IndependentStep = Step<AbaWorkspace>::Workspace<T>;
template <class T>
using MimicStep = Step<FactorizedWorkspace>::Workspace<T>;

template <class T>
using IndependentVjp = Vjp<IndependentDynamics>::Workspace<T>;
template <class T>
using MimicVjp = Vjp<MimicDynamics>::Workspace<T>;
template <class T>
using ConstrainedVjp = Vjp<ConstrainedVjpWorkspace>::Workspace<T>;

constexpr auto gradient = []<class T>(const Tree& tree, const auto& x, const auto& w) {
    step_vjp(tree, x.options.integrator, x[q], x[v], x[tau], *x[dt], x[lam_q], x[lam_v], x[f_ext],
             x[by_q], x[by_v], x[by_tau], x[by_f_ext], w.step, w.dynamics);
};

constexpr Function functions[] = {
    function(
        {.name = "step", .solves = true, .results = "NextState"},
        takes(q, v, tau, dt, integrator, f_ext, f_ext_axes, optional_contacts, active,
              held_positions, regularization, parameters),
        gives(q_next, v_next),
        algorithm<IndependentStep>([]<class T>(const Tree& tree, const auto& x, const auto& w) {
            step(tree, x[q], x[v], *x[dt], x.options.integrator, x[q_next], x[v_next], w.step,
                 [&](int, const T* qi, const T* vi, T* ai) {
                     const T* body_f_ext = along_body_axes(tree, qi, x[f_ext], w.wrenches);
                     aba(tree, qi, vi, x[tau], body_f_ext, ai, w.dynamics);
                 });
        }),
        algorithm<MimicStep>([]<class T>(const Tree& tree, const auto& x, const auto& w) {
            step(tree, x[q], x[v], *x[dt], x.options.integrator, x[q_next], x[v_next], w.step,
                 [&](int, const T* qi, const T* vi, T* ai) {
                     const T* body_f_ext = along_body_axes(tree, qi, x[f_ext], w.wrenches);
                     mimic_forward_dynamics(tree, qi, vi, x[tau], body_f_ext, ai, w.dynamics);
                 });
        }),
        with_contacts<ConstrainedStepWorkspace>([]<class T>(const Tree& tree, const auto& x,
                                                            const auto& w) {
            constrained_step<T>(tree, x.options.integrator, x[q], x[v], x[tau], *x[dt],
                                {x[active], x[held_positions]}, x[f_ext], x[q_next], x[v_next], w);
            x.report(w.constraints.schur.failures);
        })),
    function(
        {.name = "step_vjp", .solves = true, .results = "StepVJP"},
        takes(q, v, tau, dt, lam_q, lam_v, integrator, f_ext, f_ext_axes, optional_contacts, active,
              held_positions, regularization, parameters),
        gives(by_q, by_v, by_tau, by_f_ext), algorithm<IndependentVjp>(gradient),
        algorithm<MimicVjp>(gradient),
        with_contacts<ConstrainedVjp>([]<class T>(const Tree& tree, const auto& x, const auto& w) {
            const ConstrainedDynamics<T> dynamics = {w.dynamics, {x[active], x[held_positions]}};
            step_vjp(tree, x.options.integrator, x[q], x[v], x[tau], *x[dt], x[lam_q], x[lam_v],
                     x[f_ext], x[by_q], x[by_v], x[by_tau], x[by_f_ext], w.step, dynamics);
            x.report(w.dynamics.value.constraints.schur.failures);
        })),
};

}  // namespace
}  // namespace steps_rows

extern const FunctionGroup steps_functions = steps_rows::functions;

}  // namespace dtau::DTAU_VARIANT
