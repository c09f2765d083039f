// Time derivatives of inverse dynamics, and of its parts that do not depend on a, in body
// coordinates, O(N r^2). The problem of [HO-FBS] Algorithm 2 (H-GRNE-FBS), by other equations: only
// vectors are convolved, as Taylor coefficients, and no linear velocity and no inertia is.
//
// Newton's and Euler's equations in the axes of each body about its origin. For body i with parent
// p, coefficients of order k, with the joint's w, u, E, r of taylor.hpp and r = p0 + R0 r_joint:
//   omega   angular velocity            omega_i = E R0^T omega_p + w
//   alpha   its rate                    k + 1 times omega of order k + 1
//   X       what A does over the body   alpha^ + omega^ omega^
//   A       acceleration of the origin, gravity included, along body axes:
//             A_i = E R0^T (A_p + X_p r) + (2 omega_i - w) x u + u'
//   f, n    force across the joint, moment:
//             f = m A + X h,  n = h x A + integral of r x X r,  less external wrenches, plus those
//             of the children:  f_p += R0 E^T f,  n_p += R0 (E^T n + r_joint x E^T f) + p0 x f_p
//
// Bodies are numbered depth first: when the last body of a subtree is done, its forces go inwards at
// once. So the workspace is that of one path, which stays in the first cache.
#pragma once

#include "dtau/algorithms/taylor.hpp"

namespace dtau::DTAU_VARIANT {

// Which part: all; what is left at a = 0 (alpha and A are then another series than the rates of
// velocities: alpha_i = E R0^T alpha_p + omega_i x w); gravity alone.
enum class Part { all, bias, gravity };

template <class T>
struct InverseSeriesWorkspace {
    int length;  // coefficients of a series
    Configuration<T> angles;
    TaylorScale scale;
    JointSeries<T> joints;
    Vec3<T>*omega, *alpha, *A;  // by place on the path
    TwoVectors<T>* force;       // f, n
    Mat3<T>* X;
    Vec3<T>*y, *r;  // of one body
    TwoVectors<T>* seen;  // R0^T times what its parent gives
    int* path;

