// Inputs: q, v, a or tau, lam, f_ext. Outputs: dqdq, dqdv, dvdv, and dadq or dtaudq.
#include "dtau/algorithms/second/forward_hessian.hpp"
#include "batch/run.hpp"

namespace dtau::DTAU_VARIANT {

template <class T>
DTAU_INLINE Blocks<T> blocks(const Arguments<T>& x, int n) {
    return {x.out[0], x.out[1], x.out[2], x.out[3], n};
}

void inverse_dynamics_hessian(const Tree& tree, const Job& job, std::ptrdiff_t begin,
                              std::ptrdiff_t end) {
    run<Results::sparse, InverseHessianWorkspace>(
        tree, job, begin, end,
        [&]<class T>(const Arguments<T>& x, const InverseHessianWorkspace<T>& w) {
            inverse_dynamics_hessian(tree, x.in[0], x.in[1], x.in[2], x.in[3], x.in[4],
                                     blocks(x, tree.nv), job.symmetric, w);
        });
}

void forward_dynamics_hessian(const Tree& tree, const Job& job, std::ptrdiff_t begin,
                              std::ptrdiff_t end) {
    run<Results::dense, ForwardHessianWorkspace>(
        tree, job, begin, end,
        [&]<class T>(const Arguments<T>& x, const ForwardHessianWorkspace<T>& w) {
            forward_dynamics_hessian(tree, x.in[0], x.in[1], x.in[2], x.in[3], x.in[4],
                                     blocks(x, tree.independent.n), job.symmetric, w);
        });
}

}  // namespace dtau::DTAU_VARIANT
