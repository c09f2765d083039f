// Inputs: q, v, tau, f_ext. Outputs: da_dq, da_dv, da_dtau.
#include "dtau/algorithms/first/fdsva.hpp"
#include "batch/run.hpp"

namespace dtau::DTAU_VARIANT {

void forward_dynamics_derivatives(const Tree& tree, const Job& job, std::ptrdiff_t begin,
                                  std::ptrdiff_t end) {
    run<Results::dense, FdsvaWorkspace>(
        tree, job, begin, end, [&]<class T>(const Arguments<T>& x, const FdsvaWorkspace<T>& w) {
            fdsva(tree, x.in[0], x.in[1], x.in[2], x.in[3], x.out[0], x.out[1], tree.independent.n,
                  x.out[2], w);
        });
}

}  // namespace dtau::DTAU_VARIANT
