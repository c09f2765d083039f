// Registers time derivatives of the first derivatives of inverse and forward dynamics.
#include "dtau/algorithms/time/fdsva.hpp"
#include "dtau/algorithms/time/idsva.hpp"
#include "functions/shared/algorithms.hpp"
#include "registry/arguments.hpp"

namespace dtau::DTAU_VARIANT {
namespace {

constexpr Out<"dtau_dq", Quantity::torque_matrix, 1> dtau_dq;
constexpr Out<"dtau_dv", Quantity::torque_matrix, 1> dtau_dv;
constexpr Out<"dtau_da", Quantity::torque_matrix, 1> dtau_da;
constexpr Out<"da_dq", Quantity::matrix, 1> da_dq;
constexpr Out<"da_dv", Quantity::matrix, 1> da_dv;
constexpr Out<"da_dtau", Quantity::matrix, 1> da_dtau;

template <class T>
using IndependentFdsva = FdsvaSeriesWorkspace<T, HybridSeriesWorkspace<T>>;
template <class T>
using MimicFdsva = FdsvaSeriesWorkspace<T, MimicSeriesWorkspace<T>>;

constexpr auto forward_derivatives = []<class T>(const Tree& tree, const auto& x, const auto& w) {
    fdsva_time_derivatives(tree, x.options.order, x[q], x[v], x[tau_stack], x[f_ext_stack],
                           x[da_dq], x[da_dv], x[da_dtau], w);
};

constexpr Function functions[] = {
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
};

}  // namespace

extern const FunctionGroup time_derivatives_derivatives_functions = functions;

}  // namespace dtau::DTAU_VARIANT
