// Propagates weights of forces, and gradients by motion, through a body, order by order: weigh(),
// lower_gradient(), gather_displacement(), pass_gradient(). The adjoint of body_variations.hpp.
// [Derivations] §22.
//
// A gradient is a series, like its variable. The transpose of a product of series is a product of
// series whose gradient coefficients are in reverse order (eq. 22.4). So coefficient l of a
// gradient is by coefficient r - l of a force or an acceleration, and by coefficient r + 1 - l of a
// velocity or a displacement.
//
//   forward    Lam = L + S lam,   L = E R0^T (Lam_p at r)     weights of F: a twist
//              A, B, W = gradients by A, by omega omega^T less trace, by omega: of the body's own force
//   backward   W += B omega,  (l = r + 1 - order of omega)
//              by eta   = - y x W - A' x A - L x* F + v_J x* (by eta of the next order)
//              by delta = W, A, by eta of the next order
//              A_p += a,   W_p += w + (r + 1 - l) r x a,   B_p += a r^T + r a^T less trace
//                   with (w, a) = R0 E^T (W, A)
#pragma once

#include "dtau/algorithms/time/body_variations.hpp"

namespace dtau::DTAU_VARIANT {

// The series of one body, each with room for `length` coefficients.
template <class T> struct WeighedBody : BodyValue<T> {
    TwoVectors<T>* carried;
    TwoVectors<T>*seen, *L;  // angular, linear; a simple joint has Lam for L, which differ by z
    Motion<T>* Lam;
    TwoVectors<T>* by_motion;  // W, A
    Sym3<T>* B;
    Force<T>* by_eta;  // divided by the order of eta unless that is 0; of a simple joint only z
    Vec3<T>*back, *turned;  // of joints that slide: a, X_p^T a in the joint's frame
};

template <class T> struct SeriesGradients {
    int length;
    TwoVectors<T>*carried, *seen, *L, *by_motion;
    Motion<T>* Lam;
    Sym3<T>* B;
    Force<T>* by_eta;
    Vec3<T>*back, *turned;

    SeriesGradients(Arena& arena, int bodies, int room) : length(room) {
        arena.take_each(bodies * room, carried, seen, L, by_motion, Lam, B, by_eta, back, turned);
    }

    DTAU_INLINE WeighedBody<T> of(int place, const BodyValue<T>& value) const {
        const std::ptrdiff_t at = std::ptrdiff_t(place) * length;
        return {value,          carried + at, seen + at,   L + at,    Lam + at,
                by_motion + at, B + at,       by_eta + at, back + at, turned + at};
    }
};

// Adds the matrix X + X^T - 2 tr X to B.
template <class T>
DTAU_INLINE void add_traceless(Sym3<T>& B, const Vec3<T>& x, const Vec3<T>& y, const Vec3<T>& z) {
    B.xx = B.xx - T(2.0) * (y.y + z.z), B.xy = B.xy + (x.y + y.x), B.xz = B.xz + (x.z + z.x);
    B.yy = B.yy - T(2.0) * (x.x + z.z), B.yz = B.yz + (y.z + z.y);
    B.zz = B.zz - T(2.0) * (x.x + y.y);
}

// ---------------------------------------------------------------- outwards

// L and Lam of coefficient l; lam (nv) scaled, null: zero.
template <bool simple, class T>
DTAU_INLINE void weigh(const Body& body, int l, T factor, const T* lam, const WeighedBody<T>& b,
                       const WeighedBody<T>& p) {
    TwoVectors<T> L = two_vectors(zero_vector<T>(), zero_vector<T>());
    if (simple || body.parent >= 0) {
        const Motion<T>& m = p.Lam[l];
        Vec3<T> lin = m.lin;
        if (slides_on<simple>(body))
            for (int k = 0; k <= l; ++k)
                lin = cross(p.Lam[l - k].ang, offset(body, k, b.joint), lin);
        else
            lin = cross(m.ang, lift<T>(vec3(body.translation)), lin);
        b.seen[l].set(into_joint<simple>(body, m.ang), into_joint<simple>(body, lin));
        L = rotated<false>(rotation_of<simple>(body), b.joint, l, b.seen);
    }
    Motion<T> Lam = {L.a(), L.b()};
    if (simple) {
        Lam.ang.z = fma(factor, lam[body.v], Lam.ang.z);
    } else {
        Motion<T> own;
        scaled_twist<false>(body, factor, lam, own);
        Lam = Lam + own;
        b.L[l] = L;
    }
    b.Lam[l] = Lam;
}

// Coefficient l of the gradients by the motion that come from the body's own force.
// [Derivations] eq. 22.5
template <class T>
DTAU_INLINE void start_gradient(const Body& body, int order, int l, const WeighedBody<T>& b) {
    const Motion<T>& m = b.Lam[l];
    const Vec3<T> h = lift<T>(vec3(body.first_moment)), A = T(body.mass) * m.lin;
    const Sym3<double> S = sym3(body.second_moment);
    const Vec3<double> Sx = {S.xx, S.xy, S.xz}, Sy = {S.xy, S.yy, S.yz}, Sz = {S.xz, S.yz, S.zz};
    // by X, in columns: the velocities of the mass times where it is
    const Vec3<T> x = cross(m.ang, lift<T>(Sx), h.x * m.lin);
    const Vec3<T> y = cross(m.ang, lift<T>(Sy), h.y * m.lin);
    const Vec3<T> z = cross(m.ang, lift<T>(Sz), h.z * m.lin);
    const T zero(0.0), rows(order + 1.0 - l);
    b.by_motion[l].set(rows * Vec3<T>{y.z - z.y, z.x - x.z, x.y - y.x}, cross(m.ang, h, A));
    b.B[l] = {zero, zero, zero, zero, zero, zero};
    add_traceless(b.B[l], x, y, z);
}

// ---------------------------------------------------------------- inwards

// Adds the terms of lower coefficients to the gradient by omega, after the children.
template <bool simple, class T>
DTAU_INLINE Vec3<T> lower_gradient(const Body& body, int l, const WeighedBody<T>& b) {
    Vec3<T> W = zero_vector<T>();
    for (int m = 0; m < l; ++m) W += b.B[l - 1 - m] * b.omega[m];
    for (int m = 0; m < l && slides_on<simple>(body); ++m)
        W = cross(T(2.0) * b.joint.v[m], b.by_motion[l - 1 - m].b(), W);
    return W;
}

// Coefficient l of the gradient by the joint's displacement. [Derivations] eq. 22.6
template <class T>
DTAU_INLINE Force<T> displacement_gradient(const Body& body, int l, const WeighedBody<T>& b,
                                           const WeighedBody<T>& p) {
    const JointSeries<T>& s = b.joint;
    Force<T> sum = zero_force<T>();
    for (int m = 0; m <= l; ++m) {
        sum.ang = cross(b.by_motion[l - m].a(), b.carried[m].a(), sum.ang);
        sum.ang = cross(b.by_motion[l - m].b(), b.carried[m].b(), sum.ang);
    }
    for (int m = 0; m < l && body.parent >= 0; ++m) {
        const Vec3<T> f = b.force[m].a(), n = b.force[m].b();
        const Vec3<T> ang = b.L[l - 1 - m].a(), lin = b.L[l - 1 - m].b();
        sum.ang = cross(n, ang, cross(f, lin, sum.ang)), sum.lin = cross(f, ang, sum.lin);
    }
    if (l > 0 && traits(body.kind).slides && body.parent >= 0) {
        Vec3<T> g = zero_vector<T>();
        for (int m = 0; m < l; ++m) g += transposed_mul(p.X[m], b.back[l - 1 - m]);
        b.turned[l - 1] = into_joint<false>(body, g);
        for (int m = 0; m < l; ++m)
            sum.lin =
                rotate_add<false>(traits(body.kind).rotation, s, m, b.turned[l - 1 - m], sum.lin);
    }
    for (int m = 0; m < l && !traits(body.kind).commutes; ++m)
        sum = cross_star(joint_velocity(body, s, m), b.by_eta[l - 1 - m], sum);
    return sum;
}
// The same for a simple joint.
template <class T> DTAU_INLINE T turn_gradient(int l, const WeighedBody<T>& b) {
    T sum(0.0);
    for (int m = 0; m <= l; ++m) {
        const FourNumbers<T>&x = b.by_motion[l - m].xy, &y = b.carried[m].xy;
        sum = fma(x.x, y.y, fma(-x.y, y.x, sum)), sum = fma(x.z, y.w, fma(-x.w, y.z, sum));
    }
    for (int m = 0; m < l; ++m) {
        const Motion<T>& x = b.Lam[l - 1 - m];
        const FourNumbers<T>& y = b.force[m].xy;
        sum = fma(x.ang.y, y.z, fma(-x.ang.x, y.w, sum));
        sum = fma(x.lin.y, y.x, fma(-x.lin.x, y.y, sum));
    }
    return sum;
}
// turning: force and moment less what else depends on the displacement, coefficient l + 1; null: 0.
template <bool simple, class T>
DTAU_INLINE void gather_displacement(const Body& body, int order, int l, const TaylorScale& scale,
                                     const TwoVectors<T>* turning, const WeighedBody<T>& b,
                                     const WeighedBody<T>& p) {
    const T inverse(scale.inverse[order + 1 - l]);
    const bool turns = turning && l > 0;
    if constexpr (simple) {
        T sum = turn_gradient(l, b);
        if (turns) sum = sum - turning[l - 1].bz;
        b.by_eta[l].ang.z = inverse * sum;
    } else {
        Force<T> sum = displacement_gradient(body, l, b, p);
        if (turns) sum = sum - Force<T>{turning[l - 1].b(), turning[l - 1].a()};
        b.by_eta[l] = inverse * sum;
    }
}

// Coefficient l of the gradient by the joint's rates, less the part of W and A of this coefficient.
template <bool simple, class T>
DTAU_INLINE Force<T> lower_rate_gradient(const Body& body, int l, const WeighedBody<T>& b) {
    Force<T> sum = zero_force<T>();
    if (l == 0) return sum;
    if constexpr (simple) {
        sum.ang.z = b.by_eta[l - 1].ang.z;
        return sum;
    }
    for (int m = 0; m < l && slides_on<simple>(body); ++m) {
        const Vec3<T> A = b.by_motion[l - 1 - m].b();
        sum.ang = cross(A, b.joint.v[m], sum.ang);
        sum.lin = cross(A, T(2.0) * b.omega[m] - b.joint.omega[m], sum.lin);
    }
    return sum + b.by_eta[l - 1];
}

// Adds the gradients of coefficient l to the parent's gradients; both: E^T (W, A). [Derivations] eq.
// 22.7
template <bool simple, class T>
DTAU_INLINE void pass_gradient(const Body& body, int order, int l, const TwoVectors<T>& both,
                               const WeighedBody<T>& b, const WeighedBody<T>& p) {
    TwoVectors<T>& to = p.by_motion[l];
    Vec3<T> W = to.a() + out_of_joint<simple>(body, both.a());
    if (l > order) {
        to.set(W, to.b());
        return;
    }
    const Vec3<T> a = out_of_joint<simple>(body, both.b());
    const T rows(order + 1.0 - l);
    if (slides_on<simple>(body)) {
        b.back[l] = a;
        for (int m = 0; m <= l; ++m) {
            const Vec3<T> r = offset(body, m, b.joint), a_m = b.back[l - m];
            W = fma(rows, cross(r, a_m), W);
            add_traceless(p.B[l], r.x * a_m, r.y * a_m, r.z * a_m);
        }
    } else {
        const Vec3<T> r = lift<T>(vec3(body.translation));
        W = fma(rows, cross(r, a), W);
        add_traceless(p.B[l], r.x * a, r.y * a, r.z * a);
    }
    to.set(W, to.b() + a);
}

}  // namespace dtau::DTAU_VARIANT
