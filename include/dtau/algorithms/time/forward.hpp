// Computes the time derivatives of forward and of hybrid dynamics: hybrid_time_derivatives().
// O(N r^2) for order r. The problems of [HO-FBS] Algorithms 3 and 4 (H-GABI-FBS, H-GHYB-FBS), by
// the equations of inverse.hpp.
//
// For each order k = 0 ... r, and body i with parent p:
//
//   backward   p_i = force of body i at zero accelerations of order k (the motion is known by then)
//              for the columns j of joint i, the last one first:
//                t_j = tau_j - damping v_j - s_j . p_i          p_i = p_i + t_j U_j / d_j
//                (tau_j: without springs and friction)
//              p_p = p_p + Ad^T p_i + lower_i
//   forward    m_i = Ad m_p;   a_j = (t_j - U_j . m_i) / d_j,   m_i = m_i + s_j a_j
//              F_i = Ia_i Ad m_p + p_i                          for the next order
//              omega, A, X of order k + 1 at zero accelerations: inverse.hpp
//   at k = 0   IA_i, U_j = IA_i s_j, d_j = s_j . U_j + armature, Ia_i = IA_i - sum of U_j U_j^T / d_j: ABA
//
// The unknowns of every order obey the same linear equations ([HO-FBS] Lemma 2, [Derivations] eq. 13.6),
// so the articulated inertias of order 0 serve all orders. A joint whose motion is prescribed is not
// eliminated: its torque is S^T F. This differs from the paper as inverse.hpp does. Template parameter
// `simple`: the joint rotates about z and is not prescribed; S is a unit vector, only x and y of F rotate.
//
// Symbols, of order k:
//   omega, A, X   of inverse.hpp at zero accelerations of order k, except prescribed ones (A, X: of one path)
//   m             (alpha; A) that the accelerations of order k add:  m_i = Ad m_p + S a
//   IA[i], p[i]   articulated inertia, bias force: F_i = IA_i m_i + p_i is the force across the joint
//   U, d, t       for a column of S.  After the elimination, Ia and p: F_i = Ia_i (m_i - S a) + p_i
//   lower         the part of E^T F that lower orders of F give
#pragma once

#include <type_traits>

#include "dtau/algorithms/time/forward_series.hpp"
#include "dtau/algorithms/time/outer_torques.hpp"

