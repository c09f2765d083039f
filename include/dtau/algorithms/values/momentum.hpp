// Computes the momentum of all moving bodies along the world's axes: about the world's origin,
// momentum(), and about the center of mass, centroidal_momentum(), with its matrix and its rate. O(N).
// [Derivations] eqs. 13.16, 13.17, 15.5.
//
//   h = sum of m c        P = sum of m c'        L = sum of (m c x c' + J omega)
//   momentum about the world's origin   (L + x_0 x P; P)         x_0: the reference in the world
//   centroidal momentum                 (L - h/M x P; P)
//   its matrix, column j                (n + (t - h/M) x f; f)   (n; f) = I^C_j s_j, the reference of its tree at t
//   its rate                            sum of (m c x c'' + J omega' + omega x J omega; m c''), less h/M x sum of m c''
//
// The textbook sums Plucker transforms of I_i v_i about the center of mass. Here positions count
// from references near the bodies (references.hpp): no digit of a quantity about the center of mass
// is lost far from the world's origin.
//
// Symbols, for body i with parent p, along world axes:
//   R, y        its axes; its origin from the tree's reference
//   d           its origin from p's origin; of a root, from the world's
//   omega, u    angular velocity, velocity of the origin; alpha, u' their time derivatives
//   c, J        center of mass from the first tree's reference; inertia about it
//   h, P, L     sums of m c, m c', and m c x c' + J omega;  M the sum of m
#pragma once

#include "dtau/algorithms/values/references.hpp"

