// Inputs: q, v, tau, f_ext. Output: a.
#include "dtau/algorithms/values/aba.hpp"
#include "dtau/algorithms/solve/factorized.hpp"
#include "batch/run.hpp"

namespace dtau::DTAU_VARIANT {

void forward_dynamics(const Tree& tree, const Job& job, std::ptrdiff_t begin, std::ptrdiff_t end) {
    if (tree.coupling)
        return run<Results::dense, FactorizedWorkspace>(
            tree, job, begin, end,
            [&]<class T>(const Arguments<T>& x, const FactorizedWorkspace<T>& w) {
                coupled_forward_dynamics(tree, x.in[0], x.in[1], x.in[2], x.in[3], x.out[0], w);
            });
    run<Results::dense, ForwardDynamicsWorkspace>(
        tree, job, begin, end,
        [&]<class T>(const Arguments<T>& x, const ForwardDynamicsWorkspace<T>& w) {
            forward_dynamics(tree, x.in[0], x.in[1], x.in[2], x.in[3], x.out[0], w);
        });
}

}  // namespace dtau::DTAU_VARIANT
