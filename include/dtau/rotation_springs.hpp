// Computes the torques of springs of spherical joints and their derivatives: add_rotation_torques(),
// stretch_rotations(), add_rotation_stiffness(), add_rotation_times(), add_rotation_hessian(). The torque of
// such a spring, of the same stiffness K about all axes, is along the rotation vector from rest, in body axes:
//
//   tau = ... + K phi,   phi = log(R_rest^T R)                       energy K/2 |phi|^2
//   d tau = K G eta      G = J_r(phi)^-1 = 1 + phi^/2 + e phi^ phi^  for a displacement eta: R exp(eta^)
//
// (rotation_vector.hpp has e.) Along a direction eta, with delta = G eta, the derivative of G^T lam is
//
//   -delta x lam / 2 + e (phi x (delta x lam) + delta x (phi x lam)) + 2 e' (phi . delta) phi x (phi x lam)
//
// phi is of at most half a turn. At half a turn both ends of the axis are as near: the torque jumps to its
// opposite, and derivatives hold on one side. [Derivations] §26
#pragma once

#include "dtau/arena.hpp"
#include "dtau/joint_parameters.hpp"
#include "dtau/rotation_vector.hpp"

namespace dtau::DTAU_VARIANT {

// The rotation vector from rest.
template <class T>
DTAU_INLINE Vec3<T> rotation_from_rest(const RotationSpring& spring, const T* q) {
    const double* r = spring.rest;
    const Quaternion<T> inverse = {{T(-r[0]), T(-r[1]), T(-r[2])}, T(r[3])};
    return quaternion_log(inverse * load_quaternion(q + spring.q));
}

template <class T> DTAU_INLINE Vec3<T> angular_part(const RotationSpring& spring, const T* x) {
    return {x[spring.v], x[spring.v + 1], x[spring.v + 2]};
}
// y += factor x, for the velocities of the spring's joint.
template <class T>
DTAU_INLINE void add_angular_part(const RotationSpring& spring, T factor, const Vec3<T>& x, T* y) {
    y[spring.v] = fma(factor, x.x, y[spring.v]);
    y[spring.v + 1] = fma(factor, x.y, y[spring.v + 1]);
    y[spring.v + 2] = fma(factor, x.z, y[spring.v + 2]);
}

// tau += sign K phi
template <class T>
[[gnu::noinline]] void add_rotation_torques(const Tree& tree, double sign, const T* q, T* tau) {
    for (int s = 0; s < tree.nrotation_springs; ++s) {
        const RotationSpring& spring = tree.rotation_springs[s];
        add_angular_part(spring, T(sign) * stiffness<T>(tree, spring),
                         rotation_from_rest(spring, q), tau);
    }
}

template <class T>
[[gnu::noinline]] T with_rotation_energy(const Tree& tree, const T* q, T energy) {
    for (int s = 0; s < tree.nrotation_springs; ++s) {
        const RotationSpring& spring = tree.rotation_springs[s];
        const Vec3<T> phi = rotation_from_rest(spring, q);
        energy = fma(T(0.5) * stiffness<T>(tree, spring), dot(phi, phi), energy);
    }
    return energy;
}

// ---------------------------------------------------------------- derivatives

// How a spring is stretched.
template <class T> struct Stretch {
    Vec3<T> phi;
    T e, de;  // e and its derivative by |phi|^2
    T K;

    DTAU_INLINE Vec3<T> times(const Vec3<T>& x) const {  // G x
        const Vec3<T> y = cross(phi, x);
        return fma(e, cross(phi, y), fma(T(0.5), y, x));
    }
    DTAU_INLINE Vec3<T> transposed_times(const Vec3<T>& x) const {  // G^T x
        const Vec3<T> y = cross(phi, x);
        return fma(e, cross(phi, y), fma(T(-0.5), y, x));
    }
    DTAU_INLINE Mat3<T> matrix() const {
        const Mat3<T> one = Mat3<T>::identity();
        return {times(one.x), times(one.y), times(one.z)};
    }
    // The derivative of G^T lam along delta.
    DTAU_INLINE Vec3<T> curved(const Vec3<T>& delta, const Vec3<T>& lam) const {
        const Vec3<T> d = cross(delta, lam), y = cross(phi, lam);
        const Vec3<T> turned = cross(phi, d, cross(delta, y));
        return fma(T(2.0) * de * dot(phi, delta), cross(phi, y), fma(e, turned, T(-0.5) * d));
    }
};

template <class T>
DTAU_INLINE Stretch<T> stretch(const Tree& tree, const RotationSpring& spring, const T* q) {
    const Vec3<T> phi = rotation_from_rest(spring, q);
    const LogFunctions<T> f = log_functions(dot(phi, phi));
    return {phi, f.e, f.de, stiffness<T>(tree, spring)};
}

// Room for the springs' stretches, and computes them.
template <class T> DTAU_INLINE Stretch<T>* stretch_room(Arena& arena, const Tree& tree) {
    const int count = tree.nrotation_springs;
    return count > 0 ? arena.take<Stretch<T>>(count) : nullptr;
}
template <class T>
DTAU_INLINE void stretch_rotations(const Tree& tree, const T* q, Stretch<T>* stretched) {
    for (int s = 0; s < tree.nrotation_springs; ++s)
        stretched[s] = stretch(tree, tree.rotation_springs[s], q);
}

// Adds factor times a matrix to the block of the spring's joint in X, whose rows are n apart.
template <class T>
DTAU_INLINE void add_rotation_block(const RotationSpring& spring, T factor, const Mat3<T>& m, T* X,
                                    int n) {
    T* const block = X + std::ptrdiff_t(spring.v) * n;
    const Vec3<T> columns[3] = {m.x, m.y, m.z};
    for (int c = 0; c < 3; ++c) {
        block[spring.v + c] = fma(factor, columns[c].x, block[spring.v + c]);
        block[n + spring.v + c] = fma(factor, columns[c].y, block[n + spring.v + c]);
        block[2 * n + spring.v + c] = fma(factor, columns[c].z, block[2 * n + spring.v + c]);
    }
}

template <class T>
DTAU_INLINE void add_rotation_stiffness(const Tree& tree, const Stretch<T>* stretched, T* dtau_dq,
                                        int n) {
    for (int s = 0; s < tree.nrotation_springs; ++s) {
        const RotationSpring& spring = tree.rotation_springs[s];
        add_rotation_block(spring, stretched[s].K, stretched[s].matrix(), dtau_dq, n);
    }
}

// y += factor K G x, or K G^T x
template <bool transposed, class T>
[[gnu::noinline]] void add_rotation_times(const Tree& tree, double factor, const T* q, const T* x,
                                          T* y) {
    for (int s = 0; s < tree.nrotation_springs; ++s) {
        const RotationSpring& spring = tree.rotation_springs[s];
        const Stretch<T> now = stretch(tree, spring, q);
        const Vec3<T> given = angular_part(spring, x);
        add_angular_part(spring, T(factor) * now.K,
                         transposed ? now.transposed_times(given) : now.times(given), y);
    }
}

// The second derivatives of lam . phi, by columns: column c is the derivative of G^T lam along axis c.
template <class T> DTAU_INLINE Mat3<T> rotation_hessian(const Stretch<T>& now, const Vec3<T>& lam) {
    const Mat3<T> G = now.matrix();
    return {now.curved(G.x, lam), now.curved(G.y, lam), now.curved(G.z, lam)};
}

// The second derivatives of the torque about one axis of the joint.
template <class T> struct RotationCurvature {
    T of[3][3];  // by the first variable, by the second
};

// Computes the curvatures of the spring of a body's joint, for its three axes; returns null if it has none.
template <class T>
DTAU_INLINE const RotationCurvature<T>* rotation_curvatures(const Tree& tree, const Body& body,
                                                            const Stretch<T>* stretched,
                                                            RotationCurvature<T>* by_axis) {
    for (int s = 0; s < tree.nrotation_springs; ++s) {
        const RotationSpring& spring = tree.rotation_springs[s];
        if (spring.v != body.v) continue;
        for (int c = 0; c < 3; ++c) {
            const T unit[3] = {T(c == 0 ? 1.0 : 0.0), T(c == 1 ? 1.0 : 0.0), T(c == 2 ? 1.0 : 0.0)};
            const Vec3<T> axis = {unit[0], unit[1], unit[2]};
            for (int k = 0; k < 9; ++k) by_axis[c].of[k / 3][k % 3] = T(0.0);
            RotationSpring alone = spring;
            alone.v = 0;
            add_rotation_block(alone, stretched[s].K, rotation_hessian(stretched[s], axis),
                               &by_axis[c].of[0][0], 3);
        }
        return by_axis;
    }
    return nullptr;
}

// Adds the second derivatives of lam . tau by q, whose rows are n apart; lam (nv).
template <class T>
DTAU_INLINE void add_rotation_hessian(const Tree& tree, const Stretch<T>* stretched, const T* lam,
                                      T* dqdq, int n) {
    for (int s = 0; s < tree.nrotation_springs; ++s) {
        const RotationSpring& spring = tree.rotation_springs[s];
        add_rotation_block(spring, stretched[s].K,
                           rotation_hessian(stretched[s], angular_part(spring, lam)), dqdq, n);
    }
}

}  // namespace dtau::DTAU_VARIANT
