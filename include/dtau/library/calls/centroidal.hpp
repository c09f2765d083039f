// Typed calls of dtau.functions.centroidal. src/python/renew.py writes this file.
#pragma once

#include "dtau/library/call.hpp"

// clang-format off
namespace dtau {

// Center of mass of all moving bodies, in the world.
//     q (nq) -> center (3)
struct CenterOfMass : CallOf<"center_of_mass"> {
    using CallOf::CallOf;
    [[nodiscard]] bool operator()(InputView q, ResultView center,
                                  std::ptrdiff_t states = 1) noexcept {
        return run({q}, {center}, states);
    }
};

// Velocity of the center of mass of all moving bodies.
//     q (nq), v (nv) -> velocity (3)
struct CenterOfMassVelocity : CallOf<"center_of_mass_velocity"> {
    using CallOf::CallOf;
    [[nodiscard]] bool operator()(InputView q, InputView v, ResultView velocity,
                                  std::ptrdiff_t states = 1) noexcept {
        return run({q, v}, {velocity}, states);
    }
};

// Acceleration of the center of mass of all moving bodies.
//     q (nq), v (nv), a (nv) -> acceleration (3)
struct CenterOfMassAcceleration : CallOf<"center_of_mass_acceleration"> {
    using CallOf::CallOf;
    [[nodiscard]] bool operator()(InputView q, InputView v, InputView a, ResultView acceleration,
                                  std::ptrdiff_t states = 1) noexcept {
        return run({q, v, a}, {acceleration}, states);
    }
};

// Jacobian of the center of mass: its velocity is J @ v.
//     q (nq) -> J (3, nv)
//     arguments: coordinates
struct CenterOfMassJacobian : CallOf<"center_of_mass_jacobian"> {
    using CallOf::CallOf;
    [[nodiscard]] bool operator()(InputView q, ResultView J, std::ptrdiff_t states = 1) noexcept {
        return run({q}, {J}, states);
    }
};

// Derivatives of the velocity of the center of mass by q and v.
//     q (nq), v (nv) -> dvelocity_dq (3, nv), dvelocity_dv (3, nv)
//     arguments: coordinates
struct CenterOfMassVelocityDerivatives : CallOf<"center_of_mass_velocity_derivatives"> {
    using CallOf::CallOf;
    [[nodiscard]] bool operator()(InputView q, InputView v, ResultView dvelocity_dq,
                                  ResultView dvelocity_dv, std::ptrdiff_t states = 1) noexcept {
        return run({q, v}, {dvelocity_dq, dvelocity_dv}, states);
    }
};

// Derivatives of the acceleration of the center of mass by q, v and a.
//     q (nq), v (nv), a (nv) -> dacceleration_dq (3, nv), dacceleration_dv (3, nv),
//     dacceleration_da (3, nv)
//     arguments: coordinates
struct CenterOfMassAccelerationDerivatives : CallOf<"center_of_mass_acceleration_derivatives"> {
    using CallOf::CallOf;
    [[nodiscard]] bool operator()(InputView q, InputView v, InputView a,
                                  ResultView dacceleration_dq, ResultView dacceleration_dv,
                                  ResultView dacceleration_da, std::ptrdiff_t states = 1) noexcept {
        return run({q, v, a}, {dacceleration_dq, dacceleration_dv, dacceleration_da}, states);
    }
};

}  // namespace dtau
