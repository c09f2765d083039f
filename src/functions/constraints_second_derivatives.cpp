// Registers second derivatives of constrained dynamics and of impacts, as full tensors.
#include "dtau/algorithms/constraints/tensors.hpp"
#include "functions/shared/constraints_hessians.hpp"
#include "registry/active_constraints.hpp"
#include "registry/arguments.hpp"

namespace dtau::DTAU_VARIANT {
namespace constraints_second_derivatives_rows {
namespace {

// A matrix for each row of the constraints.
constexpr Quantity row_tensor = {3, {Axis::nrows, Axis::nv, Axis::nv}};

template <class Array> using ByQTwice = ByNumbers<Array, Converted::columns | Converted::rows>;
template <class Array> using ByQFirst = ByNumbers<Array, Converted::rows>;

constexpr In<"restitution", Quantity::scalar, not_stacked, Default::zero> restitution;
constexpr ByQTwice<Out<"d2a_dqdq", Quantity::tensor>> a_dqdq;
constexpr ByQFirst<Out<"d2a_dqdv", Quantity::tensor>> a_dqdv;
constexpr Out<"d2a_dvdv", Quantity::tensor> a_dvdv;
constexpr ByQ<Out<"d2a_dtaudq", Quantity::tensor>> a_dtaudq;
constexpr ByQTwice<Out<"d2forces_dqdq", row_tensor>> forces_dqdq;
constexpr ByQFirst<Out<"d2forces_dqdv", row_tensor>> forces_dqdv;
constexpr Out<"d2forces_dvdv", row_tensor> forces_dvdv;
constexpr ByQ<Out<"d2forces_dtaudq", row_tensor>> forces_dtaudq;
constexpr ByQTwice<Out<"d2v_dqdq", Quantity::tensor>> v_dqdq;
constexpr ByQFirst<Out<"d2v_dqdv", Quantity::tensor>> v_dqdv;
constexpr ByQTwice<Out<"d2impulses_dqdq", row_tensor>> impulses_dqdq;
constexpr ByQFirst<Out<"d2impulses_dqdv", row_tensor>> impulses_dqdv;

constexpr Row functions[] = {
    function({.name = "constrained_dynamics_second_derivatives",
              .solves = true,
              .results = "ConstrainedDynamicsSecondDerivatives",
              .memory_advice = "constrained_dynamics_hessian"},
             takes(q, v, tau, contacts, f_ext, f_ext_axes, active, held_positions, regularization,
                   symmetric, parameters, coordinates),
             gives(a_dqdq, a_dqdv, a_dvdv, a_dtaudq, forces_dqdq, forces_dqdv, forces_dvdv,
                   forces_dtaudq),
             on_active_constraints<ConstrainedTensorsWorkspace>(
                 []<class T>(const Tree& tree, const auto& x, const auto& w) {
                     const int n = tree.independent.n;
                     const Blocks<T> a = {x[a_dqdq], x[a_dqdv], x[a_dvdv], x[a_dtaudq], n};
                     const Blocks<T> forces = {x[forces_dqdq], x[forces_dqdv], x[forces_dvdv],
                                               x[forces_dtaudq], n};
                     constrained_second_derivatives<T>(tree, x[q], x[v], x[tau],
                                                       {x[active], x[held_positions]}, x[f_ext], a,
                                                       forces, x.options.symmetric, w);
                     x.report(w.hessian.equations.schur.failures);
                 })),
    function({.name = "impulse_dynamics_second_derivatives",
              .solves = true,
              .results = "ImpulseDynamicsSecondDerivatives",
              .memory_advice = "impulse_dynamics_hessian"},
             takes(q, v, contacts, restitution, active, regularization, symmetric, parameters,
                   coordinates),
             gives(v_dqdq, v_dqdv, impulses_dqdq, impulses_dqdv),
             on_active_constraints<ImpulseTensorsWorkspace>(
                 []<class T>(const Tree& tree, const auto& x, const auto& w) {
                     impulse_second_derivatives<T>(tree, x[q], x[v], x[restitution][0], x[active],
                                                   x[v_dqdq], x[v_dqdv], x[impulses_dqdq],
                                                   x[impulses_dqdv], x.options.symmetric, w);
                     x.report(w.impulse.hessian.equations.schur.failures);
                 })),
};

}  // namespace
}  // namespace constraints_second_derivatives_rows

extern const FunctionGroup constraints_second_derivatives_functions =
    group<constraints_second_derivatives_rows::functions>;

}  // namespace dtau::DTAU_VARIANT
