// Takes one time step h: step(). It integrates q' = v (in body axes), v' = a(q, v, tau), with tau and the
// external wrenches constant.
//
//   euler          q+ = q (+) h v,    v+ = v + h a
//   semi_implicit  q+ = q (+) h v+,   v+ = v + h a
//   implicit       the same, with the damping and the friction of the end of the step: end_damping.hpp
//   rk4            the classical Runge-Kutta method for theta and v, with q = q0 (+) theta:
//
//     theta' = J(theta)^-1 v = v + [theta, v] / 2 + [theta, [theta, v]] / 12 - ...,   [x, y] = x cross y
//
// Textbooks integrate the numbers of q and normalize quaternions afterwards. Here theta is a vector of
// the tangent space, the method of Runge, Kutta and Munthe-Kaas [RKMK]; J is the right Jacobian, as
// velocities are in body axes. Order 4 needs the two brackets written here and no more. Without them
// the order is 2 for joints whose displacements do not commute; for all others brackets are zero.
#pragma once

#include "dtau/algorithms/steps/end_damping.hpp"
#include "dtau/algorithms/steps/manifold.hpp"
#include "dtau/mimic.hpp"

namespace dtau::DTAU_VARIANT {

inline constexpr int max_stages = 4;

inline int stage_count(Integrator method) { return method == Integrator::rk4 ? max_stages : 1; }
// Whether q moves by v+.
inline bool moves_by_end_velocity(Integrator method) {
    return method == Integrator::semi_implicit || method == Integrator::implicit;
}
// c_i and b_i: how far stage i goes along the derivatives of the stage before it, and its weight in the
// result; both in units of h.
inline double stage_ahead(int i) { return i == 0 ? 0.0 : i == 3 ? 1.0 : 0.5; }
inline double stage_weight(Integrator method, int i) {
    return method != Integrator::rk4 ? 1.0 : i == 0 || i == 3 ? 1.0 / 6.0 : 1.0 / 3.0;
}

// The stages of a step: q(i), v(i), the displacement theta(i) from q, and the derivatives theta' and v',
// rate(i) and a(i). theta() is the displacement of the whole step.
template <class T> struct StepWorkspace {
    int nq, nv;
    T *qs, *vs, *thetas, *rates, *as;
    EndDamping<T> damping;

    StepWorkspace(Arena& arena, const Tree& tree, const Options& options)
        : nq(tree.nq),
          nv(tree.nv),
          qs(arena.take<T>(max_stages * nq)),
          thetas(arena.take<T>((max_stages + 1) * nv)),
          damping(arena, tree, options) {
        arena.take_each(max_stages * nv, vs, rates, as);
    }
    T* q(int i) const { return qs + i * nq; }
    T* v(int i) const { return vs + i * nv; }
    T* theta(int i = max_stages) const { return thetas + i * nv; }
    T* rate(int i) const { return rates + i * nv; }
    T* a(int i) const { return as + i * nv; }
};

// theta' of a joint that does not commute. [Derivations] eq. 12.2
template <class T>
void joint_displacement_rate(const Body& body, const T* theta, const T* v, T* rate) {
    const Motion<T> x = joint_twist(body, theta), y = joint_twist(body, v), xy = cross(x, y);
    joint_coordinates(body, fma(T(1.0 / 12.0), cross(x, xy), fma(T(0.5), xy, y)), rate);
}

// theta' of all joints.
template <class T>
inline void displacement_rates(const Tree& tree, const T* theta, const T* v, T* rate) {
    for (int i = 0; i < tree.nnodes; ++i) {
        const Body& body = tree.bodies[i];
        if (traits(body.kind).commutes) {
            for (int k = body.v; k < body.v + body.nv; ++k) rate[k] = v[k];
            continue;
        }
        joint_displacement_rate(body, theta + body.v, v + body.v, rate + body.v);
    }
}

// Takes the step; acceleration(i, q, v, a) computes a for stage i. An implicit step needs the accelerations of
// w.damping's tree.
template <class T, class Acceleration>
inline void step(const Tree& tree, const T* q, const T* v, T h, Integrator method, T* q_next,
                 T* v_next, const StepWorkspace<T>& w, const Acceleration& acceleration) {
    const int nv = tree.nv;
    T* total = w.theta();
    for (int k = 0; k < tree.nq; ++k) w.qs[k] = q[k];
    for (int k = 0; k < nv; ++k) w.vs[k] = v_next[k] = v[k], w.thetas[k] = total[k] = T(0.0);
    for (int i = 0; i < stage_count(method); ++i) {
        T *vi = w.v(i), *theta = w.theta(i), *rate = w.rate(i), *a = w.a(i);
        if (i > 0) {
            const T ahead = T(stage_ahead(i)) * h;
            for (int k = 0; k < nv; ++k) vi[k] = fma(ahead, w.a(i - 1)[k], v[k]);
            for (int k = 0; k < nv; ++k) theta[k] = ahead * w.rate(i - 1)[k];
            integrate(tree, q, theta, w.q(i));
        }
        acceleration(i, w.q(i), vi, a);
        displacement_rates(tree, theta, vi, rate);
        const T weight = T(stage_weight(method, i)) * h;
        for (int k = 0; k < nv; ++k) v_next[k] = fma(weight, a[k], v_next[k]);
        for (int k = 0; k < nv; ++k) total[k] = fma(weight, rate[k], total[k]);
    }
    if (moves_by_end_velocity(method))
        for (int k = 0; k < nv; ++k) total[k] = h * v_next[k];
    integrate(tree, q, total, q_next);
}

// ---------------------------------------------------------------- how a step varies
//
// Variations for a joint that does not commute, given variations xi of q, theta of the displacement and
// v of the velocity:
//   q (+) theta varies by      Ad xi + J theta            at every stage but the first, and at the end
//   theta' varies by           by_theta theta + by_v v    at every stage but the first
// For all other joints: xi + theta, and v.

template <class T> struct JointVariation {
    T Ad[36], J[36], by_theta[36], by_v[36];
};

// The variation of a joint that is displaced by theta.
template <class T>
void displacement_variation(const Body& body, const T* theta, JointVariation<T>& out) {
    const Motion<T> x = joint_twist(body, theta);
    const MotionMap<T> J = right_jacobian(x);
    joint_matrix(body.kind, J, out.J);
    joint_matrix(body.kind, inverse_adjoint(x, J), out.Ad);
}
// The variation of theta'. [Derivations] eq. 12.7: v + [theta, v] / 2 + [theta, [theta, v]] / 12
template <class T>
void rate_variation(const Body& body, const T* theta, const T* v, JointVariation<T>& out) {
    const Motion<T> t = joint_twist(body, theta), u = joint_twist(body, v);
    const MotionMap<T> x = ad(t), y = ad(u), xy = ad(cross(t, u));
    const T half(0.5), twelfth(1.0 / 12.0);
    joint_matrix(body.kind, fma(twelfth, x * x, fma(half, x, identity_map<T>())), out.by_v);
    joint_matrix(body.kind, fma(-twelfth, fma(T(1.0), x * y, xy), -half * y), out.by_theta);
}

template <class T> struct VariationWorkspace {
    JointVariation<T>* joints;  // joint j of these at stage i: [(max_stages + 1) j + i]
    const JointVariation<T>& at(int joint, int stage = max_stages) const {
        return joints[(max_stages + 1) * joint + stage];
    }
    VariationWorkspace(Arena& arena, const Tree& tree, const Options&) {
        int count = 0;
        for (int i = 0; i < tree.nnodes; ++i) count += !traits(tree.bodies[i].kind).commutes;
        joints = arena.take<JointVariation<T>>(count * (max_stages + 1));
    }
};

// Calls visit(j, body, first) for the joints that do not commute, j = 0, 1, .... first: place of their
// first velocity, among the independent ones if `independent`, else among all.
template <class Visit>
inline void for_noncommuting_joints(const Tree& tree, bool independent, const Visit& visit) {
    int j = 0;
    for (int i = 0; i < tree.nnodes; ++i) {
        const Body& body = tree.bodies[i];
        if (!traits(body.kind).commutes)
            visit(j++, body, independent ? independent_dof(tree, body.v) : body.v);
    }
}

template <class T>
void step_variation(const Tree& tree, Integrator method, const StepWorkspace<T>& step,
                    const VariationWorkspace<T>& w) {
    for_noncommuting_joints(tree, false, [&](int j, const Body& body, int first) {
        for (int i = 1; i <= max_stages; ++i) {
            if (i < max_stages && i >= stage_count(method)) continue;
            JointVariation<T>& out = w.joints[(max_stages + 1) * j + i];
            displacement_variation(body, step.theta(i) + first, out);
            if (i < max_stages) rate_variation(body, step.theta(i) + first, step.v(i) + first, out);
        }
    });
}

}  // namespace dtau::DTAU_VARIANT
