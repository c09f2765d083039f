// Registers integrate, difference, normalize, and their Jacobians.
#include "dtau/algorithms/steps/manifold_jacobians.hpp"
#include "functions/shared/algorithms.hpp"
#include "functions/shared/tangent_matrices.hpp"
#include "registry/arguments.hpp"

namespace dtau::DTAU_VARIANT {
namespace manifold_rows {
namespace {

constexpr Out<"q", Quantity::q> result;
constexpr Out<"dq", Quantity::v> increment;
constexpr Out<"by_q", Quantity::matrix> by_q;
constexpr Out<"by_dq", Quantity::matrix> by_dq;
constexpr Out<"by_q0", Quantity::matrix> by_q0;
constexpr Out<"by_q1", Quantity::matrix> by_q1;
constexpr Out<"from_tangent", Quantity::from_tangent> from_tangent;
constexpr Out<"to_tangent", Quantity::to_tangent> to_tangent;

constexpr KernelTraits in_lanes = {.results = Results::streamed};

template <class T>
struct IntegrateMatrices : TangentMatrices<T> {
    IntegrateMatrices(Arena& arena, const Tree& tree, const Options&)
        : TangentMatrices<T>(arena, tree, false, 1.0) {}
};
template <class T>
struct DifferenceMatrices : TangentMatrices<T> {
    DifferenceMatrices(Arena& arena, const Tree& tree, const Options&)
        : TangentMatrices<T>(arena, tree, false, -1.0) {}
};
template <class T>
struct NumbersMatrices : TangentMatrices<T> {
    NumbersMatrices(Arena& arena, const Tree& tree, const Options&)
        : TangentMatrices<T>(arena, tree, true, 1.0) {}
};

constexpr Function functions[] = {
    function({.name = "integrate"}, takes(q, dq), gives(result),
             algorithm<NoWorkspace>([]<class T>(const Tree& tree, const auto& x, const auto&) {
                 integrate(tree, x[q], x[dq], x[result]);
             })),
    function({.name = "difference"}, takes(q0, q1), gives(increment),
             algorithm<NoWorkspace>([]<class T>(const Tree& tree, const auto& x, const auto&) {
                 difference(tree, x[q0], x[q1], x[increment]);
             })),
    function({.name = "normalize", .any_quaternions = true}, takes(q), gives(result),
             algorithm<NoWorkspace>([]<class T>(const Tree& tree, const auto& x, const auto&) {
                 normalize(tree, x[q], x[result]);
             })),
    function({.name = "integrate_jacobians", .results = "IntegrateJacobians"}, takes(q, dq),
             gives(by_q, by_dq),
             algorithm<IntegrateMatrices, in_lanes>(
                 []<class T>(const Tree& tree, const auto& x, const auto& w) {
                     w.write(tree, x.all.destination,
                             [&](const auto& put) { integrate_jacobians(tree, x[dq], put); });
                 })),
    function({.name = "difference_jacobians", .results = "DifferenceJacobians"}, takes(q0, q1),
             gives(by_q0, by_q1),
             algorithm<DifferenceMatrices, in_lanes>([]<class T>(const Tree& tree, const auto& x,
                                                                 const auto& w) {
                 w.write(tree, x.all.destination,
                         [&](const auto& put) { difference_jacobians(tree, x[q0], x[q1], put); });
             })),
    function({.name = "tangent_map", .results = "TangentMap"}, takes(q),
             gives(from_tangent, to_tangent),
             algorithm<NumbersMatrices, in_lanes>(
                 []<class T>(const Tree& tree, const auto& x, const auto& w) {
                     w.write(tree, x.all.destination,
                             [&](const auto& put) { tangent_map(tree, x[q], put); });
                 })),
};

}  // namespace
}  // namespace manifold_rows

extern const FunctionGroup manifold_functions = manifold_rows::functions;

}  // namespace dtau::DTAU_VARIANT