namespace dtau::DTAU_VARIANT {

template <class T> struct MomentumWorkspace {
    ReferencePlacements<T> at;
    Motion<T>*v, *a;  // omega, u; alpha, u'
    Inertia<T>* I;    // about the tree's reference

    MomentumWorkspace(Arena& arena, const Tree& tree, const Options&) : at(arena, tree) {
        arena.take_each(tree.nnodes, v, a, I);
    }
};

// Writes a force or momentum, linear part first.
template <class T> inline void store_momentum(const Force<T>& h, T* to, std::ptrdiff_t stride = 1) {
    to[0] = h.lin.x, to[stride] = h.lin.y, to[2 * stride] = h.lin.z;
    to[3 * stride] = h.ang.x, to[4 * stride] = h.ang.y, to[5 * stride] = h.ang.z;
}

// Computes the velocity of body i and its momentum about its center of mass; arm: R com, from the
// body's origin to that center.
template <class T>
inline Force<T> move_body(const Tree& tree, int i, const T* v, const Vec3<T>& arm,
                          const MomentumWorkspace<T>& w) {
    const Body& body = tree.bodies[i];
    const Mat3<T>& R = w.at.P[i].R;
    const Motion<T> vJ = joint_twist(body, v + body.v);
    Motion<T> t = {R * vJ.ang, R * vJ.lin};
    if (body.parent >= 0) {
        const Motion<T>& parent = w.v[body.parent];
        t = {t.ang + parent.ang, cross(parent.ang, w.at.d[i], t.lin + parent.lin)};
    }
    w.v[i] = t;
    const Vec3<T> spin = R * (sym3(body.inertia) * transposed_mul(R, t.ang));
    return {spin, body.mass * cross(t.ang, arm, t.lin)};
}

// Computes the acceleration of body i and the rate of its momentum about its center of mass.
template <class T>
inline Force<T> accelerate_body(const Tree& tree, int i, const T* v, const T* a, const Vec3<T>& arm,
                                const Force<T>& momentum, const MomentumWorkspace<T>& w) {
    const Body& body = tree.bodies[i];
    const Mat3<T>& R = w.at.P[i].R;
    const Motion<T> vJ = joint_twist(body, v + body.v), aJ = joint_twist(body, a + body.v);
    const Vec3<T>&omega = w.v[i].ang, slide = R * vJ.lin;
    Motion<T> t = {cross(omega, R * vJ.ang, R * aJ.ang), cross(omega, slide, R * aJ.lin)};
    if (body.parent >= 0) {
        const Motion<T>&vp = w.v[body.parent], &ap = w.a[body.parent];
        const Vec3<T> d = w.at.d[i], rate = cross(vp.ang, d, slide);  // of d
        t = {t.ang + ap.ang, cross(ap.ang, d, cross(vp.ang, rate, t.lin + ap.lin))};
    }
    w.a[i] = t;  // [Derivations] eq. 15.5
    const Vec3<T> force = cross(t.ang, arm, cross(omega, cross(omega, arm), t.lin));
    const Vec3<T> moment = R * (sym3(body.inertia) * transposed_mul(R, t.ang));
    return {cross(omega, momentum.ang, moment), body.mass * force};
}

// Sums P and L (their rates P' and L' if a is given), M and h.
template <class T>
inline Force<T> momentum_about_reference(const Tree& tree, const T* q, const T* v, const T* a,
                                         FirstMoment<T>& of_mass, const MomentumWorkspace<T>& w) {
    place_from_references(tree, q, w.at);
    Force<T> sum = zero_force<T>();
    of_mass = {Constant<T>(0.0), zero_vector<T>()};
    for (int i = 0; i < tree.nnodes; ++i) {
        const Body& body = tree.bodies[i];
        const Placement<T>& P = w.at.P[i];
        const Vec3<T> arm = P.R * vec3(body.com), c = w.at.trees[body.root] + (P.r + arm);
        Force<T> own = move_body(tree, i, v, arm, w);
        if (a) own = accelerate_body(tree, i, v, a, arm, own, w);
        sum += {cross(c, own.lin, own.ang), own.lin};  // [Derivations] eq. 13.16
        of_mass.m += Constant<T>(body.mass), of_mass.h = fma(body.mass, c, of_mass.h);
    }
    return sum;
}

// The momentum about the world's origin.
template <class T>
void momentum(const Tree& tree, const T* q, const T* v, T* result, const MomentumWorkspace<T>& w) {
    FirstMoment<T> of_mass;
    Force<T> h = momentum_about_reference<T>(tree, q, v, nullptr, of_mass, w);
    // [Derivations] eq. 13.16
    if (tree.nnodes > 0) h.ang = cross(w.at.d[0] - w.at.P[0].r, h.lin, h.ang);
    store_momentum(h, result);
}

// The momentum about the center of mass, or its rate if a is given. NaN for a robot without mass.
template <class T>
void centroidal_momentum(const Tree& tree, const T* q, const T* v, const T* a, T* result,
                         const MomentumWorkspace<T>& w) {
    FirstMoment<T> of_mass;
    Force<T> h = momentum_about_reference(tree, q, v, a, of_mass, w);
    h.ang = cross(h.lin, T(Constant<T>(1.0) / of_mass.m) * of_mass.h,
                  h.ang);  // [Derivations] eqs. 13.16, 15.5
    store_momentum(h, result);
}

// The matrix A (6, nv), by composite inertias ([RBDA] section 6.2): column j is the momentum about the
// center of mass when the subtree of j moves with s_j.
template <class T>
void centroidal_momentum_matrix(const Tree& tree, const T* q, T* A, const MomentumWorkspace<T>& w) {
    const int n = tree.nv;
    place_from_references(tree, q, w.at);
    FirstMoment<T> of_mass = {Constant<T>(0.0), zero_vector<T>()};
    for (int i = 0; i < tree.nnodes; ++i) {
        const Body& body = tree.bodies[i];
        const Placement<T>& P = w.at.P[i];
        w.I[i] = transformed(P.R, P.r, body.mass, vec3(body.com), sym3(body.inertia));
        of_mass += moved<T>({Constant<T>(body.mass), w.I[i].h}, w.at.trees[body.root]);
    }
    const Vec3<T> center = T(Constant<T>(1.0) / of_mass.m) * of_mass.h;
    for (int i = tree.nnodes - 1; i >= 0; --i) {
        const Body& body = tree.bodies[i];
        const Vec3<T> from_center = w.at.trees[body.root] - center;
        Motion<T> S[6];
        motion_subspace(body, w.at.P[i], S);
        for (int k = 0; k < body.nv; ++k) {
            Force<T> F = w.I[i] * S[k];
            F.ang = cross(from_center, F.lin, F.ang);  // [Derivations] eq. 13.17
            store_momentum(F, A + body.v + k, n);
        }
        if (body.parent >= 0) w.I[body.parent] += w.I[i];
    }
}

}  // namespace dtau::DTAU_VARIANT
