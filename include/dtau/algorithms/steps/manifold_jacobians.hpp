// Computes the Jacobians of integrate and difference (manifold.hpp), and the map from velocities to
// rates of the numbers of q: integrate_jacobians(), difference_jacobians(), tangent_map().
//
// All variations are in the tangent space, q (+) eps. Joint by joint, with J the right Jacobian and
// Ad = exp(-ad) of exponential.hpp:
//   q (+) dq                        by q: Ad(dq), by dq: J(dq)                 [Derivations] eq. 12.6
//   d = difference(q0, q1)          by q0: -J(-d)^-1, by q1: J(d)^-1           [Derivations] eq. 16.1
//   dq/dt = T v, v = T^+ dq/dt      T of a unit quaternion                     [Derivations] eq. 16.3
// The matrices are block diagonal, one block for each joint: O(N). If displacements add, a block is 1
// (by q0: -1) for all states and is not computed here. All other entries go to
// put(which, row, column, value), where `which` is 0 or 1 for the first or second of two matrices.
// Shapes, of independent coordinates: (nv, nv), T (nq, nv), T^+ (nv, nq).
#pragma once

#include "dtau/algorithms/steps/manifold.hpp"
#include "dtau/mimic.hpp"

namespace dtau::DTAU_VARIANT {

// Calls visit(body, q, v) for the independent joints whose displacements add (commute = true) or do not
// (false). q, v: places of their first coordinate and velocity among the independent ones.
template <class Visit>
inline void for_independent_joints(const Tree& tree, bool commute, const Visit& visit) {
    const Mimics* c = tree.mimic;
    for (int i = 0; i < tree.nnodes; ++i) {
        const Body& body = tree.bodies[i];
        if (traits(body.kind).commutes != commute) continue;
        if (!c)
            visit(body, body.q, body.v);
        else if (c->v_owner[c->v_source[body.v]] == body.v)
            visit(body, c->q_source[body.q], c->v_source[body.v]);
    }
}

// Puts a map of a joint's twists, at velocity v.
template <class T, class Put>
inline void put_map(const Body& body, const MotionMap<T>& map, int which, int v, const Put& put) {
    T block[36];
    joint_matrix(body.kind, map, block);
    for (int r = 0; r < body.nv; ++r)
        for (int c = 0; c < body.nv; ++c) put(which, v + r, v + c, block[r * body.nv + c]);
}

// The Jacobians of q (+) dq by q and by dq.
template <class T, class Put>
inline void integrate_jacobians(const Tree& tree, const T* dq, const Put& put) {
    for_independent_joints(tree, false, [&](const Body& body, int, int v) {
        const Motion<T> x = joint_twist(body, dq + body.v);
        const MotionMap<T> J = right_jacobian(x);
        put_map(body, inverse_adjoint(x, J), 0, v, put);
        put_map(body, J, 1, v, put);
    });
}

// J(x)^-1 as the sum of an odd and an even function of x. [Derivations] eq. 16.2
template <class T> struct InverseJacobianParts {
    MotionMap<T> odd, even;
};
template <class T> inline InverseJacobianParts<T> inverse_jacobian_parts(const Motion<T>& x) {
    const Mat3<T> W = skew(x.ang), U = skew(x.lin), WW = W * W;
    const LogFunctions<T> f = log_functions(dot(x.ang, x.ang));
    const T rate = T(2.0) * dot(x.ang, x.lin);
    return {T(0.5) * ad(x),
            {fma(f.e, WW, Mat3<T>::identity()),
             fma(f.e, fma(T(1.0), W * U, U * W), (rate * f.de) * WW)}};
}
template <class T> inline MotionMap<T> inverse_right_jacobian(const Motion<T>& x) {
    const InverseJacobianParts<T> parts = inverse_jacobian_parts(x);
    return fma(T(1.0), parts.even, parts.odd);
}

// The Jacobians of difference(q0, q1) by q0 and by q1.
template <class T, class Put>
inline void difference_jacobians(const Tree& tree, const T* q0, const T* q1, const Put& put) {
    for_independent_joints(tree, false, [&](const Body& body, int, int v) {
        T d[6];
        joint_difference(body, q0 + body.q, q1 + body.q, d);
        const Motion<T> x = joint_twist(body, d);
        const auto [odd, even] = inverse_jacobian_parts(x);
        put_map(body, fma(T(-1.0), even, odd), 0, v, put);
        put_map(body, fma(T(1.0), even, odd), 1, v, put);
    });
}

// T = E / 2 and T^+ = 2 E^T / |x|^2 of a quaternion x at place q, E omega = x (omega; 0): T^+ is
// the derivative of x / |x| by the four numbers, whatever the norm.
template <class T, class Put> inline void put_quaternion(const T* x, int q, int v, const Put& put) {
    const T E[4][3] = {
        {x[3], -x[2], x[1]}, {x[2], x[3], -x[0]}, {-x[1], x[0], x[3]}, {-x[0], -x[1], -x[2]}};
    const T scale = T(2.0) / fma(x[0], x[0], fma(x[1], x[1], fma(x[2], x[2], x[3] * x[3])));
    for (int r = 0; r < 4; ++r)
        for (int c = 0; c < 3; ++c) {
            put(0, q + r, v + c, T(0.5) * E[r][c]);
            put(1, v + c, q + r, scale * E[r][c]);
        }
}
// Puts the rotation R of a joint's positions, size x size, in T, and its transpose in T^+.
template <class T, class Put>
inline void put_rotation(const T* columns, int size, int q, int v, const Put& put) {
    for (int r = 0; r < size; ++r)
        for (int c = 0; c < size; ++c) {
            put(0, q + r, v + c, columns[c * size + r]);
            put(1, v + c, q + r, columns[c * size + r]);
        }
}

// The maps T and T^+.
template <class T, class Put>
inline void tangent_map(const Tree& tree, const T* coordinates, const Put& put) {
    for_independent_joints(tree, false, [&](const Body& body, int q, int v) {
        const T* x = coordinates + body.q;
        if (body.kind == JointKind::spherical) {
            put_quaternion(x, q, v, put);
        } else if (body.kind == JointKind::free) {
            const Mat3<T> R = quaternion_rotation(x + 3);
            const T columns[9] = {R.x.x, R.x.y, R.x.z, R.y.x, R.y.y, R.y.z, R.z.x, R.z.y, R.z.z};
            put_rotation(columns, 3, q, v, put);
            put_quaternion(x + 3, q + 3, v + 3, put);
        } else {
            T s, c;
            sincos(x[2], s, c);
            const T columns[4] = {c, s, -s, c};
            put_rotation(columns, 2, q, v, put);
            put(0, q + 2, v + 2, T(1.0));
            put(1, v + 2, q + 2, T(1.0));
        }
    });
}

}  // namespace dtau::DTAU_VARIANT
