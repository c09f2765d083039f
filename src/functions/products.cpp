// jvp: q, v, a or tau, their tangents in that order, f_ext, df_ext. Output: the result's tangent.
// vjp: q, v, a or tau, lam, f_ext. Outputs: by q, v, a or tau, and by f_ext if that is given.
#include "dtau/algorithms/first/products.hpp"
#include "dtau/algorithms/first/forward_products.hpp"
#include "batch/run.hpp"

namespace dtau::DTAU_VARIANT {

void inverse_dynamics_jvp(const Tree& tree, const Job& job, std::ptrdiff_t begin,
                          std::ptrdiff_t end) {
    run<Results::dense, InverseJvpWorkspace>(
        tree, job, begin, end,
        [&]<class T>(const Arguments<T>& x, const InverseJvpWorkspace<T>& w) {
            inverse_dynamics_jvp(tree, x.in[0], x.in[1], x.in[2], x.in[3], x.in[4], x.in[5],
                                 x.in[6], x.in[7], x.out[0], w);
        });
}

void inverse_dynamics_vjp(const Tree& tree, const Job& job, std::ptrdiff_t begin,
                          std::ptrdiff_t end) {
    run<Results::dense, InverseVjpWorkspace>(
        tree, job, begin, end,
        [&]<class T>(const Arguments<T>& x, const InverseVjpWorkspace<T>& w) {
            T* by_f_ext = job.noutputs == 4 ? x.out[3] : nullptr;
            inverse_dynamics_vjp(tree, x.in[0], x.in[1], x.in[2], x.in[3], x.in[4], x.out[0],
                                 x.out[1], x.out[2], by_f_ext, w);
        });
}

void forward_dynamics_jvp(const Tree& tree, const Job& job, std::ptrdiff_t begin,
                          std::ptrdiff_t end) {
    if (tree.coupling)
        return run<Results::dense, CoupledForwardJvpWorkspace>(
            tree, job, begin, end,
            [&]<class T>(const Arguments<T>& x, const CoupledForwardJvpWorkspace<T>& w) {
                coupled_forward_dynamics_jvp(tree, x.in[0], x.in[1], x.in[2], x.in[3], x.in[4],
                                             x.in[5], x.in[6], x.in[7], x.out[0], w);
            });
    run<Results::dense, ForwardJvpWorkspace>(
        tree, job, begin, end,
        [&]<class T>(const Arguments<T>& x, const ForwardJvpWorkspace<T>& w) {
            forward_dynamics_jvp(tree, x.in[0], x.in[1], x.in[2], x.in[3], x.in[4], x.in[5],
                                 x.in[6], x.in[7], x.out[0], w);
        });
}

void forward_dynamics_vjp(const Tree& tree, const Job& job, std::ptrdiff_t begin,
                          std::ptrdiff_t end) {
    if (tree.coupling)
        return run<Results::dense, CoupledForwardVjpWorkspace>(
            tree, job, begin, end,
            [&]<class T>(const Arguments<T>& x, const CoupledForwardVjpWorkspace<T>& w) {
                T* by_f_ext = job.noutputs == 4 ? x.out[3] : nullptr;
                coupled_forward_dynamics_vjp(tree, x.in[0], x.in[1], x.in[2], x.in[3], x.in[4],
                                             x.out[0], x.out[1], x.out[2], by_f_ext, w);
            });
    run<Results::dense, ForwardVjpWorkspace>(
        tree, job, begin, end,
        [&]<class T>(const Arguments<T>& x, const ForwardVjpWorkspace<T>& w) {
            T* by_f_ext = job.noutputs == 4 ? x.out[3] : nullptr;
            forward_dynamics_vjp(tree, x.in[0], x.in[1], x.in[2], x.in[3], x.in[4], x.out[0],
                                 x.out[1], x.out[2], by_f_ext, w);
        });
}

}  // namespace dtau::DTAU_VARIANT
