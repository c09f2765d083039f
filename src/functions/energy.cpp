#include "dtau/algorithms/values/energy.hpp"

#include "dtau/algorithms/first/energy.hpp"
#include "functions/shared/algorithms.hpp"
#include "registry/arguments.hpp"

namespace dtau::DTAU_VARIANT {
namespace {

constexpr Out<"T", Quantity::scalar> kinetic;
constexpr Out<"V", Quantity::scalar> potential;
constexpr Out<"dT_dq", Quantity::torque> dT_dq;
constexpr Out<"dT_dv", Quantity::torque> dT_dv;
constexpr Out<"dV_dq", Quantity::torque> dV_dq;

constexpr Function functions[] = {
    function({.name = "kinetic_energy"}, takes(q, v), gives(kinetic),
             algorithm<KineticEnergyWorkspace>(
                 []<class T>(const Tree& tree, const auto& x, const auto& w) {
                     kinetic_energy(tree, x[q], x[v], x[kinetic], w);
                 })),
    function({.name = "potential_energy"}, takes(q), gives(potential),
             algorithm<PotentialEnergyWorkspace>(
                 []<class T>(const Tree& tree, const auto& x, const auto& w) {
                     potential_energy(tree, x[q], x[potential], w);
                 })),
    function({.name = "kinetic_energy_derivatives", .results = "KineticEnergyDerivatives"},
             takes(q, v), gives(dT_dq, dT_dv),
             algorithm<KineticEnergyDerivativesWorkspace>(
                 []<class T>(const Tree& tree, const auto& x, const auto& w) {
                     kinetic_energy_derivatives(tree, x[q], x[v], x[dT_dq], x[dT_dv], w);
                 })),
    function({.name = "potential_energy_derivatives"}, takes(q), gives(dV_dq),
             algorithm<RneaWorkspace>([]<class T>(const Tree& tree, const auto& x, const auto& w) {
                 rnea<T>(tree, x[q], nullptr, nullptr, nullptr, x[dV_dq], w);
             })),
};

}  // namespace

extern const FunctionGroup energy_functions = functions;

}  // namespace dtau::DTAU_VARIANT
