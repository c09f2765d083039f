// Inputs: q; v, its derivatives; f_ext, its derivatives. Output: tau or a part of it, its derivatives.
#include "dtau/algorithms/time/inverse.hpp"
#include "batch/run.hpp"

namespace dtau::DTAU_VARIANT {

using States = std::ptrdiff_t;

void inverse_dynamics_time_derivatives(const Tree& tree, const Job& job, States begin, States end) {
    run<Results::dense, InverseSeriesWorkspace>(
        tree, job, begin, end,
        [&]<class T>(const Arguments<T>& x, const InverseSeriesWorkspace<T>& w) {
            inverse_time_derivatives<Part::all>(tree, job.order, x.in[0], x.in[1], x.in[2],
                                                x.out[0], w);
        });
}

void bias_torque_time_derivatives(const Tree& tree, const Job& job, States begin, States end) {
    run<Results::dense, InverseSeriesWorkspace>(
        tree, job, begin, end,
        [&]<class T>(const Arguments<T>& x, const InverseSeriesWorkspace<T>& w) {
            inverse_time_derivatives<Part::bias>(tree, job.order, x.in[0], x.in[1], x.in[2],
                                                 x.out[0], w);
        });
}

void gravity_torque_time_derivatives(const Tree& tree, const Job& job, States begin, States end) {
    run<Results::dense, InverseSeriesWorkspace>(
        tree, job, begin, end,
        [&]<class T>(const Arguments<T>& x, const InverseSeriesWorkspace<T>& w) {
            inverse_time_derivatives<Part::gravity, T>(tree, job.order, x.in[0], x.in[1], nullptr,
                                                       x.out[0], w);
        });
}

}  // namespace dtau::DTAU_VARIANT
