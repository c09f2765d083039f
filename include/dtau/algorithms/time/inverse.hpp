// Computes the time derivatives of inverse dynamics, and of its parts: the bias (a = 0) and gravity alone:
// inverse_time_derivatives(). O(N r^2) for order r. The problem of [HO-FBS] Algorithm 2
// (H-GRNE-FBS).
//
// Taylor coefficients of order k (taylor.hpp), for body i with parent p in the axes of body i;
// products are convolutions; omega_J, v_J, E, r_J of the joint in its constant frame R0, p0
// (joint_series.hpp), r = p0 + R0 r_J:
//
//   forward    omega_i = E R0^T omega_p + omega_J
//              alpha_i = (k + 1) times omega_i of order k + 1
//              A_i     = E R0^T (A_p + X_p r) + (2 omega_i - omega_J) x v_J + v_J'
//              X_i     = alpha_i^ + omega_i^ omega_i^
//              f_i     = m A_i + X_i h - f_ext_i,   n_i = h x A_i + integral of r x X_i r dm - n_ext_i
//   backward   tau_i   = k! S_i^T (n_i; f_i) + armature, damping, springs, friction
//              f_p     = f_p + R0 E^T f_i,   n_p = n_p + R0 (E^T n_i + r_J x E^T f_i) + p0 x (f_i in p)
//
// It differs from the paper in three ways ([Derivations] §13). The equations are as in rnea.hpp: only
// vectors are convolved, but no linear velocity, no inertia and no 6x6 matrix. Taylor coefficients take
// the place of derivatives, so that no binomials appear. Bodies are numbered depth first, and forces go
// inwards as soon as the last body of a subtree is done, so that the workspace is for one path.
// Loops over the orders are short and separate, so that a body's constants stay in registers. Order 0
// alone is left to rnea().
//
// Symbols:
//   omega, alpha   angular velocity and its rate
//   A              acceleration of the origin, gravity included, along body axes
//   X              W of rnea.hpp: the acceleration of a point r of the body is A + X r
//   f, n           force across the joint, and its moment; h, m: first moment and mass
#pragma once

#include "dtau/algorithms/time/joint_series.hpp"
#include "dtau/algorithms/time/spring_series.hpp"
#include "dtau/algorithms/values/rnea.hpp"

