// Registers Jacobian-vector and vector-Jacobian products of the time derivatives of inverse
// dynamics.
#include "dtau/algorithms/time/inverse_vjp.hpp"
#include "dtau/algorithms/time/wrench_variations.hpp"
#include "functions/shared/time_derivatives.hpp"
#include "registry/arguments.hpp"

namespace dtau::DTAU_VARIANT {
namespace time_derivatives_products_rows {
namespace {

constexpr Out<"dtau", Quantity::torque, 1> torque_tangents;
constexpr ByQ<Out<"by_q", Quantity::torque>> by_q;
constexpr Out<"by_v_derivatives", Quantity::torque, 2> by_v_beyond;
constexpr Out<"by_f_ext_derivatives", Quantity::wrenches, 1, true> by_f_ext_stack;

template <class T>
using Jvp = WithWrenches<InverseSeriesJvpWorkspace, WrenchSeriesWorkspace>::Workspace<T>;
template <class T>
using Vjp = WithWrenches<InverseSeriesVjpWorkspace, WrenchSeriesWorkspace>::Workspace<T>;

// Accepts wrenches along body axes or world axes.
constexpr auto jvp = []<class T>(const Tree& tree, const auto& x, const auto& w) {
    const int order = x.options.order, nv = tree.nv, stride = 6 * tree.nbodies;
    const T *v = x[v_beyond], *dv = x[dv_beyond], *f_ext = x[f_ext_stack],
            *df_ext = x[df_ext_stack];
    if (w.wrenches.take(f_ext) || w.wrenches.take(df_ext)) {
        turn_wrenches(tree, order, x[q], [&](int k) { return v + k * nv; }, f_ext, w.wrenches);
        for (int k = 0; k <= order; ++k)
            vary_wrenches(tree, k, x[dq], k == 0 ? dv : dv + (k - 1) * nv, f_ext,
                          df_ext ? df_ext + k * stride : df_ext, w.wrenches);
        if (f_ext) f_ext = w.wrenches.f_ext;
        df_ext = w.wrenches.df_ext;
    }
    inverse_time_derivatives_jvp(tree, order, x[q], v, x[dq], dv, f_ext, df_ext, x[torque_tangents],
                                 w.algorithm);
};
constexpr auto vjp = []<class T>(const Tree& tree, const auto& x, const auto& w) {
    const int order = x.options.order, nv = tree.nv;
    const T *v = x[v_beyond], *f_ext = x[f_ext_stack];
    const bool in_world = w.wrenches.take(f_ext);
    if (in_world) {
        turn_wrenches(tree, order, x[q], [&](int k) { return v + k * nv; }, f_ext, w.wrenches);
        f_ext = w.wrenches.f_ext;
    }
    inverse_time_derivatives_vjp(tree, order, x[q], v, x[torque_weight_stack], f_ext, x[by_q],
                                 x[by_v_beyond], x[by_f_ext_stack], w.algorithm);
    if (!in_world) return;
    for (int l = 0; l <= order; ++l)
        turn_gradients(tree, order, l, x[by_f_ext_stack] + (order - l) * 6 * tree.nbodies,
                       w.wrenches);
    add_turn_gradients(tree, order, x[by_q], x[by_v_beyond], w.wrenches);
};

constexpr Row functions[] = {
    function({.name = "inverse_dynamics_time_derivatives_jvp"},
             takes(q, v_beyond, dq, dv_beyond, f_ext_stack, df_ext_stack, f_ext_axes, order,
                   coordinates),
             gives(torque_tangents), algorithm<Jvp>(jvp)),
    function({.name = "inverse_dynamics_time_derivatives_vjp",
              .results = "InverseDynamicsTimeDerivativesVJP"},
             takes(q, v_beyond, torque_weight_stack, f_ext_stack, f_ext_axes, order, coordinates),
             gives(by_q, by_v_beyond, by_f_ext_stack), algorithm<Vjp>(vjp)),
};

}  // namespace
}  // namespace time_derivatives_products_rows

extern const FunctionGroup time_derivatives_products_functions =
    group<time_derivatives_products_rows::functions>;

}  // namespace dtau::DTAU_VARIANT
