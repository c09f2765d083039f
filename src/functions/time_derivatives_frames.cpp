// Registers time derivatives of frame kinematics and frame Jacobians.
#include "dtau/algorithms/time/frames.hpp"
#include "registry/arguments.hpp"

namespace dtau::DTAU_VARIANT {
namespace time_derivatives_frames_rows {
namespace {

constexpr Out<"rotation", Quantity::frame_rotations, 1> rotation;
constexpr Out<"translation", Quantity::frame_positions, 1> translation;
constexpr Out<"twist", Quantity::frame_twists, 0> twist;
constexpr Out<"J", Quantity::jacobians, 1> jacobians;

constexpr Row functions[] = {
    function({.name = "frame_kinematics_time_derivatives", .results = "KinematicsTimeDerivatives"},
             takes(q, v_below, frames, axes, order), gives(rotation, translation, twist),
             algorithm<FrameSeriesWorkspace>(
                 []<class T>(const Tree& tree, const auto& x, const auto& w) {
                     const Options& o = x.options;
                     frame_kinematics_time_derivatives(tree, o.frames, o.nframes, o.axes, o.order,
                                                       x[q], x[v_below], x[rotation],
                                                       x[translation], x[twist], w);
                 })),
    function({.name = "frame_jacobians_time_derivatives"}, takes(q, v_below, frames, axes, order),
             gives(jacobians),
             algorithm<FrameSeriesWorkspace, KernelTraits{.results = Results::sparse}>(
                 []<class T>(const Tree& tree, const auto& x, const auto& w) {
                     const Options& o = x.options;
                     frame_jacobians_time_derivatives(tree, o.frames, o.nframes, o.axes, o.order,
                                                      x[q], x[v_below], x[jacobians], w);
                 })),
};

}  // namespace
}  // namespace time_derivatives_frames_rows

extern const FunctionGroup time_derivatives_frames_functions =
    group<time_derivatives_frames_rows::functions>;

}  // namespace dtau::DTAU_VARIANT
