// Registers hybrid_dynamics, and time derivatives of forward and hybrid dynamics.
#include "dtau/algorithms/time/mimic.hpp"
#include "functions/shared/time_derivatives.hpp"
#include "registry/arguments.hpp"

namespace dtau::DTAU_VARIANT {
namespace time_derivatives_forward_rows {
namespace {

constexpr Out<"a", Quantity::v> acceleration;
constexpr Out<"tau", Quantity::torque> torque;
constexpr Out<"a", Quantity::v, 1> accelerations;
constexpr Out<"tau", Quantity::torque, 1> torques;

// Forward dynamics is hybrid dynamics with all torques given and no prescribed joint.
constexpr auto forward_series = []<class T>(const Tree& tree, const auto& x, const auto& w) {
    const T* no_a = nullptr;
    T* no_torque = nullptr;
    hybrid_time_derivatives<T>(tree, x.options.order, x[q], x[v], no_a, x[tau_stack],
                               x[f_ext_stack], nullptr, x[accelerations], no_torque, w);
};
constexpr auto mimic_forward_series = []<class T>(const Tree& tree, const auto& x, const auto& w) {
    const T* no_a = nullptr;
    T* no_torque = nullptr;
    mimic_time_derivatives<T>(tree, x.options.order, x[q], x[v], no_a, x[tau_stack], x[f_ext_stack],
                              nullptr, x[accelerations], no_torque, w);
};

constexpr Row functions[] = {
    function({.name = "forward_dynamics_time_derivatives",
              .links = {.derivatives = "forward_dynamics_time_derivatives_derivatives",
                        .jvp = "forward_dynamics_time_derivatives_jvp",
                        .vjp = "forward_dynamics_time_derivatives_vjp"},
              .solves = true},
             takes(q, v, tau_stack, f_ext_stack, f_ext_axes, order), gives(accelerations),
             algorithm<HybridSeriesWorkspace>(forward_series),
             algorithm<MimicSeriesWorkspace>(mimic_forward_series)),
    function({.name = "hybrid_dynamics",
              .links = {.time_derivatives = "hybrid_dynamics_time_derivatives"},
              .solves = true,
              .results = "HybridDynamics"},
             takes(q, v, a, tau, prescribed, f_ext, f_ext_axes), gives(acceleration, torque),
             algorithm<HybridSeriesWorkspace>([]<class T>(const Tree& tree, const auto& x,
                                                          const auto& w) {
                 hybrid_time_derivatives<T>(tree, 0, x[q], x[v], x[a], x[tau], x[f_ext],
                                            x.options.prescribed, x[acceleration], x[torque], w);
             }),
             algorithm<MimicSeriesWorkspace>(
                 []<class T>(const Tree& tree, const auto& x, const auto& w) {
                     mimic_time_derivatives<T>(tree, 0, x[q], x[v], x[a], x[tau], x[f_ext],
                                               x.options.prescribed, x[acceleration], x[torque], w);
                 })),
    function(
        {.name = "hybrid_dynamics_time_derivatives", .solves = true, .results = "HybridDynamics"},
        takes(q, v, a_stack, tau_stack, prescribed, f_ext_stack, f_ext_axes, order),
        gives(accelerations, torques),
        algorithm<HybridSeriesWorkspace>(
            []<class T>(const Tree& tree, const auto& x, const auto& w) {
                hybrid_time_derivatives<T>(tree, x.options.order, x[q], x[v], x[a_stack],
                                           x[tau_stack], x[f_ext_stack], x.options.prescribed,
                                           x[accelerations], x[torques], w);
            }),
        algorithm<MimicSeriesWorkspace>(
            []<class T>(const Tree& tree, const auto& x, const auto& w) {
                mimic_time_derivatives<T>(tree, x.options.order, x[q], x[v], x[a_stack],
                                          x[tau_stack], x[f_ext_stack], x.options.prescribed,
                                          x[accelerations], x[torques], w);
            })),
};

}  // namespace
}  // namespace time_derivatives_forward_rows

extern const FunctionGroup time_derivatives_forward_functions =
    group<time_derivatives_forward_rows::functions>;

}  // namespace dtau::DTAU_VARIANT
