// Input: q. Output: M or its inverse.
#include "dtau/algorithms/values/crba.hpp"
#include "dtau/algorithms/solve/factorized.hpp"
#include "batch/run.hpp"

namespace dtau::DTAU_VARIANT {

void mass_matrix(const Tree& tree, const Job& job, std::ptrdiff_t begin, std::ptrdiff_t end) {
    run<Results::sparse, Ground>(tree, job, begin, end,
                                 [&]<class T>(const Arguments<T>& x, const Ground<T>& w) {
                                     crba(tree, x.in[0], x.out[0], w);
                                 });
}

void mass_matrix_inverse(const Tree& tree, const Job& job, std::ptrdiff_t begin,
                         std::ptrdiff_t end) {
    run<Results::dense, MassMatrixInverseWorkspace>(
        tree, job, begin, end,
        [&]<class T>(const Arguments<T>& x, const MassMatrixInverseWorkspace<T>& w) {
            mass_matrix_inverse(tree, x.in[0], x.out[0], w);
        });
}

}  // namespace dtau::DTAU_VARIANT
