// Registers time derivatives of the mass matrix, the Coriolis matrix and first derivatives.
#include "dtau/algorithms/time/idsva.hpp"
#include "dtau/algorithms/time/matrices.hpp"
#include "registry/arguments.hpp"

namespace dtau::DTAU_VARIANT {
namespace {

constexpr Out<"M", Quantity::torque_matrix, 1> M;
constexpr Out<"C", Quantity::torque_matrix, 1> C;
constexpr Out<"dtau_dq", Quantity::torque_matrix, 1> dtau_dq;
constexpr Out<"dtau_dv", Quantity::torque_matrix, 1> dtau_dv;
constexpr Out<"dtau_da", Quantity::torque_matrix, 1> dtau_da;

constexpr Function functions[] = {
    function({.name = "mass_matrix_time_derivatives"}, takes(q, v_below, order), gives(M),
             algorithm<MatrixSeriesWorkspace, KernelTraits{.results = Results::sparse}>(
                 []<class T>(const Tree& tree, const auto& x, const auto& w) {
                     mass_matrix_time_derivatives(tree, x.options.order, x[q], x[v_below], x[M], w);
                 })),
    function({.name = "coriolis_matrix_time_derivatives"}, takes(q, v_stack, order), gives(C),
             algorithm<MatrixSeriesWorkspace, KernelTraits{.results = Results::sparse}>(
                 []<class T>(const Tree& tree, const auto& x, const auto& w) {
                     coriolis_matrix_time_derivatives(tree, x.options.order, x[q], x[v_stack], x[C],
                                                      w);
                 })),
    function({.name = "inverse_dynamics_derivatives_time_derivatives",
              .results = "InverseDynamicsDerivatives"},
             takes(q, v_beyond, f_ext_stack, f_ext_axes, order), gives(dtau_dq, dtau_dv, dtau_da),
             algorithm<IdsvaSeriesWorkspace, KernelTraits{.results = Results::sparse}>(
                 []<class T>(const Tree& tree, const auto& x, const auto& w) {
                     idsva_time_derivatives(tree, x.options.order, x[q], x[v_beyond],
                                            x[f_ext_stack], x[dtau_dq], x[dtau_dv], x[dtau_da], w);
                 })),
};

}  // namespace

extern const FunctionGroup time_derivatives_matrices_functions = functions;

}  // namespace dtau::DTAU_VARIANT
