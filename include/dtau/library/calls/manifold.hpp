// Typed calls of dtau.functions.manifold. src/python/renew.py writes this file.
#pragma once

#include "dtau/library/call.hpp"

// clang-format off
namespace dtau {

// Configuration reached from q by the displacement dq: q (+) dq.
//     q (nq), dq (nv) -> q (nq)
struct Integrate : CallOf<"integrate"> {
    using CallOf::CallOf;
    [[nodiscard]] bool operator()(InputView q, InputView dq, ResultView q_out,
                                  std::ptrdiff_t states = 1) noexcept {
        return run({q, dq}, {q_out}, states);
    }
};

// Displacement from q0 to q1: a dq with q0 (+) dq = q1.
//     q0 (nq), q1 (nq) -> dq (nv)
struct Difference : CallOf<"difference"> {
    using CallOf::CallOf;
    [[nodiscard]] bool operator()(InputView q0, InputView q1, ResultView dq,
                                  std::ptrdiff_t states = 1) noexcept {
        return run({q0, q1}, {dq}, states);
    }
};

// Normalize the quaternions of a configuration; the rest is unchanged.
//     q (nq) -> q (nq)
struct Normalize : CallOf<"normalize"> {
    using CallOf::CallOf;
    [[nodiscard]] bool operator()(InputView q, ResultView q_out,
                                  std::ptrdiff_t states = 1) noexcept {
        return run({q}, {q_out}, states);
    }
};

// Jacobians of dtau.integrate: how the result moves with q and with dq.
//     q (nq), dq (nv) -> by_q (nv, nv), by_dq (nv, nv)
//     arguments: coordinates
struct IntegrateJacobians : CallOf<"integrate_jacobians"> {
    using CallOf::CallOf;
    [[nodiscard]] bool operator()(InputView q, InputView dq, ResultView by_q, ResultView by_dq,
                                  std::ptrdiff_t states = 1) noexcept {
        return run({q, dq}, {by_q, by_dq}, states);
    }
};

// Jacobians of dtau.difference: how the displacement changes with q0 and with q1.
//     q0 (nq), q1 (nq) -> by_q0 (nv, nv), by_q1 (nv, nv)
//     arguments: coordinates
struct DifferenceJacobians : CallOf<"difference_jacobians"> {
    using CallOf::CallOf;
    [[nodiscard]] bool operator()(InputView q0, InputView q1, ResultView by_q0, ResultView by_q1,
                                  std::ptrdiff_t states = 1) noexcept {
        return run({q0, q1}, {by_q0, by_q1}, states);
    }
};

// Tangent map: matrices between rates of the nq numbers of q and the velocity v.
//     q (nq) -> from_tangent (nq, nv), to_tangent (nv, nq)
struct TangentMap : CallOf<"tangent_map"> {
    using CallOf::CallOf;
    [[nodiscard]] bool operator()(InputView q, ResultView from_tangent, ResultView to_tangent,
                                  std::ptrdiff_t states = 1) noexcept {
        return run({q}, {from_tangent, to_tangent}, states);
    }
};

}  // namespace dtau
