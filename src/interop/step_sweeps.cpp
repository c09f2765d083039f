// Takes a time step stage by stage, and varies it: StepSweeps::forward(), tangent().
// step_sweep_gradients.cpp has the sweeps back.
#include "interop/step_sweeps.hpp"

#include <algorithm>

namespace dtau {
namespace {

using DTAU_VARIANT::max_stages;

constexpr int vectors_of_stage = 14, vectors = 15;  // of nv numbers

std::size_t constant_zeros(const CasadiFunction& f) {
    return std::max({f.nv, f.nrows, 6 * f.nbodies});
}

}  // namespace

std::size_t StepSweeps::numbers(const CasadiFunction& f) {
    const std::size_t n = f.nv, nw = f.takes_wrenches ? 6 * f.nbodies : 0;
    const std::size_t stage = f.nq + vectors_of_stage * n + 4 * n * n + nw * n;
    const std::size_t units = (nw + 1) * (3 * n + 2 * nw);
    return max_stages * stage + f.nq + (vectors + 3) * n + 2 * nw + 2 * f.nrows +
           constant_zeros(f) + units;
}

StepSweeps::StepSweeps(const CasadiFunction& f, const NamedInputs& inputs, double* work,
                       std::string& error)
    : f_(f),
      tree_(f.value->tree().tree()),
      inputs_(inputs),
      error_(error),
      w_(work),
      method_(f.value->options().integrator),
      stages_(DTAU_VARIANT::stage_count(method_)),
      n_(f.nv),
      nq_(f.nq),
      nwrenches_(f.takes_wrenches ? 6 * f.nbodies : 0),
      implicit_(method_ == Integrator::semi_implicit),
      h_(*inputs.get("dt")),
      joints_(f.numbers.joints().size() * (max_stages + 1)) {
    for (int i = 0; i < stages_; ++i) {
        Stage& s = stage_[i];
        s.q = take(nq_);
        for (double** each : {&s.v, &s.theta, &s.a, &s.rate, &s.dq, &s.dv, &s.dtheta, &s.da,
                              &s.drate, &s.by_q, &s.by_v, &s.by_theta, &s.by_a, &s.by_rate})
            *each = take(n_);
        s.hessian = take(std::ptrdiff_t(4) * n_ * n_);
        s.cross = take(std::ptrdiff_t(nwrenches_) * n_);
    }
    q_next_ = take(nq_);
    for (double** each : {&theta_, &v_next_, &dtheta_, &dxi_, &dv_next_, &lam_q_, &by_theta_,
                          &by_v_, &dlam_q_, &dby_theta_, &dby_v_, &dby_rate_, &dby_a_,
                          &later_theta_, &later_v_, &gradient_[0], &gradient_[1], &gradient_[2]})
        *each = take(n_);
    gradient_[3] = take(nwrenches_);
    unit_ = take(nwrenches_);
    forces_ = take(f.nrows);
    residual_ = take(f.nrows);
    zeros_ = take(constant_zeros(f));
    std::fill_n(zeros_, constant_zeros(f), 0.0);
    for (const char* name : {"dtau", "lam_forces"}) inputs_.set(name, zeros_);
    if (nwrenches_) inputs_.set("df_ext", unit_);
}

double* StepSweeps::take(std::ptrdiff_t numbers) {
    double* here = w_;
    w_ += numbers;
    return here;
}

bool StepSweeps::run(const RawCall& call, double* const* results) {
    return inputs_.run(call, results, error_);
}

void StepSweeps::at_stage(const Stage& s) {
    inputs_.set("q", s.q);
    inputs_.set("v", s.v);
}

// ---------------------------------------------------------------- values and variations

bool StepSweeps::forward() {
    const double *q = inputs_.get("q"), *v = inputs_.get("v");
    const auto displace = [&](const double* theta, double* to) {
        inputs_.set("q", q);
        inputs_.set("dq", theta);
        return run(*f_.integrate, &to);
    };
    std::copy_n(v, n_, v_next_);
    std::fill_n(theta_, n_, 0.0);
    for (int i = 0; i < stages_; ++i) {
        const Stage &s = stage_[i], &before = stage_[i ? i - 1 : 0];
        const double c = h_ * DTAU_VARIANT::stage_ahead(i);
        for (int k = 0; k < n_; ++k) {
            s.theta[k] = i ? c * before.rate[k] : 0.0;
            s.v[k] = i ? v[k] + c * before.a[k] : v[k];
        }
        if (!i)
            std::copy_n(q, nq_, s.q);
        else if (!displace(s.theta, s.q))
            return false;
        at_stage(s);
        double* results[] = {s.a, forces_, residual_};
        if (!run(*f_.dynamics, results)) return false;
        std::copy_n(s.v, n_, s.rate);
        if (i)
            for_joints(i, [&](const Body& body, int first, Variation& by) {
                const double *theta = s.theta + first, *speed = s.v + first;
                DTAU_VARIANT::joint_displacement_rate(body, theta, speed, s.rate + first);
                DTAU_VARIANT::displacement_variation(body, theta, by);
                DTAU_VARIANT::rate_variation(body, theta, speed, by);
            });
        for (int k = 0; k < n_; ++k) {
            v_next_[k] += weight(i) * h_ * s.a[k];
            theta_[k] += weight(i) * h_ * s.rate[k];
        }
    }
    if (implicit_)
        for (int k = 0; k < n_; ++k) theta_[k] = h_ * v_next_[k];
    for_joints(max_stages, [&](const Body& body, int first, Variation& by) {
        DTAU_VARIANT::displacement_variation(body, theta_ + first, by);
    });
    return displace(theta_, q_next_);
}

bool StepSweeps::tangent(int variable) {
    dh_ = variable == length ? 1.0 : 0.0;
    std::fill_n(unit_, nwrenches_, 0.0);
    if (variable != length) unit_[variable] = 1.0;
    std::fill_n(dv_next_, n_, 0.0);
    std::fill_n(dtheta_, n_, 0.0);
    for (int i = 0; i < stages_; ++i) {
        const Stage &s = stage_[i], &before = stage_[i ? i - 1 : 0];
        const double c = i ? DTAU_VARIANT::stage_ahead(i) : 0.0;
        for (int k = 0; k < n_; ++k) {
            s.dtheta[k] = i ? c * (dh_ * before.rate[k] + h_ * before.drate[k]) : 0.0;
            s.dv[k] = i ? c * (dh_ * before.a[k] + h_ * before.da[k]) : 0.0;
            s.dq[k] = s.dtheta[k];
            s.drate[k] = s.dv[k];
        }
        if (i)
            for_joints(i, [&](const Body& body, int first, const Variation& by) {
                put_product(by.J, body.nv, s.dtheta + first, s.dq + first);
                put_product(by.by_v, body.nv, s.dv + first, s.drate + first);
                add_product(by.by_theta, body.nv, body.nv, s.dtheta + first, s.drate + first);
            });
        at_stage(s);
        inputs_.set("dq", s.dq);
        inputs_.set("dv", s.dv);
        double* results[] = {s.da, forces_};
        if (!run(*f_.dynamics_jvp, results)) return false;
        for (int k = 0; k < n_; ++k) {
            dv_next_[k] += weight(i) * (dh_ * s.a[k] + h_ * s.da[k]);
            dtheta_[k] += weight(i) * (dh_ * s.rate[k] + h_ * s.drate[k]);
        }
    }
    if (implicit_)
        for (int k = 0; k < n_; ++k) dtheta_[k] = dh_ * v_next_[k] + h_ * dv_next_[k];
    std::copy_n(dtheta_, n_, dxi_);
    for_joints(max_stages, [&](const Body& body, int first, const Variation& by) {
        put_product(by.J, body.nv, dtheta_ + first, dxi_ + first);
    });
    return true;
}

}  // namespace dtau
