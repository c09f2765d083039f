// Time derivatives as Taylor coefficients: x^(k) = k! x_k. Products are sums without binomials.
//
// What a joint does to its body, as functions of time, [HO-FBS] Algorithm 1 in body coordinates:
//   w, u     the joint's twist S v in body axes: angular, linear
//   E        rotation from the axes of the joint's frame to those of the body, E' = -w x E; of a
//            joint that turns about z the sine and the cosine only
//   r        origin of the body in the joint's frame, r' = E^T u
// The frame itself is constant in the parent body: rotation R0, origin p0.
#pragma once

#include "dtau/kinematics.hpp"

namespace dtau::DTAU_VARIANT {

// k!, 1/k! and 1/k for k below `count`.
struct TaylorScale {
    double *factorial, *inverse_factorial, *inverse;

    TaylorScale(Arena& arena, int count)
        : factorial(arena.take<double>(count)),
          inverse_factorial(arena.take<double>(count)),
          inverse(arena.take<double>(count)) {
        if (!factorial) return;
        factorial[0] = inverse_factorial[0] = inverse[0] = 1.0;
        for (int k = 1; k < count; ++k) {
            factorial[k] = k * factorial[k - 1];
            inverse_factorial[k] = 1.0 / factorial[k];
            inverse[k] = 1.0 / k;
        }
    }
};

enum class Turning { none, about_z, any };

DTAU_INLINE Turning turning(JointKind kind) {
    if (kind == JointKind::prismatic) return Turning::none;
    const bool any = kind == JointKind::spherical || kind == JointKind::free;
    return any ? Turning::any : Turning::about_z;
}
DTAU_INLINE bool slides(JointKind kind) {
    return kind != JointKind::revolute && kind != JointKind::spherical;
}

// Of bodies, each with room for `length` coefficients.
template <class T>
struct JointSeries {
    int length;
    T *sine, *cosine;
    Mat3<T>* E;
    Vec3<T>*w, *u, *r;

    JointSeries(Arena& arena, int bodies, int room)
        : length(room),
          sine(arena.take<T>(bodies * room)),
          cosine(arena.take<T>(bodies * room)),
          E(arena.take<Mat3<T>>(bodies * room)),
          w(arena.take<Vec3<T>>(bodies * room)),
          u(arena.take<Vec3<T>>(bodies * room)),
          r(arena.take<Vec3<T>>(bodies * room)) {}

