// Differentiates MuJoCo's step: mujoco_kernels.
//
// At a constant active set, the acceleration that solves  M a + c = f + J^T lambda  changes by
//
//   (M + J^T H J) da = df - d(M a + c) + d(J^T lambda) at constant a
//
// Integrators that are implicit in the velocity replace a by a', (M - h V) a' = M a, with the part V
// of df/dv that they take into account:
//
//   (M - h V) da' = M da + (dM/dq) (a - a') dq + h dV a'
//
// Velocities become v' = v + h a', and configurations q' = q (+) h v'.
#include "mujoco/step.hpp"

#include <algorithm>
#include <cmath>

#include "batch/scratch.hpp"
#include "mujoco/actuators.hpp"
#include "mujoco/configuration.hpp"
#include "mujoco/constraints.hpp"
#include "mujoco/implicit.hpp"
#include "mujoco/pullback.hpp"
#include "mujoco/smooth.hpp"
#include "mujoco/workspace.hpp"

namespace dtau::DTAU_VARIANT {
namespace {

using namespace mujoco_step;
using mujoco::Constants;
using mujoco::Pullback;
using mujoco::SmoothProduct;
using mujoco::Solutions;
using mujoco::StepJob;

class StateStep {
  public:
    StateStep(StepJob& job, Workspace& w, Index k)
        : job_(job),
          m_(job.model),
          at_(job.at),
          w_(w),
          k_(k),
          nv_(m_.nv),
          width_(m_.width()),
          columns_(m_.parameters.columns) {}

    void differentiate() {
        smooth(at_.a + k_ * nv_, k_, w_.by_q, w_.by_v);
        differentiate_acceleration();
        if (m_.integrator == mujoco::stage) {
            double* out = job_.out + k_ * (nv_ + m_.na) * width_;
            set_activations(std::copy_n(w_.right, nv_ * width_, out));
            return;
        }
        if (m_.is_implicit()) make_implicit();
        advance();
    }

    // As above, from the end to the beginning, for one row of weights.
    void pull_back(const Pullback& job) {
        const double h = m_.timestep;
        double* by = job.by + k_ * width_;
        double *weight = w_.torque, *x = w_.right;  // of a', and then of a
        set_displacement();
        const double* of_state = job.weights + k_ * (2 * nv_ + m_.na);
        std::fill(by, by + width_, 0.0);
        pull_back_configuration(m_, w_.displacement, of_state, by, weight);
        for (Index i = 0; i < nv_; ++i) {
            const double of_velocity = fma(h, weight[i], of_state[nv_ + i]);
            by[nv_ + i] = of_velocity, weight[i] = h * of_velocity;
        }
        if (m_.is_implicit()) {
            const double* a = job_.accelerations + k_ * nv_;
            factorize_implicit(m_, at_, k_, w_.matrix);
            mujoco_step::solve(w_.matrix, nv_, weight, 1);
            if (m_.integrator == mujoco::implicit_fast) pull_back_rates(m_, at_, k_, a, weight, by);
            multiply(at_.mass + k_ * nv_ * nv_, weight, x, nv_, 1);
        } else {
            std::copy_n(weight, nv_, x);
            std::fill(weight, weight + nv_, 0.0);
        }
        set_parameters();
        const bool constrained = factorize_with_constraints();
        mujoco_step::solve(w_.matrix, nv_, x, 1);
        pull_back_forces(m_, at_, k_, x, by);
        pull_back_activations(m_, at_, k_, of_state + 2 * nv_, by);
        if (constrained)
            for (Index i = 0; i < nv_; ++i) {
                add_scaled(by, x[i], w_.other_by_q + i * nv_, nv_);
                add_scaled(by + nv_, x[i], w_.by_v + i * nv_, nv_);
            }
        for (Index i = 0; i < nv_; ++i) {
            double* of_parameters = parameters_of(by, 0);
            add_scaled(of_parameters, x[i], w_.parameters.forces + i * columns_, columns_);
            add_scaled(of_parameters, weight[i], w_.parameters.implicit + i * columns_, columns_);
        }
        for (Index i = 0; i < nv_; ++i) x[i] = weight[i] - x[i];
        set_multipliers(job, k_, x);
        if (!m_.is_implicit()) return;
        for (Index i = 0; i < nv_; ++i) weight[i] = -weight[i];
        set_multipliers(job, at_.n + k_, weight);
    }

