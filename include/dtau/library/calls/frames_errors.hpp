// Typed calls of dtau.functions.frames_errors. src/python/renew.py writes this file.
#pragma once

#include "dtau/library/call.hpp"

// clang-format off
namespace dtau {

// Errors of frames from target poses, and their Jacobians by configuration.
//     q (nq), targets (nframes, 7) -> error (nframes, 6), J (nframes, 6, nv)
//     arguments: frames (required), coordinates
struct FrameErrors : CallOf<"frame_errors"> {
    using CallOf::CallOf;
    [[nodiscard]] bool operator()(InputView q, InputView targets, ResultView error, ResultView J,
                                  std::ptrdiff_t states = 1) noexcept {
        return run({q, targets}, {error, J}, states);
    }
};

}  // namespace dtau
