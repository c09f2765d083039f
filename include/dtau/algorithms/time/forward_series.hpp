// What forward.hpp keeps of a tree, what it starts from, and the motion at zero accelerations of one
// order. The symbols are explained there.
#pragma once

#include "dtau/algorithms/time/articulated.hpp"
#include "dtau/algorithms/time/inverse.hpp"
#include "dtau/algorithms/values/aba.hpp"
#include "dtau/free_root.hpp"

namespace dtau::DTAU_VARIANT {

template <class T>
struct ForwardBody {
    ArticulatedColumns<T> Ia;
    TwoVectors<T> p, lower;  // forces, moments; p is pa once the joint is eliminated
};

template <class T>
struct ForwardColumn {
    T d_inverse, t;
    Force<T> U;
};

// What a body's children take up of its motion.
template <class T>
struct PassedMotion {
    Vec3<T> A;  // at zero accelerations, as X
    Mat3<T> X;
    Motion<T> m;
};

template <class T>
struct ForwardSeriesWorkspace {
    int length;
    Configuration<T> angles;
    TaylorScale scale;
    ArticulatedInertia<T>* IA;  // of what the bodies on a path carry
    PassedMotion<T>* passed;    // of the bodies on a path
    ForwardBody<T>* bodies;
    ForwardColumn<T>* columns;  // (nv)
    Motion<T>* S;               // (nv)
    JointSeries<T> joints;
    Vec3<T>* omega;              // (nbodies, length)
    TwoVectors<T>*seen, *force;  // R0^T omega_p of order k, R0^T (A_p + X_p r) of order k - 1; f, n
    Vec3<T>*gravity, *back;      // of roots: gravity reversed; of joints that slide: E^T f
    Mat3<T>* X;                  // if a joint slides on a body that rotates
    bool sliding = false;

    ForwardSeriesWorkspace(Arena& arena, const Tree& tree, int order)
        : length(order + 2),
          angles(arena, tree),
          scale(arena, length),
          IA(arena.take<ArticulatedInertia<T>>(tree.depth)),
          passed(arena.take<PassedMotion<T>>(tree.depth)),
          bodies(arena.take<ForwardBody<T>>(tree.nbodies)),
          columns(arena.take<ForwardColumn<T>>(tree.nv)),
          S(arena.take<Motion<T>>(tree.nv)),
          joints(arena, tree.nbodies, length),
          omega(arena.take<Vec3<T>>(tree.nbodies * length)),
          seen(arena.take<TwoVectors<T>>(tree.nbodies * length)),
          force(arena.take<TwoVectors<T>>(tree.nbodies * length)),
          gravity(arena.take<Vec3<T>>(tree.nbodies * length)),
          back(arena.take<Vec3<T>>(tree.nbodies * length)),
          X(arena.take<Mat3<T>>(tree.nbodies * length)) {
        for (int i = 0; i < tree.nbodies; ++i)
            sliding |= tree.bodies[i].parent >= 0 && traits(tree.bodies[i].kind).slides;
    }

    std::ptrdiff_t at(int i) const { return std::ptrdiff_t(i) * length; }
};

// Whether the motion of a joint is prescribed.
struct Prescribed {
    const bool* given;  // of degrees of freedom; null: nothing is
    bool all;           // everything is

