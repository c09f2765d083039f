// Computes the gradient of a time step (step.hpp), lam_q . xi+ + lam_v . dv+, by q, v, tau and
// wrenches: step_vjp(). O(N) a stage. [Derivations] eq. 12.9.
//
//   start      by_q = Ad^T lam_q    Theta = J^T lam_q    V = lam_v (+ h Theta if q moves by v+)    by_v = V
//   backward   for the stages i, the last one first; terms with i + 1 are absent in the last stage:
//                rate = b_i h Theta + c_{i+1} h theta_{i+1}      (without Theta if q moves by v+)
//                a    = b_i h V + c_{i+1} h v_{i+1}
//                (x, y, t) = gradient of a . FD(q_i, v_i, tau) by q_i, v_i and tau     (forward_products.hpp)
//                v_i     = (dtheta'/dv)^T rate + y
//                theta_i = (dtheta'/dtheta)^T rate + J_i^T x
//                by_q += Ad_i^T x        by_v += v_i        by_tau += t
//
// The textbook multiplies by the transposed Jacobians of the stages. Here every stage takes one
// vector-Jacobian product of forward dynamics, O(N), and the 6x6 maps of its own joints.
//
// by_h, if it is asked for, is Theta . v+ if q moves by v+, and from every stage rate . theta' + a . v'
// without their factors h.
//
// by_pi, if it is asked for, is -Y_i^T t summed over the stages: [Derivations] eq. 18.6.
//
// Symbols: the names of quantities of step.hpp stand for the gradients by them. Theta, V (end_theta,
// end_v): by the displacement and the velocity at the end; theta, v, rate, a: by quantities of a stage.
#pragma once

#include "dtau/algorithms/first/inertial_torque.hpp"
#include "dtau/algorithms/first/world_wrenches.hpp"
#include "dtau/algorithms/steps/step.hpp"
#include "dtau/numbers.hpp"

