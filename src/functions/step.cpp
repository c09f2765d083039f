// step: q, v, tau, dt, f_ext. Outputs: q, v after the step.
// step_vjp: q, v, tau, dt, lam_q, lam_v, f_ext. Outputs: by q, v, tau, and by f_ext if that is given.
#include "dtau/algorithms/steps/step_products.hpp"
#include "batch/run.hpp"

namespace dtau::DTAU_VARIANT {
namespace {

// Forward dynamics of independent joints, and of joints that mimic others.
template <class T>
struct IndependentStep {
    StepWorkspace<T> step;
    ForwardDynamicsWorkspace<T> dynamics;

    IndependentStep(Arena& arena, const Tree& tree) : step(arena, tree), dynamics(arena, tree) {}
};
template <class T>
struct CoupledStep {
    StepWorkspace<T> step;
    FactorizedWorkspace<T> dynamics;

    CoupledStep(Arena& arena, const Tree& tree) : step(arena, tree), dynamics(arena, tree) {}
};

template <class T>
using IndependentVjp = StepVjpWorkspace<T, IndependentDynamics>;
template <class T>
using CoupledVjp = StepVjpWorkspace<T, CoupledDynamics>;

template <template <class> class Workspace>
void run_vjp(const Tree& tree, const Job& job, std::ptrdiff_t begin, std::ptrdiff_t end) {
    run<Results::dense, Workspace>(
        tree, job, begin, end, [&]<class T>(const Arguments<T>& x, const Workspace<T>& w) {
            T* by_f_ext = job.noutputs == 4 ? x.out[3] : nullptr;
            step_vjp(tree, job.integrator, x.in[0], x.in[1], x.in[2], *x.in[3], x.in[4], x.in[5],
                     x.in[6], x.out[0], x.out[1], x.out[2], by_f_ext, w);
        });
}

}  // namespace

void step(const Tree& tree, const Job& job, std::ptrdiff_t begin, std::ptrdiff_t end) {
    if (tree.coupling)
        return run<Results::dense, CoupledStep>(
            tree, job, begin, end, [&]<class T>(const Arguments<T>& x, const CoupledStep<T>& w) {
                step(tree, x.in[0], x.in[1], *x.in[3], job.integrator, x.out[0], x.out[1], w.step,
                     [&](int, const T* q, const T* v, T* a) {
                         coupled_forward_dynamics(tree, q, v, x.in[2], x.in[4], a, w.dynamics);
                     });
            });
    run<Results::dense, IndependentStep>(
        tree, job, begin, end, [&]<class T>(const Arguments<T>& x, const IndependentStep<T>& w) {
            step(tree, x.in[0], x.in[1], *x.in[3], job.integrator, x.out[0], x.out[1], w.step,
                 [&](int, const T* q, const T* v, T* a) {
                     forward_dynamics(tree, q, v, x.in[2], x.in[4], a, w.dynamics);
                 });
        });
}

void step_vjp(const Tree& tree, const Job& job, std::ptrdiff_t begin, std::ptrdiff_t end) {
    if (tree.coupling) return run_vjp<CoupledVjp>(tree, job, begin, end);
    run_vjp<IndependentVjp>(tree, job, begin, end);
}

}  // namespace dtau::DTAU_VARIANT