    DTAU_INLINE bool operator()(const Body& body) const { return all || (given && given[body.v]); }
};

// f(body) for simple bodies whose motion is not prescribed as true, for others as false.
template <class F>
DTAU_INLINE void by_joint(const Body& body, const Prescribed& prescribed, const F& f) {
    if (is_simple(body) && !prescribed(body))
        f.template operator()<true>();
    else
        f.template operator()<false>();
}

// Order 0 of what does not depend on forces.
template <bool simple, class T>
DTAU_INLINE void start_body(const Tree& tree, int i, const Configuration<T>& x, const T* v,
                            const ForwardSeriesWorkspace<T>& w) {
    const Body& body = tree.bodies[i];
    const Rotation how = rotation_of<simple>(body);
    const JointSeries<T> s = w.joints.of(i);
    const std::ptrdiff_t at = w.at(i);
    start_joint<simple>(body, x, s);
    set_joint_twist<simple>(body, 0, v, w.scale, s);
    if (!simple && body.parent < 0) {
        w.omega[at] = s.omega[0];
        w.gravity[at] = minus_gravity(tree, body, x);
    } else {
        extend_joint(how, slides_on<simple>(body), 0, w.scale, s);
        const Vec3<T> y = into_joint<simple>(body, w.omega[w.at(body.parent)]);
        w.seen[at].set(y, zero_vector<T>());
        w.omega[at] = rotate_add<false>(how, s, 0, y, s.omega[0]);
    }
    if (!simple) own_motion_subspace(body, w.S + body.v);
}

// The motion of order k at zero accelerations but those prescribed (a, of order k), what it takes of
// force, and what lower orders hold of the force to the parent; the parent's comes first.
template <bool simple, class T>
DTAU_INLINE void bias_motion(const Tree& tree, int i, int k, const T* a, const T* f_ext,
                             const Prescribed& prescribed, const ForwardSeriesWorkspace<T>& w) {
    const Body& body = tree.bodies[i];
    const Rotation how = rotation_of<simple>(body);
    const JointSeries<T> s = w.joints.of(i);
    const std::ptrdiff_t at = w.at(i), parent = w.at(body.parent);
    ForwardBody<T>& b = w.bodies[i];
    PassedMotion<T>& passed = w.passed[body.level];
    Vec3<T> omega = zero_vector<T>(), A;
    if (!simple && body.parent < 0) {
        A = w.gravity[at + k];
    } else {
        const PassedMotion<T>& p = w.passed[body.level - 1];
        const bool slides = slides_on<simple>(body);
        Vec3<T> carried =
            mul_add(p.X, slides ? offset(body, 0, s) : lift<T>(vec3(body.translation)), p.A);
        for (int m = 1; m <= k && slides; ++m)
            carried = mul_add(w.X[parent + k - m], offset(body, m, s), carried);
        const TwoVectors<T> top =
            two_vectors(into_joint<simple>(body, w.omega[parent + k + 1]), into_joint<simple>(body, carried));
        Four<T>::of(top.ax, top.ay, top.bx, top.by).store(&w.seen[at + k + 1].ax);
        if (!simple) w.seen[at + k + 1].az = top.az, w.seen[at + k + 1].bz = top.bz;
        TwoVectors<T> both;
        if (!simple) both.az = both.bz = b.lower.az = b.lower.bz = T(0.0);
        rotated_by_higher<false>(how, s, k + 1, w.seen + at, both);
        both = rotate_onto<false, simple>(how, s, top, both);
        omega = both.a(), A = both.b();  // [Notes] eq. 13.7
        rotated_by_higher<true>(how, s, k, w.force + at, b.lower);
        if (slides)
            b.lower.set(b.lower.a(), cross_sum(1, k, s.r, w.back + at, b.lower.b()));
    }
    if (slides_on<simple>(body)) A = sliding_acceleration(k, w.omega + at, s, A);
    Vec3<T> alpha = T(k + 1.0) * omega;
    if (!simple && prescribed(body)) {
        T rates[6] = {};
        for (int c = 0; c < body.nv; ++c)
            rates[c] = T(w.scale.inverse_factorial[k]) * a[body.v + c];
        const Motion<T> own = joint_twist(body, rates);
        omega = fma(T(w.scale.inverse[k + 1]), own.ang, omega);
        alpha += own.ang, A += own.lin;
    }
    const Mat3<T> X = with_skew(centripetal(k, w.omega + at), alpha);
    passed.A = A, passed.X = X;
    w.omega[at + k + 1] = omega;
    if (w.sliding) w.X[at + k] = X;
    Force<T> p = moving_force(body, A, X);
    if (acts_on(f_ext, body))
        p = fma(T(-w.scale.inverse_factorial[k]), body_wrench(body, f_ext), p);
    b.p.set(p.lin, p.ang);
}

// The articulated inertia, after those of the children: what the parent meets of it.
template <bool simple, class T>
DTAU_INLINE void articulate(const Tree& tree, int i, const Configuration<T>& x,
                            const Prescribed& prescribed, const ForwardSeriesWorkspace<T>& w) {
    const Body& body = tree.bodies[i];
    const bool leaf = i + 1 == tree.nbodies || tree.bodies[i + 1].parent != i;
    if (leaf) w.IA[body.level] = zero_inertia<T>();
    ArticulatedInertia<T> IA = with_own(body, w.IA[body.level]);
    const auto eliminate = [&](int j, const Force<T>& U, T d) {
        const T d_inverse = T(1.0) / (d + T(tree.armature[j]));
        subtract_rank_one(IA, U, d_inverse);
        w.columns[j].U = U, w.columns[j].d_inverse = d_inverse;
    };
    if (simple) {
        eliminate(body.v, z_column(IA), IA.J.zz);
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
    ArticulatedInertia<T>& sum = w.IA[body.level - 1];
    if (simple) {
        const SineCosine<T>& turn = w.joints.of(i).angle[0];
        IA = SimpleRotation<T>{turn.sine, turn.cosine}.to_parent(body, IA);
        add_moved(lift<T>(vec3(body.translation)), IA, body.last_child, sum);
    } else {
        const Placement<T> pose = joint_placement(body, constant_placement<T>(body), x);
        IA = transformed(Placement<T>{pose.R, zero_vector<T>()}, IA);
        add_moved(pose.r, IA, body.last_child, sum);
    }
}

}  // namespace dtau::DTAU_VARIANT
