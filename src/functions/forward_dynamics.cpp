#include "dtau/algorithms/solve/factorized.hpp"
#include "dtau/algorithms/values/aba.hpp"
#include "dtau/algorithms/values/wrench_axes.hpp"
#include "functions/shared/algorithms.hpp"
#include "registry/arguments.hpp"

namespace dtau::DTAU_VARIANT {
namespace {

constexpr Out<"a", Quantity::v> acceleration;

template <class T>
using AbaAndWrenches = With<AbaWorkspace, WrenchAxesWorkspace>::Workspace<T>;
template <class T>
using MimicAndWrenches = With<FactorizedWorkspace, WrenchAxesWorkspace>::Workspace<T>;

constexpr Function functions[] = {
    function(
        {.name = "forward_dynamics", .solves = true}, takes(q, v, tau, f_ext, f_ext_axes),
        gives(acceleration),
        algorithm<AbaAndWrenches>([]<class T>(const Tree& tree, const auto& x, const auto& w) {
            const T* body_f_ext = along_body_axes(tree, x[q], x[f_ext], w.wrenches);
            aba(tree, x[q], x[v], x[tau], body_f_ext, x[acceleration], w.algorithm);
        }),
        algorithm<MimicAndWrenches>([]<class T>(const Tree& tree, const auto& x, const auto& w) {
            const T* body_f_ext = along_body_axes(tree, x[q], x[f_ext], w.wrenches);
            mimic_forward_dynamics(tree, x[q], x[v], x[tau], body_f_ext, x[acceleration],
                                   w.algorithm);
        })),
};

}  // namespace

extern const FunctionGroup forward_dynamics_functions = functions;

}  // namespace dtau::DTAU_VARIANT
