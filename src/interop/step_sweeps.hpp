// Differentiates a time step (steps/step.hpp) by its length h and by single numbers of external
// wrenches, for CasADi: StepSweeps. linearize_discrete and step_hessian have all other derivatives.
//
// forward() takes the step, stage by stage. tangent() varies all stages along one of these
// variables, adjoint() passes weights of the result back ([Derivations] eq. 12.9), and second()
// varies the gradient along the variable of the last tangent(). With a bar for gradients and a dot
// for variations, the gradient by a stage's state varies by
//
//   (x, y, t)' = FD-vjp(a-bar') + H(a-bar) (q', v')        H: Hessian of a-bar . FD, in the chart at q
//
// and the maps of joints whose displacements do not commute add terms of chart_curvature.hpp. For h,
// products such as c h theta' add terms with theta' and its gradient. Each sweep calls forward
// dynamics, with contacts if there are any, and its derivatives once a stage.
#pragma once

#include <algorithm>
#include <vector>

#include "dtau/algorithms/steps/chart_curvature.hpp"
#include "interop/casadi_matrices.hpp"

namespace dtau {

// y += matrix x, or y += matrix^T x.
template <bool transposed = false>
inline void add_product(const double* matrix, int rows, int columns, const double* x, double* y) {
    for (int r = 0; r < rows; ++r)
        for (int c = 0; c < columns; ++c)
            if constexpr (transposed)
                y[c] += matrix[std::ptrdiff_t(r) * columns + c] * x[r];
            else
                y[r] += matrix[std::ptrdiff_t(r) * columns + c] * x[c];
}
// The same for the block of a joint, in place of y.
template <bool transposed = false>
inline void put_product(const double* matrix, int n, const double* x, double* y) {
    std::fill_n(y, n, 0.0);
    add_product<transposed>(matrix, n, n, x, y);
}

class StepSweeps {
  public:
    // A variable: an entry of the wrenches (nbodies, 6), row by row, or the length.
    static constexpr int length = -1;

    // The memory, in numbers.
    static std::size_t numbers(const CasadiFunction& f);
    // `inputs` holds q, v, tau, dt, the wrenches and what contacts need.
    StepSweeps(const CasadiFunction& f, const NamedInputs& inputs, double* work,
               std::string& error);

    bool forward();
    bool tangent(int variable);
    // Variations of the state after the step: of q (+) xi, and of v.
    const double* xi() const { return dxi_; }
    const double* dv() const { return dv_next_; }
    // The numbers of q after the step.
    const double* q_next() const { return q_next_; }

    // Takes weights of the numbers of q, and of v, after the step. Runs after forward().
    bool adjoint(const double* weights);
    double by_length() const { return by_length_; }

    // One row of the Hessian, by q, v, tau, the length and the wrenches.
    struct Row {
        double *q, *v, *tau, *length, *wrenches;
    };
    // Computes the Hessians of all stages, after adjoint().
    bool curvatures();
    // Runs after tangent() and curvatures().
    bool second(const Row& row);

  private:
    struct Stage {
        double *q, *v, *theta, *a, *rate;                 // values
        double *dq, *dv, *dtheta, *da, *drate;            // variations
        double *by_q, *by_v, *by_theta, *by_a, *by_rate;  // gradients
        double*
            hessian;    // of forward dynamics, weighted with by_a: (q, q), (q, v), (v, v), (tau, q)
        double* cross;  // by wrenches and q: (6 nbodies, nv)
    };
    using Variation = DTAU_VARIANT::JointVariation<double>;

    double* take(std::ptrdiff_t numbers);
    bool run(const RawCall& call, double* const* results);
    void at_stage(const Stage& s);
    bool by_wrenches_and_q(const Stage& s);
    // The weight of stage i in the result, and how far the next stage goes along its derivatives.
    double weight(int i) const { return DTAU_VARIANT::stage_weight(method_, i); }
    double ahead(int i) const { return i + 1 < stages_ ? DTAU_VARIANT::stage_ahead(i + 1) : 0.0; }
    // Calls visit(body, its first velocity, its variation at a stage) for joints that do not
    // commute.
    template <class Visit>
    void for_joints(int stage, const Visit& visit) {
        DTAU_VARIANT::for_noncommuting_joints(tree_, true, [&](int j, const Body& body, int first) {
            visit(body, first, joints_[j * (DTAU_VARIANT::max_stages + 1) + stage]);
        });
    }

    const CasadiFunction& f_;
    const Tree& tree_;
    NamedInputs inputs_;
    std::string& error_;
    double* w_;
    const Integrator method_;
    const int stages_, n_, nq_, nwrenches_;  // nwrenches_: 6 nbodies, or 0
    const bool implicit_;
    const double h_;
    double by_length_ = 0.0, dh_ = 0.0;
    Stage stage_[DTAU_VARIANT::max_stages];
    std::vector<Variation> joints_;
    double *zeros_, *theta_, *q_next_, *v_next_, *dtheta_, *dxi_, *dv_next_;
    double *lam_q_, *by_theta_, *by_v_, *dlam_q_, *dby_theta_, *dby_v_, *dby_rate_, *dby_a_;
    double *gradient_[4], *later_theta_, *later_v_, *unit_, *forces_, *residual_;
    const double* weights_ = nullptr;
};

}  // namespace dtau
