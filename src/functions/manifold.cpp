// Quaternions need branches for small angles: one state at a time.
#include "dtau/algorithms/steps/manifold.hpp"

#include "batch/run.hpp"

namespace dtau::DTAU_VARIANT {

void integrate(const Tree& tree, const Job& job, std::ptrdiff_t begin, std::ptrdiff_t end) {
    const auto algorithm = [&]<class T>(const Arguments<T>& x, const NoWorkspace<T>&) {
        integrate(tree, x.in[0], x.in[1], x.out[0]);
    };
#ifdef DTAU_TEST_SCALARS
    if (job.element == Element::complex)
        return run_alone<Complex, Results::dense, NoWorkspace>(tree, job, begin, end, algorithm);
#endif
    run_alone<double, Results::dense, NoWorkspace>(tree, job, begin, end, algorithm);
}

void difference(const Tree& tree, const Job& job, std::ptrdiff_t begin, std::ptrdiff_t end) {
    run_alone<double, Results::dense, NoWorkspace>(
        tree, job, begin, end, [&](const Arguments<double>& x, const NoWorkspace<double>&) {
            difference(tree, x.in[0], x.in[1], x.out[0]);
        });
}

void normalize(const Tree& tree, const Job& job, std::ptrdiff_t begin, std::ptrdiff_t end) {
    run_alone<double, Results::dense, NoWorkspace>(
        tree, job, begin, end, [&](const Arguments<double>& x, const NoWorkspace<double>&) {
            normalize(tree, x.in[0], x.out[0]);
        });
}

}  // namespace dtau::DTAU_VARIANT
