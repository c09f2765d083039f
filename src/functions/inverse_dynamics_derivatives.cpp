#include "dtau/algorithms/first/idsva.hpp"
#include "dtau/algorithms/first/world_wrenches.hpp"
#include "functions/shared/algorithms.hpp"
#include "registry/arguments.hpp"

namespace dtau::DTAU_VARIANT {
namespace {

constexpr Out<"dtau_dq", Quantity::torque_matrix> dtau_dq;
constexpr Out<"dtau_dv", Quantity::torque_matrix> dtau_dv;
constexpr Out<"dtau_da", Quantity::torque_matrix> dtau_da;

template <class T>
using IdsvaAndWrenches = With<IdsvaWorkspace, WrenchPartialsWorkspace>::Workspace<T>;

constexpr Function functions[] = {
    function({.name = "inverse_dynamics_derivatives", .results = "InverseDynamicsDerivatives"},
             takes(q, v, a, f_ext, f_ext_axes), gives(dtau_dq, dtau_dv, dtau_da),
             algorithm<IdsvaAndWrenches, How{.results = Results::sparse}>(
                 []<class T>(const Tree& tree, const auto& x, const auto& w) {
                     const IdsvaWorkspace<T>& idsva_w = w.algorithm;
                     const T* body_f_ext = along_body_axes(tree, x[q], x[f_ext], w.wrenches.value);
                     idsva(tree, x[q], x[v], x[a], body_f_ext, x[dtau_dq], x[dtau_dv], x[dtau_da],
                           idsva_w);
                     add_world_wrench_partials(tree, body_f_ext, idsva_w.root_frame, x[dtau_dq],
                                               tree.nv, w.wrenches);
                 })),
};

}  // namespace

extern const FunctionGroup inverse_dynamics_derivatives_functions = functions;

}  // namespace dtau::DTAU_VARIANT
