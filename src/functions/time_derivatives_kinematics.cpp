// Registers kinematics_time_derivatives.
#include "dtau/algorithms/time/kinematics.hpp"
#include "registry/arguments.hpp"

namespace dtau::DTAU_VARIANT {
namespace time_derivatives_kinematics_rows {
namespace {

constexpr Out<"rotation", Quantity::rotations, 1> rotation;
constexpr Out<"translation", Quantity::positions, 1> translation;
constexpr Out<"twist", Quantity::twists, 0> twist;

constexpr Row functions[] = {
    function({.name = "kinematics_time_derivatives", .results = "KinematicsTimeDerivatives"},
             takes(q, v_below, order), gives(rotation, translation, twist),
             algorithm<TimeKinematicsWorkspace>(
                 []<class T>(const Tree& tree, const auto& x, const auto& w) {
                     kinematics_time_derivatives(tree, x.options.order, x[q], x[v_below],
                                                 x[rotation], x[translation], x[twist], w);
                 })),
};

}  // namespace
}  // namespace time_derivatives_kinematics_rows

extern const FunctionGroup time_derivatives_kinematics_functions =
    group<time_derivatives_kinematics_rows::functions>;

}  // namespace dtau::DTAU_VARIANT