  private:
    void differentiate_acceleration() {
        set_forces();
        set_parameters();
        if (factorize_with_constraints())
            for (Index i = 0; i < nv_; ++i) {
                add_scaled(w_.right + i * width_, 1.0, w_.other_by_q + i * nv_, nv_);
                add_scaled(w_.right + i * width_ + nv_, 1.0, w_.by_v + i * nv_, nv_);
            }
        for (Index i = 0; i < nv_; ++i)
            std::copy_n(w_.parameters.forces + i * columns_, columns_, parameters_of(w_.right, i));
        mujoco_step::solve(w_.matrix, nv_, w_.right, width_);
        if (job_.sweeps.counts &&
            !w_.sweeps.add(job_, k_, {m_, at_, k_, w_.axes}, w_.contact_rows, w_.matrix, w_.right))
            job_.swept = false;
    }
    void set_multipliers(const Pullback& job, Index place, const double* multipliers) const {
        std::copy_n(multipliers, nv_, job.multipliers + place * nv_);
        weights_to_dtau(m_, at_, k_, multipliers, job.lam + place * nv_);
    }
    // M + J^T H J, and d(J^T lambda)/dq and /dv in the workspace; false if there are no constraints.
    bool factorize_with_constraints() {
        std::copy_n(at_.mass + k_ * nv_ * nv_, nv_ * nv_, w_.matrix);
        const bool constrained = StateConstraints(job_, w_, k_).add();
        factorize(w_.matrix, nv_);
        return constrained;
    }

    // d(M a + c)/dq and /dv for accelerations a, from dtau's of state `place`.
    void smooth(const double* a, Index place, double* by_q, double* by_v) const {
        const double* M = at_.mass + k_ * nv_ * nv_;
        for (Index i = 0; i < nv_; ++i) {
            // The armature is part of the mass matrix and of no derivative.
            double torque = at_.bias[k_ * nv_ + i] - m_.armature[i] * a[i];
            for (Index j = 0; j < nv_; ++j) torque = fma(M[i * nv_ + j], a[j], torque);
            w_.torque[i] = torque;
        }
        const Index first = place * nv_ * nv_;
        to_mujoco(m_, at_, k_, a, w_.torque, job_.by_q + first, job_.by_v + first,
                  job_.mass + first, by_q, by_v);
    }

    // The right-hand sides without constraints.
    void set_forces() const {
        for (Index i = 0; i < nv_; ++i) {
            double* row = w_.right + i * width_;
            for (Index j = 0; j < nv_; ++j)
                row[j] = -w_.by_q[i * nv_ + j], row[nv_ + j] = -w_.by_v[i * nv_ + j];
            std::fill(row + 2 * nv_, row + width_, 0.0);
            row[i] -= m_.stiffness[i], row[nv_ + i] -= m_.damping[i];
        }
        add_actuator_derivatives(m_, at_, k_, w_.right);
    }

    // Columns of parameters without constraints.
    void set_parameters() const {
        if (columns_ == 0) return;
        set_parameter_columns(m_, at_, k_, job_.accelerations + k_ * nv_, w_.axes, w_.displacement,
                              w_.parameters);
    }
    double* parameters_of(double* rows, Index i) const {
        return rows + i * width_ + m_.state_and_control();
    }

    // Replaces the derivatives of a by the derivatives of a'.
    void make_implicit() const {
        const double *a = job_.accelerations + k_ * nv_, *after = job_.sweeps.after;
        if (after) smooth(after + k_ * nv_, 2 * at_.n + k_, w_.by_q, w_.by_v);
        smooth(a, at_.n + k_, w_.other_by_q, w_.by_v);
        multiply(at_.mass + k_ * nv_ * nv_, w_.right, w_.other_right, nv_, width_);
        for (Index i = 0; i < nv_; ++i)
            for (Index j = 0; j < nv_; ++j)
                w_.other_right[i * width_ + j] += w_.by_q[i * nv_ + j] - w_.other_by_q[i * nv_ + j];
        for (Index i = 0; i < nv_; ++i)
            add_scaled(parameters_of(w_.other_right, i), 1.0, w_.parameters.implicit + i * columns_,
                       columns_);
        if (m_.integrator == mujoco::implicit_fast) add_rates(m_, at_, k_, a, w_.other_right);
        factorize_implicit(m_, at_, k_, w_.matrix);
        mujoco_step::solve(w_.matrix, nv_, w_.other_right, width_);
        std::copy_n(w_.other_right, nv_ * width_, w_.right);
    }

    // Rows (na, width) of the next activations, or of their rates for a stage.
    void set_activations(double* rows) const {
        std::fill_n(rows, m_.na * width_, 0.0);
        for (Index actuator = 0; actuator < m_.nactuators; ++actuator) {
            const Index state = m_.actuator_states[actuator];
            if (state < 0) continue;
            const Activation by = activation(m_, at_, k_, actuator);
            const Rate& rate = m_.integrator == mujoco::stage ? by.rate : by.after;
            double* row = rows + state * width_ + 2 * nv_;
            row[state] = rate.by_state;
            row[m_.na + m_.actuator_columns[actuator]] = rate.by_control;
        }
    }

