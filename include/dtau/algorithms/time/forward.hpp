// Time derivatives of forward and of hybrid dynamics in body coordinates, O(N r^2): the problems of
// [HO-FBS] Algorithms 3 and 4 (H-GABI-FBS, H-GHYB-FBS), by the equations of inverse.hpp.
//
// At every order the unknowns, the coefficients m = (alpha; A) of the bodies' accelerations, obey
// the same linear equations ([HO-FBS] Lemma 2, [Notes] eq. 13.6), so that the articulated inertias
// of order 0 serve all orders. For body i with parent p, order k:
//   c[i]     what of m_i = Ad m_p + S a + c_i lower orders give; S a too where the joint's motion is
//            prescribed
//   IA[i]    articulated inertia;  p[i] bias force of the subtree: F_i = IA_i m_i + p_i, total force
//            across the joint
//   U, d     IA s and s . U + armature of a column s of S;  t = tau - damping v - s . p
//   Ia, pa   IA - U U^T / d and p + U t / d, what the parent meets: F_i = Ia_i (m_i - S a) + pa_i
//   lower    what E^T F holds of lower orders of F
// The orders are the outer loop: leaves to root for p; root to leaves for m, F and, body by body, all
// that lower orders give for the next one. Most joints rotate about z and are not prescribed: `simple`
// is code for them alone, where S is one unit vector and of F only x and y are ever rotated.
#pragma once

#include "dtau/algorithms/time/forward_series.hpp"
#include "dtau/algorithms/time/world_wrenches.hpp"

