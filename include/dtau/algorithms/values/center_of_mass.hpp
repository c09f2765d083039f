// Computes the center of mass of all moving bodies in the world, its velocity, acceleration and
// Jacobian: center_of_mass(), center_of_mass_motion(), center_of_mass_jacobian(). O(N). Position
// and velocity: [RBDA] section 2.13. [Derivations] eqs. 15.1, 15.2. NaN for a robot without mass.
//
//   c   = sum of m_i P_i com_i / M            P_i: placement of body i in the world
//   c'  = sum of p_i / M                      p_i = m_i (u_i + omega_i x com_i),  linear momentum
//   c'' = sum of F_i / M                      F_i = m_i (u'_i + omega'_i x com_i) + omega_i x p_i
//   J_k = (m s_k.lin + s_k.ang x h) / M       m, h of the subtree of column k
//
// The textbook takes the derivatives of positions in the world. Here only the position itself reads the
// placement of a root. Momenta and forces pass from body to parent in the axes of the bodies, and the
// Jacobian uses each body's own origin, so that no digits are lost far from the world's origin.
#pragma once

#include "dtau/algorithms/values/placements.hpp"
#include "dtau/algorithms/values/references.hpp"

namespace dtau::DTAU_VARIANT {

// center: (3), in meters; the sum of m_i P_i c_i over the sum of m_i, with the placement P_i of
// body i in the world and its center of mass c_i in its own axes.
template <class T>
void center_of_mass(const Tree& tree, const T* q, T* center, const PlacementsWorkspace<T>& w) {
    place_in_world(tree, configuration(tree, q, w.angles), w.P);
    Constant<T> mass(0.0);
    Vec3<T> moment = zero_vector<T>();
    for (int i = 0; i < tree.nnodes; ++i) {
        const Body& body = tree.bodies[i];
        mass += Constant<T>(body.mass);
        moment = fma(body.mass, mul_add(w.P[i].R, vec3(body.com), w.P[i].r), moment);
    }
    store_vector(T(Constant<T>(1.0) / mass) * moment, center);
}

// ---------------------------------------------------------------- motion

// In body axes: R rotates to the parent's axes; v, a about the body's origin; p momentum (or force) of the
// subtree.
template <class T> struct CenterMotionWorkspace {
    Configuration<T> angles;
    Mat3<T>* R;
    Motion<T>*v, *a;
    Vec3<T>* p;

    CenterMotionWorkspace(Arena& arena, const Tree& tree, const Options&) : angles(arena, tree) {
        arena.take_each(tree.nnodes, R, v, a, p);
    }
};

// The velocity (3) of the center of mass; if a is given, its acceleration instead, without gravity.
template <class T>
void center_of_mass_motion(const Tree& tree, const T* q, const T* v, const T* a, T* result,
                           const CenterMotionWorkspace<T>& w) {
    const Configuration<T> x = configuration(tree, q, w.angles);
    Constant<T> mass(0.0);
    for (int i = 0; i < tree.nnodes; ++i) {
        const Body& body = tree.bodies[i];
        const Placement<T> X = joint_placement(body, constant_placement<T>(body), x);
        const Vec3<T> com = lift<T>(vec3(body.com));
        const Motion<T> vJ = joint_twist(body, v + body.v);
        const Motion<T> vi = body.parent < 0 ? vJ : seen_from(X, w.v[body.parent]) + vJ;
        Vec3<T> p = body.mass * cross(vi.ang, com, vi.lin);
        if (a) {  // as [RBDA] section 5.3
            Motion<T> ai = joint_twist(body, a + body.v);
            if (body.parent >= 0) ai = cross(vi, vJ, seen_from(X, w.a[body.parent]) + ai);
            p = cross(vi.ang, p, body.mass * cross(ai.ang, com, ai.lin));
            w.a[i] = ai;
        }
        w.R[i] = X.R, w.v[i] = vi, w.p[i] = p;
        mass += Constant<T>(body.mass);
    }
    Vec3<T> sum = zero_vector<T>();
    for (int i = tree.nnodes - 1; i >= 0; --i) {
        const int parent = tree.bodies[i].parent;
        Vec3<T>& carrier = parent < 0 ? sum : w.p[parent];
        carrier = mul_add(w.R[i], w.p[i], carrier);
    }
    store_vector(T(Constant<T>(1.0) / mass) * sum, result);
}

// ---------------------------------------------------------------- Jacobian

// Along world axes; h: first moment of the subtree about the body's own origin.
template <class T> struct CenterJacobianWorkspace {
    ReferencePlacements<T> at;
    FirstMoment<T>* h;

    CenterJacobianWorkspace(Arena& arena, const Tree& tree, const Options&)
        : at(arena, tree), h(arena.take<FirstMoment<T>>(tree.nnodes)) {}
};

// Mass and first moment of body i, before its subtree is added.
template <class T>
DTAU_INLINE FirstMoment<T> first_moment(const Tree& tree, int i, const ReferencePlacements<T>& at) {
    const Body& body = tree.bodies[i];
    return {Constant<T>(body.mass), at.P[i].R * vec3(body.first_moment)};
}

// J: (3, nv)
template <class T>
void center_of_mass_jacobian(const Tree& tree, const T* q, T* J,
                             const CenterJacobianWorkspace<T>& w) {
    const int n = tree.nv;
    place_along_world_axes(tree, q, w.at);
    Constant<T> mass(0.0);
    for (int i = 0; i < tree.nnodes; ++i) {
        w.h[i] = first_moment(tree, i, w.at);
        mass += Constant<T>(tree.bodies[i].mass);
    }
    const T scale(Constant<T>(1.0) / mass);
    for (int i = tree.nnodes - 1; i >= 0; --i) {
        const Body& body = tree.bodies[i];
        Motion<T> S[6];
        motion_subspace(body, w.at.P[i], S);
        for (int k = 0; k < body.nv; ++k)  // [Derivations] eq. 15.2
            store_vector(scale * (w.h[i] * S[k]), J + body.v + k, n);
        if (body.parent >= 0) w.h[body.parent] += moved(w.h[i], w.at.d[i]);
    }
}

}  // namespace dtau::DTAU_VARIANT
