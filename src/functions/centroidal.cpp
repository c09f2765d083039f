// Registers center-of-mass motion, momentum, and their derivatives.
#include "dtau/algorithms/first/center_of_mass.hpp"
#include "dtau/algorithms/first/momentum.hpp"
#include "dtau/algorithms/time/momentum.hpp"
#include "registry/arguments.hpp"

namespace dtau::DTAU_VARIANT {
namespace centroidal_rows {
namespace {

constexpr Out<"center", Quantity::vector> center;
constexpr Out<"velocity", Quantity::vector> velocity;
constexpr Out<"acceleration", Quantity::vector> acceleration;
constexpr ByQ<Out<"J", Quantity::vector_matrix>> J;
constexpr ByQ<Out<"dvelocity_dq", Quantity::vector_matrix>> dvelocity_dq;
constexpr Out<"dvelocity_dv", Quantity::vector_matrix> dvelocity_dv;
constexpr ByQ<Out<"dacceleration_dq", Quantity::vector_matrix>> dacceleration_dq;
constexpr Out<"dacceleration_dv", Quantity::vector_matrix> dacceleration_dv;
constexpr Out<"dacceleration_da", Quantity::vector_matrix> dacceleration_da;

constexpr Out<"h", Quantity::momentum> h;
constexpr Out<"A", Quantity::momentum_matrix> A;
constexpr Out<"rate", Quantity::momentum> rate;
constexpr Out<"h", Quantity::momentum, 1> h_stack;
constexpr ByQ<Out<"dh_dq", Quantity::momentum_matrix>> dh_dq;
constexpr Out<"dh_dv", Quantity::momentum_matrix> dh_dv;
constexpr ByQ<Out<"drate_dq", Quantity::momentum_matrix>> drate_dq;
constexpr Out<"drate_dv", Quantity::momentum_matrix> drate_dv;
constexpr Out<"drate_da", Quantity::momentum_matrix> drate_da;

constexpr Row functions[] = {
    function(
        {.name = "center_of_mass", .links = {.derivatives = "center_of_mass_jacobian"}}, takes(q),
        gives(center),
        algorithm<PlacementsWorkspace>([]<class T>(const Tree& tree, const auto& x, const auto& w) {
            center_of_mass(tree, x[q], x[center], w);
        })),
    function({.name = "center_of_mass_velocity",
              .links = {.derivatives = "center_of_mass_velocity_derivatives"}},
             takes(q, v), gives(velocity),
             algorithm<CenterMotionWorkspace>(
                 []<class T>(const Tree& tree, const auto& x, const auto& w) {
                     center_of_mass_motion<T>(tree, x[q], x[v], nullptr, x[velocity], w);
                 })),
    function({.name = "center_of_mass_acceleration",
              .links = {.derivatives = "center_of_mass_acceleration_derivatives"}},
             takes(q, v, a), gives(acceleration),
             algorithm<CenterMotionWorkspace>(
                 []<class T>(const Tree& tree, const auto& x, const auto& w) {
                     center_of_mass_motion(tree, x[q], x[v], x[a], x[acceleration], w);
                 })),
    function({.name = "center_of_mass_jacobian"}, takes(q, coordinates), gives(J),
             algorithm<CenterJacobianWorkspace>(
                 []<class T>(const Tree& tree, const auto& x, const auto& w) {
                     center_of_mass_jacobian(tree, x[q], x[J], w);
                 })),
    function({.name = "center_of_mass_velocity_derivatives",
              .results = "CenterOfMassVelocityDerivatives"},
             takes(q, v, coordinates), gives(dvelocity_dq, dvelocity_dv),
             algorithm<CenterDerivativesWorkspace>(
                 []<class T>(const Tree& tree, const auto& x, const auto& w) {
                     center_of_mass_velocity_derivatives(tree, x[q], x[v], x[dvelocity_dq],
                                                         x[dvelocity_dv], w);
                 })),
    function(
        {.name = "center_of_mass_acceleration_derivatives",
         .results = "CenterOfMassAccelerationDerivatives"},
        takes(q, v, a, coordinates), gives(dacceleration_dq, dacceleration_dv, dacceleration_da),
        algorithm<CenterDerivativesWorkspace>([]<class T>(const Tree& tree, const auto& x,
                                                          const auto& w) {
            center_of_mass_acceleration_derivatives(tree, x[q], x[v], x[a], x[dacceleration_dq],
                                                    x[dacceleration_dv], x[dacceleration_da], w);
        })),
    function(
        {.name = "momentum", .links = {.time_derivatives = "momentum_time_derivatives"}},
        takes(q, v), gives(h),
        algorithm<MomentumWorkspace>([]<class T>(const Tree& tree, const auto& x, const auto& w) {
            momentum(tree, x[q], x[v], x[h], w);
        })),
    function(
        {.name = "centroidal_momentum",
         .links = {.derivatives = "centroidal_momentum_derivatives",
                   .time_derivatives = "centroidal_momentum_time_derivatives"}},
        takes(q, v), gives(h),
        algorithm<MomentumWorkspace>([]<class T>(const Tree& tree, const auto& x, const auto& w) {
            centroidal_momentum<T>(tree, x[q], x[v], nullptr, x[h], w);
        })),
    function(
        {.name = "centroidal_momentum_rate",
         .links = {.derivatives = "centroidal_momentum_rate_derivatives"}},
        takes(q, v, a), gives(rate),
        algorithm<MomentumWorkspace>([]<class T>(const Tree& tree, const auto& x, const auto& w) {
            centroidal_momentum(tree, x[q], x[v], x[a], x[rate], w);
        })),
    function(
        {.name = "centroidal_momentum_matrix"}, takes(q), gives(A),
        algorithm<MomentumWorkspace>([]<class T>(const Tree& tree, const auto& x, const auto& w) {
            centroidal_momentum_matrix(tree, x[q], x[A], w);
        })),
    function(
        {.name = "centroidal_momentum_derivatives", .results = "CentroidalMomentumDerivatives"},
        takes(q, v, coordinates), gives(dh_dq, dh_dv),
        algorithm<MomentumDerivativesWorkspace>(
            []<class T>(const Tree& tree, const auto& x, const auto& w) {
                centroidal_momentum_derivatives(tree, x[q], x[v], x[dh_dq], x[dh_dv], w);
            })),
    function({.name = "centroidal_momentum_rate_derivatives",
              .results = "CentroidalMomentumRateDerivatives"},
             takes(q, v, a, coordinates), gives(drate_dq, drate_dv, drate_da),
             algorithm<MomentumDerivativesWorkspace>(
                 []<class T>(const Tree& tree, const auto& x, const auto& w) {
                     centroidal_momentum_rate_derivatives(tree, x[q], x[v], x[a], x[drate_dq],
                                                          x[drate_dv], x[drate_da], w);
                 })),
    function({.name = "momentum_time_derivatives"}, takes(q, v_stack, order), gives(h_stack),
             algorithm<MomentumSeriesWorkspace>([]<class T>(const Tree& tree, const auto& x,
                                                            const auto& w) {
                 momentum_time_derivatives(tree, x.options.order, x[q], x[v_stack], x[h_stack], w);
             })),
    function({.name = "centroidal_momentum_time_derivatives"}, takes(q, v_stack, order),
             gives(h_stack),
             algorithm<MomentumSeriesWorkspace>(
                 []<class T>(const Tree& tree, const auto& x, const auto& w) {
                     centroidal_momentum_time_derivatives(tree, x.options.order, x[q], x[v_stack],
                                                          x[h_stack], w);
                 })),
};

}  // namespace
}  // namespace centroidal_rows

extern const FunctionGroup centroidal_functions = group<centroidal_rows::functions>;

}  // namespace dtau::DTAU_VARIANT