namespace dtau::DTAU_VARIANT {

// Bias force of body i, after those of its children: its part of that of its parent.
template <bool simple, class T>
DTAU_INLINE void bias_force(const Tree& tree, int i, int k, const T* v, const T* a, const T* tau,
                            const T* f_ext, const Prescribed& prescribed,
                            const ForwardSeriesWorkspace<T>& w) {
    const Body& body = tree.bodies[i];
    const JointSeries<T> s = w.joints.of(i);
    const T factor(w.scale.inverse_factorial[k]);
    ForwardBody<T>& b = w.bodies[i];
    Force<T> p = b.p;
    if (acts_on(f_ext, body)) p = fma(-factor, body_wrench(body, f_ext), p);
    Motion<T> c = b.c;
    const auto drive = [&](int j) { return factor * fma(T(-tree.damping[j]), v[j], tau[j]); };
    if (simple) {
        ForwardColumn<T>& column = w.columns[body.v];
        column.t = drive(body.v) - p.ang.z;  // [Notes] eq. 13.8
        p = fma(column.t * column.d_inverse, column.U, p);
    } else if (prescribed(body)) {
        for (int j = body.v; j < body.v + body.nv; ++j) c = fma(factor * a[j], w.S[j], c);
    } else {
        for (int j = body.v + body.nv - 1; j >= body.v; --j) {
            ForwardColumn<T>& column = w.columns[j];
            column.t = drive(j) - dot(w.S[j], p);  // [Notes] eq. 13.8
            p = fma(column.t * column.d_inverse, column.U, p);
        }
    }
    b.pa.ax = p.lin.x, b.pa.ay = p.lin.y, b.pa.bx = p.ang.x, b.pa.by = p.ang.y;
    if (!simple) b.pa.az = p.lin.z, b.pa.bz = p.ang.z;
    if (!simple) b.m = c;
    if (!simple && body.parent < 0) return;
    TwoVectors<T> q;
    xy_mul_add<simple>(b.Ia, c, Four<T>::zero()).store(&q.ax);
    q.az = z_mul_add<simple>(b.Ia, c, &TwoVectors<T>::az, T(0.0));
    q.bz = z_mul_add<simple>(b.Ia, c, &TwoVectors<T>::bz, T(0.0));
    q = two_vectors(q.a() + p.lin, q.b() + p.ang);
    const TwoVectors<T> back = rotate_add<true>(rotation_of<simple>(body), s, 0, q, b.lower);
    const Vec3<T> force = back.a();
    const Vec3<T> moment = slides_on<simple>(body) ? cross(s.r[0], force, back.b()) : back.b();
    w.bodies[body.parent].p += transformed(constant_placement<T>(body), Force<T>{moment, force});
}

// Leaves to root: bias forces. All arguments are derivatives of order k; tau is read where the motion
// is not prescribed, a where it is.
template <class T>
void bias_forces(const Tree& tree, int k, const T* v, const T* a, const T* tau, const T* f_ext,
                 const Prescribed& prescribed, const ForwardSeriesWorkspace<T>& w) {
    for (int i = tree.nbodies - 1; i >= 0; --i)
        by_joint(tree.bodies[i], prescribed, [&]<bool simple>() __attribute__((always_inline)) {
            bias_force<simple>(tree, i, k, v, a, tau, f_ext, prescribed, w);
        });
}

// Acceleration of order k of a body and its joint (unscaled, into a_out), after its parent's, and the
// force across the joint, of a simple one if there is another order: [Notes] eq. 13.9.
template <bool simple, class T>
DTAU_INLINE void accelerate(const Tree& tree, int i, int k, bool another, const T* a, T* a_out,
                            const Prescribed& prescribed, const ForwardSeriesWorkspace<T>& w) {
    const Body& body = tree.bodies[i];
    const Rotation how = rotation_of<simple>(body);
    const JointSeries<T> s = w.joints.of(i);
    const std::ptrdiff_t at = w.at(i);
    ForwardBody<T>& b = w.bodies[i];
    Motion<T> m = simple ? b.c : b.m;
    if (simple || body.parent >= 0) {
        const Motion<T>& m_p = w.bodies[body.parent].m;
        const Mat3<double> R0 = mat3(body.rotation);
        const Vec3<T> r =
            slides_on<simple>(body) ? offset(body, 0, s) : lift<T>(vec3(body.translation));
        const Vec3<T> ang = transposed_mul(R0, m_p.ang);
        const Vec3<T> lin = transposed_mul(R0, cross(m_p.ang, r, m_p.lin));
        const T inverse(w.scale.inverse[k + 1]);
        // [Notes] eq. 13.6
        m = {rotate_add<false>(how, s, 0, ang, m.ang), rotate_add<false>(how, s, 0, lin, m.lin)};
        TwoVectors<T>& seen = w.seen[at + k + 1];
        Four<T>::of(inverse * ang.x, inverse * ang.y, lin.x + b.carried.x, lin.y + b.carried.y)
            .store(&seen.ax);
        if (!simple) seen.az = inverse * ang.z, seen.bz = lin.z + b.carried.z;
    }
    if (simple ? another : body.parent >= 0 || prescribed(body)) {
        TwoVectors<T>& force = w.force[at + k];
        xy_mul_add<false>(b.Ia, m, Four<T>::load(&b.pa.ax)).store(&force.ax);
        if (!simple) force.az = z_mul_add<false>(b.Ia, m, &TwoVectors<T>::az, b.pa.az);
        if (!simple) force.bz = z_mul_add<false>(b.Ia, m, &TwoVectors<T>::bz, b.pa.bz);
    }
    for (int j = body.v; j < body.v + (simple ? 1 : body.nv); ++j) {
        if (!simple && prescribed(body)) {
            a_out[j] = a[j];
            continue;
        }
        const ForwardColumn<T>& column = w.columns[j];
        const T angular = column.t - dot(column.U.ang, m.ang);                // known before m.lin
        const T x = (angular - dot(column.U.lin, m.lin)) * column.d_inverse;  // [Notes] eq. 13.9
        if (simple)
            m.ang.z = m.ang.z + x;
        else
            m = fma(x, w.S[j], m);
        a_out[j] = T(w.scale.factorial[k]) * x;
    }
    b.m = m;
}

// The body's series by one order, and what they give for the next one; its parent's come first.
template <bool simple, class T>
DTAU_INLINE void extend_motion(const Tree& tree, int i, int k, const T* a,
                               const ForwardSeriesWorkspace<T>& w) {
    const Body& body = tree.bodies[i];
    const Rotation how = rotation_of<simple>(body);
    const JointSeries<T> s = w.joints.of(i);
    const std::ptrdiff_t at = w.at(i);
    const ForwardBody<T>& b = w.bodies[i];
    if (w.sliding) w.X[at + k] = with_skew(b.W, b.m.ang);
    w.omega[at + k + 1] = T(w.scale.inverse[k + 1]) * b.m.ang;
    if (simple)  // nothing reads the zeros
        s.omega[k + 1].z = T(w.scale.inverse_factorial[k + 1]) * a[body.v];
    else
        set_joint_twist<false>(body, k + 1, a, w.scale, s);
    if (!simple && body.parent < 0) {  // only its velocity matters
        w.gravity[at + k + 1] = next_gravity(k, w.gravity + at, s.omega, w.scale);
    } else {
        if (slides_on<simple>(body))
            w.back[at + k] = rotate_add<true>(how, s, 0, w.force[at + k].a(), b.lower.a());
        extend_joint(how, slides_on<simple>(body), k + 1, w.scale, s);
    }
    prepare<simple>(tree, i, k + 1, w);
}

// Torque of order k of a joint, from the force across it.
template <class T>
DTAU_INLINE void prescribed_torque(const Tree& tree, const Body& body, int i, int k, const T* v,
                                   const T* a, T* tau, const ForwardSeriesWorkspace<T>& w) {
    T torque[6];
    const TwoVectors<T>& F = w.force[w.at(i) + k];
    joint_torque(body, {F.b(), F.a()}, torque);
    for (int c = 0; c < body.nv; ++c) {
        const int j = body.v + c;
        const T t = fma(T(tree.armature[j]), a[j], T(w.scale.factorial[k]) * torque[c]);
        tau[j] = fma(T(tree.damping[j]), v[j], t);
    }
}

template <class T>
struct HybridSeriesWorkspace {
    ForwardSeriesWorkspace<T> series;
    WorldWrenchWorkspace<T> wrenches;
    T *torque,
        *drive;  // (nv), of one order: of wrenches along world axes; all that drive the joints