    InverseSeriesWorkspace(Arena& arena, const Tree& tree, int order)
        : length(order + 2),
          angles(arena, tree),
          scale(arena, length),
          joints(arena, tree.depth, length),
          omega(arena.take<Vec3<T>>(tree.depth * length)),
          alpha(arena.take<Vec3<T>>(tree.depth * length)),
          A(arena.take<Vec3<T>>(tree.depth * length)),
          force(arena.take<TwoVectors<T>>(tree.depth * length)),
          X(arena.take<Mat3<T>>(tree.depth * length)),
          y(arena.take<Vec3<T>>(length)),
          r(arena.take<Vec3<T>>(length)),
          seen(arena.take<TwoVectors<T>>(length)),
          path(arena.take<int>(tree.depth)) {}
};

// A_p + X_p r of order k, along the parent's axes.
template <class T>
DTAU_INLINE Vec3<T> carried_acceleration(const Body& body, int k, const Vec3<T>* A_p,
                                         const Mat3<T>* X_p, const Vec3<T>* r) {
    Vec3<T> a = A_p[k];
    if (!slides(body.kind)) return mul_add(X_p[k], vec3(body.translation), a);
    for (int m = 0; m <= k; ++m) a = mul_add(X_p[k - m], r[m], a);
    return a;
}

// r of the body in its parent, of order k.
template <class T>
DTAU_INLINE Vec3<T> offset(const Body& body, int k, const JointSeries<T>& s) {
    const Vec3<T> r = lift<T>(mat3(body.rotation)) * s.r[k];
    return k == 0 ? r + lift<T>(vec3(body.translation)) : r;
}

// (2 omega - w) x u of order k.
template <class T>
DTAU_INLINE Vec3<T> sliding_acceleration(int k, const Vec3<T>* omega, const JointSeries<T>& s,
                                         Vec3<T> a) {
    for (int m = 0; m <= k; ++m) a = cross(T(2.0) * omega[m] - s.w[m], s.u[k - m], a);
    return a;
}

// omega and A of a body as far as its parent (at a root: gravity) and its joint's turning give them,
// of `rows` and of order + 1 orders; at a = 0 alpha, too.
template <Part part, class T>
DTAU_INLINE void carried_motion(const Tree& tree, const Body& body, int order, int rows,
                                const Configuration<T>& x, const JointSeries<T>& s,
                                std::ptrdiff_t at, const InverseSeriesWorkspace<T>& w) {
    const Turning how = turning(body.kind);
    Vec3<T>*omega = w.omega + at, *A = w.A + at, *alpha = w.alpha + at;
    if (body.parent < 0) {
        A[0] = minus_gravity(tree, body, x);
        for (int k = 0; k < order; ++k) A[k + 1] = turned_gravity(k, A, s.w, w.scale);
        for (int k = 0; k < rows; ++k) omega[k] = s.w[k];
        for (int k = 0; k <= order; ++k) alpha[k] = zero_vector<T>();
        return;
    }
    const Mat3<double> R0 = mat3(body.rotation);
    const std::ptrdiff_t parent = at - w.length;
    const Vec3<T>*A_p = w.A + parent, *omega_p = w.omega + parent;
    if (part == Part::gravity) {
        for (int k = 0; k <= order; ++k) w.y[k] = transposed_mul(R0, A_p[k]);
        for (int k = 0; k <= order; ++k) A[k] = rotated<false>(how, s, k, w.y);
        return;
    }
    for (int k = 0; k <= order && slides(body.kind); ++k) w.r[k] = offset(body, k, s);
    for (int k = 0; k < rows; ++k) {
        const Vec3<T> A_r = k <= order
                                ? carried_acceleration(body, k, A_p, w.X + parent, w.r)
                                : zero_vector<T>();
        w.seen[k] = two_vectors(transposed_mul(R0, omega_p[k]), transposed_mul(R0, A_r));
    }
    for (int k = 0; k < rows; ++k) {
        const TwoVectors<T> both = rotated<false>(how, s, k, w.seen);
        omega[k] = both.a() + s.w[k];
        if (k <= order) A[k] = both.b();
    }
    if (part == Part::bias) {
        for (int k = 0; k <= order; ++k) w.y[k] = transposed_mul(R0, w.alpha[parent + k]);
        for (int k = 0; k <= order; ++k)
            alpha[k] = cross_sum(0, k, omega, s.w, rotated<false>(how, s, k, w.y));
    }
}

// What the body's own motion adds to A, and X.
template <Part part, class T>
DTAU_INLINE void own_motion(const Body& body, int order, const JointSeries<T>& s, std::ptrdiff_t at,
                            const InverseSeriesWorkspace<T>& w) {
    const Vec3<T>*omega = w.omega + at, *alpha = w.alpha + at;
    Vec3<T>* A = w.A + at;
    for (int k = 0; k <= order && slides(body.kind); ++k) {
        if (part == Part::all) A[k] = fma(T(k + 1.0), s.u[k + 1], A[k]);
        A[k] = sliding_acceleration(k, omega, s, A[k]);
    }
    for (int k = 0; k <= order; ++k) {
        const Vec3<T> rate = part == Part::bias ? alpha[k] : T(k + 1.0) * omega[k + 1];
        w.X[at + k] = with_skew(centripetal(k, omega), rate);
    }
}

template <Part part, class T>
DTAU_INLINE void net_force_series(const Tree& tree, const Body& body, int order, const T* f_ext,
                                  const Vec3<T>* A, const Mat3<T>* X, TwoVectors<T>* force,
                                  const TaylorScale& scale) {
    const Moments I = moments(body);
    const Vec3<T> h = lift<T>(I.h);
    for (int k = 0; k <= order; ++k) {
        Force<T> F = part == Part::gravity ? zero_force<T>() : moving_mass(I, X[k]);
        F = {cross(h, A[k], F.ang), fma(I.m, A[k], F.lin)};
        if (acts_on(f_ext, body)) {
            const T factor(-scale.inverse_factorial[k]);
            F = fma(factor, body_wrench(body, f_ext + k * 6 * tree.nlinks), F);
        }
        force[k] = two_vectors(F.lin, F.ang);
    }
}

// Adds the force of a body to that of its parent.
template <class T>
DTAU_INLINE void force_inwards(const Body& body, int order, const JointSeries<T>& s,
                               const TwoVectors<T>* force, TwoVectors<T>* force_p,
                               const InverseSeriesWorkspace<T>& w) {
    const Turning how = turning(body.kind);
    const Mat3<T> R0 = lift<T>(mat3(body.rotation));
    const Vec3<T> p0 = lift<T>(vec3(body.translation));
    for (int k = 0; k <= order; ++k) {
        const TwoVectors<T> both = rotated<true>(how, s, k, force);
        w.y[k] = both.a();
        const Vec3<T> moment = slides(body.kind) ? cross_sum(0, k, s.r, w.y, both.b()) : both.b();
        const Vec3<T> f = R0 * both.a();
        force_p[k] = two_vectors(force_p[k].a() + f,
                                 cross(p0, f, mul_add(R0, moment, force_p[k].b())));
    }
}

// Order `order`, from the first rows of v (nv each): order + 2 for all, order + 1 for the bias, order
// for gravity. f_ext (order + 1, nlinks, 6) may be null: zero. tau: (order + 1, nv).
template <Part part, class T>
void inverse_time_derivatives(const Tree& tree, int order, const T* q, const T* v, const T* f_ext,
                              T* tau, const InverseSeriesWorkspace<T>& w) {
    const Configuration<T> x = configuration(tree, q, w.angles);
    const int rows = order + (part == Part::all ? 2 : part == Part::bias ? 1 : 0);
    const int poses = order + (part == Part::all ? 2 : 1);
    const int length = w.length, nv = tree.nv;

    const auto outwards = [&](int i, int place) {
        const Body& body = tree.bodies[i];
        const JointSeries<T> s = w.joints.of(place);
        const std::ptrdiff_t at = std::ptrdiff_t(place) * length;
        joint_series(tree, body, x, v, rows, body.parent < 0 ? 0 : poses, w.scale, s);
        carried_motion<part>(tree, body, order, rows, x, s, at, w);
        if (part != Part::gravity) own_motion<part>(body, order, s, at, w);
        net_force_series<part>(tree, body, order, f_ext, w.A + at, w.X + at, w.force + at,
                               w.scale);
    };
    const auto inwards = [&](int place) {
        const Body& body = tree.bodies[w.path[place]];
        const std::ptrdiff_t at = std::ptrdiff_t(place) * length;
        for (int k = 0; k <= order; ++k) {
            T torque[6];
            joint_torque(body, {w.force[at + k].b(), w.force[at + k].a()}, torque);
            for (int c = 0; c < body.nv; ++c) {
                const int j = body.v + c;
                T t = T(w.scale.factorial[k]) * torque[c];
                if (part == Part::all) t = fma(T(tree.armature[j]), v[(k + 1) * nv + j], t);
                if (part != Part::gravity) t = fma(T(tree.damping[j]), v[k * nv + j], t);
                tau[k * nv + j] = t;
            }
        }
        if (place > 0)
            force_inwards(body, order, w.joints.of(place), w.force + at, w.force + at - length, w);
    };
    int places = 0;
    for (int i = 0; i < tree.nbodies; ++i) {
        while (places > 0 && w.path[places - 1] != tree.bodies[i].parent) inwards(--places);
        outwards(i, places);
        w.path[places++] = i;
    }
    while (places > 0) inwards(--places);
}

}  // namespace dtau::DTAU_VARIANT
