// Registers Jacobian-vector and vector-Jacobian products of the time derivatives of forward
// dynamics.
#include "dtau/algorithms/time/forward_jvp.hpp"
#include "dtau/algorithms/time/forward_vjp.hpp"
#include "functions/shared/time_derivatives.hpp"
#include "registry/arguments.hpp"

namespace dtau::DTAU_VARIANT {
namespace time_derivatives_products_forward_rows {
namespace {

constexpr Out<"da", Quantity::v, 1> acceleration_tangents;
constexpr ByQ<Out<"by_q", Quantity::torque>> by_q;
constexpr Out<"by_v", Quantity::torque> by_v;
constexpr Out<"by_tau_derivatives", Quantity::v, 1> by_tau_stack;
constexpr Out<"by_f_ext_derivatives", Quantity::wrenches, 1, true> by_f_ext_stack;

template <class T> using ForwardJvp = ForwardSeriesJvpWorkspace<T, HybridSeriesWorkspace<T>>;
template <class T> using MimicForwardJvp = ForwardSeriesJvpWorkspace<T, MimicSeriesWorkspace<T>>;
template <class T> using ForwardVjp = ForwardSeriesVjpWorkspace<T, HybridSeriesWorkspace<T>>;
template <class T> using MimicForwardVjp = ForwardSeriesVjpWorkspace<T, MimicSeriesWorkspace<T>>;

constexpr auto jvp = []<class T>(const Tree& tree, const auto& x, const auto& w) {
    forward_time_derivatives_jvp(tree, x.options.order, x[q], x[v], x[tau_stack], x[dq], x[dv],
                                 x[dtorque_stack], x[f_ext_stack], x[df_ext_stack],
                                 x[acceleration_tangents], w);
};
constexpr auto vjp = []<class T>(const Tree& tree, const auto& x, const auto& w) {
    forward_time_derivatives_vjp(tree, x.options.order, x[q], x[v], x[tau_stack],
                                 x[acceleration_weight_stack], x[f_ext_stack], x[by_q], x[by_v],
                                 x[by_tau_stack], x[by_f_ext_stack], w);
};

constexpr Row functions[] = {
    function({.name = "forward_dynamics_time_derivatives_jvp", .solves = true},
             takes(q, v, tau_stack, dq, dv, dtorque_stack, f_ext_stack, df_ext_stack, f_ext_axes,
                   order, coordinates),
             gives(acceleration_tangents), algorithm<ForwardJvp>(jvp),
             algorithm<MimicForwardJvp>(jvp)),
    function({.name = "forward_dynamics_time_derivatives_vjp",
              .solves = true,
              .results = "ForwardDynamicsTimeDerivativesVJP"},
             takes(q, v, tau_stack, acceleration_weight_stack, f_ext_stack, f_ext_axes, order,
                   coordinates),
             gives(by_q, by_v, by_tau_stack, by_f_ext_stack), algorithm<ForwardVjp>(vjp),
             algorithm<MimicForwardVjp>(vjp)),
};

}  // namespace
}  // namespace time_derivatives_products_forward_rows

extern const FunctionGroup time_derivatives_products_forward_functions =
    group<time_derivatives_products_forward_rows::functions>;

}  // namespace dtau::DTAU_VARIANT
