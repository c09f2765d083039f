// Registers time derivatives of the mass matrix and the Coriolis matrix.
#include "dtau/algorithms/time/matrices.hpp"
#include "functions/shared/time_derivatives.hpp"
#include "registry/arguments.hpp"

namespace dtau::DTAU_VARIANT {
namespace time_derivatives_matrices_rows {
namespace {

constexpr Out<"M", Quantity::torque_matrix, 1> M;
constexpr Out<"C", Quantity::torque_matrix, 1> C;

constexpr Row functions[] = {
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
};

}  // namespace
}  // namespace time_derivatives_matrices_rows

extern const FunctionGroup time_derivatives_matrices_functions =
    group<time_derivatives_matrices_rows::functions>;

}  // namespace dtau::DTAU_VARIANT
