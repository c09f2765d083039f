// Computes the Hessian of a time step (step.hpp), contracted with weights lam = (lam_q, lam_v):
// step_hessian(). [Derivations] §24
//
// z = (xi, dv, u, h, f) varies the state before the step, q (+) xi and v + dv, the inputs and, if they
// are asked for, the length h and the external wrenches. z+ = (xi+, dv+) is the variation of the state
// after it; xi+ is the difference from q+. Both states are in exponential charts, so H = d2 (lam^T
// z+) / dz2 is symmetric. lam passes back through the stages as in step_products.hpp. With the first
// derivatives S_i = (Q_i, V_i, U) of (q, v, tau) of stage i, each stage adds
//
//   H += S_i^T H_i S_i      H_i: of forward dynamics in the exponential chart, weighted with a_i   (24.1)
//   H += Theta_i^T C Theta_i + (Q_0^T K Theta_i + its transpose)      of q (+) theta_i  (chart_curvature.hpp)
//   H += Theta_i^T D Theta_i + (Theta_i^T E V_i + its transpose)      of theta'_i
//   row and column h: of rate . theta'_i + a . a_i by z, without the weights' factor h              (24.6)
//
// Only the upper triangle is computed. S_0 = 1, except for the inputs. A step of one stage needs
// only the rows Theta of joints whose displacements do not commute: gradients of their
// accelerations.
#pragma once

#include "dtau/algorithms/second/forward_hessian.hpp"
#include "dtau/algorithms/steps/step_hessian_numbers.hpp"
#include "dtau/algorithms/steps/step_products.hpp"