    HybridSeriesWorkspace(Arena& arena, const Tree& tree, Axes wrench_axes, int order)
        : series(arena, tree, order),
          wrenches(arena, tree, wrench_axes, order),
          torque(arena.take<T>(tree.nv)),
          drive(arena.take<T>(tree.nv)) {}
};

// Orders 0 ... `order`, rows of nv. a is read where motion is prescribed and tau elsewhere; results
// are complete, torque_out may be null. Not for joints that mimic others.
template <class T>
void hybrid_time_derivatives(const Tree& tree, int order, const T* q, const T* v, const T* a,
                             const T* tau, const T* f_ext, const bool* given, T* a_out,
                             T* torque_out, const HybridSeriesWorkspace<T>& workspace) {
    const Prescribed prescribed = {given, false};
    const int nv = tree.nv;
    const ForwardSeriesWorkspace<T>& w = workspace.series;
    const WorldWrenchWorkspace<T>& wrenches = workspace.wrenches;
    const bool in_world = wrenches.take(f_ext);
    const T *no_wrenches = nullptr, *rates = nullptr;
    start_forward(tree, q, v, prescribed, w);
    for (int k = 0; k <= order; ++k, a = a ? a + nv : a, tau += nv, a_out += nv) {
        const T* drive = tau;
        if (in_world) {
            world_wrench_torques(tree, k, k, q, k == 0 ? v : rates, f_ext, wrenches,
                                 [&](int, int j, T torque) { workspace.torque[j] = torque; });
            for (int j = 0; j < nv; ++j) workspace.drive[j] = tau[j] + workspace.torque[j];
            drive = workspace.drive;
        }
        rates = k == 0 ? v : a_out - nv;
        bias_forces(tree, k, rates, a, drive, in_world ? no_wrenches : f_ext, prescribed, w);
        for (int i = 0; i < tree.nbodies; ++i)
            by_joint(tree.bodies[i], prescribed, [&]<bool simple>() __attribute__((always_inline)) {
                accelerate<simple>(tree, i, k, k < order, a, a_out, prescribed, w);
                if (k < order) extend_motion<simple>(tree, i, k, a_out, w);
            });
        if (f_ext) f_ext += 6 * tree.nlinks;
        if (!torque_out) continue;
        for (int i = 0; i < tree.nbodies; ++i) {
            const Body& body = tree.bodies[i];
            if (prescribed(body)) prescribed_torque(tree, body, i, k, rates, a_out, torque_out, w);
            for (int j = body.v; j < body.v + body.nv; ++j)
                if (!prescribed(body))
                    torque_out[j] = tau[j];
                else if (in_world)
                    torque_out[j] = torque_out[j] - workspace.torque[j];
        }
        torque_out += nv;
    }
}

}  // namespace dtau::DTAU_VARIANT
