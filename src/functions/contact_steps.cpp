// Linearizations and steps with contacts: what linearize, step, linearize_discrete and step_vjp are with
// contacts= in Python.
#include "dtau/algorithms/contacts/discrete_linearization.hpp"
#include "dtau/algorithms/contacts/linearization.hpp"
#include "dtau/algorithms/contacts/steps.hpp"
#include "functions/arguments.hpp"
#include "functions/shared/contacts.hpp"

namespace dtau::DTAU_VARIANT {
namespace {

constexpr Out<"A", Quantity::state_matrix> A;
constexpr Out<"B", Quantity::input_matrix> B;
constexpr Out<"a", Quantity::v> acceleration;
constexpr Out<"residual", Quantity::rows> residual;
constexpr Out<"q", Quantity::q> q_next;
constexpr Out<"v", Quantity::v> v_next;
constexpr Out<"by_q", Quantity::torque> by_q;
constexpr Out<"by_v", Quantity::torque> by_v;
constexpr Out<"by_tau", Quantity::v> by_tau;
constexpr Out<"by_f_ext", Quantity::wrenches, not_stacked, true> by_f_ext;

template <template <class> class Algorithm>
struct WithContacts {
    template <class T>
    struct Workspace : Algorithm<T> {
        Workspace(Arena& arena, const Tree& tree, const Options& options)
            : Algorithm<T>(arena, tree, *options.contacts, options.wrench_axes,
                           options.contact_damping) {}
    };
};
template <class T>
using Linearize = WithContacts<ConstrainedLinearizationWorkspace>::Workspace<T>;
template <class T>
using Step = WithContacts<ConstrainedStepWorkspace>::Workspace<T>;
template <class T>
using Discrete = WithContacts<ConstrainedDiscreteWorkspace>::Workspace<T>;

template <class T>
struct Vjp {
    StepVjpWorkspace<T> step;
    ConstrainedVjpWorkspace<T> dynamics;

    Vjp(Arena& arena, const Tree& tree, const Options& options)
        : step(arena, tree, options.wrench_axes),
          dynamics(arena, tree, *options.contacts, options.contact_damping) {}
};

constexpr Function functions[] = {
    function({.name = "constrained_linearize",
              .options = {Option::contacts, Option::driven, Option::wrench_axes, Option::damping},
              .solves = true,
              .results = "ConstrainedLinearization"},
             takes(q, v, tau, f_ext, inputs, active), gives(A, B, acceleration, residual),
             algorithm<Linearize, How{.results = Results::sparse}>(
                 []<class T>(const Tree& tree, const auto& x, const auto& w) {
                     constrained_linearize<T>(tree, {x.options.driven, x[inputs]}, x[q], x[v],
                                              x[tau], x[active], x[f_ext], x[A], x[B],
                                              x[acceleration], x[residual], w);
                 })),
    function(
        {.name = "constrained_step",
         .options = {Option::contacts, Option::integrator, Option::wrench_axes, Option::damping},
         .solves = true,
         .results = "NextState"},
        takes(q, v, tau, dt, f_ext, active), gives(q_next, v_next),
        algorithm<Step>([]<class T>(const Tree& tree, const auto& x, const auto& w) {
            constrained_step<T>(tree, x.options.integrator, x[q], x[v], x[tau], *x[dt], x[active],
                                x[f_ext], x[q_next], x[v_next], w);
        })),
    function({.name = "constrained_linearize_discrete",
              .options = {Option::contacts, Option::integrator, Option::driven, Option::wrench_axes,
                          Option::damping},
              .solves = true,
              .results = "ConstrainedDiscreteLinearization"},
             takes(q, v, tau, dt, f_ext, inputs, active), gives(A, B, q_next, v_next, residual),
             algorithm<Discrete>([]<class T>(const Tree& tree, const auto& x, const auto& w) {
                 constrained_linearize_discrete<T>(
                     tree, x.options.integrator, {x.options.driven, x[inputs]}, x[q], x[v], x[tau],
                     *x[dt], x[active], x[f_ext], x[A], x[B], x[q_next], x[v_next], x[residual], w);
             })),
    function(
        {.name = "constrained_step_vjp",
         .options = {Option::contacts, Option::integrator, Option::wrench_axes, Option::damping},
         .solves = true,
         .results = "StepProducts"},
        takes(q, v, tau, dt, lam_q, lam_v, f_ext, active), gives(by_q, by_v, by_tau, by_f_ext),
        algorithm<Vjp>([]<class T>(const Tree& tree, const auto& x, const auto& w) {
            const ContactDynamics<T> dynamics = {w.dynamics, x[active]};
            step_vjp(tree, x.options.integrator, x[q], x[v], x[tau], *x[dt], x[lam_q], x[lam_v],
                     x[f_ext], x[by_q], x[by_v], x[by_tau], x[by_f_ext], w.step, dynamics);
        })),
};

}  // namespace

extern const FunctionGroup contact_steps_functions = functions;

}  // namespace dtau::DTAU_VARIANT