    void advance() {
        const double h = m_.timestep;
        double* out = job_.out + k_ * (2 * nv_ + m_.na) * width_;
        double* speeds = out + nv_ * width_;
        set_activations(speeds + nv_ * width_);
        set_displacement();
        for (Index i = 0; i < nv_; ++i) {
            double *row = speeds + i * width_, *moved = out + i * width_;
            for (Index j = 0; j < width_; ++j) row[j] = h * w_.right[i * width_ + j];
            row[nv_ + i] += 1.0;
            for (Index j = 0; j < width_; ++j) moved[j] = h * row[j];
        }
        move_configuration(m_, w_.displacement, out, width_);
    }
    // Computes h v', and compares v' with MuJoCo's.
    void set_displacement() {
        double change = 0.0, largest = 0.0, fastest = 0.0;
        for (Index i = 0; i < nv_; ++i) {
            const Index place = k_ * nv_ + i;
            const double v = at_.v[place], next = fma(m_.timestep, job_.accelerations[place], v);
            change = std::fmax(change, std::fabs(job_.following[place] - next));
            largest = std::fmax(largest, std::fabs(next)),
            fastest = std::fmax(fastest, std::fabs(v));
            w_.displacement[i] = m_.timestep * next;
        }
        if (!(change <= 1e-9 * (largest + fastest))) job_.same = false;
    }

    StepJob& job_;
    const Constants& m_;
    const Solutions& at_;
    Workspace& w_;
    Index k_, nv_, width_, columns_;
};

void prepare_accelerations(const Constants& m, const Solutions& at, const double* before, double* q,
                           double* v, double* a, double* accelerations, double* by_velocity) {
    const Index nv = m.nv, states = at.n, nq = m.nq;
    double* matrix = static_cast<double*>(scratch(static_cast<std::size_t>(nv * nv + 1) * 8));
    for (Index k = 0; k < states; ++k) {
        for (Index i = 0; i < m.nactuators; ++i)
            by_velocity[k * m.nactuators + i] = actuator_derivatives(m, at, k, i).by_velocity;
        for (Index i = 0; i < nq; ++i)
            q[k * nq + i] = at.q[k * nq + m.coordinates[i]] - m.offsets[i];
        to_dtau(m, at, k, (before ? before : at.a) + k * nv, v + k * nv, a + k * nv);
        if (!m.is_implicit()) {
            std::copy_n(at.a + k * nv, nv, accelerations + k * nv);
            continue;
        }
        std::copy_n(at.torque + k * nv, nv, accelerations + k * nv);
        factorize_implicit(m, at, k, matrix);
        mujoco_step::solve(matrix, nv, accelerations + k * nv, 1);
        const auto add = [&](Index other, const double* rates) {
            std::copy_n(q + k * nq, nq, q + other * nq);
            to_dtau(m, at, k, rates + k * nv, v + other * nv, a + other * nv);
        };
        add(states + k, accelerations);
        if (before) add(2 * states + k, at.a);
    }
    trim_scratch();
}

template <class F> void for_each_state(StepJob& job, const F& f) {
    Arena measured;
    Workspace(measured, job);
    Arena arena(scratch(measured.used()), measured.used());
    Workspace workspace(arena, job);
    for (Index k = 0; k < job.at.n; ++k) f(StateStep(job, workspace, k));
    trim_scratch();
}
void differentiate_step(StepJob& job) {
    for_each_state(job, [](StateStep state) { state.differentiate(); });
}
void pull_back_step(Pullback& job) {
    for_each_state(job.step, [&](StateStep state) { state.pull_back(job); });
}
void add_smooth_product(const Pullback& job, const SmoothProduct& product) {
    const Constants& m = job.step.model;
    const Solutions& at = job.step.at;
    double* rows = static_cast<double*>(scratch(static_cast<std::size_t>(2 * m.nv + 1) * 8));
    const auto add = [&](Index k, const double* a, Index place) {
        add_smooth(m, at, k, a + k * m.nv, job.multipliers, product, place, rows, rows + m.nv,
                   job.by + k * m.width());
    };
    for (Index k = 0; k < at.n; ++k) {
        add(k, at.a, k);
        if (m.is_implicit()) add(k, job.step.accelerations, at.n + k);
    }
    trim_scratch();
}

}  // namespace

extern const mujoco::Kernels mujoco_kernels;
const mujoco::Kernels mujoco_kernels = {prepare_accelerations, differentiate_step, pull_back_step,
                                        add_smooth_product, move_configuration};

}  // namespace dtau::DTAU_VARIANT
