// Registers Jacobian-vector products of the time derivatives of inverse dynamics (JVP and VJP).
#include "dtau/algorithms/time/inverse_vjp.hpp"
#include "functions/shared/algorithms.hpp"
#include "registry/arguments.hpp"

namespace dtau::DTAU_VARIANT {
namespace {

constexpr Out<"dtau", Quantity::torque, 1> torque_tangents;
constexpr Out<"by_q", Quantity::torque> by_q;
constexpr Out<"by_v_derivatives", Quantity::torque, 2> by_v_beyond;
constexpr Out<"by_f_ext_derivatives", Quantity::wrenches, 1, true> by_f_ext_stack;

constexpr Function functions[] = {
    function({.name = "inverse_dynamics_time_derivatives_jvp"},
             takes(q, v_beyond, dq, dv_beyond, f_ext_stack, df_ext_stack, order),
             gives(torque_tangents),
             algorithm<InverseSeriesJvpWorkspace>(
                 []<class T>(const Tree& tree, const auto& x, const auto& w) {
                     inverse_time_derivatives_jvp(tree, x.options.order, x[q], x[v_beyond], x[dq],
                                                  x[dv_beyond], x[f_ext_stack], x[df_ext_stack],
                                                  x[torque_tangents], w);
                 })),
    function({.name = "inverse_dynamics_time_derivatives_vjp",
              .results = "InverseDynamicsTimeDerivativesVJP"},
             takes(q, v_beyond, torque_weight_stack, f_ext_stack, order),
             gives(by_q, by_v_beyond, by_f_ext_stack),
             algorithm<InverseSeriesVjpWorkspace>(
                 []<class T>(const Tree& tree, const auto& x, const auto& w) {
                     inverse_time_derivatives_vjp(tree, x.options.order, x[q], x[v_beyond],
                                                  x[torque_weight_stack], x[f_ext_stack], x[by_q],
                                                  x[by_v_beyond], x[by_f_ext_stack], w);
                 })),
};

}  // namespace

extern const FunctionGroup time_derivatives_products_functions = functions;

}  // namespace dtau::DTAU_VARIANT
