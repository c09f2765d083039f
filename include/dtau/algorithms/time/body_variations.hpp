// Computes the variations of a body's motion and of the force that it needs, order by order, along
// a variation of the trajectory: vary_motion(), displaced_force(). [Derivations] §22.
//
// The variation displaces the joint by eta, a twist in body axes, and varies its rates by
// delta = S dv. Symbols are as in inverse.hpp, with d for variations, y = E R0^T omega_p and
// A' = E R0^T (A_p + X_p r). All products are products of series:
//
//   eta' = delta - v_J x eta             at order 0: S dq
//   d omega = E R0^T d omega_p - eta x y + delta
//   d A     = E R0^T d(A_p + X_p r) - eta x A' + the variation of (2 omega - omega_J) x v_J + v_J'
//   d r     = R0 E^T eta                 its linear part
//   d F     = the force of d A and d X, - d f_ext;  to the parent: E^T (d F + eta x* F)
#pragma once

#include "dtau/algorithms/time/inverse.hpp"

namespace dtau::DTAU_VARIANT {

// The series of one body that its variations need.
template <class T> struct BodyValue {
    JointSeries<T> joint;
    const Vec3<T>* omega;
    const Mat3<T>* X;
    const TwoVectors<T>* force;
};
template <class T>
DTAU_INLINE BodyValue<T> value_at(int place, const InverseSeriesWorkspace<T>& w) {
    const std::ptrdiff_t at = std::ptrdiff_t(place) * w.length;
    return {w.joints.of(place), w.omega + at, w.X + at, w.force + at};
}

// The same series and their variations, each with room for `length` coefficients.
template <class T> struct VariedBody : BodyValue<T> {
    TwoVectors<T>* carried;  // y of order k, A' of order k - 1
    Motion<T>*eta, *delta;   // of a simple joint z alone
    Vec3<T>*d_omega, *dA, *dr;
    Mat3<T>* dX;
    int step;  // from one order of dA and dX to the next; 0: only the current order is kept
    TwoVectors<T>*seen, *d_force;  // seen: R0^T d omega_p of order k, the other of order k - 1
};

template <class T> struct SeriesVariations {
    int length;
    TwoVectors<T>*carried, *seen, *d_force;
    Motion<T>*eta, *delta;
    Vec3<T>*d_omega, *dA, *dr;
    Mat3<T>* dX;

    SeriesVariations(Arena& arena, int bodies, int room) : length(room) {
        arena.take_each(bodies * room, carried, seen, d_force, eta, delta, d_omega, dA, dr, dX);
    }

    DTAU_INLINE VariedBody<T> of(int place, const BodyValue<T>& value) const {
        const std::ptrdiff_t at = std::ptrdiff_t(place) * length;
        return {value,   carried + at, eta + at, delta + at, d_omega + at, dA + at,
                dr + at, dX + at,      1,        seen + at,  d_force + at};
    }
};

// ---------------------------------------------------------------- the joint

// The twist v_J of order k.
template <class T>
DTAU_INLINE Motion<T> joint_velocity(const Body& body, const JointSeries<T>& s, int k) {
    return {s.omega[k], traits(body.kind).slides ? s.v[k] : zero_vector<T>()};
}

// S x, scaled; x (nv).
template <bool simple, class T>
DTAU_INLINE void scaled_twist(const Body& body, T factor, const T* x, Motion<T>& twist) {
    if (simple) {
        twist.ang.z = factor * x[body.v];
        return;
    }
    T rates[6] = {};
    for (int c = 0; c < body.nv; ++c) rates[c] = factor * x[body.v + c];
    twist = joint_twist(body, rates);
}

// The displacement of order k + 1, from delta of order k. [Derivations] eq. 22.1
template <bool simple, class T>
DTAU_INLINE void extend_displacement(const Body& body, int k, const TaylorScale& scale,
                                     const JointSeries<T>& s, const Motion<T>* delta,
                                     Motion<T>* eta) {
    const T inverse(scale.inverse[k + 1]);
    if (simple) {
        eta[k + 1].ang.z = inverse * delta[k].ang.z;
        return;
    }
    Motion<T> rate = delta[k];
    for (int m = 0; m <= k && !traits(body.kind).commutes; ++m)
        rate = cross(eta[k - m], joint_velocity(body, s, m), rate);
    eta[k + 1] = {inverse * rate.ang, inverse * rate.lin};
}

// ---------------------------------------------------------------- motion

// y and A' of orders up to `order`, after carried_motion().
template <class T>
DTAU_INLINE void keep_carried(int order, const JointSeries<T>& s, const Vec3<T>* omega,
                              const Vec3<T>* A, TwoVectors<T>* carried) {
    for (int k = 0; k <= order + 1; ++k)
        carried[k].set(omega[k] - s.omega[k], k == 0 ? zero_vector<T>() : A[k - 1]);
}

// Sum of E_m x_{k-m} - eta_m x y_{k-m}, x = seen and y = carried.
template <class T>
DTAU_INLINE TwoVectors<T> displaced(Rotation how, int k, const VariedBody<T>& b) {
    const JointSeries<T>& s = b.joint;
    if (how == Rotation::none) return b.seen[k];
    if (how == Rotation::about_z) {
        Vec4<T> c = Vec4<T>::zero(), d = c;
        for (int m = 0; m <= k; ++m) {
            c.add(s.angle[m].cosine, b.seen[k - m].xy), d.add(s.angle[m].sine, b.seen[k - m].xy);
            d.add(b.eta[m].ang.z, b.carried[k - m].xy);
        }
        TwoVectors<T> sum;
        c.add_rotated(d);
        c.store(sum.xy);
        sum.az = b.seen[k].az, sum.bz = b.seen[k].bz;
        return sum;
    }
    TwoVectors<T> sum = rotated<false>(how, s, k, b.seen);
    for (int m = 0; m <= k; ++m)
        sum.set(cross(b.carried[k - m].a(), b.eta[m].ang, sum.a()),
                cross(b.carried[k - m].b(), b.eta[m].ang, sum.b()));
    return sum;
}

// The variation of centripetal() of order k.
template <class T>
DTAU_INLINE Sym3<T> centripetal_variation(int k, const Vec3<T>* omega, const Vec3<T>* d_omega) {
    T xx(0.0), xy(0.0), xz(0.0), yy(0.0), yz(0.0), zz(0.0);
    for (int m = 0; m <= k; ++m) {
        const Vec3<T>&a = omega[m], &b = d_omega[k - m];
        xx = fma(a.x, b.x, xx), yy = fma(a.y, b.y, yy), zz = fma(a.z, b.z, zz);
        xy = fma(a.x, b.y, fma(a.y, b.x, xy));
        xz = fma(a.x, b.z, fma(a.z, b.x, xz));
        yz = fma(a.y, b.z, fma(a.z, b.y, yz));
    }
    xx = xx + xx, yy = yy + yy, zz = zz + zz;
    return {-(yy + zz), xy, xz, -(xx + zz), yz, -(xx + yy)};
}

// The variation of A_p + X_p r of order k.
template <bool simple, class T>
DTAU_INLINE Vec3<T> carried_variation(const Body& body, int k, const VariedBody<T>& b,
                                      const VariedBody<T>& p) {
    const int at = p.step * k;
    if (!slides_on<simple>(body))
        return mul_add(p.dX[at], lift<T>(vec3(body.translation)), p.dA[at]);
    Vec3<T> sum = p.dA[k], turned = zero_vector<T>();
    for (int m = 0; m <= k; ++m)
        turned = rotate_add<true>(traits(body.kind).rotation, b.joint, m, b.eta[k - m].lin, turned);
    b.dr[k] = lift<T>(mat3(body.rotation)) * turned;
    for (int m = 0; m <= k; ++m)
        sum = mul_add(p.dX[k - m], offset(body, m, b.joint), mul_add(p.X[k - m], b.dr[m], sum));
    return sum;
}

// The variation of (2 omega - omega_J) x v_J + v_J' of order k, and sum.
template <class T>
DTAU_INLINE Vec3<T> sliding_variation(int k, const VariedBody<T>& b, Vec3<T> sum) {
    const JointSeries<T>& s = b.joint;
    sum = fma(T(k + 1.0), b.delta[k + 1].lin, sum);
    for (int m = 0; m <= k; ++m) {
        sum = cross(T(2.0) * b.d_omega[m] - b.delta[m].ang, s.v[k - m], sum);
        sum = cross(T(2.0) * b.omega[m] - s.omega[m], b.delta[k - m].lin, sum);
    }
    return sum;
}

// d omega of order k, dA and dX of order k - 1, after the parent's variations. [Derivations] eq. 22.2
template <bool simple, class T>
DTAU_INLINE void vary_motion(const Body& body, int k, const VariedBody<T>& b,
                             const VariedBody<T>& p) {
    const Vec3<T> zero = zero_vector<T>();
    Vec3<T> d_omega, dA = zero;
    if (!simple && body.parent < 0) {
        d_omega = b.delta[k].ang;
        for (int m = 0; m <= k; ++m) dA = cross(b.carried[k - m].b(), b.eta[m].ang, dA);
    } else {
        Vec3<T> carried = zero;
        if (k > 0) carried = carried_variation<simple>(body, k - 1, b, p);
        b.seen[k].set(into_joint<simple>(body, p.d_omega[k]), into_joint<simple>(body, carried));
        const TwoVectors<T> both = displaced(rotation_of<simple>(body), k, b);
        d_omega = both.a(), dA = both.b();
        if (simple)
            d_omega.z = d_omega.z + b.delta[k].ang.z;
        else
            d_omega += b.delta[k].ang;
    }
    b.d_omega[k] = d_omega;
    if (k == 0) return;
    const int at = b.step * (k - 1);
    b.dA[at] = slides_on<simple>(body) ? sliding_variation(k - 1, b, dA) : dA;
    b.dX[at] = with_skew(centripetal_variation(k - 1, b.omega, b.d_omega), T(k) * d_omega);
}

// Order k of the variation of the force that the body needs. df_ext (nbodies, 6): of that order.
template <class T>
DTAU_INLINE Force<T> own_force_variation(const Body& body, int k, const T* df_ext,
                                         const TaylorScale& scale, const VariedBody<T>& b) {
    Force<T> F = moving_force(body, b.dA[b.step * k], b.dX[b.step * k]);
    if (acts_on(df_ext, body))
        F = fma(T(-scale.inverse_factorial[k]), body_wrench(body, df_ext), F);
    return F;
}

// eta x* F of order k: forces, moments. [Derivations] eq. 22.3
template <class T>
DTAU_INLINE TwoVectors<T> displaced_force(const Body& body, Rotation how, int k,
                                          const VariedBody<T>& b) {
    if (how == Rotation::about_z && !traits(body.kind).slides) {
        Vec4<T> sum = Vec4<T>::zero(), turned = sum;
        for (int m = 0; m <= k; ++m) turned.add(b.eta[m].ang.z, b.force[k - m].xy);
        sum.subtract_rotated(turned);
        TwoVectors<T> result;
        sum.store(result.xy);
        result.az = result.bz = T(0.0);
        return result;
    }
    Force<T> sum = zero_force<T>();
    for (int m = 0; m <= k; ++m)
        sum = cross_star(b.eta[m], {b.force[k - m].b(), b.force[k - m].a()}, sum);
    return two_vectors(sum.lin, sum.ang);
}

}  // namespace dtau::DTAU_VARIANT
