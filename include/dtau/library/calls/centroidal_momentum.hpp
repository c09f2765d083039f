// Typed calls of dtau.functions.centroidal_momentum. src/python/renew.py writes this file.
#pragma once

#include "dtau/library/call.hpp"

// clang-format off
namespace dtau {

// Momentum of all moving bodies, about the world's origin.
//     q (nq), v (nv) -> h (6)
struct Momentum : CallOf<"momentum"> {
    using CallOf::CallOf;
    [[nodiscard]] bool operator()(InputView q, InputView v, ResultView h,
                                  std::ptrdiff_t states = 1) noexcept {
        return run({q, v}, {h}, states);
    }
};

// Momentum of all moving bodies, about their center of mass.
//     q (nq), v (nv) -> h (6)
struct CentroidalMomentum : CallOf<"centroidal_momentum"> {
    using CallOf::CallOf;
    [[nodiscard]] bool operator()(InputView q, InputView v, ResultView h,
                                  std::ptrdiff_t states = 1) noexcept {
        return run({q, v}, {h}, states);
    }
};

// Centroidal momentum matrix A: the momentum about the center of mass is A @ v.
//     q (nq) -> A (6, nv)
struct CentroidalMomentumMatrix : CallOf<"centroidal_momentum_matrix"> {
    using CallOf::CallOf;
    [[nodiscard]] bool operator()(InputView q, ResultView A, std::ptrdiff_t states = 1) noexcept {
        return run({q}, {A}, states);
    }
};

// Time derivative of the momentum about the center of mass.
//     q (nq), v (nv), a (nv) -> rate (6)
struct CentroidalMomentumRate : CallOf<"centroidal_momentum_rate"> {
    using CallOf::CallOf;
    [[nodiscard]] bool operator()(InputView q, InputView v, InputView a, ResultView rate,
                                  std::ptrdiff_t states = 1) noexcept {
        return run({q, v, a}, {rate}, states);
    }
};

// Derivatives of the momentum about the center of mass by q and v.
//     q (nq), v (nv) -> dh_dq (6, nv), dh_dv (6, nv)
//     arguments: coordinates
struct CentroidalMomentumDerivatives : CallOf<"centroidal_momentum_derivatives"> {
    using CallOf::CallOf;
    [[nodiscard]] bool operator()(InputView q, InputView v, ResultView dh_dq, ResultView dh_dv,
                                  std::ptrdiff_t states = 1) noexcept {
        return run({q, v}, {dh_dq, dh_dv}, states);
    }
};

// Derivatives of the rate of the momentum about the center of mass by q, v and a.
//     q (nq), v (nv), a (nv) -> drate_dq (6, nv), drate_dv (6, nv), drate_da (6, nv)
//     arguments: coordinates
struct CentroidalMomentumRateDerivatives : CallOf<"centroidal_momentum_rate_derivatives"> {
    using CallOf::CallOf;
    [[nodiscard]] bool operator()(InputView q, InputView v, InputView a, ResultView drate_dq,
                                  ResultView drate_dv, ResultView drate_da,
                                  std::ptrdiff_t states = 1) noexcept {
        return run({q, v, a}, {drate_dq, drate_dv, drate_da}, states);
    }
};

}  // namespace dtau
