// Registers placements, velocities, accelerations and Jacobians of bodies and frames, with
// derivatives.
#include "dtau/algorithms/first/frames.hpp"
#include "dtau/algorithms/first/frame_errors.hpp"
#include "dtau/algorithms/second/frames.hpp"
#include "registry/arguments.hpp"
#include "registry/pose_quantities.hpp"

namespace dtau::DTAU_VARIANT {
namespace frames_rows {
namespace {

constexpr Out<"rotation", Quantity::rotations> rotations;
constexpr Out<"translation", Quantity::positions> translations;
constexpr Out<"rotation", Quantity::frame_rotations> frame_rotations;
constexpr Out<"translation", Quantity::frame_positions> frame_translations;
constexpr Out<"J", Quantity::jacobians> jacobians;
// A matrix (nv, nv) for each row of each Jacobian.
constexpr Quantity jacobian_derivatives = {
    4, {Axis::nframes, Axis::six, Axis::nv, Axis::nv}, MimicRole::other, MimicRole::torque_matrix};
constexpr ByQ<Out<"dJ_dq", jacobian_derivatives>> dJ_dq;
constexpr In<"targets", PoseQuantity::poses_of_frames> targets;
constexpr Out<"error", Quantity::frame_twists> errors;
constexpr ByQ<Out<"J", Quantity::jacobians>> error_jacobians;
constexpr Out<"twist", Quantity::frame_twists> twists;
constexpr Out<"acceleration", Quantity::frame_twists> accelerations;
constexpr ByQ<Out<"dtwist_dq", Quantity::jacobians>> dtwist_dq;
constexpr Out<"dtwist_dv", Quantity::jacobians> dtwist_dv;
constexpr ByQ<Out<"dacceleration_dq", Quantity::jacobians>> dacceleration_dq;
constexpr Out<"dacceleration_dv", Quantity::jacobians> dacceleration_dv;
constexpr Out<"dacceleration_da", Quantity::jacobians> dacceleration_da;
constexpr Out<"f_ext", Quantity::wrenches> wrenches;
constexpr KernelTraits sparse = {.results = Results::sparse};

constexpr Row functions[] = {
    function(
        {.name = "forward_kinematics",
         .links = {.time_derivatives = "kinematics_time_derivatives"},
         .results = "Placements"},
        takes(q), gives(rotations, translations),
        algorithm<PlacementsWorkspace>([]<class T>(const Tree& tree, const auto& x, const auto& w) {
            forward_kinematics(tree, x[q], x[rotations], x[translations], w);
        })),
    function({.name = "frame_placements",
              .links = {.time_derivatives = "frame_kinematics_time_derivatives"},
              .results = "Placements"},
             takes(q, frames), gives(frame_rotations, frame_translations),
             algorithm<FrameWorkspace>([]<class T>(const Tree& tree, const auto& x, const auto& w) {
                 frame_placements(tree, x.options.frames, x.options.nframes, x[q],
                                  x[frame_rotations], x[frame_translations], w);
             })),
    function({.name = "frame_jacobians",
              .links = {.derivatives = "frame_jacobians_derivatives",
                        .time_derivatives = "frame_jacobians_time_derivatives"}},
             takes(q, frames, axes, layout), gives(jacobians),
             algorithm<FrameWorkspace, sparse>(
                 []<class T>(const Tree& tree, const auto& x, const auto& w) {
                     frame_jacobians(tree, x.options.frames, x.options.nframes, x.options.axes,
                                     x[q], x[jacobians], w);
                 })),
    function({.name = "frame_jacobians_derivatives"},
             takes(q, frames, axes, symmetric, coordinates), gives(dJ_dq),
             algorithm<FrameHessianWorkspace, sparse>(
                 []<class T>(const Tree& tree, const auto& x, const auto& w) {
                     frame_jacobians_derivatives(tree, x.options, x[q], x[dJ_dq], w);
                 })),
    function({.name = "frame_errors", .results = "FrameErrors"},
             takes(q, frames, targets, coordinates), gives(errors, error_jacobians),
             algorithm<FrameWorkspace, sparse>(
                 []<class T>(const Tree& tree, const auto& x, const auto& w) {
                     frame_errors(tree, x.options.frames, x.options.nframes, x[q], x[targets],
                                  x[errors], x[error_jacobians], w);
                 })),
    function({.name = "frame_velocities", .links = {.derivatives = "frame_velocities_derivatives"}},
             takes(q, v, frames, axes), gives(twists),
             algorithm<FrameWorkspace>([]<class T>(const Tree& tree, const auto& x, const auto& w) {
                 frame_velocities(tree, x.options.frames, x.options.nframes, x.options.axes, x[q],
                                  x[v], x[twists], w);
             })),
    function({.name = "frame_accelerations",
              .links = {.derivatives = "frame_accelerations_derivatives"}},
             takes(q, v, a, frames, axes, kind), gives(accelerations),
             algorithm<FrameWorkspace>([]<class T>(const Tree& tree, const auto& x, const auto& w) {
                 const Options& o = x.options;
                 frame_accelerations(tree, o.frames, o.nframes, o.axes, o.acceleration, x[q], x[v],
                                     x[a], x[accelerations], w);
             })),
    function({.name = "frame_velocities_derivatives", .results = "FrameVelocitiesDerivatives"},
             takes(q, v, frames, axes, layout, coordinates), gives(dtwist_dq, dtwist_dv),
             algorithm<FrameWorkspace, sparse>(
                 []<class T>(const Tree& tree, const auto& x, const auto& w) {
                     const Options& o = x.options;
                     frame_velocities_derivatives(tree, o.frames, o.nframes, o.axes, x[q], x[v],
                                                  x[dtwist_dq], x[dtwist_dv], w);
                 })),
    function(
        {.name = "frame_accelerations_derivatives", .results = "FrameAccelerationsDerivatives"},
        takes(q, v, a, frames, axes, kind, layout, coordinates),
        gives(dacceleration_dq, dacceleration_dv, dacceleration_da),
        algorithm<FrameWorkspace, sparse>(
            []<class T>(const Tree& tree, const auto& x, const auto& w) {
                const Options& o = x.options;
                frame_accelerations_derivatives(tree, o.frames, o.nframes, o.axes, o.acceleration,
                                                x[q], x[v], x[a], x[dacceleration_dq],
                                                x[dacceleration_dv], x[dacceleration_da], w);
            })),
    function({.name = "wrench_at_frame"}, takes(q, frame, wrench, axes), gives(wrenches),
             algorithm<FrameWorkspace, sparse>(
                 []<class T>(const Tree& tree, const auto& x, const auto& w) {
                     wrench_at_frame(tree, x.options.frames[0], x.options.axes, x[q], x[wrench],
                                     x[wrenches], w);
                 })),
};

}  // namespace
}  // namespace frames_rows

extern const FunctionGroup frames_functions = group<frames_rows::functions>;

}  // namespace dtau::DTAU_VARIANT
