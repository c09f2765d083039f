#include "dtau/algorithms/first/wrench_derivatives.hpp"
#include "functions/shared/algorithms.hpp"
#include "registry/arguments.hpp"

namespace dtau::DTAU_VARIANT {
namespace {

constexpr Out<"dtau_df_ext", Quantity::wrench_matrix> dtau_df_ext;
constexpr Out<"da_df_ext", Quantity::wrench_matrix> da_df_ext;

constexpr Function functions[] = {
    function({.name = "inverse_dynamics_wrench_derivatives"}, takes(q, f_ext_axes),
             gives(dtau_df_ext),
             algorithm<InverseWrenchDerivativesWorkspace>(
                 []<class T>(const Tree& tree, const auto& x, const auto& w) {
                     inverse_dynamics_wrench_derivatives(tree, x[q], x[dtau_df_ext], w);
                 })),
    function({.name = "forward_dynamics_wrench_derivatives", .solves = true}, takes(q, f_ext_axes),
             gives(da_df_ext),
             algorithm<ForwardWrenchDerivativesWorkspace>(
                 []<class T>(const Tree& tree, const auto& x, const auto& w) {
                     forward_dynamics_wrench_derivatives(tree, x[q], x[da_df_ext], w);
                 })),
};

}  // namespace

extern const FunctionGroup wrench_derivatives_functions = functions;

}  // namespace dtau::DTAU_VARIANT
