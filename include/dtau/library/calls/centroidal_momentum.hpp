// Typed calls of dtau.functions.centroidal_momentum. src/python/renew.py writes this file.
#pragma once

#include "dtau/library/call.hpp"

// clang-format off
namespace dtau {

// Momentum of all moving bodies, about the world's origin.
//     q (nq), v (nv) -> h (6)
class Momentum : public Call {
  public:
    explicit Momentum(const Model& model, const CallArguments& arguments = {},
                      std::ptrdiff_t most_states = 1)
        : Call(model, "momentum", arguments, most_states) {}
    [[nodiscard]] bool operator()(InputView q, InputView v, ResultView h,
                                  std::ptrdiff_t states = 1) noexcept {
        return run({q, v}, {h}, states);
    }
};

// Momentum of all moving bodies, about their center of mass.
//     q (nq), v (nv) -> h (6)
class CentroidalMomentum : public Call {
  public:
    explicit CentroidalMomentum(const Model& model, const CallArguments& arguments = {},
                                std::ptrdiff_t most_states = 1)
        : Call(model, "centroidal_momentum", arguments, most_states) {}
    [[nodiscard]] bool operator()(InputView q, InputView v, ResultView h,
                                  std::ptrdiff_t states = 1) noexcept {
        return run({q, v}, {h}, states);
    }
};

// Centroidal momentum matrix A: the momentum about the center of mass is A @ v.
//     q (nq) -> A (6, nv)
class CentroidalMomentumMatrix : public Call {
  public:
    explicit CentroidalMomentumMatrix(const Model& model, const CallArguments& arguments = {},
                                      std::ptrdiff_t most_states = 1)
        : Call(model, "centroidal_momentum_matrix", arguments, most_states) {}
    [[nodiscard]] bool operator()(InputView q, ResultView A, std::ptrdiff_t states = 1) noexcept {
        return run({q}, {A}, states);
    }
};

// Time derivative of the momentum about the center of mass.
//     q (nq), v (nv), a (nv) -> rate (6)
class CentroidalMomentumRate : public Call {
  public:
    explicit CentroidalMomentumRate(const Model& model, const CallArguments& arguments = {},
                                    std::ptrdiff_t most_states = 1)
        : Call(model, "centroidal_momentum_rate", arguments, most_states) {}
    [[nodiscard]] bool operator()(InputView q, InputView v, InputView a, ResultView rate,
                                  std::ptrdiff_t states = 1) noexcept {
        return run({q, v, a}, {rate}, states);
    }
};

// Derivatives of the momentum about the center of mass by q and v.
//     q (nq), v (nv) -> dh_dq (6, nv), dh_dv (6, nv)
//     arguments: coordinates
class CentroidalMomentumDerivatives : public Call {
  public:
    explicit CentroidalMomentumDerivatives(const Model& model, const CallArguments& arguments = {},
                                           std::ptrdiff_t most_states = 1)
        : Call(model, "centroidal_momentum_derivatives", arguments, most_states) {}
    [[nodiscard]] bool operator()(InputView q, InputView v, ResultView dh_dq, ResultView dh_dv,
                                  std::ptrdiff_t states = 1) noexcept {
        return run({q, v}, {dh_dq, dh_dv}, states);
    }
};

// Derivatives of the rate of the momentum about the center of mass by q, v and a.
//     q (nq), v (nv), a (nv) -> drate_dq (6, nv), drate_dv (6, nv), drate_da (6, nv)
//     arguments: coordinates
class CentroidalMomentumRateDerivatives : public Call {
  public:
    explicit CentroidalMomentumRateDerivatives(const Model& model,
                                               const CallArguments& arguments = {},
                                               std::ptrdiff_t most_states = 1)
        : Call(model, "centroidal_momentum_rate_derivatives", arguments, most_states) {}
    [[nodiscard]] bool operator()(InputView q, InputView v, InputView a, ResultView drate_dq,
                                  ResultView drate_dv, ResultView drate_da,
                                  std::ptrdiff_t states = 1) noexcept {
        return run({q, v, a}, {drate_dq, drate_dv, drate_da}, states);
    }
};

}  // namespace dtau
