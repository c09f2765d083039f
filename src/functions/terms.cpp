// Registers mass_matrix, mass_matrix_inverse, coriolis_matrix, and energies with their derivatives.
#include "dtau/algorithms/first/energy.hpp"
#include "dtau/algorithms/solve/factorized.hpp"
#include "dtau/algorithms/values/coriolis.hpp"
#include "dtau/algorithms/values/crba.hpp"
#include "dtau/algorithms/values/energy.hpp"
#include "functions/shared/algorithms.hpp"
#include "registry/acceleration_quantities.hpp"
#include "registry/arguments.hpp"

namespace dtau::DTAU_VARIANT {
namespace terms_rows {
namespace {

constexpr Out<"M", Quantity::torque_matrix> M;
constexpr Out<"M_inverse", AccelerationQuantity::matrix> M_inverse;

constexpr Out<"C", Quantity::torque_matrix> C;

constexpr Out<"T", Quantity::scalar> kinetic;
constexpr Out<"V", Quantity::scalar> potential;
constexpr ByQ<Out<"dT_dq", Quantity::torque>> dT_dq;
constexpr Out<"dT_dv", Quantity::torque> dT_dv;
constexpr ByQ<Out<"dV_dq", Quantity::torque>> dV_dq;

constexpr Row functions[] = {
    function({.name = "mass_matrix", .links = {.time_derivatives = "mass_matrix_time_derivatives"}},
             takes(q, layout, parameters), gives(M),
             algorithm<MassMatrixWorkspace, KernelTraits{.results = Results::sparse}>(
                 []<class T>(const Tree& tree, const auto& x, const auto& w) {
                     crba(tree, x[q], x[M], w.root_frame);
                 })),
    function({.name = "mass_matrix_inverse", .solves = true}, takes(q, layout, parameters),
             gives(M_inverse),
             algorithm<MassMatrixInverseWorkspace>(
                 []<class T>(const Tree& tree, const auto& x, const auto& w) {
                     mass_matrix_inverse(tree, x[q], x[M_inverse], w);
                 })),
    function({.name = "coriolis_matrix",
              .links = {.time_derivatives = "coriolis_matrix_time_derivatives"}},
             takes(q, v, layout, parameters), gives(C),
             algorithm<CoriolisWorkspace, KernelTraits{.results = Results::sparse}>(
                 []<class T>(const Tree& tree, const auto& x, const auto& w) {
                     coriolis_matrix(tree, x[q], x[v], x[C], w);
                 })),
    function({.name = "kinetic_energy", .links = {.derivatives = "kinetic_energy_derivatives"}},
             takes(q, v), gives(kinetic),
             algorithm<KineticEnergyWorkspace>(
                 []<class T>(const Tree& tree, const auto& x, const auto& w) {
                     kinetic_energy(tree, x[q], x[v], x[kinetic], w);
                 })),
    function({.name = "potential_energy", .links = {.derivatives = "potential_energy_derivatives"}},
             takes(q), gives(potential),
             algorithm<PotentialEnergyWorkspace>(
                 []<class T>(const Tree& tree, const auto& x, const auto& w) {
                     potential_energy(tree, x[q], x[potential], w);
                 })),
    function({.name = "kinetic_energy_derivatives", .results = "KineticEnergyDerivatives"},
             takes(q, v, coordinates), gives(dT_dq, dT_dv),
             algorithm<KineticEnergyDerivativesWorkspace>(
                 []<class T>(const Tree& tree, const auto& x, const auto& w) {
                     kinetic_energy_derivatives(tree, x[q], x[v], x[dT_dq], x[dT_dv], w);
                 })),
    function({.name = "potential_energy_derivatives"}, takes(q, coordinates), gives(dV_dq),
             algorithm<RneaWorkspace>([]<class T>(const Tree& tree, const auto& x, const auto& w) {
                 rnea<T>(tree, x[q], nullptr, nullptr, nullptr, x[dV_dq], w);
             })),
};

}  // namespace
}  // namespace terms_rows

extern const FunctionGroup terms_functions = group<terms_rows::functions>;

}  // namespace dtau::DTAU_VARIANT
