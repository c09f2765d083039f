// Passes weights back through a time step, and varies the gradient: StepSweeps::adjoint(),
// curvatures(), second().
#include <algorithm>
#include <numeric>

#include "interop/step_sweeps.hpp"

namespace dtau {

using DTAU_VARIANT::JointCurvature;
using DTAU_VARIANT::max_stages;

bool StepSweeps::adjoint(const double* weights) {
    weights_ = weights;
    f_.numbers.by_displacement(q_next_, weights, lam_q_);
    std::copy_n(lam_q_, n_, by_theta_);
    for_joints(max_stages, [&](const Body& body, int first, const Variation& by) {
        put_product<true>(by.J, body.nv, lam_q_ + first, by_theta_ + first);
    });
    for (int k = 0; k < n_; ++k)
        by_v_[k] = weights[nq_ + k] + (implicit_ ? h_ * by_theta_[k] : 0.0);
    by_length_ = implicit_ ? std::inner_product(by_theta_, by_theta_ + n_, v_next_, 0.0) : 0.0;
    for (int i = stages_ - 1; i >= 0; --i) {
        const Stage& s = stage_[i];
        const double *later_theta = i + 1 < stages_ ? stage_[i + 1].by_theta : zeros_,
                     *later_v = i + 1 < stages_ ? stage_[i + 1].by_v : zeros_;
        const double b = weight(i), c = ahead(i), to_theta = implicit_ ? 0.0 : b;
        for (int k = 0; k < n_; ++k) {
            // By a and theta' in units of h: these are also the slopes by h.
            s.by_rate[k] = to_theta * by_theta_[k] + c * later_theta[k];
            s.by_a[k] = b * by_v_[k] + c * later_v[k];
            by_length_ += s.by_rate[k] * s.rate[k] + s.by_a[k] * s.a[k];
            s.by_rate[k] *= h_, s.by_a[k] *= h_;
        }
        at_stage(s);
        inputs_.set("lam", s.by_a);
        double* results[] = {s.by_q, gradient_[1], gradient_[2], gradient_[3]};
        if (!run(*f_.dynamics_vjp, results)) return false;
        for (int k = 0; k < n_; ++k) {
            s.by_v[k] = s.by_rate[k] + gradient_[1][k];
            s.by_theta[k] = s.by_q[k];
        }
        if (i)
            for_joints(i, [&](const Body& body, int first, const Variation& by) {
                const double* rate = s.by_rate + first;
                std::copy_n(gradient_[1] + first, body.nv, s.by_v + first);
                add_product<true>(by.by_v, body.nv, body.nv, rate, s.by_v + first);
                put_product<true>(by.J, body.nv, s.by_q + first, s.by_theta + first);
                add_product<true>(by.by_theta, body.nv, body.nv, rate, s.by_theta + first);
            });
    }
    return true;
}

bool StepSweeps::curvatures() {
    for (int i = 0; i < stages_; ++i) {
        const Stage& s = stage_[i];
        at_stage(s);
        inputs_.set("lam", s.by_a);
        const std::ptrdiff_t matrix = std::ptrdiff_t(n_) * n_;
        double* H[] = {s.hessian, s.hessian + matrix, s.hessian + 2 * matrix,
                       s.hessian + 3 * matrix};
        if (!run(*f_.dynamics_hessian, H) || !by_wrenches_and_q(s)) return false;
    }
    return true;
}

// Accelerations are affine in the wrenches: unit wrenches add the derivatives by each to the
// gradient by q.
bool StepSweeps::by_wrenches_and_q(const Stage& s) {
    if (!nwrenches_) return true;
    const std::ptrdiff_t nw = nwrenches_, states = nw + 1;
    double *units = w_, *gradient[4] = {units + states * nw};
    std::fill_n(units, states * nw, 0.0);
    for (std::ptrdiff_t k = 0; k < nw; ++k) units[k * (nw + 1)] = 1.0;
    for (int k = 1; k < 4; ++k) gradient[k] = gradient[k - 1] + states * n_;
    const std::int64_t shape = states;
    RawInput given[Job::max_inputs];
    const RawCall& call = *f_.dynamics_vjp;
    for (int i = 0; i < call.signature().ninputs; ++i) {
        const bool batch = std::strcmp(call.input(i).name, "f_ext") == 0;
        const double* one = inputs_.get(call.input(i).name);
        given[i] = batch ? RawInput{units, 1, &shape} : RawInput{one, 0, nullptr};
    }
    if (!call.run(given, gradient, states, error_)) return false;
    const double* without = gradient[0] + nw * n_;
    for (std::ptrdiff_t k = 0; k < nw; ++k)
        for (int c = 0; c < n_; ++c) s.cross[k * n_ + c] = gradient[0][k * n_ + c] - without[c];
    return true;
}

bool StepSweeps::second(const Row& row) {
    const auto dot = [&](const double* x, const double* y) {
        return std::inner_product(x, x + n_, y, 0.0);
    };
    f_.numbers.number_curvature(q_next_, weights_, dxi_, 1, dlam_q_);
    std::copy_n(dlam_q_, n_, dby_theta_);
    std::copy_n(dlam_q_, n_, row.q);
    std::fill_n(row.tau, n_, 0.0);
    std::fill_n(row.wrenches, nwrenches_, 0.0);
    for_joints(max_stages, [&](const Body& body, int first, const Variation& by) {
        JointCurvature<double> bend;
        DTAU_VARIANT::displacement_curvature(body, theta_ + first, lam_q_ + first, bend);
        put_product<true>(by.J, body.nv, dlam_q_ + first, dby_theta_ + first);
        add_product(bend.both, body.nv, body.nv, dtheta_ + first, dby_theta_ + first);
        put_product<true>(by.Ad, body.nv, dlam_q_ + first, row.q + first);
        add_product(bend.mixed, body.nv, body.nv, dtheta_ + first, row.q + first);
    });
    for (int k = 0; k < n_; ++k)
        dby_v_[k] = row.v[k] = implicit_ ? dh_ * by_theta_[k] + h_ * dby_theta_[k] : 0.0;
    *row.length = implicit_ ? dot(dby_theta_, v_next_) + dot(by_theta_, dv_next_) : 0.0;
    std::fill_n(later_theta_, n_, 0.0);
    std::fill_n(later_v_, n_, 0.0);
    for (int i = stages_ - 1; i >= 0; --i) {
        const Stage& s = stage_[i];
        const double *by_later_theta = i + 1 < stages_ ? stage_[i + 1].by_theta : zeros_,
                     *by_later_v = i + 1 < stages_ ? stage_[i + 1].by_v : zeros_;
        const double b = weight(i), c = ahead(i), to_theta = implicit_ ? 0.0 : b;
        for (int k = 0; k < n_; ++k) {
            const double by_rate = to_theta * by_theta_[k] + c * by_later_theta[k];
            const double by_a = b * by_v_[k] + c * by_later_v[k];
            const double dby_rate = to_theta * dby_theta_[k] + c * later_theta_[k];
            const double dby_a = b * dby_v_[k] + c * later_v_[k];
            *row.length += dby_rate * s.rate[k] + by_rate * s.drate[k];
            *row.length += dby_a * s.a[k] + by_a * s.da[k];
            dby_rate_[k] = dh_ * by_rate + h_ * dby_rate;
            dby_a_[k] = dh_ * by_a + h_ * dby_a;
        }
        at_stage(s);
        inputs_.set("lam", dby_a_);
        if (!run(*f_.dynamics_vjp, gradient_)) return false;
        double *x = gradient_[0], *y = gradient_[1], *t = gradient_[2];
        const double *qq = s.hessian, *qv = qq + std::ptrdiff_t(n_) * n_,
                     *vv = qv + std::ptrdiff_t(n_) * n_, *tq = vv + std::ptrdiff_t(n_) * n_;
        add_product(qq, n_, n_, s.dq, x);
        add_product(qv, n_, n_, s.dv, x);
        add_product<true>(qv, n_, n_, s.dq, y);
        add_product(vv, n_, n_, s.dv, y);
        add_product(tq, n_, n_, s.dq, t);
        add_product(s.cross, nwrenches_, n_, s.dq, gradient_[3]);
        add_product<true>(s.cross, nwrenches_, n_, unit_, x);
        for (int k = 0; k < n_; ++k) {
            row.tau[k] += t[k];
            later_theta_[k] = x[k];
            later_v_[k] = dby_rate_[k] + y[k];
        }
        for (int k = 0; k < nwrenches_; ++k) row.wrenches[k] += gradient_[3][k];
        if (i)
            for_joints(i, [&](const Body& body, int first, const Variation& by) {
                JointCurvature<double> bend, turn;
                const int m = body.nv;
                const double *theta = s.theta + first, *dtheta = s.dtheta + first,
                             *rate = dby_rate_ + first;
                double moved[6];
                DTAU_VARIANT::displacement_curvature(body, theta, s.by_q + first, bend);
                DTAU_VARIANT::rate_curvature(body, theta, s.v + first, s.by_rate + first, turn);
                put_product<true>(by.J, m, x + first, later_theta_ + first);
                add_product(bend.both, m, m, dtheta, later_theta_ + first);
                add_product<true>(by.by_theta, m, m, rate, later_theta_ + first);
                add_product(turn.both, m, m, dtheta, later_theta_ + first);
                add_product(turn.mixed, m, m, s.dv + first, later_theta_ + first);
                std::copy_n(y + first, m, later_v_ + first);
                add_product<true>(by.by_v, m, m, rate, later_v_ + first);
                add_product<true>(turn.mixed, m, m, dtheta, later_v_ + first);
                put_product<true>(by.Ad, m, x + first, moved);
                add_product(bend.mixed, m, m, dtheta, moved);
                std::copy_n(moved, m, x + first);
            });
        for (int k = 0; k < n_; ++k) {
            row.q[k] += x[k];
            row.v[k] += later_v_[k];
        }
    }
    return true;
}

}  // namespace dtau