namespace dtau::DTAU_VARIANT {

// Forward dynamics and its gradient, as step_vjp calls them: for independent joints, and for mimic joints
// (with constraints: constraints/steps.hpp). tau and lam: of the independent velocities; all else: of the
// joints.
template <class T> struct IndependentDynamics {
    ForwardVjpWorkspace<T> w;

    IndependentDynamics(Arena& arena, const Tree& tree, const Options& options)
        : w(arena, tree, options) {}
    void acceleration(const Tree& tree, const T* q, const T* v, const T* tau, const T* f_ext,
                      T* a) const {
        articulated_dynamics(tree, q, v, tau, f_ext, a, w.value);
    }
    void gradient(const Tree& tree, const T* q, const T* v, const T* tau, const T* lam,
                  const T* f_ext, T* by_q, T* by_v, T* by_tau, T* by_f_ext) const {
        forward_dynamics_vjp(tree, q, v, tau, lam, f_ext, by_q, by_v, by_tau, by_f_ext, w);
    }
};
template <class T> struct MimicDynamics {
    MimicForwardVjpWorkspace<T> w;

    MimicDynamics(Arena& arena, const Tree& tree, const Options& options)
        : w(arena, tree, options) {}
    void acceleration(const Tree& tree, const T* q, const T* v, const T* tau, const T* f_ext,
                      T* a) const {
        mimic_forward_dynamics(tree, q, v, tau, f_ext, a, w.dynamics);
    }
    void gradient(const Tree& tree, const T* q, const T* v, const T* tau, const T* lam,
                  const T* f_ext, T* by_q, T* by_v, T* by_tau, T* by_f_ext) const {
        mimic_forward_dynamics_vjp(tree, q, v, tau, lam, f_ext, by_q, by_v, by_tau, by_f_ext, w);
    }
};

template <class T> struct StepVjpWorkspace {
    StepWorkspace<T> step;
    VariationWorkspace<T> variation;
    T *q_next, *v_next;
    // Gradients: by the displacement and the velocity at the end of the step; by theta, v, theta' and a
    // of a stage; by q, v, tau and f_ext through its acceleration.
    T *end_theta, *end_v, *theta, *v, *rate, *a, *independent_a, *stage_q, *stage_v, *stage_tau,
        *stage_f_ext;
    WrenchGradientWorkspace<T> wrenches;
    InertialTorqueWorkspace<T> inertial;

    StepVjpWorkspace(Arena& arena, const Tree& tree, const Options& options)
        : step(arena, tree, options),
          variation(arena, tree, options),
          q_next(arena.take<T>(tree.nq)),
          a(arena.take<T>(tree.nv)),
          independent_a(room_beside(arena, tree, a, tree.independent.n)),
          stage_f_ext(arena.take<T>(6 * tree.nbodies)),
          wrenches(arena, tree, options),
          inertial(arena, tree, options) {
        arena.take_each(tree.nv, v_next, end_theta, end_v, theta, v, rate, stage_q, stage_v,
                        stage_tau);
    }
};

// result = matrix^T x, or += if `adds`, for `size` coordinates of a joint.
template <bool adds, class T>
inline void transposed_product(const T* matrix, int size, const T* x, T* result) {
    for (int c = 0; c < size; ++c) {
        T sum = adds ? result[c] : T(0.0);
        for (int r = 0; r < size; ++r) sum = fma(matrix[r * size + c], x[r], sum);
        result[c] = sum;
    }
}

// Given the gradient x by q (+) theta: adds the gradient by q to by_q, and writes (or adds) the gradient
// by theta.
template <bool adds, class T>
inline void displaced_gradient(const Tree& tree, int stage, const VariationWorkspace<T>& w,
                               const T* x, T* by_q, T* by_theta) {
    int j = 0;
    for (int i = 0; i < tree.nnodes; ++i) {
        const Body& body = tree.bodies[i];
        const int first = body.v;
        if (!traits(body.kind).commutes) {
            const JointVariation<T>& by = w.at(j++, stage);
            // [Derivations] eq. 12.6
            transposed_product<true>(by.Ad, body.nv, x + first, by_q + first);
            transposed_product<adds>(by.J, body.nv, x + first, by_theta + first);
            continue;
        }
        for (int k = first; k < first + body.nv; ++k) {
            by_q[k] += x[k];
            by_theta[k] = adds ? by_theta[k] + x[k] : x[k];
        }
    }
}

// tau, lam_q, lam_v: of the independent velocities; all else: of the joints. With `reached`, lam_q weighs the
// numbers of q+. f_ext may be null: zero; then by_f_ext is null, too. by_h and by_parameters may be null: not
// asked for.
template <class T, class Dynamics>
void step_vjp(const Tree& given, Integrator method, const T* q, const T* v, const T* tau, T h,
              const T* lam_q, const T* lam_v, const T* f_ext, T* by_q, T* by_v, T* by_tau,
              T* by_f_ext, T* by_h, T* by_parameters, const Reached<T>* reached,
              const StepVjpWorkspace<T>& w, const Dynamics& dynamics) {
    Tree room;
    const Tree& tree = w.step.damping.tree(given, v, h, room);
    const int nv = tree.nv;
    const bool by_end = moves_by_end_velocity(method);  // end_theta = h end_v
    const auto body_wrenches = [&](const T* qi) {
        return along_body_axes(tree, qi, f_ext, w.wrenches.value);
    };
    step(tree, q, v, h, method, w.q_next, w.v_next, w.step,
         [&](int i, const T* qi, const T* vi, T* a) {
             // The last stage's acceleration changes v+ alone, which few gradients read.
             if (i + 1 < stage_count(method) || by_end || by_h || by_parameters)
                 return dynamics.acceleration(tree, qi, vi, tau, body_wrenches(qi), a);
             for (int k = 0; k < nv; ++k) a[k] = T(0.0);
         });
    step_variation(tree, method, w.step, w.variation);

    for (int k = 0; k < nv; ++k) by_q[k] = by_tau[k] = T(0.0);
    for (int k = 0; by_f_ext && k < 6 * tree.nbodies; ++k) by_f_ext[k] = T(0.0);
    for (int k = 0; by_parameters && k < w.inertial.count; ++k) by_parameters[k] = T(0.0);
    to_owners(tree, lam_v, w.end_v);
    to_owners(tree, reached ? reached->weights(tree, w.q_next, lam_q) : lam_q, w.stage_q);
    displaced_gradient<false>(tree, max_stages, w.variation, w.stage_q, by_q, w.end_theta);
    T length(0.0);
    for (int k = 0; by_end && k < nv; ++k) length = fma(w.end_theta[k], w.v_next[k], length);
    for (int k = 0; by_end && k < nv; ++k) w.end_v[k] = fma(h, w.end_theta[k], w.end_v[k]);
    for (int k = 0; k < nv; ++k) by_v[k] = w.end_v[k];

    for (int i = stage_count(method) - 1; i >= 0; --i) {
        const bool last = i == stage_count(method) - 1;
        const T weight = T(stage_weight(method, i)) * h;
        const T ahead = T(last ? 0.0 : stage_ahead(i + 1)) * h;
        for (int k = 0; by_h && k < nv; ++k) {
            const T b(stage_weight(method, i)), c(last ? 0.0 : stage_ahead(i + 1));
            const T rate = fma(c, last ? T(0.0) : w.theta[k], by_end ? T(0.0) : b * w.end_theta[k]);
            const T acceleration = fma(c, last ? T(0.0) : w.v[k], b * w.end_v[k]);
            length = fma(rate, w.step.rate(i)[k], fma(acceleration, w.step.a(i)[k], length));
        }
        for (int k = 0; k < nv; ++k) {
            w.rate[k] = by_end ? T(0.0) : weight * w.end_theta[k];  // [Derivations] eq. 12.9
            w.a[k] = weight * w.end_v[k];
            if (last) continue;
            w.rate[k] = fma(ahead, w.theta[k], w.rate[k]);
            w.a[k] = fma(ahead, w.v[k], w.a[k]);
        }
        for (int k = 0; k < nv; ++k) w.v[k] = w.rate[k], w.theta[k] = T(0.0);
        if (i > 0)
            for_noncommuting_joints(tree, false, [&](int j, const Body& body, int first) {
                const JointVariation<T>& by = w.variation.at(j, i);
                transposed_product<false>(by.by_v, body.nv, w.rate + first, w.v + first);
                transposed_product<false>(by.by_theta, body.nv, w.rate + first, w.theta + first);
            });
        reduce_columns(tree, w.a, 1, w.independent_a);
        const T* body_f_ext = body_wrenches(w.step.q(i));
        dynamics.gradient(tree, w.step.q(i), w.step.v(i), tau, w.independent_a, body_f_ext,
                          w.stage_q, w.stage_v, w.stage_tau, by_f_ext ? w.stage_f_ext : nullptr);
        gradient_along_world_axes(tree, body_f_ext, w.stage_q, w.stage_f_ext, w.wrenches);
        if (by_parameters)
            subtract_inertial_gradient(tree, w.step.q(i), w.step.v(i), w.step.a(i), w.stage_tau,
                                       by_parameters, w.inertial);
        if (w.step.damping.acts())
            w.step.damping.subtract_gradient(tree, h, w.step.a(i), w.stage_tau, w.stage_v, length,
                                             by_parameters);
        for (int k = 0; k < nv; ++k) {
            w.v[k] += w.stage_v[k];
            by_v[k] += w.v[k];
            by_tau[k] += w.stage_tau[k];
        }
        for (int k = 0; by_f_ext && k < 6 * tree.nbodies; ++k) by_f_ext[k] += w.stage_f_ext[k];
        if (i > 0)
            displaced_gradient<true>(tree, i, w.variation, w.stage_q, by_q, w.theta);
        else
            for (int k = 0; k < nv; ++k) by_q[k] += w.stage_q[k];
    }
    if (by_h) *by_h = length;
}

}  // namespace dtau::DTAU_VARIANT
