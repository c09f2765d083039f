#include "dtau/algorithms/values/placements.hpp"
#include "functions/arguments.hpp"

namespace dtau::DTAU_VARIANT {
namespace {

constexpr Out<"rotation", Quantity::rotations> rotations;
constexpr Out<"translation", Quantity::positions> translations;
constexpr Out<"rotation", Quantity::frame_rotations> frame_rotations;
constexpr Out<"translation", Quantity::frame_positions> frame_translations;
constexpr Out<"J", Quantity::jacobians> jacobians;
constexpr Out<"f_ext", Quantity::wrenches> wrenches;
constexpr How sparse = {.results = Results::sparse};

constexpr Function functions[] = {
    function(
        {.name = "forward_kinematics", .results = "Placements"}, takes(q),
        gives(rotations, translations),
        algorithm<PlacementsWorkspace>([]<class T>(const Tree& tree, const auto& x, const auto& w) {
            forward_kinematics(tree, x[q], x[rotations], x[translations], w);
        })),
    function(
        {.name = "frame_placements", .options = {Option::frames}, .results = "Placements"},
        takes(q), gives(frame_rotations, frame_translations),
        algorithm<PlacementsWorkspace>([]<class T>(const Tree& tree, const auto& x, const auto& w) {
            frame_placements(tree, x.options.frames, x.options.nframes, x[q], x[frame_rotations],
                             x[frame_translations], w);
        })),
    function({.name = "frame_jacobians", .options = {Option::frames, Option::axes}}, takes(q),
             gives(jacobians),
             algorithm<PlacementsWorkspace, sparse>(
                 []<class T>(const Tree& tree, const auto& x, const auto& w) {
                     frame_jacobians(tree, x.options.frames, x.options.nframes, x.options.axes,
                                     x[q], x[jacobians], w);
                 })),
    function({.name = "wrench_at_frame", .options = {Option::frames, Option::axes}},
             takes(q, wrench), gives(wrenches),
             algorithm<PlacementsWorkspace, sparse>(
                 []<class T>(const Tree& tree, const auto& x, const auto& w) {
                     wrench_at_frame(tree, x.options.frames[0], x.options.axes, x[q], x[wrench],
                                     x[wrenches], w);
                 })),
};

}  // namespace

extern const FunctionGroup frames_functions = functions;

}  // namespace dtau::DTAU_VARIANT
