// Quaternions need branches for small angles: one state at a time.
#include "dtau/algorithms/steps/manifold.hpp"
#include "functions/arguments.hpp"
#include "functions/shared/algorithms.hpp"

namespace dtau::DTAU_VARIANT {
namespace {

constexpr Out<"q", Quantity::q> result;
constexpr Out<"dq", Quantity::v> increment;
constexpr How alone = {.lanes = false, .complex = false, .counted = false};

constexpr Function functions[] = {
    function({.name = "integrate"}, takes(q, dq), gives(result),
             algorithm<NoWorkspace, How{.lanes = false, .counted = false}>(
                 []<class T>(const Tree& tree, const auto& x, const auto&) {
                     integrate(tree, x[q], x[dq], x[result]);
                 })),
    function(
        {.name = "difference"}, takes(q0, q1), gives(increment),
        algorithm<NoWorkspace, alone>([]<class T>(const Tree& tree, const auto& x, const auto&) {
            difference(tree, x[q0], x[q1], x[increment]);
        })),
    function(
        {.name = "normalize", .any_quaternions = true}, takes(q), gives(result),
        algorithm<NoWorkspace, alone>([]<class T>(const Tree& tree, const auto& x, const auto&) {
            normalize(tree, x[q], x[result]);
        })),
};

}  // namespace

extern const FunctionGroup configurations_functions = functions;

}  // namespace dtau::DTAU_VARIANT
