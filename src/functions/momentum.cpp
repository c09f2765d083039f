#include "dtau/algorithms/first/momentum.hpp"
#include "dtau/algorithms/time/momentum.hpp"
#include "registry/arguments.hpp"

namespace dtau::DTAU_VARIANT {
namespace {

constexpr Out<"h", Quantity::momentum> h;
constexpr Out<"A", Quantity::momentum_matrix> A;
constexpr Out<"rate", Quantity::momentum> rate;
constexpr Out<"h", Quantity::momentum, 1> h_stack;
constexpr Out<"dh_dq", Quantity::momentum_matrix> dh_dq;
constexpr Out<"dh_dv", Quantity::momentum_matrix> dh_dv;
constexpr Out<"drate_dq", Quantity::momentum_matrix> drate_dq;
constexpr Out<"drate_dv", Quantity::momentum_matrix> drate_dv;
constexpr Out<"drate_da", Quantity::momentum_matrix> drate_da;

constexpr Function functions[] = {
    function(
        {.name = "momentum"}, takes(q, v), gives(h),
        algorithm<MomentumWorkspace>([]<class T>(const Tree& tree, const auto& x, const auto& w) {
            momentum(tree, x[q], x[v], x[h], w);
        })),
    function(
        {.name = "centroidal_momentum"}, takes(q, v), gives(h),
        algorithm<MomentumWorkspace>([]<class T>(const Tree& tree, const auto& x, const auto& w) {
            centroidal_momentum<T>(tree, x[q], x[v], nullptr, x[h], w);
        })),
    function(
        {.name = "centroidal_momentum_rate"}, takes(q, v, a), gives(rate),
        algorithm<MomentumWorkspace>([]<class T>(const Tree& tree, const auto& x, const auto& w) {
            centroidal_momentum(tree, x[q], x[v], x[a], x[rate], w);
        })),
    function(
        {.name = "centroidal_momentum_matrix"}, takes(q), gives(A),
        algorithm<MomentumWorkspace>([]<class T>(const Tree& tree, const auto& x, const auto& w) {
            centroidal_momentum_matrix(tree, x[q], x[A], w);
        })),
    function(
        {.name = "centroidal_momentum_derivatives", .results = "CentroidalMomentumDerivatives"},
        takes(q, v), gives(dh_dq, dh_dv),
        algorithm<MomentumDerivativesWorkspace>(
            []<class T>(const Tree& tree, const auto& x, const auto& w) {
                centroidal_momentum_derivatives(tree, x[q], x[v], x[dh_dq], x[dh_dv], w);
            })),
    function({.name = "centroidal_momentum_rate_derivatives",
              .results = "CentroidalMomentumRateDerivatives"},
             takes(q, v, a), gives(drate_dq, drate_dv, drate_da),
             algorithm<MomentumDerivativesWorkspace>(
                 []<class T>(const Tree& tree, const auto& x, const auto& w) {
                     centroidal_momentum_rate_derivatives(tree, x[q], x[v], x[a], x[drate_dq],
                                                          x[drate_dv], x[drate_da], w);
                 })),
    function({.name = "momentum_time_derivatives"}, takes(q, v_stack, order), gives(h_stack),
             algorithm<MomentumSeriesWorkspace>([]<class T>(const Tree& tree, const auto& x,
                                                            const auto& w) {
                 momentum_time_derivatives(tree, x.options.order, x[q], x[v_stack], x[h_stack], w);
             })),
    function({.name = "centroidal_momentum_time_derivatives"}, takes(q, v_stack, order),
             gives(h_stack),
             algorithm<MomentumSeriesWorkspace>(
                 []<class T>(const Tree& tree, const auto& x, const auto& w) {
                     centroidal_momentum_time_derivatives(tree, x.options.order, x[q], x[v_stack],
                                                          x[h_stack], w);
                 })),
};

}  // namespace

extern const FunctionGroup momentum_functions = functions;

}  // namespace dtau::DTAU_VARIANT
