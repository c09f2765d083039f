// Registers time derivatives of inverse dynamics, bias torque and gravity torque.
#include "functions/shared/time_derivatives.hpp"
#include "dtau/algorithms/time/inverse.hpp"
#include "dtau/algorithms/time/world_wrenches.hpp"
#include "registry/arguments.hpp"

namespace dtau::DTAU_VARIANT {
namespace time_derivatives_rows {
namespace {

constexpr Out<"tau", Quantity::torque, 1> torques;

template <class T>
struct InverseAndWrenchesWorkspace {
    InverseSeriesWorkspace<T> series;
    WorldWrenchWorkspace<T> wrenches;

    InverseAndWrenchesWorkspace(Arena& arena, const Tree& tree, const Options& options)
        : series(arena, tree, options), wrenches(arena, tree, options) {}
};

// Accepts wrenches along body axes or world axes.
template <class T>
void with_wrenches(Part part, const Tree& tree, int order, const T* q, const T* v, const T* f_ext,
                   T* tau, const InverseAndWrenchesWorkspace<T>& w) {
    const bool in_world = w.wrenches.take(f_ext);
    const T* no_wrenches = nullptr;
    inverse_time_derivatives(part, tree, order, q, v, in_world ? no_wrenches : f_ext, tau,
                             w.series);
    if (in_world)
        world_wrench_torques(tree, 0, order, q, v, f_ext, w.wrenches,
                             [&](int k, int j, T torque) __attribute__((always_inline)) {
                                 tau[k * tree.nv + j] = tau[k * tree.nv + j] - torque;
                             });
}

constexpr Row functions[] = {
    function({.name = "inverse_dynamics_time_derivatives",
              .links = {.derivatives = "inverse_dynamics_time_derivatives_derivatives",
                        .jvp = "inverse_dynamics_time_derivatives_jvp",
                        .vjp = "inverse_dynamics_time_derivatives_vjp"}},
             takes(q, v_beyond, f_ext_stack, f_ext_axes, order), gives(torques),
             algorithm<InverseAndWrenchesWorkspace>(
                 []<class T>(const Tree& tree, const auto& x, const auto& w) {
                     with_wrenches(Part::all, tree, x.options.order, x[q], x[v_beyond],
                                   x[f_ext_stack], x[torques], w);
                 })),
    function({.name = "bias_torque_time_derivatives"},
             takes(q, v_stack, f_ext_stack, f_ext_axes, order), gives(torques),
             algorithm<InverseAndWrenchesWorkspace>(
                 []<class T>(const Tree& tree, const auto& x, const auto& w) {
                     with_wrenches(Part::bias, tree, x.options.order, x[q], x[v_stack],
                                   x[f_ext_stack], x[torques], w);
                 })),
    function({.name = "gravity_torque_time_derivatives"}, takes(q, v_below, order), gives(torques),
             algorithm<InverseSeriesWorkspace>(
                 []<class T>(const Tree& tree, const auto& x, const auto& w) {
                     inverse_time_derivatives<T>(Part::gravity, tree, x.options.order, x[q],
                                                 x[v_below], nullptr, x[torques], w);
                 })),
};

}  // namespace
}  // namespace time_derivatives_rows

extern const FunctionGroup time_derivatives_functions = group<time_derivatives_rows::functions>;

}  // namespace dtau::DTAU_VARIANT
