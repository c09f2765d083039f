// Registers the baseline abacr: partial derivatives of forward dynamics by the chain rule.
#include "abacr.hpp"
#include "functions.hpp"

namespace dtau::DTAU_VARIANT {
namespace {

constexpr Out<"da_dq", Quantity::matrix> da_dq;
constexpr Out<"da_dv", Quantity::matrix> da_dv;
constexpr Out<"da_dtau", Quantity::matrix> da_dtau;

constexpr Row functions[] = {
    function({.name = "abacr"}, takes(q, v, tau), gives(da_dq, da_dv, da_dtau),
             algorithm<AbacrWorkspace>([]<class T>(const Tree& tree, const auto& x, const auto& w) {
                 abacr(tree, x[q], x[v], x[tau], x[da_dq], x[da_dv], x[da_dtau], w);
             })),
};

}  // namespace

extern const FunctionGroup baseline_chain = group<functions>;

}  // namespace dtau::DTAU_VARIANT
