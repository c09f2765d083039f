#include "dtau/algorithms/values/rnea.hpp"
#include "functions/arguments.hpp"
#include "functions/shared/algorithms.hpp"

namespace dtau::DTAU_VARIANT {
namespace {

constexpr Out<"tau", Quantity::torque> torque;

constexpr Function functions[] = {
    function({.name = "inverse_dynamics"}, takes(q, v, a, f_ext), gives(torque),
             algorithm<RneaWorkspace>([]<class T>(const Tree& tree, const auto& x, const auto& w) {
                 rnea<T>(tree, x[q], x[v], x[a], x[f_ext], x[torque], w);
             })),
    function({.name = "bias_torque"}, takes(q, v, f_ext), gives(torque),
             algorithm<RneaWorkspace>([]<class T>(const Tree& tree, const auto& x, const auto& w) {
                 rnea<T>(tree, x[q], x[v], nullptr, x[f_ext], x[torque], w);
             })),
    function({.name = "gravity_torque"}, takes(q), gives(torque),
             algorithm<RneaWorkspace>([]<class T>(const Tree& tree, const auto& x, const auto& w) {
                 rnea<T>(tree, x[q], nullptr, nullptr, nullptr, x[torque], w);
             })),
};

}  // namespace

extern const FunctionGroup inverse_dynamics_functions = functions;

}  // namespace dtau::DTAU_VARIANT
