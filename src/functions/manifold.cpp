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
constexpr In<"dq", Quantity::v> displacement;  // a tangent in every call
constexpr ByNumbers<Out<"by_q", Quantity::matrix>, Converted::columns | Converted::reached_rows>
    by_q;
constexpr ByNumbers<Out<"by_dq", Quantity::matrix>, Converted::reached_rows> by_dq;
constexpr ByQ<Out<"by_q0", Quantity::matrix>> by_q0;
constexpr ByNumbers<Out<"by_q1", Quantity::matrix>, Converted::columns | Converted::at_second>
    by_q1;
constexpr Out<"from_tangent", Quantity::from_tangent> from_tangent;
constexpr Out<"to_tangent", Quantity::to_tangent> to_tangent;

constexpr KernelTraits in_lanes = {.results = Results::streamed};

template <class T> struct IntegrateMatrices : TangentMatrices<T> {
    T* reached;  // in a call by numbers

    IntegrateMatrices(Arena& arena, const Tree& tree, const Options& options)
        : TangentMatrices<T>(arena, tree, false, 1.0),
          reached(options.by_numbers ? arena.take<T>(tree.nq) : nullptr) {}
};
template <class T> struct DifferenceMatrices : TangentMatrices<T> {
    DifferenceMatrices(Arena& arena, const Tree& tree, const Options&)
        : TangentMatrices<T>(arena, tree, false, -1.0) {}
};
template <class T> struct NumbersMatrices : TangentMatrices<T> {
    NumbersMatrices(Arena& arena, const Tree& tree, const Options&)
        : TangentMatrices<T>(arena, tree, true, 1.0) {}
};

constexpr Row functions[] = {
    function({.name = "integrate", .links = {.derivatives = "integrate_jacobians"}},
             takes(q, displacement), gives(result),
             algorithm<NoWorkspace>([]<class T>(const Tree& tree, const auto& x, const auto&) {
                 integrate(tree, x[q], x[displacement], x[result]);
             })),
    function({.name = "difference", .links = {.derivatives = "difference_jacobians"}},
             takes(q0, q1), gives(increment),
             algorithm<NoWorkspace>([]<class T>(const Tree& tree, const auto& x, const auto&) {
                 difference(tree, x[q0], x[q1], x[increment]);
             })),
    function({.name = "normalize", .any_quaternions = true}, takes(q), gives(result),
             algorithm<NoWorkspace>([]<class T>(const Tree& tree, const auto& x, const auto&) {
                 normalize(tree, x[q], x[result]);
             })),
    function({.name = "integrate_jacobians", .results = "IntegrateJacobians"},
             takes(q, displacement, coordinates), gives(by_q, by_dq),
             algorithm<IntegrateMatrices, in_lanes>([]<class T>(const Tree& tree, const auto& x,
                                                                const auto& w) {
                 w.write(tree, x.all.destination,
                         [&](const auto& put) { integrate_jacobians(tree, x[displacement], put); });
                 if (!x.all.reached) return;
                 integrate(tree, x[q], x[displacement], w.reached);
                 x.reach(tree, w.reached);
             })),
    function({.name = "difference_jacobians", .results = "DifferenceJacobians"},
             takes(q0, q1, coordinates), gives(by_q0, by_q1),
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

extern const FunctionGroup manifold_functions = group<manifold_rows::functions>;

}  // namespace dtau::DTAU_VARIANT
