// Computes placements and motions along the world's axes about a reference point near the bodies, for
// quantities of the whole robot: place_along_world_axes(). [Derivations] §13, momentum.
//
//   y_i = y_p + d_i,   d_i = R_p r_i              r_i: origin of body i in p
//   v_i = v_p + S_i q',   a_i = a_p + v_p x v_J + S_i q''
//
// The textbook takes positions in the world, and differences of them lose digits far from the world's
// origin. The reference of a tree is the origin of its root; if the tree begins with prismatic joints,
// the origin of the first body that can rotate (kinematics.hpp). The vectors between references join
// several trees. A reference is a fixed point: the body at it moves on.
//
// Symbols, for body i with parent p, along world axes:
//   P[i]        its axes R; its origin y from the tree's reference
//   d[i]        its origin from p's origin; of a root, from the world's
//   trees[i]    of a root: its tree's reference from the first tree's
//   S[k]        column of the motion subspace, about the tree's reference (nv)
//   v[i], a[i]  twist and spatial acceleration, about the tree's reference
#pragma once

#include "dtau/constant.hpp"
#include "dtau/kinematics.hpp"

namespace dtau::DTAU_VARIANT {

template <class T> struct ReferencePlacements {
    Configuration<T> angles;
    Placement<T>* P;
    Vec3<T>*d, *trees;

    ReferencePlacements(Arena& arena, const Tree& tree) : angles(arena, tree) {
        arena.take_each(tree.nnodes, P, d, trees);
    }
};

// The body whose origin is the reference of a tree: the last one from the root on that only prismatic
// joints carry.
DTAU_INLINE int reference_body(const Tree& tree, int root) {
    int i = root;
    while (i + 1 < tree.nnodes && tree.bodies[i + 1].at_origin && tree.bodies[i + 1].parent == i)
        ++i;
    return i;
}

// Computes y, all origins from their tree's reference, and `trees`, all references from the first, given
// d. y(i), d(i) and trees(i) access the vectors of body i.
template <class T, class Y, class D, class Trees>
DTAU_INLINE void join_origins(const Tree& tree, const Y& y, const D& d, const Trees& trees) {
    int reference = -1;
    for (int i = 0; i < tree.nnodes; ++i) {
        const Body& body = tree.bodies[i];
        if (body.parent < 0) {
            reference = reference_body(tree, i);
            y(reference) = zero_vector<T>();
            for (int k = reference; k > i; --k) y(k - 1) = y(k) - d(k);
            trees(i) = i == 0 ? zero_vector<T>() : (d(i) - d(0)) - (y(i) - y(0));
        } else if (i > reference) {
            y(i) = y(body.parent) + d(i);
        }
    }
}

// Computes R and d, with y = 0: motions are about each body's own origin.
template <class T>
DTAU_INLINE void place_along_world_axes(const Tree& tree, const T* q,
                                        const ReferencePlacements<T>& w) {
    const Configuration<T> x = configuration(tree, q, w.angles);
    for (int i = 0; i < tree.nnodes; ++i) {
        const Body& body = tree.bodies[i];
        const Placement<T> frame =
            body.parent < 0 ? constant_placement<T>(body) : joint_frame(body, w.P[body.parent]);
        const Placement<T> P = joint_placement(body, frame, x);
        w.P[i] = {P.R, zero_vector<T>()}, w.d[i] = P.r;
    }
}

// Computes R, y, d and trees.
template <class T>
DTAU_INLINE void place_from_references(const Tree& tree, const T* q,
                                       const ReferencePlacements<T>& w) {
    place_along_world_axes(tree, q, w);
    join_origins<T>(
        tree, [&](int i) -> Vec3<T>& { return w.P[i].r; },
        [&](int i) -> const Vec3<T>& { return w.d[i]; },
        [&](int i) -> Vec3<T>& { return w.trees[i]; });
}

// Mass and first moment m c.
template <class T> struct FirstMoment {
    Constant<T> m;
    Vec3<T> h;
    DTAU_INLINE FirstMoment& operator+=(const FirstMoment& b) {
        m += b.m, h += b.h;
        return *this;
    }
};

// The linear momentum of a body with the twist (omega; u): m u + omega x h.
template <class T> DTAU_INLINE Vec3<T> operator*(const FirstMoment<T>& mass, const Motion<T>& m) {
    return cross(m.ang, mass.h, mass.m * m.lin);
}

// Moves m and h to another point, from which the old point is at d.
template <class T> DTAU_INLINE FirstMoment<T> moved(const FirstMoment<T>& mass, const Vec3<T>& d) {
    return {mass.m, fma(mass.m, d, mass.h)};
}

template <class T> struct ReferenceMotions {
    ReferencePlacements<T> at;
    Motion<T>*S, *v, *a;

    ReferenceMotions(Arena& arena, const Tree& tree)
        : at(arena, tree), S(arena.take<Motion<T>>(tree.nv)) {
        arena.take_each(tree.nnodes, v, a);
    }
};

// Computes placements, S and v; and a, unless the joints' accelerations are null.
template <class T>
DTAU_INLINE void move_about_references(const Tree& tree, const T* q, const T* v, const T* a,
                                       const ReferenceMotions<T>& w) {
    place_from_references(tree, q, w.at);
    for (int i = 0; i < tree.nnodes; ++i) {
        const Body& body = tree.bodies[i];
        motion_subspace(body, w.at.P[i], w.S + body.v);
        const Motion<T> zero = zero_motion<T>();
        const Motion<T> vJ = subspace_times(body, w.S, v, zero);
        if (body.parent < 0) {
            w.v[i] = vJ;
            if (a) w.a[i] = subspace_times(body, w.S, a, zero);
        } else {
            const Motion<T>& vp = w.v[body.parent];
            w.v[i] = vp + vJ;  // [Derivations] eq. 1.3
            if (a) w.a[i] = subspace_times(body, w.S, a, cross(vp, vJ, w.a[body.parent]));
        }
    }
}

// The motion of the body's parent; zero for the world.
template <class T> DTAU_INLINE Motion<T> of_parent(const Body& body, const Motion<T>* motions) {
    return body.parent < 0 ? zero_motion<T>() : motions[body.parent];
}

}  // namespace dtau::DTAU_VARIANT
