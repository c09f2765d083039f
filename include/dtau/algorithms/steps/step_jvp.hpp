// Computes the variation of a time step (step.hpp) along q, v, tau, h, the external wrenches and the
// inertial parameters pi: step_jvp(). O(N) a stage.
//
//   stages   xi_i = Ad_i xi + J_i dtheta_i        dtheta_i = c_i (h dr_{i-1} + dh r_{i-1})    (xi_0 = xi)
//            dv_i = dv + c_i (h da_{i-1} + dh a_{i-1})
//            da_i = variation of forward dynamics along xi_i, dv_i, dtau - Y_i dpi and df
//            dr_i = (dtheta'/dv) dv_i + (dtheta'/dtheta) dtheta_i
//   end      dv+  = dv + sum of b_i (h da_i + dh a_i)        xi+ = Ad xi + J dtheta
//            dtheta = sum of b_i (h dr_i + dh r_i), or h dv+ + dh v+ for steps by v+
//
// These are the columns of discrete_linearization.hpp, one at a time and without the factors of the
// mass matrix: every stage takes one product of forward dynamics. [Derivations] §12
#pragma once

#include "dtau/algorithms/first/inertial_torque.hpp"
#include "dtau/algorithms/first/world_wrenches.hpp"
#include "dtau/algorithms/steps/step.hpp"