namespace dtau::DTAU_VARIANT {

// Computes the bias force of body i, after its children, and its part of the force on its parent. v,
// tau: derivatives of order k; tau is read only if the motion is not prescribed.
template <bool simple, class T>
inline void bias_force(const Tree& tree, int i, int k, const T* v, const T* tau,
                       const Prescribed& prescribed, const ForwardSeriesWorkspace<T>& w) {
    const Body& body = tree.bodies[i];
    const T factor(w.scale.inverse_factorial[k]);
    ForwardBody<T>& b = w.bodies[i];
    Force<T> p = {b.p.b(), b.p.a()};
    const auto eliminate = [&](int j, T force) {
        ForwardColumn<T>& column = b.column[j - body.v];
        // [Derivations] eq. 13.8
        column.t = factor * fma(T(-tree.damping[j]), v[j], tau[j]) - force;
        p = fma(column.t * column.d_inverse, column.U, p);
    };
    if (simple)
        eliminate(body.v, p.ang.z);
    else if (is_free_root(body) && !prescribed(body))
        unrolled<6>([&](int c) __attribute__((always_inline)) {
            eliminate(body.v + 5 - c, components(p).x[5 - c]);
        });
    else if (!prescribed(body))
        for (int j = body.v + body.nv - 1; j >= body.v; --j) eliminate(j, dot(w.S[j], p));
    const TwoVectors<T> pa = two_vectors(p.lin, p.ang);
    Vec4<T>::of(pa.xy.x, pa.xy.y, pa.xy.z, pa.xy.w).store(b.p.xy);
    if (!simple) b.p.az = pa.az, b.p.bz = pa.bz;
    if (!simple && body.parent < 0) return;
    const TwoVectors<T> back =
        rotate_onto<true, simple>(rotation_of<simple>(body), b.joint, pa, b.lower);
    const bool slides = slides_on<simple>(body);
    const Vec3<T> force = out_of_joint<simple>(body, back.a());
    const Vec3<T> moment =
        out_of_joint<simple>(body, slides ? cross(b.joint.r[0], back.a(), back.b()) : back.b());
    TwoVectors<T>& p_p = w.bodies[body.parent].p;
    const Vec3<T> r = lift<T>(vec3(body.translation));
    p_p.set(p_p.a() + force, cross(r, force, p_p.b() + moment));
}

// Computes the acceleration of order k of a body and of its joint (unscaled, in a_out), after its parent,
// and the force across the joint (simple joints: if another order follows). [Derivations] eq. 13.9
template <bool simple, class T>
inline void accelerate(const Tree& tree, int i, int k, bool another, const T* a, T* a_out,
                       const Prescribed& prescribed, const ForwardSeriesWorkspace<T>& w) {
    const Body& body = tree.bodies[i];
    const Rotation how = rotation_of<simple>(body);
    ForwardBody<T>& b = w.bodies[i];
    const JointSeries<T>& s = b.joint;
    Motion<T> m = zero_motion<T>();
    if (simple || body.parent >= 0) {
        const Motion<T>& m_p = b.of_parent->m;
        const Vec3<T> r =
            slides_on<simple>(body) ? offset(body, 0, s) : lift<T>(vec3(body.translation));
        const Vec3<T> ang = into_joint<simple>(body, m_p.ang);
        const Vec3<T> lin = into_joint<simple>(body, cross(m_p.ang, r, m_p.lin));
        const T inverse(w.scale.inverse[k + 1]);
        m = {rotate<false>(how, s, ang), rotate<false>(how, s, lin)};
        TwoVectors<T>& seen = b.seen[k + 1];
        Vec4<T>::of(fma(inverse, ang.x, seen.xy.x), fma(inverse, ang.y, seen.xy.y),
                    seen.xy.z + lin.x, seen.xy.w + lin.y)
            .store(seen.xy);
        if (!simple) seen.az = fma(inverse, ang.z, seen.az), seen.bz = seen.bz + lin.z;
    }
    if (simple ? another : body.parent >= 0 || prescribed(body)) {
        TwoVectors<T>& force = b.force[k];
        xy_mul_add(b.Ia, m, Vec4<T>::load(b.p.xy)).store(force.xy);
        if (!simple) force.az = z_mul_add(b.Ia, m, &TwoVectors<T>::az, b.p.az);
        if (!simple) force.bz = z_mul_add(b.Ia, m, &TwoVectors<T>::bz, b.p.bz);
    }
    if (!simple && is_free_root(body) && !prescribed(body)) {
        T x[6];
        unrolled<6>([&](int c) __attribute__((always_inline)) {
            const ForwardColumn<T>& column = b.column[c];
            x[c] = column.t;
            for (int e = 0; e < c; ++e) x[c] = fma(-components(column.U).x[e], x[e], x[c]);
            x[c] = x[c] * column.d_inverse;
            a_out[body.v + c] = T(w.scale.factorial[k]) * x[c];
        });
        b.passed->m = {{x[3], x[4], x[5]}, {x[0], x[1], x[2]}};
        return;
    }
    for (int j = body.v; j < body.v + (simple ? 1 : body.nv); ++j) {
        if (!simple && prescribed(body)) {
            a_out[j] = a[j];
            continue;
        }
        const ForwardColumn<T>& column = b.column[j - body.v];
        const T angular = column.t - dot(column.U.ang, m.ang);  // known before m.lin
        // [Derivations] eq. 13.9
        const T x = (angular - dot(column.U.lin, m.lin)) * column.d_inverse;
        if (simple)
            m.ang.z = m.ang.z + x;
        else
            m = fma(x, w.S[j], m);
        a_out[j] = T(w.scale.factorial[k]) * x;
    }
    b.passed->m = m;
}

// Extends the series of a body by one order, after its parent.
template <bool simple, class T>
inline void extend_motion(const Tree& tree, int i, int k, const T* a,
                          const ForwardSeriesWorkspace<T>& w) {
    const Body& body = tree.bodies[i];
    const Rotation how = rotation_of<simple>(body);
    const ForwardBody<T>& b = w.bodies[i];
    const JointSeries<T>& s = b.joint;
    const Vec3<T>& alpha = b.passed->m.ang;
    if (w.sliding) b.X[k] += skew(alpha);
    b.omega[k + 1] = fma(T(w.scale.inverse[k + 1]), alpha, b.omega[k + 1]);
    if (simple)  // nothing reads the rest, which is zero
        s.omega[k + 1].z = T(w.scale.inverse_factorial[k + 1]) * a[body.v];
    else
        set_joint_twist<false>(body, k + 1, a, w.scale, s);
    if (!simple && body.parent < 0) {  // only its velocity matters
        b.gravity[k + 1] = next_gravity(k, b.gravity, s.omega, w.scale);
    } else {
        if (slides_on<simple>(body))
            b.back[k] = rotate_add<true>(how, s, 0, b.force[k].a(), b.lower.a());
        extend_joint(how, slides_on<simple>(body), k + 1, w.scale, s);
    }
}

// The rows of the arrays that one order reads and writes: derivatives of order k and of order k + 1.
template <class T> struct OrderRows {
    const T *v, *tau, *a, *next_a, *next_f_ext;
    T* a_out;
};

// One order of one body: in the backward pass, and in the forward pass, which prepares the next order.
// The few bodies that are not plain share one function for all orders.
template <bool simple, class T>
inline void inwards(const Tree& tree, int i, int k, const Configuration<T>& x,
                    const OrderRows<T>& rows, const Prescribed& prescribed,
                    const ForwardSeriesWorkspace<T>& w) {
    if (k == 0) articulate<simple>(tree, i, x, prescribed, w);
    bias_force<simple>(tree, i, k, rows.v, rows.tau, prescribed, w);
}
template <bool simple, class T>
inline void outwards(const Tree& tree, int i, int k, bool another, const OrderRows<T>& rows,
                     const Prescribed& prescribed, const ForwardSeriesWorkspace<T>& w) {
    accelerate<simple>(tree, i, k, another || w.complete, rows.a, rows.a_out, prescribed, w);
    if (another || w.complete) extend_motion<simple>(tree, i, k, rows.a_out, w);
    if (!another) return;
    bias_motion<simple>(tree, i, k + 1, rows.next_a, rows.next_f_ext, prescribed, w);
}
// The other bodies are few: one copy of these for all orders.
template <class T>
__attribute__((noinline)) void other_inwards(const Tree& tree, int i, int k,
                                             const Configuration<T>& x, const OrderRows<T>& rows,
                                             const Prescribed& prescribed,
                                             const ForwardSeriesWorkspace<T>& w) {
    inwards<false>(tree, i, k, x, rows, prescribed, w);
}
template <class T>
__attribute__((noinline)) void other_outwards(const Tree& tree, int i, int k, bool another,
                                              const OrderRows<T>& rows,
                                              const Prescribed& prescribed,
                                              const ForwardSeriesWorkspace<T>& w) {
    outwards<false>(tree, i, k, another, rows, prescribed, w);
}

// Calls f(k). Low orders are compile-time constants, so that loops over coefficients are unrolled.
template <int from = 0, class F> inline void by_order(int k, const F& f) {
    if constexpr (from == 6)
        f(k);
    else if (k == from)
        f(std::integral_constant<int, from>());
    else
        by_order<from + 1>(k, f);
}

// Torque of order k of a joint, from the force across it.
template <class T>
inline void prescribed_torque(const Tree& tree, const Body& body, int i, int k, const T* v,
                              const T* a, T* tau, const ForwardSeriesWorkspace<T>& w) {
    T torque[6];
    const TwoVectors<T>& F = w.bodies[i].force[k];
    joint_torque(body, {F.b(), F.a()}, torque);
    for (int c = 0; c < body.nv; ++c) {
        const int j = body.v + c;
        const T t = fma(T(tree.armature[j]), a[j], T(w.scale.factorial[k]) * torque[c]);
        tau[j] = fma(T(tree.damping[j]), v[j], t);
    }
}

template <class T> struct HybridSeriesWorkspace : OuterTorques<T> {
    ForwardSeriesWorkspace<T> series;
    T* drive;  // (nv), of one order: sum that drives the joints

    HybridSeriesWorkspace(Arena& arena, const Tree& tree, const Options& options)
        : OuterTorques<T>(arena, tree, options),
          series(arena, tree, options),
          drive(arena.take<T>(tree.nv)) {}
};

// Orders 0 ... `order`, rows of nv. Reads a where motion is prescribed, and tau elsewhere. The results have
// both everywhere; torque_out may be null. Mimic joints: mimic.hpp.
template <class T>
void hybrid_time_derivatives(const Tree& tree, int order, const T* q, const T* v, const T* a,
                             const T* tau, const T* f_ext, const bool* given, T* a_out,
                             T* torque_out, const HybridSeriesWorkspace<T>& workspace) {
    const Prescribed prescribed = {given, false};
    const int nv = tree.nv;
    const ForwardSeriesWorkspace<T>& w = workspace.series;
    const T *const accelerations = a_out, *rates = v;
    const Configuration<T> x = configuration(tree, q, w.angles);
    const auto start = [&]<bool simple>(int i) __attribute__((always_inline)) {
        start_body<simple>(tree, i, x, v, w);
        bias_motion<simple>(tree, i, 0, a, workspace.along_bodies(tree, 0, f_ext), prescribed, w);
    };
    for (int i = 0; i < tree.nnodes; ++i)
        if (is_plain(tree.bodies[i], prescribed))
            start.template operator()<true>(i);
        else
            start.template operator()<false>(i);
    for (int k = 0; k <= order; ++k, tau += nv, a_out += nv) {
        const T* drive = tau;
        if (workspace.act(tree, f_ext)) {
            workspace.compute(tree, k, q, v, accelerations, f_ext, w.scale);
            for (int j = 0; j < nv; ++j) workspace.drive[j] = tau[j] + workspace.outer[j];
            drive = workspace.drive;
        }
        if (k > 0) rates = a_out - nv;
        const OrderRows<T> rows = {
            rates, drive, a, a ? a + nv : a, workspace.along_bodies(tree, k + 1, f_ext), a_out};
        by_order(k, [&](auto constant) __attribute__((noinline)) {
            const int now = constant;
            for (int i = tree.nnodes - 1; i >= 0; --i)
                if (is_plain(tree.bodies[i], prescribed))
                    inwards<true>(tree, i, now, x, rows, prescribed, w);
                else
                    other_inwards(tree, i, k, x, rows, prescribed, w);
            for (int i = 0; i < tree.nnodes; ++i)
                if (is_plain(tree.bodies[i], prescribed))
                    outwards<true>(tree, i, now, now < order, rows, prescribed, w);
                else
                    other_outwards(tree, i, k, k < order, rows, prescribed, w);
        });
        a = rows.next_a;
        if (!torque_out) continue;
        for (int i = 0; i < tree.nnodes; ++i) {
            const Body& body = tree.bodies[i];
            if (prescribed(body)) prescribed_torque(tree, body, i, k, rates, a_out, torque_out, w);
            for (int j = body.v; j < body.v + body.nv; ++j)
                if (!prescribed(body))
                    torque_out[j] = tau[j];
                else if (drive != tau)
                    torque_out[j] = torque_out[j] - workspace.outer[j];
        }
        torque_out += nv;
    }
}

}  // namespace dtau::DTAU_VARIANT
