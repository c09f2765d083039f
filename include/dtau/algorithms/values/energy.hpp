// Computes the kinetic and potential energy of all moving bodies: kinetic_energy(),
// potential_energy(). O(N). [Derivations] eqs. 15.9, 15.11.
//
//   v_i = X_i v_p + S_i q'                        twist
//   T   = sum of (m v_c . v_c + omega . J omega) / 2 + sum of armature q'^2 / 2
//         v_c: velocity of the center of mass, J: inertia about it
//   g_i = E_i g_p        u_i = u_p - g_p . r_i    world: g = gravity, u = 0
//   V   = sum of m (u_i - g_i . com_i)
//
// The textbook has T = v^T M v / 2 and V = -sum of m gravity . c_i with positions c_i in the world.
// Here T is a sum over the bodies, which needs no mass matrix, costs O(N) and is a sum of squares,
// never negative. V carries the potential u of the body's origin from body to body, so that neither
// placements in the world nor their products are formed. Both work in body axes, as rnea.hpp.
//
// Symbols, for body i with parent p:
//   v[i]   twist
//   g[i]   gravity's acceleration
//   u[i]   potential of a unit mass at the body's origin: -gravity . position in the world
#pragma once

#include "dtau/kinematics.hpp"

namespace dtau::DTAU_VARIANT {

template <class T> struct KineticEnergyWorkspace {
    Configuration<T> angles;
    Motion<T>* v;

    KineticEnergyWorkspace(Arena& arena, const Tree& tree, const Options&)
        : angles(arena, tree), v(arena.take<Motion<T>>(tree.nnodes)) {}
};

// q' . M q' / 2 as a sum of squares: translation of the bodies' centers of mass, rotation about them, and
// the rotors that armature stands for.
template <class T>
void kinetic_energy(const Tree& tree, const T* q, const T* v, T* energy,
                    const KineticEnergyWorkspace<T>& w) {
    const Configuration<T> x = configuration(tree, q, w.angles);
    T twice(0.0);
    for (int i = 0; i < tree.nnodes; ++i) {
        const Body& body = tree.bodies[i];
        Motion<T> vi = joint_twist(body, v + body.v);
        if (body.parent >= 0)
            vi =
                seen_from(joint_placement(body, constant_placement<T>(body), x), w.v[body.parent]) +
                vi;
        w.v[i] = vi;
        const Vec3<T> center = cross(vi.ang, lift<T>(vec3(body.com)), vi.lin);
        twice = fma(T(body.mass), dot(center, center), twice);
        twice = dot(vi.ang, sym3(body.inertia) * vi.ang, twice);  // [Derivations] eq. 15.9
    }
    for (int k = 0; k < tree.nv; ++k) twice = fma(armature<T>(tree, k) * v[k], v[k], twice);
    energy[0] = T(0.5) * twice;
}

template <class T> struct PotentialEnergyWorkspace {
    Configuration<T> angles;
    Vec3<T>* g;
    T* u;

    PotentialEnergyWorkspace(Arena& arena, const Tree& tree, const Options&)
        : angles(arena, tree), g(arena.take<Vec3<T>>(tree.nnodes)), u(arena.take<T>(tree.nnodes)) {}
};

// The energy is zero if all centers of mass are at the world's origin.
template <class T>
void potential_energy(const Tree& tree, const T* q, T* energy,
                      const PotentialEnergyWorkspace<T>& w) {
    const Configuration<T> x = configuration(tree, q, w.angles);
    const Vec3<T> gravity = lift<T>(vec3(tree.gravity));
    T sum(0.0);
    for (int i = 0; i < tree.nnodes; ++i) {
        const Body& body = tree.bodies[i];
        const Placement<T> X = joint_placement(body, constant_placement<T>(body), x);
        const Vec3<T> carrier = body.parent < 0 ? gravity : w.g[body.parent];
        const T origin = body.parent < 0 ? T(0.0) : w.u[body.parent];
        w.g[i] = transposed_mul(X.R, carrier);
        w.u[i] = origin - dot(carrier, X.r);
        const T own = w.u[i] - dot(vec3(body.com), w.g[i]);  // [Derivations] eq. 15.11
        sum = fma(T(body.mass), own, sum);
    }
    energy[0] = with_spring_energy(tree, q, sum);
}

}  // namespace dtau::DTAU_VARIANT
