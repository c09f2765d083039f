// Inputs: q, v, a, f_ext. Outputs: dtau_dq, dtau_dv, dtau_da.
#include "dtau/algorithms/first/idsva.hpp"
#include "batch/run.hpp"

namespace dtau::DTAU_VARIANT {

void inverse_dynamics_derivatives(const Tree& tree, const Job& job, std::ptrdiff_t begin,
                                  std::ptrdiff_t end) {
    run<Results::sparse, IdsvaWorkspace>(
        tree, job, begin, end, [&]<class T>(const Arguments<T>& x, const IdsvaWorkspace<T>& w) {
            idsva(tree, x.in[0], x.in[1], x.in[2], x.in[3], x.out[0], x.out[1], x.out[2], w);
        });
}

}  // namespace dtau::DTAU_VARIANT