namespace dtau::DTAU_VARIANT {

// Directions, of the joints but for tau; directions of the wrenches, of the inertial parameters and of h may be
// null: zero.
template <class T> struct StepDirection {
    const T *q, *v, *tau, *f_ext, *parameters, *h;
};

template <class T> struct StepJvpWorkspace {
    StepWorkspace<T> step;
    WrenchVariationWorkspace<T> wrenches;
    InertialTorqueWorkspace<T> inertial;
    T *q_next, *v_next;
    T *theta, *xi, *v, *rate, *a, *rate_sum, *a_sum;  // variations
    T* dforces;                                       // of contacts, if there are any

    StepJvpWorkspace(Arena& arena, const Tree& tree, const Options& options)
        : step(arena, tree, options),
          wrenches(arena, tree, options),
          inertial(arena, tree, options),
          q_next(arena.take<T>(tree.nq)),
          v_next(arena.take<T>(tree.nv)),
          dforces(arena.take<T>(options.contacts ? options.contacts->nrows : 0)) {
        const auto vector = [&] { return arena.take<T>(tree.nv); };
        theta = vector(), xi = vector(), v = vector(), rate = vector(), a = vector();
        rate_sum = vector(), a_sum = vector();
    }
};

// result = matrix x, or += if `adds`, for n coordinates of a joint.
template <bool adds, class T>
inline void matrix_product(const T* matrix, int n, const T* x, T* result) {
    for (int r = 0; r < n; ++r) {
        T sum = adds ? result[r] : T(0.0);
        for (int c = 0; c < n; ++c) sum = fma(matrix[r * n + c], x[c], sum);
        result[r] = sum;
    }
}

// The variation of q (+) theta, at theta, with the variations of q and of theta.
template <class T>
__attribute__((noinline)) void vary_displaced(const Tree& tree, const T* theta, const T* dq,
                                              const T* dtheta, T* xi) {
    for (int k = 0; k < tree.nv; ++k) xi[k] = dq[k] + dtheta[k];
    for_noncommuting_joints(tree, false, [&](int, const Body& body, int first) {
        JointVariation<T> by;
        displacement_variation(body, theta + first, by);
        matrix_product<false>(by.Ad, body.nv, dq + first, xi + first);
        matrix_product<true>(by.J, body.nv, dtheta + first, xi + first);
    });
}
// The variation of theta', at theta and v.
template <class T>
__attribute__((noinline)) void vary_rate(const Tree& tree, const T* theta, const T* v,
                                         const T* dtheta, const T* dv, T* rate) {
    for (int k = 0; k < tree.nv; ++k) rate[k] = dv[k];
    for_noncommuting_joints(tree, false, [&](int, const Body& body, int first) {
        JointVariation<T> by;
        rate_variation(body, theta + first, v + first, by);
        matrix_product<false>(by.by_v, body.nv, dv + first, rate + first);
        matrix_product<true>(by.by_theta, body.nv, dtheta + first, rate + first);
    });
}

// q, v, dq_next and dv_next: of the joints; tau: of the independent velocities. f_ext may be null: zero.
template <class T, class Dynamics>
void step_jvp(const Tree& given, Integrator method, const T* q, const T* v, const T* tau, T h,
              const T* f_ext, const StepDirection<T>& along, T* dq_next, T* dv_next,
              const StepJvpWorkspace<T>& w, const Dynamics& dynamics) {
    Tree room;
    const EndDamping<T>& damping = w.step.damping;
    const Tree& tree = damping.tree(given, v, h, room);
    const int nv = tree.nv;
    const T dh = along.h ? *along.h : T(0.0);
    for (int k = 0; k < nv; ++k) w.rate_sum[k] = w.a_sum[k] = T(0.0);
    step(tree, q, v, h, method, w.q_next, w.v_next, w.step,
         [&](int i, const T* qi, const T* vi, T* a) {
             const T ahead = T(stage_ahead(i)) * h, by_ahead = T(stage_ahead(i)) * dh;
             const T weight = T(stage_weight(method, i)) * h;
             for (int k = 0; k < nv; ++k) {
                 w.theta[k] = T(0.0), w.v[k] = along.v[k], w.xi[k] = along.q[k];
                 if (i == 0) continue;
                 w.theta[k] = fma(ahead, w.rate[k], by_ahead * w.step.rate(i - 1)[k]);
                 w.v[k] = fma(ahead, w.a[k], fma(by_ahead, w.step.a(i - 1)[k], w.v[k]));
             }
             if (i > 0) vary_displaced(tree, w.step.theta(i), along.q, w.theta, w.xi);
             const WrenchVariation<T> wrenches =
                 vary_along_body_axes(tree, qi, w.xi, f_ext, along.f_ext, w.wrenches);
             const auto vary = [&](const T* dtau) {
                 dynamics.variation(tree, qi, vi, tau, w.xi, w.v, dtau, wrenches, a, w.a);
             };
             const T* dtau = along.tau;
             vary(dtau);
             // At the acceleration a, which the first product gives.
             if (along.parameters)
                 dtau = less_inertial_torque(tree, qi, vi, a, along.parameters, dtau, w.inertial);
             if (damping.acts() && (has_friction(tree) || along.h || along.parameters))
                 dtau = damping.less_variation(tree, h, a, dh, w.v, along.parameters, dtau);
             if (dtau != along.tau) vary(dtau);
             vary_rate(tree, w.step.theta(i), vi, w.theta, w.v, w.rate);
             for (int k = 0; k < nv; ++k) {
                 w.rate_sum[k] = fma(weight, w.rate[k], w.rate_sum[k]);
                 w.a_sum[k] = fma(weight, w.a[k], w.a_sum[k]);
             }
         });
    for (int i = 0; i < stage_count(method); ++i) {
        const T weight = T(stage_weight(method, i)) * dh;
        for (int k = 0; k < nv; ++k) {
            w.rate_sum[k] = fma(weight, w.step.rate(i)[k], w.rate_sum[k]);
            w.a_sum[k] = fma(weight, w.step.a(i)[k], w.a_sum[k]);
        }
    }
    for (int k = 0; k < nv; ++k) {
        dv_next[k] = along.v[k] + w.a_sum[k];
        if (moves_by_end_velocity(method)) w.rate_sum[k] = fma(h, dv_next[k], dh * w.v_next[k]);
    }
    vary_displaced(tree, w.step.theta(), along.q, w.rate_sum, dq_next);
}

// ---------------------------------------------------------------- forward dynamics of the stages

// With contacts: constraints/steps.hpp.
template <class T> struct IndependentVariation {
    ForwardJvpWorkspace<T> w;

    IndependentVariation(Arena& arena, const Tree& tree, const Options& options)
        : w(arena, tree, options) {}
    void variation(const Tree& tree, const T* q, const T* v, const T* tau, const T* dq, const T* dv,
                   const T* dtau, const WrenchVariation<T>& wrenches, T* a, T* da) const {
        forward_dynamics_jvp(tree, q, v, tau, dq, dv, dtau, wrenches.f_ext, wrenches.df_ext, da, w);
        for (int k = 0; k < tree.nv; ++k) a[k] = w.a[k];
    }
};
template <class T> struct MimicVariation {
    MimicForwardJvpWorkspace<T> w;

    MimicVariation(Arena& arena, const Tree& tree, const Options& options)
        : w(arena, tree, options) {}
    void variation(const Tree& tree, const T* q, const T* v, const T* tau, const T* dq, const T* dv,
                   const T* dtau, const WrenchVariation<T>& wrenches, T* a, T* da) const {
        mimic_forward_dynamics_jvp(tree, q, v, tau, dq, dv, dtau, wrenches.f_ext, wrenches.df_ext,
                                   da, w);
        for (int k = 0; k < tree.nv; ++k) a[k] = w.a[k];
    }
};

}  // namespace dtau::DTAU_VARIANT
