// Inputs: q, v, a, f_ext as the function takes them. Output: tau.
#include "dtau/algorithms/values/rnea.hpp"
#include "batch/run.hpp"

namespace dtau::DTAU_VARIANT {

void inverse_dynamics(const Tree& tree, const Job& job, std::ptrdiff_t begin, std::ptrdiff_t end) {
    run<Results::dense, RneaWorkspace>(
        tree, job, begin, end, [&]<class T>(const Arguments<T>& x, const RneaWorkspace<T>& w) {
            rnea<T>(tree, x.in[0], x.in[1], x.in[2], x.in[3], x.out[0], w);
        });
}

void bias_torque(const Tree& tree, const Job& job, std::ptrdiff_t begin, std::ptrdiff_t end) {
    run<Results::dense, RneaWorkspace>(
        tree, job, begin, end, [&]<class T>(const Arguments<T>& x, const RneaWorkspace<T>& w) {
            rnea<T>(tree, x.in[0], x.in[1], nullptr, x.in[2], x.out[0], w);
        });
}

void gravity_torque(const Tree& tree, const Job& job, std::ptrdiff_t begin, std::ptrdiff_t end) {
    run<Results::dense, RneaWorkspace>(
        tree, job, begin, end, [&]<class T>(const Arguments<T>& x, const RneaWorkspace<T>& w) {
            rnea<T>(tree, x.in[0], nullptr, nullptr, nullptr, x.out[0], w);
        });
}

}  // namespace dtau::DTAU_VARIANT