namespace dtau::DTAU_VARIANT {

// ---------------------------------------------------------------- forward dynamics of the stages

template <class T> struct ForwardStepHessianWorkspace {
    StepHessianWorkspace<T> step;
    ForwardHessianWorkspace<T> hessian;
    DiscreteWorkspace<T>* discrete;  // of several stages

    ForwardStepHessianWorkspace(Arena& arena, const Tree& tree, const Options& options)
        : step(arena, tree, options),
          hessian(arena, tree, options),
          discrete(several_stages<DiscreteWorkspace<T>>(arena, tree, options)) {
        if (discrete) discrete->step = step.step, discrete->variation = step.variation;
    }
};

// Second derivatives of the stages without contacts. With contacts: constraints/step_hessian.hpp.
template <class T> struct ForwardCurvature {
    const ForwardStepHessianWorkspace<T>& w;
    const T* f_ext;
    const T* body_f_ext = nullptr;

    void value(const Tree& tree, const T* q, const T* v, const T* tau, T h, T* a) {
        body_f_ext = forward_hessian_value(tree, q, v, tau, f_ext, w.hessian);
        for (int k = 0; k < tree.nv; ++k) a[k] = w.hessian.dynamics.a[k];
        w.step.step.damping.extend(tree, v, h, a, w.hessian.dynamics.idsva);
    }
    void hessian(const Tree& tree, const T* lam, const Blocks<T>& out) const {
        forward_hessian_blocks(tree, lam, body_f_ext, out, true, w.hessian);
    }
    void gradient(const Tree& tree, const T* lam, T* by_q, T* by_v, T* by_tau) const {
        forward_hessian_gradient(tree, lam, by_q, by_v, by_tau, w.hessian);
    }
    FreeStages<T> stages() const { return {*w.discrete, f_ext}; }  // if there are several
};

// ---------------------------------------------------------------- the damping of an implicit step

// The derivative by h of weighted accelerations of an implicit step through h D a; by_tau: their gradient by tau.
template <class T>
T by_damped_length(const Tree& tree, const T* by_tau, const StepHessianWorkspace<T>& w) {
    T sum(0.0);
    if (!w.step.damping.acts()) return sum;
    const T* by_length = w.step.damping.by_length(tree, w.step.a(0));
    for (int k = 0; k < w.n; ++k) sum = fma(-by_length[k], by_tau[k], sum);
    return sum;
}

// Adds the terms of h D a by the acceleration and v, the acceleration and h, or v and h. [Derivations] eq. 28.4
template <class T, class Dynamics>
void add_damping_terms(const Tree& tree, const InputMap<T>& inputs, T h, T* H,
                       const StepHessianWorkspace<T>& w, Dynamics& dynamics) {
    const int n = w.n, nz = w.nz;
    const EndDamping<T>& damping = w.step.damping;
    // H(r, b) -= x row[b], and the transpose.
    const auto subtract = [&](int r, T x, const T* row) {
        for (int b = 0; b < nz; ++b) {
            T& to = b < r ? w.row(H, b)[r] : w.row(H, r)[b];
            to = fma(b == r ? T(-2.0) * x : -x, row[b], to);
        }
    };
    // The gradient by z of accelerations with these weights.
    T* const row = w.slope;
    const auto gradient = [&](const T* weights) {
        for (int b = 0; b < nz; ++b) row[b] = T(0.0);
        dynamics.gradient(tree, weights, row, row + n, w.by_tau);
        add_torque_gradient(inputs, w.by_tau, row, w);
        if (w.length >= 0) row[w.length] = by_damped_length(tree, w.by_tau, w);
    };
    if (!has_friction(tree) && w.length < 0) return;
    T *const by_a = w.rate, *const by_av = w.end_v;
    gradient(w.a);
    damping.weigh(tree, damping.D, w.by_tau, false, by_a);
    damping.weigh(tree, damping.slope, w.by_tau, true, by_av);
    if (w.length >= 0) {
        // By q and h, which acts as the torque -D a.
        const T* const by_length = damping.by_length(tree, w.step.a(0));
        for (int k = 0; k < n; ++k)
            for (int j = 0; j < n; ++j)
                w.row(H, k)[w.length] =
                    fma(-by_length[j], w.stage.dadq[j * n + k], w.row(H, k)[w.length]);
        gradient(by_a);
        subtract(w.length, T(1.0), row);
    }
    for (int k = 0; has_friction(tree) && k < n; ++k) {
        if (w.length >= 0) {
            T& to = w.row(H, n + k)[w.length];
            to = fma(-by_av[k], w.step.a(0)[owning_dof(tree, k)], to);
        }
        for (int j = 0; j < n; ++j) w.rate[j] = j == k ? T(1.0) : T(0.0);
        gradient(w.rate);
        subtract(n + k, h * by_av[k], row);
    }
}

// ---------------------------------------------------------------- the step

// Runs after a step of one stage: the rows of its displacement, for joints that do not commute.
template <class T, class Dynamics>
void displacement_rows(const Tree& tree, Integrator method, const InputMap<T>& inputs, T h,
                       const StepHessianWorkspace<T>& w, Dynamics& dynamics) {
    const int n = w.n;
    const bool by_end = moves_by_end_velocity(method);
    for_noncommuting_joints(tree, true, [&](int, const Body& body, int first) {
        for (int k = first; k < first + body.nv; ++k) {
            T* const row = w.row(w.rows[max_stages].theta, k);
            for (int b = 0; b < w.nz; ++b) row[b] = T(0.0);
            const int joint = body.v + k - first;
            T by_h = w.step.v(0)[joint];
            if (by_end) {
                for (int j = 0; j < n; ++j) w.rate[j] = j == k ? h * h : T(0.0);
                dynamics.gradient(tree, w.rate, row, row + n, w.by_tau);
                add_torque_gradient(inputs, w.by_tau, row, w);
                by_h = fma(h, w.step.a(0)[joint], w.v_next[joint]) +
                       by_damped_length(tree, w.by_tau, w);
            }
            row[n + k] = row[n + k] + h;
            if (w.length >= 0) row[w.length] = by_h;
        }
    });
}

// Adds the terms of stage i by h and another variable, or by h twice: the products h theta' and h a vary by
// both factors. Runs after the Hessian of the stage. [Derivations] eq. 24.6
template <class T, class Dynamics>
void add_length_terms(const Tree& tree, int i, bool by_end, const InputMap<T>& inputs, T* H,
                      const StepHessianWorkspace<T>& w, const Dynamics& dynamics) {
    const int n = w.n, nz = w.nz;
    const StageRows<T>& rows = w.rows[i];
    T* const slope = w.slope;
    for (int b = 0; b < nz; ++b) slope[b] = T(0.0);
    const auto add = [&](T* matrix, int k, T x) {
        for (int b = 0; b < nz; ++b) slope[b] = fma(x, w.row(matrix, k)[b], slope[b]);
    };
    dynamics.gradient(tree, w.slope_a, w.by_q, w.by_v, w.by_tau);
    add_torque_gradient(inputs, w.by_tau, slope, w);
    slope[w.length] = by_damped_length(tree, w.by_tau, w);
    for (int k = 0; k < n; ++k) w.by_v[k] = w.by_v[k] + w.slope_rate[k];
    if (i > 0)
        for_noncommuting_joints(tree, true, [&](int j, const Body& body, int first) {
            const JointVariation<T>& by = w.variation.at(j, i);
            T by_v[6], by_theta[6];
            transposed_product<false>(by.by_v, body.nv, w.slope_rate + first, by_v);
            transposed_product<false>(by.by_theta, body.nv, w.slope_rate + first, by_theta);
            for (int k = 0; k < body.nv; ++k) {
                w.by_v[first + k] = w.by_v[first + k] - w.slope_rate[first + k] + by_v[k];
                add(rows.theta, first + k, by_theta[k]);
            }
        });
    for (int k = 0; k < n; ++k) {
        if (i > 0) {
            add(rows.q, k, w.by_q[k]), add(rows.v, k, w.by_v[k]);
            continue;
        }
        slope[k] = w.by_q[k], slope[n + k] = w.by_v[k];
        if (by_end)  // h v+ varies by v+, which varies by h a
            slope[w.length] =
                fma(w.end_theta[k], w.step.a(0)[owning_dof(tree, k)], slope[w.length]);
    }
    for (int b = 0; b < nz; ++b) {
        T& to = b < w.length ? w.row(H, b)[w.length] : w.row(H, w.length)[b];
        to = fma(b == w.length ? T(2.0) : T(1.0), slope[b], to);
    }
}

// Computes the Hessian (nz, nz) by z of a step from q, v (of the joints) and tau. lam_q, lam_v:
// weights of the independent velocities. With `reached`, lam_q weighs the numbers of q+, and H is raw.
template <class T, class Dynamics>
void step_hessian(const Tree& given, Integrator method, const InputMap<T>& inputs, const T* q,
                  const T* v, const T* tau, T h, const T* lam_q, const T* lam_v, T* H,
                  const Reached<T>* reached, const StepHessianWorkspace<T>& w, Dynamics& dynamics) {
    Tree room;
    const Tree& tree = w.step.damping.tree(given, v, h, room);
    const T* const by_next = lam_q;  // weights of numbers
    const int n = w.n, stages = stage_count(method);
    const bool by_end = moves_by_end_velocity(method);
    const auto add_curvature = [&](int i, const T* x, bool of_rate, const T* rate) {
        for_noncommuting_joints(tree, true, [&](int j, const Body& body, int first) {
            JointCurvature<T> curvature;
            const T *theta = w.step.theta(i) + body.v, *rows = w.row(w.rows[i].theta, first),
                    *none = nullptr;
            displacement_curvature(body, theta, x + first, curvature);
            if (reached && i == max_stages)
                add_number_curvature(body, first, w.variation.at(j), *reached, by_next, curvature,
                                     H, w);
            add_joint_curvature(body.nv, first, curvature, rows, none, H, w);
            if (!of_rate) return;
            rate_curvature(body, theta, w.step.v(i) + body.v, rate + first, curvature);
            add_joint_curvature(body.nv, first, curvature, rows, w.row(w.rows[i].v, first), H, w);
        });
    };
    step(tree, q, v, h, method, w.q_next, w.v_next, w.step,
         [&](int i, const T* qi, const T* vi, T* a) {
             if (stages == 1) return dynamics.value(tree, qi, vi, tau, h, a);
             linearize_stage(tree, i, qi, vi, tau, h, a, dynamics.stages());
         });
    step_variation(tree, method, w.step, w.variation);
    if (stages > 1) stage_rows(tree, method, inputs, h, H, dynamics.stages(), w);
    if (reached) lam_q = reached->weights(tree, w.q_next, by_next);

    for (int k = 0; k < n; ++k) w.end_theta[k] = lam_q[k];
    for_noncommuting_joints(tree, true, [&](int j, const Body& body, int first) {
        transposed_product<false>(w.variation.at(j).J, body.nv, lam_q + first, w.end_theta + first);
    });
    if (reached) {
        for (int k = 0; k < n; ++k) w.gradient[k] = T(0.0);
        add_joint_gradients(tree, max_stages, lam_q, w);
    }
    for (int k = 0; k < n; ++k) w.end_v[k] = by_end ? fma(h, w.end_theta[k], lam_v[k]) : lam_v[k];
    for (int i = stages - 1; i >= 0; --i) {
        const bool last = i == stages - 1;
        const T weight = T(stage_weight(method, i)) * h;
        const T ahead = T(last ? 0.0 : stage_ahead(i + 1)) * h;
        for (int k = 0; k < n; ++k) {
            w.rate[k] = by_end ? T(0.0) : weight * w.end_theta[k];  // [Derivations] eq. 12.9
            w.a[k] = weight * w.end_v[k];
            const T b(stage_weight(method, i)), c(last ? 0.0 : stage_ahead(i + 1));
            w.slope_rate[k] = b * w.end_theta[k];
            w.slope_a[k] = b * (by_end ? fma(h, w.end_theta[k], w.end_v[k]) : w.end_v[k]);
            if (last) continue;
            w.rate[k] = fma(ahead, w.theta[k], w.rate[k]);
            w.a[k] = fma(ahead, w.v[k], w.a[k]);
            w.slope_rate[k] = fma(c, w.theta[k], w.slope_rate[k]);
            w.slope_a[k] = fma(c, w.v[k], w.slope_a[k]);
        }
        if (stages > 1) dynamics.value(tree, w.step.q(i), w.step.v(i), tau, h, w.step.a(i));
        dynamics.hessian(tree, w.a, w.stage);
        const auto& at_stage = dynamics.w.hessian;
        torque_columns(tree, w.step.q(i), inputs, at_stage.dynamics.idsva.root_frame,
                       at_stage.hessian, w);
        if (i == 0) break;
        if (last)
            for (std::ptrdiff_t k = 0; k < static_cast<std::ptrdiff_t>(w.nz) * w.nz; ++k)
                H[k] = T(0.0);
        if (w.length >= 0) add_length_terms(tree, i, by_end, inputs, H, w, dynamics);
        dynamics.gradient(tree, w.a, w.by_q, w.by_v, w.by_tau);
        if (reached) add_joint_gradients(tree, i, w.by_q, w);
        add_later_stage(w.rows[i], H, w);
        add_curvature(i, w.by_q, true, w.rate);
        for (int k = 0; k < n; ++k) {
            w.v[k] = w.rate[k] + w.by_v[k];
            w.theta[k] = w.by_q[k];
        }
        for_noncommuting_joints(tree, true, [&](int j, const Body& body, int first) {
            const JointVariation<T>& by = w.variation.at(j, i);
            const T *rate = w.rate + first, *x = w.by_q + first;
            for (int k = first; k < first + body.nv; ++k) w.v[k] = w.by_v[k];
            transposed_product<true>(by.by_v, body.nv, rate, w.v + first);
            transposed_product<false>(by.J, body.nv, x, w.theta + first);
            transposed_product<true>(by.by_theta, body.nv, rate, w.theta + first);
        });
    }
    if (reached) {
        dynamics.gradient(tree, w.a, w.by_q, w.by_v, w.by_tau);
        for (int k = 0; k < n; ++k) w.gradient[k] = w.gradient[k] + w.by_q[k];
    }
    if (stages > 1) {
        put_first_stage<true>(H, w);
    } else {
        put_first_stage<false>(H, w);
        displacement_rows(tree, method, inputs, h, w, dynamics);
    }
    if (w.length >= 0) add_length_terms(tree, 0, by_end, inputs, H, w, dynamics);
    if (w.step.damping.acts()) add_damping_terms(tree, inputs, h, H, w, dynamics);
    add_curvature(max_stages, lam_q, false, w.rate);
    mirror(H, w.nz);
    if (reached) add_brackets(tree, H, w);
}

}  // namespace dtau::DTAU_VARIANT
