#include "dtau/algorithms/time/momentum.hpp"
#include "functions/arguments.hpp"

namespace dtau::DTAU_VARIANT {
namespace {

constexpr Out<"h", Quantity::momentum> h;
constexpr Out<"A", Quantity::momentum_matrix> A;
constexpr Out<"h", Quantity::momentum, 1> h_stack;

constexpr Function functions[] = {
    function(
        {.name = "momentum"}, takes(q, v), gives(h),
        algorithm<MomentumWorkspace>([]<class T>(const Tree& tree, const auto& x, const auto& w) {
            momentum(tree, x[q], x[v], x[h], w);
        })),
    function(
        {.name = "centroidal_momentum"}, takes(q, v), gives(h),
        algorithm<MomentumWorkspace>([]<class T>(const Tree& tree, const auto& x, const auto& w) {
            centroidal_momentum(tree, x[q], x[v], x[h], w);
        })),
    function(
        {.name = "centroidal_momentum_matrix"}, takes(q), gives(A),
        algorithm<MomentumWorkspace>([]<class T>(const Tree& tree, const auto& x, const auto& w) {
            centroidal_momentum_matrix(tree, x[q], x[A], w);
        })),
    function({.name = "momentum_time_derivatives", .options = {Option::order}}, takes(q, v_stack),
             gives(h_stack),
             algorithm<MomentumSeriesWorkspace>([]<class T>(const Tree& tree, const auto& x,
                                                            const auto& w) {
                 momentum_time_derivatives(tree, x.options.order, x[q], x[v_stack], x[h_stack], w);
             })),
    function({.name = "centroidal_momentum_time_derivatives", .options = {Option::order}},
             takes(q, v_stack), gives(h_stack),
             algorithm<MomentumSeriesWorkspace>(
                 []<class T>(const Tree& tree, const auto& x, const auto& w) {
                     centroidal_momentum_time_derivatives(tree, x.options.order, x[q], x[v_stack],
                                                          x[h_stack], w);
                 })),
};

}  // namespace

extern const FunctionGroup momentum_functions = functions;

}  // namespace dtau::DTAU_VARIANT