    // Those of body i.
    DTAU_INLINE JointSeries of(int i) const {
        JointSeries s = *this;
        const std::ptrdiff_t at = std::ptrdiff_t(i) * length;
        s.sine += at, s.cosine += at, s.E += at, s.w += at, s.u += at, s.r += at;
        return s;
    }
};

template <class T>
DTAU_INLINE Vec3<T> zero_vector() {
    return {T(0.0), T(0.0), T(0.0)};
}
template <class T>
DTAU_INLINE Mat3<T> transpose_of(const Mat3<T>& m) {
    return {{m.x.x, m.y.x, m.z.x}, {m.x.y, m.y.y, m.z.y}, {m.x.z, m.y.z, m.z.z}};
}

template <class T>
struct TwoVectors {
    Vec3<T> x, y;
};

// Sums of E_m x_{k-m} for m from `first` to `last`, for two series x at once; with back, of
// E_m^T x_{k-m}.
template <bool back, class T>
DTAU_INLINE TwoVectors<T> rotated(Turning how, const JointSeries<T>& s, int first, int last, int k,
                                  const Vec3<T>* x, const Vec3<T>* y) {
    TwoVectors<T> sum = {zero_vector<T>(), zero_vector<T>()};
    if (how == Turning::any) {
        for (int m = first; m <= last; ++m) {
            const Mat3<T> E = back ? transpose_of(s.E[m]) : s.E[m];
            sum = {mul_add(E, x[k - m], sum.x), mul_add(E, y[k - m], sum.y)};
        }
        return sum;
    }
    if (first == 0) sum = {x[k], y[k]};
    if (how == Turning::about_z) {
        TwoVectors<T> c = {zero_vector<T>(), zero_vector<T>()}, d = c;  // times cosine, times sine
        for (int m = first; m <= last; ++m) {
            const T cosine = s.cosine[m], sine = s.sine[m];
            const Vec3<T>&a = x[k - m], &b = y[k - m];
            c.x.x = fma(cosine, a.x, c.x.x), c.x.y = fma(cosine, a.y, c.x.y);
            d.x.x = fma(sine, a.x, d.x.x), d.x.y = fma(sine, a.y, d.x.y);
            c.y.x = fma(cosine, b.x, c.y.x), c.y.y = fma(cosine, b.y, c.y.y);
            d.y.x = fma(sine, b.x, d.y.x), d.y.y = fma(sine, b.y, d.y.y);
        }
        sum.x.x = back ? c.x.x - d.x.y : c.x.x + d.x.y;
        sum.x.y = back ? c.x.y + d.x.x : c.x.y - d.x.x;
        sum.y.x = back ? c.y.x - d.y.y : c.y.x + d.y.y;
        sum.y.y = back ? c.y.y + d.y.x : c.y.y - d.y.x;
    }
    return sum;
}

// The same for one series.
template <bool back, class T>
DTAU_INLINE Vec3<T> rotated(Turning how, const JointSeries<T>& s, int first, int last, int k,
                            const Vec3<T>* x) {
    Vec3<T> sum = zero_vector<T>();
    if (how == Turning::any) {
        for (int m = first; m <= last; ++m)
            sum = mul_add(back ? transpose_of(s.E[m]) : s.E[m], x[k - m], sum);
        return sum;
    }
    if (first == 0) sum = x[k];
    if (how == Turning::about_z) {
        Vec3<T> c = zero_vector<T>(), d = c;
        for (int m = first; m <= last; ++m) {
            const T cosine = s.cosine[m], sine = s.sine[m];
            const Vec3<T>& a = x[k - m];
            c.x = fma(cosine, a.x, c.x), c.y = fma(cosine, a.y, c.y);
            d.x = fma(sine, a.x, d.x), d.y = fma(sine, a.y, d.y);
        }
        sum.x = back ? c.x - d.y : c.x + d.y;
        sum.y = back ? c.y + d.x : c.y - d.x;
    }
    return sum;
}

// Sum of a_m x b_{k-m} for m from `first` to k.
template <class T>
DTAU_INLINE Vec3<T> cross_sum(int first, int k, const Vec3<T>* a, const Vec3<T>* b,
                              Vec3<T> sum = zero_vector<T>()) {
    for (int m = first; m <= k; ++m) sum = cross(a[m], b[k - m], sum);
    return sum;
}

// The dyadic product of the series w with itself, less its trace: w x (w x r) = (this) r.
template <class T>
DTAU_INLINE Sym3<T> centripetal(int k, const Vec3<T>* w) {
    T xx(0.0), xy(0.0), xz(0.0), yy(0.0), yz(0.0), zz(0.0);
    for (int m = 0; 2 * m < k; ++m) {
        const Vec3<T>&a = w[m], &b = w[k - m];
        xx = fma(a.x, b.x, xx), yy = fma(a.y, b.y, yy), zz = fma(a.z, b.z, zz);
        xy = fma(a.x, b.y, fma(a.y, b.x, xy));
        xz = fma(a.x, b.z, fma(a.z, b.x, xz));
        yz = fma(a.y, b.z, fma(a.z, b.y, yz));
    }
    xx = xx + xx, yy = yy + yy, zz = zz + zz;
    if (k % 2 == 0) {
        const Vec3<T>& a = w[k / 2];
        xx = fma(a.x, a.x, xx), yy = fma(a.y, a.y, yy), zz = fma(a.z, a.z, zz);
        xy = fma(a.x, a.y, xy), xz = fma(a.x, a.z, xz), yz = fma(a.y, a.z, yz);
    }
    return {-(yy + zz), xy, xz, -(xx + zz), yz, -(xx + yy)};
}

// alpha x r + W r as one matrix.
template <class T>
DTAU_INLINE Mat3<T> with_skew(const Sym3<T>& W, const Vec3<T>& alpha) {
    return {{W.xx, W.xy + alpha.z, W.xz - alpha.y},
            {W.xy - alpha.z, W.yy, W.yz + alpha.x},
            {W.xz + alpha.y, W.yz - alpha.x, W.zz}};
}

// Pose of the body in the joint's frame: the coefficients of order 0.
template <class T>
DTAU_INLINE void start_joint(const Body& body, const Configuration<T>& x, const JointSeries<T>& s) {
    const T *q = x.q + body.q, zero(0.0);
    const int angle = body.q + angle_place(body.kind);
    switch (body.kind) {
        case JointKind::revolute:
            break;
        case JointKind::prismatic:
        case JointKind::cylindrical:
            s.r[0] = {zero, zero, q[0]};
            break;
        case JointKind::helical:
            s.r[0] = {zero, zero, T(body.pitch) * q[0]};
            break;
        case JointKind::spherical:
            s.E[0] = transpose_of(quaternion_rotation(q));
            return;
        case JointKind::free:
            s.E[0] = transpose_of(quaternion_rotation(q + 3));
            s.r[0] = {q[0], q[1], q[2]};
            return;
        case JointKind::planar:
            s.r[0] = {q[0], q[1], zero};
            break;
    }
    if (turning(body.kind) == Turning::about_z)
        s.sine[0] = x.sine[angle], s.cosine[0] = x.cosine[angle];
}

// The twist of order k, from the velocity's coefficients v; u of joints that slide only.
template <class T>
DTAU_INLINE void set_joint_twist(const Body& body, int k, const T* v, const JointSeries<T>& s) {
    const Motion<T> twist = joint_twist(body, v);
    s.w[k] = twist.ang;
    if (slides(body.kind)) s.u[k] = twist.lin;
}

// E and r of order k + 1 from twists of orders up to k.
template <class T>
DTAU_INLINE void extend_joint(const Body& body, int k, const TaylorScale& scale,
                              const JointSeries<T>& s) {
    const Turning how = turning(body.kind);
    const T inverse(scale.inverse[k + 1]);
    if (how == Turning::about_z) {
        T c(0.0), d(0.0);
        for (int m = 0; m <= k; ++m) {
            const T w = s.w[k - m].z;
            c = fma(s.sine[m], w, c), d = fma(s.cosine[m], w, d);
        }
        s.cosine[k + 1] = -(inverse * c), s.sine[k + 1] = inverse * d;
    } else if (how == Turning::any) {
        Mat3<T> E = {zero_vector<T>(), zero_vector<T>(), zero_vector<T>()};
        for (int m = 0; m <= k; ++m) {
            const Vec3<T>& w = s.w[k - m];
            E = {cross(s.E[m].x, w, E.x), cross(s.E[m].y, w, E.y), cross(s.E[m].z, w, E.z)};
        }
        s.E[k + 1] = {inverse * E.x, inverse * E.y, inverse * E.z};
    }
    if (slides(body.kind)) s.r[k + 1] = inverse * rotated<true>(how, s, 0, k, k, s.u);
}

// The velocity of order k of a joint, from a row of derivatives.
template <class T>
DTAU_INLINE void joint_rates(const Body& body, const T* row, double factor, T* v) {
    for (int c = 0; c < body.nv; ++c) v[c] = T(factor) * row[body.v + c];
}

// All of a joint: twists of orders below `rows`, pose of orders below `poses`.
template <class T>
DTAU_INLINE void joint_series(const Tree& tree, const Body& body, const Configuration<T>& x,
                              const T* v, int rows, int poses, const TaylorScale& scale,
                              const JointSeries<T>& s) {
    start_joint(body, x, s);
    for (int k = 0; k < rows; ++k) {
        T rates[6];
        joint_rates(body, v + k * tree.nv, scale.inverse_factorial[k], rates);
        set_joint_twist(body, k, rates, s);
        if (k + 1 < poses) extend_joint(body, k, scale, s);
    }
}

// Gravity's acceleration reversed, in the axes of a root body: of order 0, and k + 1 from k.
template <class T>
DTAU_INLINE Vec3<T> minus_gravity(const Tree& tree, const Body& body, const Configuration<T>& x) {
    const Mat3<T> R = joint_placement(body, constant_placement<T>(body), x).R;
    return -transposed_mul(R, lift<T>(vec3(tree.gravity)));
}
template <class T>
DTAU_INLINE Vec3<T> turned_gravity(int k, const Vec3<T>* G, const Vec3<T>* w,
                                   const TaylorScale& scale) {
    return T(scale.inverse[k + 1]) * cross_sum(0, k, G, w);
}

// The mass, first moment and second moment (integral of r r^T) of a body in its own axes.
struct Moments {
    double m;
    Vec3<double> h;
    Mat3<double> second;
};
DTAU_INLINE Moments moments(const Body& body) {
    const double* J = body.own_inertia;
    const double half = 0.5 * (J[0] + J[3] + J[5]);
    return {
        body.mass,
        body.mass * vec3(body.com),
        {{half - J[0], -J[1], -J[2]}, {-J[1], half - J[3], -J[4]}, {-J[2], -J[4], half - J[5]}}};
}

// Integrals of X r and r x X r over the mass.
template <class T>
DTAU_INLINE Force<T> moving_mass(const Moments& I, const Mat3<T>& X) {
    const Vec3<T> a = {X.x.x, X.y.x, X.z.x}, b = {X.x.y, X.y.y, X.z.y}, c = {X.x.z, X.y.z, X.z.z};
    const Mat3<double>& S = I.second;
    return {{dot(S.y, c) - dot(S.z, b), dot(S.z, a) - dot(S.x, c), dot(S.x, b) - dot(S.y, a)},
            X * I.h};
}

}  // namespace dtau::DTAU_VARIANT
