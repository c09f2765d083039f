// Inputs: q; v, its derivatives. Output: M or C, its derivatives.
#include "dtau/algorithms/time/matrices.hpp"
#include "batch/run.hpp"

namespace dtau::DTAU_VARIANT {

using States = std::ptrdiff_t;

void mass_matrix_time_derivatives(const Tree& tree, const Job& job, States begin, States end) {
    run<Results::sparse, MatrixSeriesWorkspace>(
        tree, job, begin, end,
        [&]<class T>(const Arguments<T>& x, const MatrixSeriesWorkspace<T>& w) {
            mass_matrix_time_derivatives(tree, job.order, x.in[0], x.in[1], x.out[0], w);
        });
}

void coriolis_matrix_time_derivatives(const Tree& tree, const Job& job, States begin, States end) {
    run<Results::sparse, MatrixSeriesWorkspace>(
        tree, job, begin, end,
        [&]<class T>(const Arguments<T>& x, const MatrixSeriesWorkspace<T>& w) {
            coriolis_matrix_time_derivatives(tree, job.order, x.in[0], x.in[1], x.out[0], w);
        });
}

}  // namespace dtau::DTAU_VARIANT
