// Registers values and first derivatives with M, for complex step; and partial derivatives of inverse
// dynamics: the core's own without M, and baselines.
#include "dtau/algorithms/first/idsva.hpp"
#include "dtau/algorithms/values/aba.hpp"
#include "dtau/algorithms/values/rnea.hpp"
#include "functions.hpp"
#include "idsva_body.hpp"
#include "rneacr.hpp"

namespace dtau::DTAU_VARIANT {
namespace {

constexpr Out<"tau", Quantity::torque> torque;
constexpr Out<"a", Quantity::v> acceleration;
constexpr Out<"dtau_dq", Quantity::torque_matrix> dtau_dq;
constexpr Out<"dtau_dv", Quantity::torque_matrix> dtau_dv;
constexpr Out<"dtau_da", Quantity::torque_matrix> dtau_da;
constexpr KernelTraits sparse = {.results = Results::sparse};

constexpr Row values[] = {
    function({.name = "inverse_dynamics"}, takes(q, v, a), gives(torque),
             algorithm<RneaWorkspace>([]<class T>(const Tree& tree, const auto& x, const auto& w) {
                 const T* const no_wrenches = nullptr;
                 rnea(tree, x[q], x[v], x[a], no_wrenches, x[torque], w);
             })),
    function({.name = "forward_dynamics"}, takes(q, v, tau), gives(acceleration),
             algorithm<AbaWorkspace>([]<class T>(const Tree& tree, const auto& x, const auto& w) {
                 const T* const no_wrenches = nullptr;
                 aba(tree, x[q], x[v], x[tau], no_wrenches, x[acceleration], w);
             })),
};

constexpr Row partials[] = {
    function({.name = "idsva"}, takes(q, v, a), gives(dtau_dq, dtau_dv),
             algorithm<IdsvaWorkspace, sparse>([]<class T>(const Tree& tree, const auto& x,
                                                           const auto& w) {
                 const T* const no_wrenches = nullptr;
                 T* const no_matrix = nullptr;
                 idsva(tree, x[q], x[v], x[a], no_wrenches, x[dtau_dq], x[dtau_dv], no_matrix, w);
             })),
    function({.name = "idsva_mass"}, takes(q, v, a), gives(dtau_dq, dtau_dv, dtau_da),
             algorithm<IdsvaWorkspace, sparse>([]<class T>(const Tree& tree, const auto& x,
                                                           const auto& w) {
                 const T* const no_wrenches = nullptr;
                 idsva(tree, x[q], x[v], x[a], no_wrenches, x[dtau_dq], x[dtau_dv], x[dtau_da], w);
             })),
    function({.name = "idsva_body"}, takes(q, v, a), gives(dtau_dq, dtau_dv),
             algorithm<IdsvaBodyWorkspace, sparse>(
                 []<class T>(const Tree& tree, const auto& x, const auto& w) {
                     idsva_body(tree, x[q], x[v], x[a], x[dtau_dq], x[dtau_dv], w);
                 })),
    function({.name = "rneacr"}, takes(q, v, a), gives(dtau_dq, dtau_dv),
             algorithm<RneacrWorkspace, sparse>(
                 []<class T>(const Tree& tree, const auto& x, const auto& w) {
                     rneacr(tree, x[q], x[v], x[a], x[dtau_dq], x[dtau_dv], tree.nv, w);
                 })),
};

}  // namespace

extern const FunctionGroup baseline_values = group<values>, baseline_inverse = group<partials>;

}  // namespace dtau::DTAU_VARIANT
