// Inputs: q, v. Output: C.
#include "dtau/algorithms/values/coriolis.hpp"
#include "batch/run.hpp"

namespace dtau::DTAU_VARIANT {

void coriolis_matrix(const Tree& tree, const Job& job, std::ptrdiff_t begin, std::ptrdiff_t end) {
    run<Results::sparse, CoriolisWorkspace>(
        tree, job, begin, end, [&]<class T>(const Arguments<T>& x, const CoriolisWorkspace<T>& w) {
            coriolis_matrix(tree, x.in[0], x.in[1], x.out[0], w);
        });
}

}  // namespace dtau::DTAU_VARIANT
