// Time derivatives of forward and of hybrid dynamics in body coordinates, O(N r^2): the problems of
// [HO-FBS] Algorithms 3 and 4 (H-GABI-FBS, H-GHYB-FBS), by the equations of
// inverse_time_derivatives.hpp.
//
// At every order the unknowns, the coefficients m = (alpha; A) of the bodies' accelerations, obey
// the same linear equations ([HO-FBS] Lemma 2), so that the articulated inertias of order 0 serve
// all orders. For body i with parent p, order k:
//   c[i]    what of m_i = Ad m_p + S a + c_i lower orders give; S a too where the joint's motion is
//           prescribed
//   p[i]    bias force of the subtree: F_i = IA_i m_i + p_i, total force across the joint
//   IA[i]   articulated inertia
//   U, d    IA s and s . U + armature of a column s of S;  t = tau - damping v - s . p
// The orders are the outer loop: leaves to root for p, root to leaves for m, F and all series.
#pragma once

#include "dtau/algorithms/articulated.hpp"
#include "dtau/algorithms/inverse_time_derivatives.hpp"

namespace dtau::DTAU_VARIANT {

template <class T>
struct ForwardSeriesWorkspace {
    int length;
    Configuration<T> angles;
    TaylorScale scale;
    JointSeries<T> joints;
    Vec3<T>*omega, *f, *n;  // (nbodies, length)
    Mat3<T>* X;             // the same, if a joint slides on a body that turns
    Vec3<T>*y, *z;          // R0^T omega_p, and R0^T (A_p + X_p r); at roots z is gravity reversed
    Vec3<T>* back;          // E^T f
    Sym3<T>* W;             // (nbodies): centripetal part of X, of this order
    Mat3<T>* X_now;
    Placement<T>* pose;
    ArticulatedInertia<T>* IA;
    Motion<T>*c, *m;
    Force<T>*p, *U;
    Motion<T>* S;
    T *d_inverse, *t, *a;
    bool sliding = false;

    ForwardSeriesWorkspace(Arena& arena, const Tree& tree, int order)
        : length(order + 2),
          angles(arena, tree),
          scale(arena, length + 1),
          joints(arena, tree.nbodies, length + 1),
          omega(arena.take<Vec3<T>>(tree.nbodies * length)),
          f(arena.take<Vec3<T>>(tree.nbodies * length)),
          n(arena.take<Vec3<T>>(tree.nbodies * length)),
          X(arena.take<Mat3<T>>(tree.nbodies * length)),
          y(arena.take<Vec3<T>>(tree.nbodies * length)),
          z(arena.take<Vec3<T>>(tree.nbodies * length)),
          back(arena.take<Vec3<T>>(tree.nbodies * length)),
          W(arena.take<Sym3<T>>(tree.nbodies)),
          X_now(arena.take<Mat3<T>>(tree.nbodies)),
          pose(arena.take<Placement<T>>(tree.nbodies)),
          IA(arena.take<ArticulatedInertia<T>>(tree.nbodies)),
          c(arena.take<Motion<T>>(tree.nbodies)),
          m(arena.take<Motion<T>>(tree.nbodies)),
          p(arena.take<Force<T>>(tree.nbodies)),
          U(arena.take<Force<T>>(tree.nv)),
          S(arena.take<Motion<T>>(tree.nv)),
          d_inverse(arena.take<T>(tree.nv)),
          t(arena.take<T>(tree.nv)),
          a(arena.take<T>(tree.nv)) {
        for (int i = 0; i < tree.nbodies; ++i)
            sliding |= tree.bodies[i].parent >= 0 && slides(tree.bodies[i].kind);
    }

    std::ptrdiff_t at(int i) const { return std::ptrdiff_t(i) * length; }
};

// Whether the motion of a joint is prescribed.
struct Prescribed {
    const bool* given;  // of degrees of freedom; null: nothing is
    bool all;           // everything is

