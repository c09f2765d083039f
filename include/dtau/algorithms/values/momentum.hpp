// Momentum of all moving bodies in the world's axes, about the world's origin and about the centre
// of mass, and the matrix of the latter, O(N). [Notes] eqs. 13.16, 13.17.
//
// Axes are the world's, but positions count from a reference: no digit of what is taken about the
// centre of mass is lost far from the world's origin. A tree's reference is the origin of its root;
// where prismatic joints begin the tree, of the first body that turns, as in kinematics.hpp.
// Several trees are joined by the vectors between their references.
//
// Symbols, for body i with parent p, along world axes:
//   R, y        its axes; its origin from the tree's reference
//   d           its origin from that of p; of a root, from the world's
//   omega, u    angular velocity, velocity of the origin
//   c, J        centre of mass from the first tree's reference; inertia about it
//   h, P, L     sums of m c, m c', and m c x c' + J omega;  M the sum of m
#pragma once

#include "dtau/kinematics.hpp"

namespace dtau::DTAU_VARIANT {

template <class T>
struct MomentumWorkspace {
    Configuration<T> angles;
    Placement<T>* P;    // R, y
    Vec3<T>*d, *trees;  // trees, of roots: their reference from the first tree's
    Motion<T>* v;       // omega, u
    Inertia<T>* I;      // about the tree's reference

