#include "dtau/algorithms/first/center_of_mass.hpp"
#include "registry/arguments.hpp"

namespace dtau::DTAU_VARIANT {
namespace {

constexpr Out<"center", Quantity::vector> center;
constexpr Out<"velocity", Quantity::vector> velocity;
constexpr Out<"acceleration", Quantity::vector> acceleration;
constexpr Out<"J", Quantity::vector_matrix> J;
constexpr Out<"dvelocity_dq", Quantity::vector_matrix> dvelocity_dq;
constexpr Out<"dvelocity_dv", Quantity::vector_matrix> dvelocity_dv;
constexpr Out<"dacceleration_dq", Quantity::vector_matrix> dacceleration_dq;
constexpr Out<"dacceleration_dv", Quantity::vector_matrix> dacceleration_dv;
constexpr Out<"dacceleration_da", Quantity::vector_matrix> dacceleration_da;

constexpr Function functions[] = {
    function(
        {.name = "center_of_mass"}, takes(q), gives(center),
        algorithm<PlacementsWorkspace>([]<class T>(const Tree& tree, const auto& x, const auto& w) {
            center_of_mass(tree, x[q], x[center], w);
        })),
    function({.name = "center_of_mass_velocity"}, takes(q, v), gives(velocity),
             algorithm<CenterMotionWorkspace>(
                 []<class T>(const Tree& tree, const auto& x, const auto& w) {
                     center_of_mass_motion<T>(tree, x[q], x[v], nullptr, x[velocity], w);
                 })),
    function({.name = "center_of_mass_acceleration"}, takes(q, v, a), gives(acceleration),
             algorithm<CenterMotionWorkspace>(
                 []<class T>(const Tree& tree, const auto& x, const auto& w) {
                     center_of_mass_motion(tree, x[q], x[v], x[a], x[acceleration], w);
                 })),
    function({.name = "center_of_mass_jacobian"}, takes(q), gives(J),
             algorithm<CenterJacobianWorkspace>(
                 []<class T>(const Tree& tree, const auto& x, const auto& w) {
                     center_of_mass_jacobian(tree, x[q], x[J], w);
                 })),
    function({.name = "center_of_mass_velocity_derivatives",
              .results = "CenterOfMassVelocityDerivatives"},
             takes(q, v), gives(dvelocity_dq, dvelocity_dv),
             algorithm<CenterDerivativesWorkspace>(
                 []<class T>(const Tree& tree, const auto& x, const auto& w) {
                     center_of_mass_velocity_derivatives(tree, x[q], x[v], x[dvelocity_dq],
                                                         x[dvelocity_dv], w);
                 })),
    function({.name = "center_of_mass_acceleration_derivatives",
              .results = "CenterOfMassAccelerationDerivatives"},
             takes(q, v, a), gives(dacceleration_dq, dacceleration_dv, dacceleration_da),
             algorithm<CenterDerivativesWorkspace>([]<class T>(const Tree& tree, const auto& x,
                                                               const auto& w) {
                 center_of_mass_acceleration_derivatives(tree, x[q], x[v], x[a],
                                                         x[dacceleration_dq], x[dacceleration_dv],
                                                         x[dacceleration_da], w);
             })),
};

}  // namespace

extern const FunctionGroup center_of_mass_functions = functions;

}  // namespace dtau::DTAU_VARIANT