    DTAU_INLINE bool operator()(const Body& body) const { return all || (given && given[body.v]); }
};

// Order 0 of all that does not depend on forces, and the articulated inertias.
template <class T>
DTAU_INLINE void start_forward(const Tree& tree, const T* q, const T* v,
                               const Prescribed& prescribed, const ForwardSeriesWorkspace<T>& w) {
    const Configuration<T> x = configuration(tree, q, w.angles);
    for (int i = 0; i < tree.nbodies; ++i) {
        const Body& body = tree.bodies[i];
        const JointSeries<T> s = w.joints.of(i);
        w.pose[i] = joint_placement(body, constant_placement<T>(body), x);
        start_joint(body, x, s);
        set_joint_twist(body, 0, v + body.v, s);
        extend_joint(body, 0, w.scale, s);
        const std::ptrdiff_t at = w.at(i), parent = w.at(body.parent);
        if (body.parent < 0) {
            w.omega[at] = s.w[0];
            w.z[at] = minus_gravity(tree, body, x);
        } else {
            w.y[at] = transposed_mul(mat3(body.rotation), w.omega[parent]);
            w.omega[at] = rotated<false>(turning(body.kind), s, 0, 0, 0, w.y + at) + s.w[0];
        }
        w.W[i] = centripetal(0, w.omega + at);
        motion_subspace(body, {Mat3<T>::identity(), zero_vector<T>()}, w.S + body.v);
        w.IA[i] = articulated(own_inertia<T>(body));
        w.p[i] = zero_force<T>();
    }
    for (int i = tree.nbodies - 1; i >= 0; --i) {
        const Body& body = tree.bodies[i];
        ArticulatedInertia<T> IA = w.IA[i];
        for (int k = body.v + body.nv - 1; k >= body.v && !prescribed(body); --k) {
            w.U[k] = IA * w.S[k];
            w.d_inverse[k] = T(1.0) / (dot(w.S[k], w.U[k]) + T(tree.armature[k]));
            subtract_rank_one(IA, w.U[k], w.d_inverse[k]);
        }
        if (body.parent >= 0) w.IA[body.parent] += transformed(w.pose[i], IA);
    }
}

template <class T>
DTAU_INLINE Mat3<T> full(const Sym3<T>& s) {
    return {{s.xx, s.xy, s.xz}, {s.xy, s.yy, s.yz}, {s.xz, s.yz, s.zz}};
}

// c of order k but for prescribed motion.
template <class T>
DTAU_INLINE Motion<T> known_acceleration(const Body& body, int i, int k,
                                         const ForwardSeriesWorkspace<T>& w) {
    const Turning how = turning(body.kind);
    const JointSeries<T> s = w.joints.of(i);
    const std::ptrdiff_t at = w.at(i), parent = w.at(body.parent);
    Motion<T> c = zero_motion<T>();
    if (body.parent < 0) {
        c.lin = w.z[at + k];
    } else {
        const auto [ang, lin] = rotated<false>(how, s, 1, k, k, w.y + at + 1, w.z + at);
        c.ang = T(k + 1.0) * (ang + rotated<false>(how, s, k + 1, k + 1, k + 1, w.y + at));
        Vec3<T> carried = w.W[body.parent] * w.pose[i].r;
        if (slides(body.kind))
            for (int m = 1; m <= k; ++m)
                carried = mul_add(w.X[parent + k - m], offset(body, m, s), carried);
        c.lin = transposed_mul(w.pose[i].R, carried) + lin;
    }
    if (slides(body.kind)) c.lin = sliding_acceleration(k, w.omega + at, s, c.lin);
    return c;
}

// What body i adds to the bias force of its parent: p, of which its own joint's motion is part, and
// the lower orders of its force.
template <class T>
DTAU_INLINE Force<T> bias_inwards(const Body& body, int i, int k, const Force<T>& p,
                                  const ForwardSeriesWorkspace<T>& w) {
    const JointSeries<T> s = w.joints.of(i);
    const std::ptrdiff_t at = w.at(i);
    w.f[at + k] = p.lin, w.n[at + k] = p.ang;  // in place of what is not known yet
    auto [force, moment] = rotated<true>(turning(body.kind), s, 0, k, k, w.f + at, w.n + at);
    if (slides(body.kind)) {
        w.back[at + k] = force;
        moment = cross_sum(0, k, s.r, w.back + at, moment);
    }
    return transformed(constant_placement<T>(body), Force<T>{moment, force});
}

// Leaves to root: bias forces. All arguments are derivatives of order k; tau is read where the motion
// is not prescribed, a where it is.
template <class T>
DTAU_INLINE void bias_forces(const Tree& tree, int k, const T* v, const T* a, const T* tau,
                             const T* f_ext, const Prescribed& prescribed,
                             const ForwardSeriesWorkspace<T>& w) {
    const double factor = w.scale.inverse_factorial[k];
    for (int i = tree.nbodies - 1; i >= 0; --i) {
        const Body& body = tree.bodies[i];
        Motion<T> c = known_acceleration(body, i, k, w);
        const Moments I = moments(body);
        Force<T> p = w.p[i] + moving_mass(I, full(w.W[i]));
        if (acts_on(f_ext, body)) p = fma(T(-factor), body_wrench(body, f_ext), p);
        w.p[i] = p;
        for (int j = body.v + body.nv - 1; j >= body.v; --j) {
            if (prescribed(body)) {
                c = fma(T(factor) * a[j], w.S[j], c);
            } else {
                w.t[j] = T(factor) * fma(T(-tree.damping[j]), v[j], tau[j]) - dot(w.S[j], p);
                p = fma(w.t[j] * w.d_inverse[j], w.U[j], p);
            }
        }
        w.c[i] = c;
        if (body.parent < 0) continue;
        p += w.IA[i] * c;
        for (int j = body.v; j < body.v + body.nv && !prescribed(body); ++j)
            p = fma(-(dot(w.U[j], c) * w.d_inverse[j]), w.U[j], p);
        w.p[body.parent] += bias_inwards(body, i, k, p, w);
    }
}

// Acceleration w.a of order k (unscaled) of a joint, and the force across it.
template <class T>
DTAU_INLINE void accelerate(const Tree& tree, int i, int k, const T* a,
                            const Prescribed& prescribed, const ForwardSeriesWorkspace<T>& w) {
    const Body& body = tree.bodies[i];
    const std::ptrdiff_t at = w.at(i);
    Motion<T> m = w.c[i];
    if (body.parent >= 0) m = seen_from(w.pose[i], w.m[body.parent]) + m;
    for (int j = body.v; j < body.v + body.nv; ++j) {
        if (prescribed(body)) {
            w.a[j] = a[j];
        } else {
            const T x = (w.t[j] - dot(w.U[j], m)) * w.d_inverse[j];
            m = fma(x, w.S[j], m);
            w.a[j] = T(w.scale.factorial[k]) * x;
        }
    }
    w.m[i] = m;
    const Force<T> F = w.IA[i] * m + w.p[i];
    w.f[at + k] = F.lin, w.n[at + k] = F.ang;
    w.p[i] = zero_force<T>();
}

// The body's series by one order, from w.a and w.m of order k; its parent's come first.
template <class T>
DTAU_INLINE void extend_motion(const Tree& tree, int i, int k, const ForwardSeriesWorkspace<T>& w) {
    const Body& body = tree.bodies[i];
    const JointSeries<T> s = w.joints.of(i);
    const std::ptrdiff_t at = w.at(i), parent = w.at(body.parent);
    w.X_now[i] = with_skew(w.W[i], w.m[i].ang);
    if (w.sliding) w.X[at + k] = w.X_now[i];
    w.omega[at + k + 1] = T(w.scale.inverse[k + 1]) * w.m[i].ang;
    w.W[i] = centripetal(k + 1, w.omega + at);
    T rates[6];
    joint_rates(body, w.a, w.scale.inverse_factorial[k + 1], rates);
    set_joint_twist(body, k + 1, rates, s);
    if (body.parent < 0) {
        w.z[at + k + 1] = turned_gravity(k, w.z + at, s.w, w.scale);
    } else {
        const Mat3<double> R0 = mat3(body.rotation);
        Vec3<T> carried = mul_add(w.X_now[body.parent], w.pose[i].r, w.m[body.parent].lin);
        if (slides(body.kind)) {
            for (int m = 1; m <= k; ++m)
                carried = mul_add(w.X[parent + k - m], offset(body, m, s), carried);
            w.back[at + k] = rotated<true>(turning(body.kind), s, 0, k, k, w.f + at);
        }
        w.z[at + k] = transposed_mul(R0, carried);
        w.y[at + k + 1] = transposed_mul(R0, w.omega[parent + k + 1]);
    }
    extend_joint(body, k + 1, w.scale, s);
}

// Torque of order k of a joint, from the force that accelerations_outwards left.
template <class T>
DTAU_INLINE void prescribed_torque(const Tree& tree, const Body& body, int i, int k, const T* v,
                                   const T* a, T* tau, const ForwardSeriesWorkspace<T>& w) {
    T torque[6];
    joint_torque(body, {w.n[w.at(i) + k], w.f[w.at(i) + k]}, torque);
    for (int c = 0; c < body.nv; ++c) {
        const int j = body.v + c;
        const T t = fma(T(tree.armature[j]), a[j], T(w.scale.factorial[k]) * torque[c]);
        tau[j] = fma(T(tree.damping[j]), v[j], t);
    }
}

// Orders 0 ... `order`, rows of nv. a is read where motion is prescribed and tau elsewhere; results
// are complete, torque_out may be null. Not for joints that mimic others.
template <class T>
void hybrid_time_derivatives(const Tree& tree, int order, const T* q, const T* v, const T* a,
                             const T* tau, const T* f_ext, const bool* given, T* a_out,
                             T* torque_out, const ForwardSeriesWorkspace<T>& w) {
    const Prescribed prescribed = {given, false};
    const int nv = tree.nv;
    start_forward(tree, q, v, prescribed, w);
    for (int k = 0; k <= order; ++k, a = a ? a + nv : a, tau += nv, a_out += nv) {
        const T* rates = k == 0 ? v : a_out - nv;
        bias_forces(tree, k, rates, a, tau, f_ext, prescribed, w);
        for (int i = 0; i < tree.nbodies; ++i) {
            accelerate(tree, i, k, a, prescribed, w);
            if (k < order) extend_motion(tree, i, k, w);
        }
        for (int j = 0; j < nv; ++j) a_out[j] = w.a[j];
        if (f_ext) f_ext += 6 * tree.nlinks;
        if (!torque_out) continue;
        for (int i = 0; i < tree.nbodies; ++i) {
            const Body& body = tree.bodies[i];
            if (prescribed(body))
                prescribed_torque(tree, body, i, k, rates, a_out, torque_out, w);
            else
                for (int j = body.v; j < body.v + body.nv; ++j) torque_out[j] = tau[j];
        }
        torque_out += nv;
    }
}

}  // namespace dtau::DTAU_VARIANT
