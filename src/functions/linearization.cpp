// linearize: q, v, tau, f_ext. Outputs: A, B, a.
// linearize_discrete: q, v, tau, dt, f_ext. Outputs: A, B, and q, v after the step.
#include "dtau/algorithms/steps/linearization.hpp"
#include "dtau/algorithms/steps/discrete_linearization.hpp"
#include "batch/run.hpp"

namespace dtau::DTAU_VARIANT {

void linearize(const Tree& tree, const Job& job, std::ptrdiff_t begin, std::ptrdiff_t end) {
    run<Results::sparse, LinearizationWorkspace>(
        tree, job, begin, end,
        [&]<class T>(const Arguments<T>& x, const LinearizationWorkspace<T>& w) {
            linearize(tree, job.inputs, x.in[0], x.in[1], x.in[2], x.in[3], x.out[0], x.out[1],
                      x.out[2], w);
        });
}

void linearize_discrete(const Tree& tree, const Job& job, std::ptrdiff_t begin,
                        std::ptrdiff_t end) {
    run<Results::dense, DiscreteWorkspace>(
        tree, job, begin, end, [&]<class T>(const Arguments<T>& x, const DiscreteWorkspace<T>& w) {
            linearize_discrete(tree, job.integrator, job.inputs, x.in[0], x.in[1], x.in[2],
                               *x.in[3], x.in[4], x.out[0], x.out[1], x.out[2], x.out[3], w);
        });
}

}  // namespace dtau::DTAU_VARIANT
