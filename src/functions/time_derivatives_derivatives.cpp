// Registers time derivatives of the first derivatives of inverse and forward dynamics and of
// linearizations, and first derivatives of time derivatives.
#include "dtau/algorithms/time/fdsva.hpp"
#include "dtau/algorithms/time/forward_variations.hpp"
#include "dtau/algorithms/time/idsva.hpp"
#include "dtau/algorithms/time/linearization.hpp"
#include "dtau/algorithms/time/variations.hpp"
#include "functions/shared/time_derivatives.hpp"
#include "registry/arguments.hpp"

namespace dtau::DTAU_VARIANT {
namespace time_derivatives_derivatives_rows {
namespace {

constexpr ByQ<Out<"dtau_dq", Quantity::torque_matrix, 1>> dtau_dq;
constexpr Out<"dtau_dv", Quantity::torque_matrix, 1> dtau_dv;
constexpr Out<"dtau_da", Quantity::torque_matrix, 1> dtau_da;
constexpr ByQ<Out<"da_dq", Quantity::matrix, 1>> da_dq;
constexpr Out<"da_dv", Quantity::matrix, 1> da_dv;
constexpr Out<"da_dtau", Quantity::matrix, 1> da_dtau;

constexpr Out<"dtau_dv_derivatives", Quantity::torque_derivatives_by_v, 1> dtau_dv_stack;
constexpr Out<"da_dtau_derivatives", Quantity::derivatives_by_torques, 1> da_dtau_stack;
constexpr Out<"A", Quantity::state_matrix, 1> A;
constexpr Out<"B", Quantity::input_matrix, 1> B;
constexpr Out<"a", Quantity::v, 1> accelerations_out;

template <class T> using IndependentFdsva = FdsvaSeriesWorkspace<T, HybridSeriesWorkspace<T>>;
template <class T> using MimicFdsva = FdsvaSeriesWorkspace<T, MimicSeriesWorkspace<T>>;

template <class T>
using IndependentLinearization = LinearizationSeriesWorkspace<T, HybridSeriesWorkspace<T>>;
template <class T>
using MimicLinearization = LinearizationSeriesWorkspace<T, MimicSeriesWorkspace<T>>;

template <class T>
using IndependentVariation = ForwardVariationWorkspace<T, HybridSeriesWorkspace<T>>;
template <class T> using MimicVariation = ForwardVariationWorkspace<T, MimicSeriesWorkspace<T>>;

constexpr auto forward_derivatives = []<class T>(const Tree& tree, const auto& x, const auto& w) {
    fdsva_time_derivatives(tree, x.options.order, x[q], x[v], x[tau_stack], x[f_ext_stack],
                           x[da_dq], x[da_dv], x[da_dtau], w);
};

constexpr auto forward_variation = []<class T>(const Tree& tree, const auto& x, const auto& w) {
    forward_series_derivatives(tree, x.options.order, x[q], x[v], x[tau_stack], x[f_ext_stack],
                               x[da_dq], x[da_dv], x[da_dtau_stack], w);
};

constexpr auto linearization = []<class T>(const Tree& tree, const auto& x, const auto& w) {
    linearize_time_derivatives<T>(tree, x.options.order, {x.options.driven, x[inputs]}, x[q], x[v],
                                  x[tau_stack], x[f_ext_stack], x[A], x[B], x[accelerations_out],
                                  w);
};

constexpr Row functions[] = {
    function({.name = "inverse_dynamics_derivatives_time_derivatives",
              .results = "InverseDynamicsDerivatives"},
             takes(q, v_beyond, f_ext_stack, f_ext_axes, order), gives(dtau_dq, dtau_dv, dtau_da),
             algorithm<IdsvaSeriesWorkspace, KernelTraits{.results = Results::sparse}>(
                 []<class T>(const Tree& tree, const auto& x, const auto& w) {
                     idsva_time_derivatives(tree, x.options.order, x[q], x[v_beyond],
                                            x[f_ext_stack], x[dtau_dq], x[dtau_dv], x[dtau_da], w);
                 })),
    function({.name = "forward_dynamics_derivatives_time_derivatives",
              .solves = true,
              .results = "ForwardDynamicsDerivatives"},
             takes(q, v, tau_stack, f_ext_stack, f_ext_axes, order), gives(da_dq, da_dv, da_dtau),
             algorithm<IndependentFdsva>(forward_derivatives),
             algorithm<MimicFdsva>(forward_derivatives)),
    function({.name = "inverse_dynamics_time_derivatives_derivatives",
              .results = "InverseDynamicsTimeDerivativesDerivatives"},
             takes(q, v_beyond, f_ext_stack, f_ext_axes, order, coordinates),
             gives(dtau_dq, dtau_dv_stack),
             algorithm<InverseVariationWorkspace>(
                 []<class T>(const Tree& tree, const auto& x, const auto& w) {
                     inverse_series_derivatives(tree, x.options.order, x[q], x[v_beyond],
                                                x[f_ext_stack], x[dtau_dq], x[dtau_dv_stack], w);
                 })),
    function({.name = "forward_dynamics_time_derivatives_derivatives",
              .solves = true,
              .results = "ForwardDynamicsTimeDerivativesDerivatives"},
             takes(q, v, tau_stack, f_ext_stack, f_ext_axes, order, coordinates),
             gives(da_dq, da_dv, da_dtau_stack), algorithm<IndependentVariation>(forward_variation),
             algorithm<MimicVariation>(forward_variation)),
    function({.name = "linearize_time_derivatives",
              .solves = true,
              .results = "LinearizationTimeDerivatives"},
             takes(q, v, tau_stack, f_ext_stack, inputs, f_ext_axes, order),
             gives(A, B, accelerations_out), algorithm<IndependentLinearization>(linearization),
             algorithm<MimicLinearization>(linearization)),
};

}  // namespace
}  // namespace time_derivatives_derivatives_rows

extern const FunctionGroup time_derivatives_derivatives_functions =
    group<time_derivatives_derivatives_rows::functions>;

}  // namespace dtau::DTAU_VARIANT
