// Inverse dynamics: the recursive Newton-Euler algorithm in body coordinates, O(N).
// [RBDA] section 5.3, table 5.1, equations in body coordinates.
//
// Symbols, for body i with parent p, in the axes of body i about its origin:
//   X[i]   placement of the body in its parent
//   v[i]   twist
//   a[i]   spatial acceleration, gravity included
//   f[i]   force across joint i, from parent to body: the net force of the subtree
#pragma once

#include "dtau/kinematics.hpp"

namespace dtau::DTAU_VARIANT {

template <class T>
struct RneaWorkspace {
    Configuration<T> angles;
    Placement<T>* X;
    Motion<T>*v, *a;
    Force<T>* f;

    RneaWorkspace(Arena& arena, const Tree& tree)
        : angles(arena, tree),
          X(arena.take<Placement<T>>(tree.nbodies)),
          v(arena.take<Motion<T>>(tree.nbodies)),
          a(arena.take<Motion<T>>(tree.nbodies)),
          f(arena.take<Force<T>>(tree.nbodies)) {}
};

// v, a and f_ext may be null: zero.
template <class T>
void rnea(const Tree& tree, const T* q, const T* v, const T* a, const T* f_ext, T* tau,
          const RneaWorkspace<T>& w) {
    const Configuration<T> x = configuration(tree, q, w.angles);
    for (int i = 0; i < tree.nbodies; ++i) {
        const Body& body = tree.bodies[i];
        const Placement<T> X = joint_placement(body, constant_placement<T>(body), x);
        const Motion<T> zero = zero_motion<T>();
        const Motion<T> vJ = v ? joint_twist(body, v + body.v) : zero;
        const Motion<T> aJ = a ? joint_twist(body, a + body.v) : zero;

        Motion<T> vi, ai;
        if (body.parent < 0) {  // the base's position is never read
            vi = vJ;
            ai = {aJ.ang, aJ.lin - transposed_mul(X.R, lift<T>(vec3(tree.gravity)))};
        } else {
            vi = seen_from(X, w.v[body.parent]) + vJ;
            ai = cross(vi, vJ, seen_from(X, w.a[body.parent]) + aJ);
        }
        const Vec3<double> c = vec3(body.com);
        const Inertia<double> I = {body.mass, body.mass * c, sym3(body.own_inertia)};
        Force<T> f = cross_star(vi, I * vi, I * ai);
        if (acts_on(f_ext, body)) f = f - body_wrench(body, f_ext);

        w.X[i] = X;
        w.v[i] = vi;
        w.a[i] = ai;
        w.f[i] = f;
    }
    for (int i = tree.nbodies - 1; i >= 0; --i) {
        const Body& body = tree.bodies[i];
        joint_torque(body, w.f[i], tau + body.v);
        if (body.parent >= 0) w.f[body.parent] += transformed(w.X[i], w.f[i]);
    }
    for (int k = 0; k < tree.nv; ++k) {
        if (a) tau[k] = fma(T(tree.armature[k]), a[k], tau[k]);
        if (v) tau[k] = fma(T(tree.damping[k]), v[k], tau[k]);
    }
}

}  // namespace dtau::DTAU_VARIANT