namespace dtau::DTAU_VARIANT {

// Which part of the torque: all of it; the bias, at a = 0; or gravity alone. For the bias, alpha is not
// the rate of omega, but a series of its own: alpha_i = E R0^T alpha_p + omega_i x omega_J.
enum class Part { all, bias, gravity };

template <class T> struct InverseSeriesWorkspace {
    int length;  // coefficients of a series
    Configuration<T> angles;
    TaylorScale scale;
    JointSeries<T> joints;
    Vec3<T>*omega, *alpha, *A;  // by level on the path
    TwoVectors<T>* force;       // f, n
    Mat3<T>* X;
    Vec3<T>*y, *r;  // of one body
    TwoVectors<T>*
        seen;  // R0^T times the motion of the parent: omega, and A + X r of one order less
    int* path;
    RneaWorkspace<T> rnea;
    SpringSeries<T> springs;
    FrictionSeries<T> friction;

    InverseSeriesWorkspace(Arena& arena, const Tree& tree, const Options& options)
        : length(options.order + 2),
          angles(arena, tree),
          scale(arena, length),
          joints(arena, tree.depth, length),
          path(arena.take<int>(tree.depth)),
          rnea(arena, tree, options),
          springs(arena, tree, length),
          friction(arena, tree, length) {
        arena.take_each(tree.depth * length, omega, alpha, A, force, X);
        arena.take_each(length, y, r, seen);
    }
};

// r of the body in its parent, of order k.
template <class T> inline Vec3<T> offset(const Body& body, int k, const JointSeries<T>& s) {
    const Vec3<T> r = lift<T>(mat3(body.rotation)) * s.r[k];
    return k == 0 ? r + lift<T>(vec3(body.translation)) : r;
}

// (2 omega - omega_J) x v_J of order k.
template <class T>
inline Vec3<T> sliding_acceleration(int k, const Vec3<T>* omega, const JointSeries<T>& s,
                                    Vec3<T> a) {
    for (int m = 0; m <= k; ++m) a = cross(T(2.0) * omega[m] - s.omega[m], s.v[k - m], a);
    return a;
}

// A_p + X_p r of order k, along the parent's axes; w.r holds the series r if the joint slides.
template <bool simple, class T>
inline Vec3<T> carried_acceleration(const Body& body, int k, const Vec3<T>& r0,
                                    std::ptrdiff_t parent, const InverseSeriesWorkspace<T>& w) {
    const Mat3<T>* X = w.X + parent;
    Vec3<T> a = w.A[parent + k];
    if (!slides_on<simple>(body)) return mul_add(X[k], r0, a);
    for (int m = 0; m <= k; ++m) a = mul_add(X[k - m], w.r[m], a);
    return a;
}

// Computes omega and A of a body, and alpha for the bias, from its parent (for a root: from gravity) and
// the rotation of its joint; the joint's sliding is added by own_motion.
template <bool simple, class T>
inline void carried_motion(Part part, const Tree& tree, const Body& body, int order, int rows,
                           const Configuration<T>& x, const JointSeries<T>& s, std::ptrdiff_t at,
                           const InverseSeriesWorkspace<T>& w) {
    const Rotation how = rotation_of<simple>(body);
    Vec3<T>*omega = w.omega + at, *A = w.A + at, *alpha = w.alpha + at;
    if (!simple && body.parent < 0) {
        A[0] = minus_gravity(tree, body, x);
        for (int k = 0; k < order; ++k) A[k + 1] = next_gravity(k, A, s.omega, w.scale);
        for (int k = 0; k < rows; ++k) omega[k] = s.omega[k];
        for (int k = 0; k <= order; ++k) alpha[k] = zero_vector<T>();
        return;
    }
    const Vec3<T> r0 = lift<T>(vec3(body.translation));
    const std::ptrdiff_t parent = at - w.length;
    if (part == Part::gravity) {
        for (int k = 0; k <= order; ++k) w.y[k] = into_joint<simple>(body, w.A[parent + k]);
        for (int k = 0; k <= order; ++k) A[k] = rotated<false>(how, s, k, w.y);
        return;
    }
    for (int k = 0; k <= order && slides_on<simple>(body); ++k) w.r[k] = offset(body, k, s);
    for (int k = 0; k <= order; ++k)
        w.seen[k].set(
            into_joint<simple>(body, w.omega[parent + k]),
            into_joint<simple>(body, carried_acceleration<simple>(body, k, r0, parent, w)));
    for (int k = 0; k <= order; ++k) {
        const TwoVectors<T> both = rotated<false>(how, s, k, w.seen);
        omega[k] = both.a() + s.omega[k], A[k] = both.b();  // [Derivations] eqs. 13.2, 13.3
    }
    if (part == Part::all) {  // alpha needs one order more
        const Vec3<T> y = into_joint<simple>(body, w.omega[parent + order + 1]);
        w.seen[order + 1].set(y, zero_vector<T>());
        omega[order + 1] = rotated<false>(how, s, order + 1, w.seen).a() + s.omega[order + 1];
    } else {
        for (int k = 0; k <= order; ++k) w.y[k] = into_joint<simple>(body, w.alpha[parent + k]);
        for (int k = 0; k <= order; ++k)
            alpha[k] = cross_sum(0, k, omega, s.omega, rotated<false>(how, s, k, w.y));
    }
}

// Adds the sliding of the joint to A, and computes X.
template <bool simple, class T>
inline void own_motion(Part part, const Body& body, int order, const JointSeries<T>& s,
                       std::ptrdiff_t at, const InverseSeriesWorkspace<T>& w) {
    const Vec3<T>*omega = w.omega + at, *alpha = w.alpha + at;
    Vec3<T>* A = w.A + at;
    for (int k = 0; k <= order && slides_on<simple>(body); ++k) {
        if (part == Part::all) A[k] = fma(T(k + 1.0), s.v[k + 1], A[k]);
        A[k] = sliding_acceleration(k, omega, s, A[k]);  // [Derivations] eq. 13.3
    }
    for (int k = 0; k <= order; ++k) {
        const Vec3<T> rate = part == Part::bias ? alpha[k] : T(k + 1.0) * omega[k + 1];
        w.X[at + k] = with_skew(centripetal(k, omega), rate);
    }
}

// Computes the force that accelerates the body.
template <class T>
inline void own_force(Part part, const Tree& tree, const Body& body, int order, const T* f_ext,
                      std::ptrdiff_t at, const InverseSeriesWorkspace<T>& w) {
    for (int k = 0; k <= order; ++k) {
        const Vec3<T>& A = w.A[at + k];
        Force<T> F =
            part == Part::gravity ? moving_force(body, A) : moving_force(body, A, w.X[at + k]);
        if (acts_on(f_ext, body)) {
            const T factor(-w.scale.inverse_factorial[k]);
            F = fma(factor, body_wrench(body, f_ext + k * 6 * tree.nbodies), F);
        }
        w.force[at + k].set(F.lin, F.ang);
    }
}

// One body of the forward pass: its motion, and the force that it takes.
template <bool simple, class T>
inline void outwards(Part part, const Tree& tree, const Body& body, int order,
                     const Configuration<T>& x, const T* v, const T* f_ext, int place,
                     const InverseSeriesWorkspace<T>& w) {
    const int rows = order + (part == Part::all ? 2 : part == Part::bias ? 1 : 0);
    const int poses = order + (part == Part::all ? 2 : 1);
    const std::ptrdiff_t at = std::ptrdiff_t(place) * w.length;
    const JointSeries<T> s = w.joints.of(place);
    // For a root only the velocity matters.
    joint_series<simple>(tree, body, x, v, rows, !simple && body.parent < 0 ? 0 : poses, w.scale,
                         s);
    carried_motion<simple>(part, tree, body, order, rows, x, s, at, w);
    if (part != Part::gravity) own_motion<simple>(part, body, order, s, at, w);
    own_force(part, tree, body, order, f_ext, at, w);
}

// Adds the force of order k across the joint of a body to its parent's force, after lower orders.
template <bool simple, class T>
inline void pass_order(const Body& body, int k, const JointSeries<T>& s, const TwoVectors<T>* force,
                       TwoVectors<T>* force_p, Vec3<T>* y) {
    const TwoVectors<T> both = rotated<true>(rotation_of<simple>(body), s, k, force);
    Vec3<T> moment = both.b();
    if (slides_on<simple>(body)) {
        y[k] = both.a();
        moment = cross_sum(0, k, s.r, y, moment);
    }
    const Vec3<T> f = out_of_joint<simple>(body, both.a());  // [Derivations] eq. 13.5
    const Vec3<T> n = out_of_joint<simple>(body, moment);
    const Vec3<T> r0 = lift<T>(vec3(body.translation));
    force_p[k].set(force_p[k].a() + f, cross(r0, f, force_p[k].b() + n));
}

// One body of the backward pass: the torques of its joint, and its force to the parent, if any.
template <bool simple, class T>
inline void inwards(Part part, const Tree& tree, const Body& body, int order, const T* v, T* tau,
                    int place, const InverseSeriesWorkspace<T>& w) {
    const JointSeries<T> s = w.joints.of(place);
    const TwoVectors<T>* force = w.force + std::ptrdiff_t(place) * w.length;
    TwoVectors<T>* force_p = w.force + std::ptrdiff_t(place - 1) * w.length;
    for (int k = 0; k <= order; ++k, v += tree.nv, tau += tree.nv) {
        T torque[6];
        series_torque<simple, T>(body, {force[k].b(), force[k].a()}, torque);
        for (int c = 0; c < (simple ? 1 : body.nv); ++c) {
            const int j = body.v + c;
            T t = T(w.scale.factorial[k]) * torque[c];
            if (part == Part::all) t = fma(T(tree.armature[j]), v[tree.nv + j], t);
            if (part != Part::gravity) t = fma(T(tree.damping[j]), v[j], t);
            tau[j] = t;
        }
    }
    if (!simple && body.parent < 0) return;
    for (int k = 0; k <= order; ++k) pass_order<simple>(body, k, s, force, force_p, w.y);
}

// f<true>() for simple bodies, f<false>() for others.
template <class F> inline void by_joint(const Body& body, const F& f) {
    if (is_simple(body)) return f.template operator()<true>();
    f.template operator()<false>();
}

// Calls enter<simple>(body, place) for each body before the bodies that it carries, and leave<simple>(body, place)
// after them. place: on its path, which `path` holds.
template <class Enter, class Leave>
inline void along_paths(const Tree& tree, int* path, const Enter& enter, const Leave& leave) {
    int places = 0;
    const auto leave_last = [&] {
        const Body& body = tree.bodies[path[--places]];
        by_joint(body, [&]<bool simple>() __attribute__((always_inline)) {
            leave.template operator()<simple>(body, places);
        });
    };
    for (int i = 0; i < tree.nnodes; ++i) {
        const Body& body = tree.bodies[i];
        while (places > 0 && path[places - 1] != body.parent) leave_last();
        by_joint(body, [&]<bool simple>() __attribute__((always_inline)) {
            enter.template operator()<simple>(body, places);
        });
        path[places++] = i;
    }
    while (places > 0) leave_last();
}

// Computes orders 0 ... `order`. v: rows of nv, order + 2 of them for all, order + 1 for the bias, order
// for gravity. f_ext (order + 1, nbodies, 6) may be null: zero. tau: (order + 1, nv).
template <class T>
void inverse_time_derivatives(Part part, const Tree& tree, int order, const T* q, const T* v,
                              const T* f_ext, T* tau, const InverseSeriesWorkspace<T>& w) {
    if (order == 0)
        return rnea<T>(tree, q, part == Part::gravity ? nullptr : v,
                       part == Part::all ? v + tree.nv : nullptr, f_ext, tau, w.rnea);
    const Configuration<T> x = configuration(tree, q, w.angles);
    along_paths(
        tree, w.path,
        [&]<bool simple>(const Body& body, int place) __attribute__((always_inline)) {
            outwards<simple>(part, tree, body, order, x, v, f_ext, place, w);
        },
        [&]<bool simple>(const Body& body, int place) __attribute__((always_inline)) {
            inwards<simple>(part, tree, body, order, v, tau, place, w);
        });
    for (int k = 0; k <= order; ++k, tau += tree.nv) {
        w.springs.add_next(tree, 1.0, k, q, v, v + tree.nv, w.scale, tau);
        if (part == Part::gravity || !has_friction(tree)) continue;
        w.friction.extend(tree, k, v, v + tree.nv, w.scale.inverse_factorial);
        w.friction.add_torques(tree, k, w.scale.factorial[k], tau);
    }
}

}  // namespace dtau::DTAU_VARIANT
