// Inputs: q, v; of hybrid dynamics a, its derivatives; tau, f_ext, theirs. Outputs: a; of hybrid
// dynamics tau; their derivatives.
#include "dtau/algorithms/time/coupled.hpp"
#include "batch/run.hpp"

namespace dtau::DTAU_VARIANT {

using States = std::ptrdiff_t;

namespace {

// a and torque_out may be null.
template <class Pick>
void forward(const Tree& tree, const Job& job, States begin, States end, const Pick& pick) {
    if (tree.coupling)
        return run<Results::dense, CoupledSeriesWorkspace>(
            tree, job, begin, end,
            [&]<class T>(const Arguments<T>& x, const CoupledSeriesWorkspace<T>& w) {
                const auto [a, tau, f_ext, torque] = pick(x);
                coupled_time_derivatives<T>(tree, job.order, x.in[0], x.in[1], a, tau, f_ext,
                                            job.prescribed, x.out[0], torque, w);
            });
    run<Results::dense, ForwardSeriesWorkspace>(
        tree, job, begin, end,
        [&]<class T>(const Arguments<T>& x, const ForwardSeriesWorkspace<T>& w) {
            const auto [a, tau, f_ext, torque] = pick(x);
            hybrid_time_derivatives<T>(tree, job.order, x.in[0], x.in[1], a, tau, f_ext,
                                       job.prescribed, x.out[0], torque, w);
        });
}

template <class T>
struct Given {
    const T *a, *tau, *f_ext;
    T* torque;
};

}  // namespace

void forward_dynamics_time_derivatives(const Tree& tree, const Job& job, States begin, States end) {
    forward(tree, job, begin, end, []<class T>(const Arguments<T>& x) {
        return Given<T>{nullptr, x.in[2], x.in[3], nullptr};
    });
}

void hybrid_dynamics_time_derivatives(const Tree& tree, const Job& job, States begin, States end) {
    forward(tree, job, begin, end, []<class T>(const Arguments<T>& x) {
        return Given<T>{x.in[2], x.in[3], x.in[4], x.out[1]};
    });
}

}  // namespace dtau::DTAU_VARIANT
