// Computes the motion of a joint as functions of time: joint_series(). [HO-FBS] Algorithm 1 in body
// coordinates, as Taylor coefficients (taylor.hpp):
//
//   E' = -omega_J x E        r' = E^T v_J        omega_J, v_J = S v
//
//   omega_J, v_J   the joint's twist S v in body axes: angular, linear
//   E              rotation from the axes of the joint's frame to the axes of the body; of a joint that
//                  rotates about z only the sine and the cosine
//   r, or r_J      origin of the body in the joint's frame
//
// The frame itself is constant in the parent body: rotation R0, origin p0.
#pragma once

#include "dtau/algorithms/time/taylor.hpp"
#include "dtau/pack.hpp"
#include "dtau/turns.hpp"

namespace dtau::DTAU_VARIANT {

// Kinds of joint at compile time: simple joints have code of their own.
template <bool simple> DTAU_INLINE Rotation rotation_of(const Body& body) {
    return simple ? Rotation::about_z : traits(body.kind).rotation;
}
template <bool simple> DTAU_INLINE bool slides_on(const Body& body) {
    return !simple && traits(body.kind).slides;
}

// Rotates from the axes of the parent to the axes of the joint's frame, R0^T a, and back. For a simple
// joint, the last of the three rotations of R0 is part of E. [Derivations] eq. 2.2
template <bool simple, class T> DTAU_INLINE Vec3<T> into_joint(const Body& body, const Vec3<T>& a) {
    if constexpr (simple) return tilted_back(body, a);
    return transposed_mul(mat3(body.rotation), a);
}
template <bool simple, class T>
DTAU_INLINE Vec3<T> out_of_joint(const Body& body, const Vec3<T>& a) {
    if constexpr (simple) return tilted<T>(body, a);
    return lift<T>(mat3(body.rotation)) * a;
}

template <class T> struct SineCosine {
    T sine, cosine;
};

// The series of joints, each with room for `length` coefficients.
template <class T> struct JointSeries {
    int length;
    SineCosine<T>* angle;
    Mat3<T>* E;
    Vec3<T>*omega, *v, *r;

    JointSeries(Arena& arena, int bodies, int room) : length(room) {
        arena.take_each(bodies * room, angle, E, omega, v, r);
    }
    // Series of body i.
    DTAU_INLINE JointSeries of(int i) const {
        JointSeries s = *this;
        advance(std::ptrdiff_t(i) * length, s.angle, s.E, s.omega, s.v, s.r);
        return s;
    }
};

// Two vectors a, b that rotate together. The four numbers that a rotation about z changes come first
// and are adjacent: one vector register for a lone state.
template <class T> struct TwoVectors {
    FourNumbers<T> xy;  // a.x, a.y, b.x, b.y
    T az, bz;

    DTAU_INLINE Vec3<T> a() const { return {xy.x, xy.y, az}; }
    DTAU_INLINE Vec3<T> b() const { return {xy.z, xy.w, bz}; }
    // Number by number, because compilers copy whole structs through memory.
    DTAU_INLINE void set(const Vec3<T>& a, const Vec3<T>& b) {
        xy.x = a.x, xy.y = a.y, xy.z = b.x, xy.w = b.y, az = a.z, bz = b.z;
    }
};
template <class T> DTAU_INLINE TwoVectors<T> two_vectors(const Vec3<T>& a, const Vec3<T>& b) {
    return {{a.x, a.y, b.x, b.y}, a.z, b.z};
}

// sum + E_m x; with back, sum + E_m^T x.
template <bool back, class T>
DTAU_INLINE Vec3<T> rotate_add(Rotation how, const JointSeries<T>& s, int m, const Vec3<T>& x,
                               const Vec3<T>& sum) {
    if (how == Rotation::any) return mul_add(back ? transposed(s.E[m]) : s.E[m], x, sum);
    if (how == Rotation::none) return m == 0 ? x + sum : sum;
    const T c = s.angle[m].cosine, d = back ? -s.angle[m].sine : s.angle[m].sine;
    return {fma(c, x.x, fma(d, x.y, sum.x)), fma(c, x.y, fma(-d, x.x, sum.y)),
            m == 0 ? x.z + sum.z : sum.z};
}
template <bool back, class T>
DTAU_INLINE TwoVectors<T> rotate_add(Rotation how, const JointSeries<T>& s, int m,
                                     const TwoVectors<T>& x, const TwoVectors<T>& sum) {
    return two_vectors(rotate_add<back>(how, s, m, x.a(), sum.a()),
                       rotate_add<back>(how, s, m, x.b(), sum.b()));
}

// E_0 x; with back, E_0^T x.
template <bool back, class T>
DTAU_INLINE Vec3<T> rotate(Rotation how, const JointSeries<T>& s, const Vec3<T>& x) {
    if (how == Rotation::any) return back ? transposed_mul(s.E[0], x) : s.E[0] * x;
    if (how == Rotation::none) return x;
    const auto [sine, cosine] = s.angle[0];
    return back ? turned_z(sine, cosine, x) : turned_back_z(sine, cosine, x);
}

// E_0 x + sum; with back, E_0^T x + sum. For simple joints sum has no z.
template <bool back, bool simple, class T>
DTAU_INLINE TwoVectors<T> rotate_onto(Rotation how, const JointSeries<T>& s, const TwoVectors<T>& x,
                                      const TwoVectors<T>& sum) {
    TwoVectors<T> both = rotate_add<back>(how, s, 0, x, sum);
    if (simple) both.az = x.az, both.bz = x.bz;
    return both;
}

// Sum of E_m x_{k-m} for m from 1 to k; with back, of E_m^T x_{k-m}. For a joint that rotates about z,
// the part along z, which is zero, is not written.
template <bool back, class T>
DTAU_INLINE void rotated_by_higher(Rotation how, const JointSeries<T>& s, int k,
                                   const TwoVectors<T>* x, TwoVectors<T>& sum) {
    if (how == Rotation::about_z) {
        Vec4<T> c = Vec4<T>::zero(), d = c;  // times cosine, times sine
        for (int m = 1; m <= k; ++m) {
            c.add(s.angle[m].cosine, x[k - m].xy), d.add(s.angle[m].sine, x[k - m].xy);
        }
        if constexpr (back)
            c.subtract_rotated(d);
        else
            c.add_rotated(d);
        c.store(sum.xy);  // components along z stay zero
        return;
    }
    Vec3<T> a = zero_vector<T>(), b = a;
    for (int m = 1; m <= k && how == Rotation::any; ++m) {
        const Mat3<T> E = back ? transposed(s.E[m]) : s.E[m];
        a = mul_add(E, x[k - m].a(), a), b = mul_add(E, x[k - m].b(), b);
    }
    sum = two_vectors(a, b);
}

// Sum of E_m x_{k-m} for m from 0 to k; with back, of E_m^T x_{k-m}.
template <bool back, class T>
DTAU_INLINE TwoVectors<T> rotated(Rotation how, const JointSeries<T>& s, int k,
                                  const TwoVectors<T>* x) {
    TwoVectors<T> higher;
    higher.az = higher.bz = T(0.0);
    rotated_by_higher<back>(how, s, k, x, higher);
    return rotate_add<back>(how, s, 0, x[k], higher);
}

// The same for single vectors.
template <bool back, class T>
DTAU_INLINE Vec3<T> rotated(Rotation how, const JointSeries<T>& s, int k, const Vec3<T>* x) {
    Vec3<T> sum = zero_vector<T>();
    if (how == Rotation::any) {
        for (int m = 0; m <= k; ++m)
            sum = mul_add(back ? transposed(s.E[m]) : s.E[m], x[k - m], sum);
        return sum;
    }
    if (how == Rotation::none) return x[k];
    Vec3<T> c = zero_vector<T>(), d = c;
    for (int m = 0; m <= k; ++m) {
        const T cosine = s.angle[m].cosine, sine = s.angle[m].sine;
        const Vec3<T>& a = x[k - m];
        c.x = fma(cosine, a.x, c.x), c.y = fma(cosine, a.y, c.y);
        d.x = fma(sine, a.x, d.x), d.y = fma(sine, a.y, d.y);
    }
    return {back ? c.x - d.y : c.x + d.y, back ? c.y + d.x : c.y - d.x, x[k].z};
}

// Pose of the body in the joint's frame: the coefficients of order 0.
template <bool simple, class T>
DTAU_INLINE void start_joint(const Body& body, const Configuration<T>& x, const JointSeries<T>& s) {
    if constexpr (simple) {
        const SimpleRotation<T> turn = simple_rotation(body, x);
        s.angle[0] = {turn.sine, turn.cosine};
        return;
    }
    const JointTraits& joint = traits(body.kind);
    const T* q = x.q + body.q;
    if (joint.slides) s.r[0] = joint_offset(body, q);
    if (joint.rotation == Rotation::any)
        s.E[0] = transposed(quaternion_rotation(x.q + body.quaternion));
    if (joint.rotation == Rotation::about_z)
        s.angle[0] = {x.sine[body.q + joint.angle], x.cosine[body.q + joint.angle]};
}

// Computes the twist of order k from derivative k of the velocity; v_J only if the joint slides.
template <bool simple, class T>
DTAU_INLINE void set_joint_twist(const Body& body, int k, const T* v, const TaylorScale& scale,
                                 const JointSeries<T>& s) {
    const T factor(scale.inverse_factorial[k]);
    if (simple) {
        s.omega[k].x = s.omega[k].y = T(0.0), s.omega[k].z = factor * v[body.v];
        return;
    }
    T rates[6] = {};
    for (int c = 0; c < body.nv; ++c) rates[c] = factor * v[body.v + c];
    const Motion<T> twist = joint_twist(body, rates);
    s.omega[k] = twist.ang;
    if (traits(body.kind).slides) s.v[k] = twist.lin;
}

// E and r of order k + 1 from twists of orders up to k.
template <class T>
DTAU_INLINE void extend_joint(Rotation how, bool sliding, int k, const TaylorScale& scale,
                              const JointSeries<T>& s) {
    const T inverse(scale.inverse[k + 1]);
    if (how == Rotation::about_z) {
        T c(0.0), d(0.0);
        for (int m = k; m >= 0; --m) {  // the newest coefficient comes last
            const T rate = s.omega[k - m].z;
            c = fma(s.angle[m].sine, rate, c), d = fma(s.angle[m].cosine, rate, d);
        }
        s.angle[k + 1] = {inverse * d, -(inverse * c)};  // [Derivations] eq. 13.1
    } else if (how == Rotation::any) {
        Mat3<T> E = zero_matrix<T>();
        for (int m = 0; m <= k; ++m) {
            const Vec3<T>& omega = s.omega[k - m];
            E = {cross(s.E[m].x, omega, E.x), cross(s.E[m].y, omega, E.y),
                 cross(s.E[m].z, omega, E.z)};
        }
        s.E[k + 1] = inverse * E;  // [Derivations] eq. 13.1
    }
    if (sliding) s.r[k + 1] = inverse * rotated<true>(how, s, k, s.v);  // [Derivations] eq. 13.1
}

// The torque of a joint, S^T F, by its velocities.
template <bool simple, class T>
DTAU_INLINE void series_torque(const Body& body, const Force<T>& F, T* torque) {
    if (simple)
        torque[0] = F.ang.z;
    else
        joint_torque(body, F, torque);
}
// Computes all series of a joint: twists of orders below `rows`, pose of orders below `poses`.
template <bool simple, class T>
DTAU_INLINE void joint_series(const Tree& tree, const Body& body, const Configuration<T>& x,
                              const T* v, int rows, int poses, const TaylorScale& scale,
                              const JointSeries<T>& s) {
    start_joint<simple>(body, x, s);
    for (int k = 0; k < rows; ++k) set_joint_twist<simple>(body, k, v + k * tree.nv, scale, s);
    for (int k = 0; k + 1 < poses; ++k)
        extend_joint(rotation_of<simple>(body), slides_on<simple>(body), k, scale, s);
}

}  // namespace dtau::DTAU_VARIANT
