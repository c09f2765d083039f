// Typed calls of dtau.functions.terms. src/python/renew.py writes this file.
#pragma once

#include "dtau/library/call.hpp"

// clang-format off
namespace dtau {

// Mass matrix M, with the armature on its diagonal.
//     q (nq) -> M (nv, nv)
//     optional: parameters (10 nbodies)
//     arguments: layout, joint_parameters
class MassMatrix : public Call {
  public:
    explicit MassMatrix(const Model& model, const CallArguments& arguments = {},
                        std::ptrdiff_t most_states = 1)
        : Call(model, "mass_matrix", arguments, most_states) {}
    struct Optional {
        InputView parameters = {};
    };
    [[nodiscard]] bool operator()(InputView q, ResultView M, std::ptrdiff_t states,
                                  const Optional& x) noexcept {
        return run({q, x.parameters}, {M}, states);
    }
    [[nodiscard]] bool operator()(InputView q, ResultView M, std::ptrdiff_t states = 1) noexcept {
        return run({q}, {M}, states);
    }
};

// Inverse of the mass matrix: the derivative of the acceleration by the torque.
//     q (nq) -> M_inverse (nv, nv)
//     optional: parameters (10 nbodies)
//     arguments: layout, joint_parameters
class MassMatrixInverse : public Call {
  public:
    explicit MassMatrixInverse(const Model& model, const CallArguments& arguments = {},
                               std::ptrdiff_t most_states = 1)
        : Call(model, "mass_matrix_inverse", arguments, most_states) {}
    struct Optional {
        InputView parameters = {};
    };
    [[nodiscard]] bool operator()(InputView q, ResultView M_inverse, std::ptrdiff_t states,
                                  const Optional& x) noexcept {
        return run({q, x.parameters}, {M_inverse}, states);
    }
    [[nodiscard]] bool operator()(InputView q, ResultView M_inverse,
                                  std::ptrdiff_t states = 1) noexcept {
        return run({q}, {M_inverse}, states);
    }
};

// Admissible Coriolis matrix C: C @ v is the Coriolis torque, and dM/dt = C + C^T.
//     q (nq), v (nv) -> C (nv, nv)
//     optional: parameters (10 nbodies)
//     arguments: layout, joint_parameters
class CoriolisMatrix : public Call {
  public:
    explicit CoriolisMatrix(const Model& model, const CallArguments& arguments = {},
                            std::ptrdiff_t most_states = 1)
        : Call(model, "coriolis_matrix", arguments, most_states) {}
    struct Optional {
        InputView parameters = {};
    };
    [[nodiscard]] bool operator()(InputView q, InputView v, ResultView C, std::ptrdiff_t states,
                                  const Optional& x) noexcept {
        return run({q, v, x.parameters}, {C}, states);
    }
    [[nodiscard]] bool operator()(InputView q, InputView v, ResultView C,
                                  std::ptrdiff_t states = 1) noexcept {
        return run({q, v}, {C}, states);
    }
};

// Bias torque, inverse dynamics at a = 0: Coriolis, damping, gravity, external forces.
//     q (nq), v (nv) -> tau (nv)
//     optional: f_ext (nbodies, 6), parameters (10 nbodies)
//     arguments: f_ext_axes, joint_parameters
class BiasTorque : public Call {
  public:
    explicit BiasTorque(const Model& model, const CallArguments& arguments = {},
                        std::ptrdiff_t most_states = 1)
        : Call(model, "bias_torque", arguments, most_states) {}
    struct Optional {
        InputView f_ext = {};
        InputView parameters = {};
    };
    [[nodiscard]] bool operator()(InputView q, InputView v, ResultView tau, std::ptrdiff_t states,
                                  const Optional& x) noexcept {
        return run({q, v, x.f_ext, x.parameters}, {tau}, states);
    }
    [[nodiscard]] bool operator()(InputView q, InputView v, ResultView tau,
                                  std::ptrdiff_t states = 1) noexcept {
        return run({q, v}, {tau}, states);
    }
};

// Gravity torque: the torque that holds the robot still against gravity.
//     q (nq) -> tau (nv)
//     optional: parameters (10 nbodies)
//     arguments: joint_parameters
class GravityTorque : public Call {
  public:
    explicit GravityTorque(const Model& model, const CallArguments& arguments = {},
                           std::ptrdiff_t most_states = 1)
        : Call(model, "gravity_torque", arguments, most_states) {}
    struct Optional {
        InputView parameters = {};
    };
    [[nodiscard]] bool operator()(InputView q, ResultView tau, std::ptrdiff_t states,
                                  const Optional& x) noexcept {
        return run({q, x.parameters}, {tau}, states);
    }
    [[nodiscard]] bool operator()(InputView q, ResultView tau, std::ptrdiff_t states = 1) noexcept {
        return run({q}, {tau}, states);
    }
};

// Kinetic energy of all moving bodies and of the joints' rotors.
//     q (nq), v (nv) -> T
class KineticEnergy : public Call {
  public:
    explicit KineticEnergy(const Model& model, const CallArguments& arguments = {},
                           std::ptrdiff_t most_states = 1)
        : Call(model, "kinetic_energy", arguments, most_states) {}
    [[nodiscard]] bool operator()(InputView q, InputView v, ResultView T,
                                  std::ptrdiff_t states = 1) noexcept {
        return run({q, v}, {T}, states);
    }
};

// Potential energy of all moving bodies in the field of gravity, and of the joints' springs.
//     q (nq) -> V
class PotentialEnergy : public Call {
  public:
    explicit PotentialEnergy(const Model& model, const CallArguments& arguments = {},
                             std::ptrdiff_t most_states = 1)
        : Call(model, "potential_energy", arguments, most_states) {}
    [[nodiscard]] bool operator()(InputView q, ResultView V, std::ptrdiff_t states = 1) noexcept {
        return run({q}, {V}, states);
    }
};

// Derivatives of the kinetic energy by q and v.
//     q (nq), v (nv) -> dT_dq (nv), dT_dv (nv)
//     arguments: coordinates
class KineticEnergyDerivatives : public Call {
  public:
    explicit KineticEnergyDerivatives(const Model& model, const CallArguments& arguments = {},
                                      std::ptrdiff_t most_states = 1)
        : Call(model, "kinetic_energy_derivatives", arguments, most_states) {}
    [[nodiscard]] bool operator()(InputView q, InputView v, ResultView dT_dq, ResultView dT_dv,
                                  std::ptrdiff_t states = 1) noexcept {
        return run({q, v}, {dT_dq, dT_dv}, states);
    }
};

// Derivative of the potential energy by q: the gravity torque.
//     q (nq) -> dV_dq (nv)
//     arguments: coordinates
class PotentialEnergyDerivatives : public Call {
  public:
    explicit PotentialEnergyDerivatives(const Model& model, const CallArguments& arguments = {},
                                        std::ptrdiff_t most_states = 1)
        : Call(model, "potential_energy_derivatives", arguments, most_states) {}
    [[nodiscard]] bool operator()(InputView q, ResultView dV_dq,
                                  std::ptrdiff_t states = 1) noexcept {
        return run({q}, {dV_dq}, states);
    }
};

}  // namespace dtau
