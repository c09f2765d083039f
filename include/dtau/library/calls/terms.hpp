// Typed calls of dtau.functions.terms. src/python/renew.py writes this file.
#pragma once

#include "dtau/library/call.hpp"

// clang-format off
namespace dtau {

// Mass matrix M, with the armature on its diagonal.
//     q (nq) -> M (nv, nv)
//     optional: parameters (10 nbodies)
//     arguments: layout, joint_parameters
struct MassMatrix : CallOf<"mass_matrix"> {
    using CallOf::CallOf;
    struct Optional { InputView parameters = {}; };
    template <class X = Optional>
    [[nodiscard]] bool operator()(InputView q, ResultView M, std::ptrdiff_t states = 1,
                                  const X& x = {}) noexcept {
        return run({q, x.parameters}, {M}, states);
    }
};

// Inverse of the mass matrix: the derivative of the acceleration by the torque.
//     q (nq) -> M_inverse (nv, nv)
//     optional: parameters (10 nbodies)
//     arguments: layout, joint_parameters
struct MassMatrixInverse : CallOf<"mass_matrix_inverse"> {
    using CallOf::CallOf;
    struct Optional { InputView parameters = {}; };
    template <class X = Optional>
    [[nodiscard]] bool operator()(InputView q, ResultView M_inverse, std::ptrdiff_t states = 1,
                                  const X& x = {}) noexcept {
        return run({q, x.parameters}, {M_inverse}, states);
    }
};

// Admissible Coriolis matrix C: C @ v is the Coriolis torque, and dM/dt = C + C^T.
//     q (nq), v (nv) -> C (nv, nv)
//     optional: parameters (10 nbodies)
//     arguments: layout, joint_parameters
struct CoriolisMatrix : CallOf<"coriolis_matrix"> {
    using CallOf::CallOf;
    struct Optional { InputView parameters = {}; };
    template <class X = Optional>
    [[nodiscard]] bool operator()(InputView q, InputView v, ResultView C, std::ptrdiff_t states = 1,
                                  const X& x = {}) noexcept {
        return run({q, v, x.parameters}, {C}, states);
    }
};

// Bias torque, inverse dynamics at a = 0: Coriolis, damping, gravity, external forces.
//     q (nq), v (nv) -> tau (nv)
//     optional: f_ext (nbodies, 6), parameters (10 nbodies)
//     arguments: f_ext_axes, joint_parameters
struct BiasTorque : CallOf<"bias_torque"> {
    using CallOf::CallOf;
    struct Optional { InputView f_ext = {}, parameters = {}; };
    template <class X = Optional>
    [[nodiscard]] bool operator()(InputView q, InputView v, ResultView tau,
                                  std::ptrdiff_t states = 1, const X& x = {}) noexcept {
        return run({q, v, x.f_ext, x.parameters}, {tau}, states);
    }
};

// Gravity torque: the torque that holds the robot still against gravity.
//     q (nq) -> tau (nv)
//     optional: parameters (10 nbodies)
//     arguments: joint_parameters
struct GravityTorque : CallOf<"gravity_torque"> {
    using CallOf::CallOf;
    struct Optional { InputView parameters = {}; };
    template <class X = Optional>
    [[nodiscard]] bool operator()(InputView q, ResultView tau, std::ptrdiff_t states = 1,
                                  const X& x = {}) noexcept {
        return run({q, x.parameters}, {tau}, states);
    }
};

// Kinetic energy of all moving bodies and of the joints' rotors.
//     q (nq), v (nv) -> T
struct KineticEnergy : CallOf<"kinetic_energy"> {
    using CallOf::CallOf;
    [[nodiscard]] bool operator()(InputView q, InputView v, ResultView T,
                                  std::ptrdiff_t states = 1) noexcept {
        return run({q, v}, {T}, states);
    }
};

// Potential energy of all moving bodies in the field of gravity, and of the joints' springs.
//     q (nq) -> V
struct PotentialEnergy : CallOf<"potential_energy"> {
    using CallOf::CallOf;
    [[nodiscard]] bool operator()(InputView q, ResultView V, std::ptrdiff_t states = 1) noexcept {
        return run({q}, {V}, states);
    }
};

// Derivatives of the kinetic energy by q and v.
//     q (nq), v (nv) -> dT_dq (nv), dT_dv (nv)
//     arguments: coordinates
struct KineticEnergyDerivatives : CallOf<"kinetic_energy_derivatives"> {
    using CallOf::CallOf;
    [[nodiscard]] bool operator()(InputView q, InputView v, ResultView dT_dq, ResultView dT_dv,
                                  std::ptrdiff_t states = 1) noexcept {
        return run({q, v}, {dT_dq, dT_dv}, states);
    }
};

// Derivative of the potential energy by q: the gravity torque.
//     q (nq) -> dV_dq (nv)
//     arguments: coordinates
struct PotentialEnergyDerivatives : CallOf<"potential_energy_derivatives"> {
    using CallOf::CallOf;
    [[nodiscard]] bool operator()(InputView q, ResultView dV_dq,
                                  std::ptrdiff_t states = 1) noexcept {
        return run({q}, {dV_dq}, states);
    }
};

}  // namespace dtau