    MomentumWorkspace(Arena& arena, const Tree& tree)
        : angles(arena, tree),
          P(arena.take<Placement<T>>(tree.nbodies)),
          d(arena.take<Vec3<T>>(tree.nbodies)),
          trees(arena.take<Vec3<T>>(tree.nbodies)),
          v(arena.take<Motion<T>>(tree.nbodies)),
          I(arena.take<Inertia<T>>(tree.nbodies)) {}
};

// The body whose origin is the reference of a tree: prismatic joints alone carry it and the bodies
// from the root to it, which are its ancestors.
DTAU_INLINE int reference_body(const Tree& tree, int root) {
    int i = root;
    while (i + 1 < tree.nbodies && tree.bodies[i + 1].at_origin && tree.bodies[i + 1].parent == i)
        ++i;
    return i;
}

// All origins from their tree's reference, and all references from the first, by d.
// y(i), d(i) and trees(i) are those of body i.
template <class T, class Y, class D, class Trees>
DTAU_INLINE void join_origins(const Tree& tree, const Y& y, const D& d, const Trees& trees) {
    int reference = -1;
    for (int i = 0; i < tree.nbodies; ++i) {
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

// R, d and y of all bodies.
template <class T>
DTAU_INLINE void place_from_references(const Tree& tree, const T* q,
                                       const MomentumWorkspace<T>& w) {
    const Configuration<T> x = configuration(tree, q, w.angles);
    for (int i = 0; i < tree.nbodies; ++i) {
        const Body& body = tree.bodies[i];
        const Placement<T> frame =
            body.parent < 0 ? constant_placement<T>(body)
                            : joint_frame(body, Placement<T>{w.P[body.parent].R, zero_vector<T>()});
        const Placement<T> P = joint_placement(body, frame, x);
        w.P[i].R = P.R, w.d[i] = P.r;
    }
    join_origins<T>(
        tree, [&](int i) -> Vec3<T>& { return w.P[i].r; },
        [&](int i) -> const Vec3<T>& { return w.d[i]; },
        [&](int i) -> Vec3<T>& { return w.trees[i]; });
}

// Linear part first, as users have it.
template <class T>
DTAU_INLINE void store_momentum(const Force<T>& h, T* to) {
    to[0] = h.lin.x, to[1] = h.lin.y, to[2] = h.lin.z;
    to[3] = h.ang.x, to[4] = h.ang.y, to[5] = h.ang.z;
}

template <class T>
struct FirstMoment {
    double M;
    Vec3<T> h;
};

// P and L as the result, and M and h.
template <class T>
DTAU_INLINE Force<T> momentum_about_reference(const Tree& tree, const T* q, const T* v,
                                              FirstMoment<T>& of_mass,
                                              const MomentumWorkspace<T>& w) {
    place_from_references(tree, q, w);
    Force<T> sum = zero_force<T>();
    of_mass = {0.0, zero_vector<T>()};
    for (int i = 0; i < tree.nbodies; ++i) {
        const Body& body = tree.bodies[i];
        const Mat3<T>& R = w.P[i].R;
        const Motion<T> vJ = joint_twist(body, v + body.v);
        Motion<T> t = {R * vJ.ang, R * vJ.lin};
        if (body.parent >= 0) {
            const Motion<T>& parent = w.v[body.parent];
            t = {t.ang + parent.ang, cross(parent.ang, w.d[i], t.lin + parent.lin)};
        }
        w.v[i] = t;
        const Vec3<T> arm = R * vec3(body.com), c = w.trees[body.root] + (w.P[i].r + arm);
        const Vec3<T> p = body.mass * cross(t.ang, arm, t.lin);
        const Vec3<T> spin = R * (sym3(body.inertia) * transposed_mul(R, t.ang));
        sum += {cross(c, p, spin), p};  // [Notes] eq. 13.16
        of_mass.M += body.mass, of_mass.h = fma(body.mass, c, of_mass.h);
    }
    return sum;
}

// About the world's origin.
template <class T>
void momentum(const Tree& tree, const T* q, const T* v, T* result, const MomentumWorkspace<T>& w) {
    FirstMoment<T> of_mass;
    Force<T> h = momentum_about_reference(tree, q, v, of_mass, w);
    if (tree.nbodies > 0) h.ang = cross(w.d[0] - w.P[0].r, h.lin, h.ang);  // [Notes] eq. 13.16
    store_momentum(h, result);
}

// About the centre of mass: NaN for a robot without mass.
template <class T>
void centroidal_momentum(const Tree& tree, const T* q, const T* v, T* result,
                         const MomentumWorkspace<T>& w) {
    FirstMoment<T> of_mass;
    Force<T> h = momentum_about_reference(tree, q, v, of_mass, w);
    h.ang = cross(h.lin, T(1.0 / of_mass.M) * of_mass.h, h.ang);  // [Notes] eq. 13.16
    store_momentum(h, result);
}

// A (6, nv), by composite inertias ([RBDA] section 6.2): column j is the momentum about the centre
// of mass if s_j alone moved the subtree of j.
template <class T>
void centroidal_momentum_matrix(const Tree& tree, const T* q, T* A, const MomentumWorkspace<T>& w) {
    const int n = tree.nv;
    place_from_references(tree, q, w);
    FirstMoment<T> of_mass = {0.0, zero_vector<T>()};
    for (int i = 0; i < tree.nbodies; ++i) {
        const Body& body = tree.bodies[i];
        const Placement<T>& P = w.P[i];
        w.I[i] = transformed(P.R, P.r, body.mass, vec3(body.com), sym3(body.inertia));
        of_mass.M += body.mass;
        of_mass.h = of_mass.h + fma(body.mass, w.trees[body.root], w.I[i].h);
    }
    const Vec3<T> center = T(1.0 / of_mass.M) * of_mass.h;
    for (int i = tree.nbodies - 1; i >= 0; --i) {
        const Body& body = tree.bodies[i];
        const Vec3<T> from_center = w.trees[body.root] - center;
        Motion<T> S[6];
        motion_subspace(body, w.P[i], S);
        for (int k = 0; k < body.nv; ++k) {
            Force<T> F = w.I[i] * S[k];
            F.ang = cross(from_center, F.lin, F.ang);  // [Notes] eq. 13.17
            T column[6];
            store_momentum(F, column);
            for (int row = 0; row < 6; ++row) A[row * n + body.v + k] = column[row];
        }
        if (body.parent >= 0) w.I[body.parent] += w.I[i];
    }
}

}  // namespace dtau::DTAU_VARIANT
