// Computes the parts of forward.hpp that do not depend on torques: start_body(), bias_motion(),
// articulate(); with its workspace. Recursion and symbols: forward.hpp.
#pragma once

#include "dtau/algorithms/time/inertia_columns.hpp"
#include "dtau/algorithms/time/inverse.hpp"
#include "dtau/algorithms/values/aba_joints.hpp"
#include "dtau/free_root.hpp"

namespace dtau::DTAU_VARIANT {

template <class T> struct ForwardColumn {
    T d_inverse, t;
    Force<T> U;
};

// Motion that a body passes to its children.
template <class T> struct PassedMotion {
    Vec3<T> A;  // at zero accelerations, as X
    Mat3<T> X;
    Motion<T> m;
};

// The series of one body, each with room for `length` coefficients.
template <class T> struct ForwardBody {
    InertiaColumns<T> Ia;
    TwoVectors<T> p, lower;              // forces, moments; p is pa once the joint is eliminated
    PassedMotion<T>*of_parent, *passed;  // motion from its parent, and to its children
    ForwardColumn<T>* column;            // first column of its joint
    JointSeries<T> joint;
    Vec3<T>* omega;
    TwoVectors<T>*seen, *force;  // R0^T omega_p of order k, R0^T (A_p + X_p r) of order k - 1; f, n
    Vec3<T>*gravity, *back;      // of roots: gravity reversed; of joints that slide: E^T f
    Mat3<T>* X;                  // for a joint that slides on a body that rotates
};

template <class T> struct ForwardSeriesWorkspace {
    Configuration<T> angles;
    TaylorScale scale;
    ArticulatedInertia<T>* IA;  // sums over the children of the bodies on a path
    PassedMotion<T>* passed;    // of the bodies on a path
    ForwardBody<T>* bodies;
    Motion<T>* S;  // (nv)
    bool sliding = false;
    bool complete = false;  // motion and forces of the last order too, in memory for one order more

    ForwardSeriesWorkspace(Arena& arena, const Tree& tree, const Options& options)
        : angles(arena, tree),
          scale(arena, options.order + 2),
          bodies(arena.take<ForwardBody<T>>(tree.nnodes)),
          S(arena.take<Motion<T>>(tree.nv)) {
        arena.take_each(tree.depth, IA, passed);
        const int length = options.order + 2, all = tree.nnodes * length;
        ForwardColumn<T>* const columns = arena.take<ForwardColumn<T>>(tree.nv);
        const JointSeries<T> joints(arena, tree.nnodes, length);
        Vec3<T>* const omega = arena.take<Vec3<T>>(all);
        TwoVectors<T>* const seen = arena.take<TwoVectors<T>>(all);
        TwoVectors<T>* const force = arena.take<TwoVectors<T>>(all);
        Vec3<T>* const gravity = arena.take<Vec3<T>>(all);
        Vec3<T>* const back = arena.take<Vec3<T>>(all);
        Mat3<T>* const X = arena.take<Mat3<T>>(all);
        for (int i = 0; i < tree.nnodes; ++i) {
            const Body& body = tree.bodies[i];
            sliding |= body.parent >= 0 && traits(body.kind).slides;
            if (!bodies) continue;
            const std::ptrdiff_t at = std::ptrdiff_t(i) * length;
            ForwardBody<T>& b = bodies[i];
            b.of_parent = body.parent < 0 ? nullptr : passed + tree.bodies[body.parent].level;
            b.passed = passed + body.level, b.column = columns + body.v;
            b.joint = joints.of(i);
            b.omega = omega + at, b.seen = seen + at, b.force = force + at;
            b.gravity = gravity + at, b.back = back + at, b.X = X + at;
        }
    }
};

// Whether the motion of a joint is prescribed.
struct Prescribed {
    const bool* given;  // for each degree of freedom; null: none is prescribed
    bool all;           // all are prescribed

