// What forward.hpp keeps of a tree, what it starts from, and what lower orders give for
// the next one. The symbols are explained there.
#pragma once

#include "dtau/algorithms/time/articulated.hpp"
#include "dtau/algorithms/time/inverse.hpp"

namespace dtau::DTAU_VARIANT {

template <class T>
struct ForwardBody {
    ArticulatedColumns<T> Ia;
    Sym3<T> W;                // centripetal part of X, of this order
    Vec3<T> carried;          // R0^T times what lower orders and the parent's W give of A_p + X_p r
    Force<T> p;               // the body's own, to which its children add
    TwoVectors<T> lower, pa;  // forces, moments
    Motion<T> c, m;
};

template <class T>
struct ForwardColumn {
    T d_inverse, t;
    Force<T> U;
};

template <class T>
struct ForwardSeriesWorkspace {
    int length;
    Configuration<T> angles;
    TaylorScale scale;
    ArticulatedInertia<T>* IA;
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
          IA(arena.take<ArticulatedInertia<T>>(tree.nbodies)),
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

// What lower orders give for order k, from omega and R0^T omega_p of orders up to k and E up to k + 1;
// the parent's comes first.
template <bool simple, class T>
DTAU_INLINE void prepare(const Tree& tree, int i, int k, const ForwardSeriesWorkspace<T>& w) {
    const Body& body = tree.bodies[i];
    const Rotation how = rotation_of<simple>(body);
    const JointSeries<T> s = w.joints.of(i);
    const std::ptrdiff_t at = w.at(i), parent = w.at(body.parent);
    ForwardBody<T>& b = w.bodies[i];
    b.W = centripetal(k, w.omega + at);
    b.p = moving_mass<T>(moments(body), b.W);
    Motion<T> c = zero_motion<T>();
    if (!simple && body.parent < 0) {
        c.lin = w.gravity[at + k];
    } else {
        if (!simple) b.lower.az = b.lower.bz = T(0.0);
        rotated_by_higher<true>(how, s, k, w.force + at, b.lower);
        TwoVectors<T> ahead;
        ahead.az = ahead.bz = T(0.0);
        rotated_by_higher<false>(how, s, k + 1, w.seen + at, ahead);
        Vec3<T> carried = w.bodies[body.parent].W * lift<T>(vec3(body.translation));
        if (slides_on<simple>(body)) {
            carried = w.bodies[body.parent].W * offset(body, 0, s);
            for (int m = 1; m <= k; ++m)
                carried = mul_add(w.X[parent + k - m], offset(body, m, s), carried);
        }
        b.carried = transposed_mul(mat3(body.rotation), carried);
        c.ang = T(k + 1.0) * ahead.a();                              // [Notes] eq. 13.7
        c.lin = rotate_add<false>(how, s, 0, b.carried, ahead.b());  // [Notes] eq. 13.7
    }
    if (slides_on<simple>(body)) {
        c.lin = sliding_acceleration(k, w.omega + at, s, c.lin);
        if (body.parent >= 0)
            b.lower = two_vectors(b.lower.a(), cross_sum(1, k, s.r, w.back + at, b.lower.b()));
    }
    b.c.ang.x = c.ang.x, b.c.ang.y = c.ang.y, b.c.lin = c.lin;
    if (!simple) b.c.ang.z = c.ang.z;
}

// Order 0 of what does not depend on forces.
template <bool simple, class T>
DTAU_INLINE void start_body(const Tree& tree, int i, const Configuration<T>& x, const T* v,
                            const ForwardSeriesWorkspace<T>& w) {
    const Body& body = tree.bodies[i];
    const Rotation how = rotation_of<simple>(body);
    const JointSeries<T> s = w.joints.of(i);
    const std::ptrdiff_t at = w.at(i);
    ForwardBody<T>& b = w.bodies[i];
    if (simple)
        s.angle[0] = {x.sine[body.q], x.cosine[body.q]};
    else
        start_joint(body, x, s);
    set_joint_twist<simple>(body, 0, v, w.scale, s);
    if (!simple && body.parent < 0) {
        w.omega[at] = s.omega[0];
        w.gravity[at] = minus_gravity(tree, body, x);
    } else {
        extend_joint(how, slides_on<simple>(body), 0, w.scale, s);
        const Vec3<T> y = transposed_mul(mat3(body.rotation), w.omega[w.at(body.parent)]);
        w.seen[at].set(y, zero_vector<T>());
        w.omega[at] = rotate_add<false>(how, s, 0, y, s.omega[0]);
    }
    b.lower.az = b.lower.bz = b.c.ang.z = T(0.0);  // of simple joints they stay so
    prepare<simple>(tree, i, 0, w);
    set_own_inertia(body, w.IA[i]);
    if (!simple) motion_subspace(body, {Mat3<T>::identity(), zero_vector<T>()}, w.S + body.v);
}

// The articulated inertia, after those of the children: what the parent meets of it.
template <bool simple, class T>
DTAU_INLINE void articulate(const Tree& tree, int i, const Configuration<T>& x,
                            const Prescribed& prescribed, const ForwardSeriesWorkspace<T>& w) {
    const Body& body = tree.bodies[i];
    ArticulatedInertia<T>& IA = w.IA[i];
    const auto eliminate = [&](int j, const Force<T>& U, T d) {
        const T d_inverse = T(1.0) / (d + T(tree.armature[j]));
        subtract_rank_one(IA, U, d_inverse);
        w.columns[j].U = U, w.columns[j].d_inverse = d_inverse;
    };
    if (simple) {
        eliminate(body.v, z_column(IA), IA.J.zz);
    } else if (!prescribed(body)) {
        for (int j = body.v + body.nv - 1; j >= body.v; --j) {
            const Force<T> U = IA * w.S[j];
            eliminate(j, U, dot(w.S[j], U));
        }
    }
    w.bodies[i].Ia.set(IA);
    if (!simple && body.parent < 0) return;
    Placement<T> pose = constant_placement<T>(body);
    if (simple)
        pose.R = rotate_z(pose.R, x.sine[body.q], x.cosine[body.q]);
    else
        pose = joint_placement(body, pose, x);
    w.IA[body.parent] += transformed(pose, IA);
}

template <class T>
void start_forward(const Tree& tree, const T* q, const T* v, const Prescribed& prescribed,
                   const ForwardSeriesWorkspace<T>& w) {
    const Configuration<T> x = configuration(tree, q, w.angles);
    for (int i = 0; i < tree.nbodies; ++i)
        by_joint(tree.bodies[i], prescribed, [&]<bool simple>() __attribute__((always_inline)) {
            start_body<simple>(tree, i, x, v, w);
        });
    for (int i = tree.nbodies - 1; i >= 0; --i)
        by_joint(tree.bodies[i], prescribed, [&]<bool simple>() __attribute__((always_inline)) {
            articulate<simple>(tree, i, x, prescribed, w);
        });
}

}  // namespace dtau::DTAU_VARIANT