    bool operator()(const Body& body) const { return all || (given && given[body.v]); }
};

// Most bodies: simple ones whose motion is not prescribed.
inline bool is_plain(const Body& body, const Prescribed& prescribed) {
    return is_simple(body) && !prescribed(body);
}

// Computes order 0 of the quantities that do not depend on forces.
template <bool simple, class T>
inline void start_body(const Tree& tree, int i, const Configuration<T>& x, const T* v,
                       const ForwardSeriesWorkspace<T>& w) {
    const Body& body = tree.bodies[i];
    const Rotation how = rotation_of<simple>(body);
    const ForwardBody<T>& b = w.bodies[i];
    const JointSeries<T>& s = b.joint;
    start_joint<simple>(body, x, s);
    set_joint_twist<simple>(body, 0, v, w.scale, s);
    if (!simple && body.parent < 0) {
        b.omega[0] = s.omega[0];
        b.gravity[0] = minus_gravity(tree, body, x);
    } else {
        extend_joint(how, slides_on<simple>(body), 0, w.scale, s);
        const Vec3<T> y = into_joint<simple>(body, w.bodies[body.parent].omega[0]);
        Vec4<T>::of(y.x, y.y, T(0.0), T(0.0)).store(b.seen[0].xy);
        if (!simple) b.seen[0].az = y.z, b.seen[0].bz = T(0.0);
        b.omega[0] = rotate_add<false>(how, s, 0, y, s.omega[0]);
    }
    if (!simple) own_motion_subspace(body, w.S + body.v);
}

// Computes the motion of order k at zero accelerations, except prescribed ones (a, of order k); the force
// that this motion takes; and the part of the force to the parent that lower orders give. The parent
// comes first.
template <bool simple, class T>
inline void bias_motion(const Tree& tree, int i, int k, const T* a, const T* f_ext,
                        const Prescribed& prescribed, const ForwardSeriesWorkspace<T>& w) {
    const Body& body = tree.bodies[i];
    const Rotation how = rotation_of<simple>(body);
    ForwardBody<T>& b = w.bodies[i];
    const JointSeries<T>& s = b.joint;
    Vec3<T> omega = zero_vector<T>(), A;
    if (!simple && body.parent < 0) {
        A = b.gravity[k];
    } else {
        const ForwardBody<T>& parent = w.bodies[body.parent];
        const PassedMotion<T>& p = *b.of_parent;
        const bool slides = slides_on<simple>(body);
        Vec3<T> carried =
            mul_add(p.X, slides ? offset(body, 0, s) : lift<T>(vec3(body.translation)), p.A);
        for (int m = 1; m <= k && slides; ++m)
            carried = mul_add(parent.X[k - m], offset(body, m, s), carried);
        const TwoVectors<T> top = two_vectors(into_joint<simple>(body, parent.omega[k + 1]),
                                              into_joint<simple>(body, carried));
        Vec4<T>::of(top.xy.x, top.xy.y, top.xy.z, top.xy.w).store(b.seen[k + 1].xy);
        if (!simple) b.seen[k + 1].az = top.az, b.seen[k + 1].bz = top.bz;
        TwoVectors<T> both;
        if (!simple) both.az = both.bz = b.lower.az = b.lower.bz = T(0.0);
        rotated_by_higher<false>(how, s, k + 1, b.seen, both);
        both = rotate_onto<false, simple>(how, s, top, both);
        omega = both.a(), A = both.b();  // [Derivations] eq. 13.7
        rotated_by_higher<true>(how, s, k, b.force, b.lower);
        if (slides) b.lower.set(b.lower.a(), cross_sum(1, k, s.r, b.back, b.lower.b()));
    }
    if (slides_on<simple>(body)) A = sliding_acceleration(k, b.omega, s, A);
    Vec3<T> alpha = T(k + 1.0) * omega;
    if (!simple && prescribed(body)) {
        T rates[6] = {};
        for (int c = 0; c < body.nv; ++c)
            rates[c] = T(w.scale.inverse_factorial[k]) * a[body.v + c];
        const Motion<T> own = joint_twist(body, rates);
        omega = fma(T(w.scale.inverse[k + 1]), own.ang, omega);
        alpha += own.ang, A += own.lin;
    }
    const Mat3<T> X = with_skew(centripetal(k, b.omega), alpha);
    b.passed->A = A, b.passed->X = X;
    b.omega[k + 1] = omega;
    if (w.sliding) b.X[k] = X;
    Force<T> p = moving_force(body, A, X);
    if (acts_on(f_ext, body))
        p = fma(T(-w.scale.inverse_factorial[k]), body_wrench(body, f_ext), p);
    b.p.set(p.lin, p.ang);
}

// Computes the articulated inertia of a body, after its children, and passes Ia to the parent.
template <bool simple, class T>
inline void articulate(const Tree& tree, int i, const Configuration<T>& x,
                       const Prescribed& prescribed, const ForwardSeriesWorkspace<T>& w) {
    const Body& body = tree.bodies[i];
    const bool leaf = i + 1 == tree.nnodes || tree.bodies[i + 1].parent != i;
    ArticulatedInertia<T> IA = articulated_inertia(tree, i, leaf, w.IA);
    ForwardColumn<T>* const column = w.bodies[i].column;
    const auto eliminate = [&](int j, const Force<T>& U, T d) {
        const T d_inverse = T(1.0) / (d + T(tree.armature[j]));
        subtract_rank_one(IA, U, d_inverse);
        column[j - body.v].U = U, column[j - body.v].d_inverse = d_inverse;
    };
    if (simple) {
        eliminate(body.v, times_z<false>(IA), IA.J.zz);
    } else if (is_free_root(body) && !prescribed(body)) {
        unrolled<6>([&](int c) __attribute__((always_inline)) {
            const Force<T> U = unit_column(IA, 5 - c);
            eliminate(body.v + 5 - c, U, components(U).x[5 - c]);
        });
    } else if (!prescribed(body)) {
        for (int j = body.v + body.nv - 1; j >= body.v; --j) {
            const Force<T> U = IA * w.S[j];
            eliminate(j, U, dot(w.S[j], U));
        }
    }
    w.bodies[i].Ia.set(IA);
    if (!simple && body.parent < 0) return;
    if (simple) {
        const SineCosine<T>& turn = w.bodies[i].joint.angle[0];
        IA = SimpleRotation<T>{turn.sine, turn.cosine}.to_parent(body, IA);
        carry_inertia(body, moved(lift<T>(vec3(body.translation)), IA), w.IA);
    } else {
        const Placement<T> pose = joint_placement(body, constant_placement<T>(body), x);
        IA = transformed(Placement<T>{pose.R, zero_vector<T>()}, IA);
        carry_inertia(body, moved(pose.r, IA), w.IA);
    }
}

}  // namespace dtau::DTAU_VARIANT
