// How integrate and difference vary (manifold.hpp), and how the numbers of q follow the tangent.
//
// All variations are in the tangent space, q (+) eps. Joint by joint, with J the right Jacobian and
// Ad = exp(-ad) of exponential.hpp, of which joints whose displacements add have 1:
//   q (+) dq                        by q: Ad(dq), by dq: J(dq)                 [Notes] eq. 12.6
//   d = difference(q0, q1)          by q0: -J(-d)^-1, by q1: J(d)^-1           [Notes] eq. 16.1
//   dq/dt = T v, v = T^+ dq/dt      T of a unit quaternion, [Notes] eq. 16.3
// Matrices of independent joints, which are block diagonal: only blocks are written, into zeros.
// Cost O(N) beside the zeros.
//
// Shapes: matrices by q0, q1, dq (nv, nv); T (nq, nv); T^+ (nv, nq), by rows.
#pragma once

#include "dtau/algorithms/steps/manifold.hpp"
#include "dtau/coupling.hpp"

namespace dtau::DTAU_VARIANT {

// Calls visit(body, q, v) for joints that mimic no other, with the places of their coordinates and
// velocities among the independent ones.
template <class Visit>
DTAU_INLINE void for_independent_joints(const Tree& tree, const Visit& visit) {
    const Coupling* c = tree.coupling;
    for (int i = 0; i < tree.nbodies; ++i) {
        const Body& body = tree.bodies[i];
        if (!c)
            visit(body, body.q, body.v);
        else if (c->v_owner[c->v_source[body.v]] == body.v)
            visit(body, c->q_source[body.q], c->v_source[body.v]);
    }
}

// The map of a joint that does not commute, to the diagonal of a matrix with rows `stride` apart.
template <class T>
DTAU_INLINE void write_joint_map(const Body& body, const MotionMap<T>& map, int stride,
                                 T* diagonal) {
    T block[36];
    joint_matrix(body.kind, map, block);
    for (int r = 0; r < body.nv; ++r)
        for (int c = 0; c < body.nv; ++c) diagonal[r * stride + c] = block[r * body.nv + c];
}
template <class T>
DTAU_INLINE void write_diagonal(const Body& body, T value, int stride, T* diagonal) {
    for (int k = 0; k < body.nv; ++k) diagonal[k * (stride + 1)] = value;
}

template <class T>
void integrate_jacobians(const Tree& tree, const T* dq, T* by_q, T* by_dq) {
    const int n = tree.independent.n;
    for_independent_joints(tree, [&](const Body& body, int, int v) {
        const int at = v * (n + 1);
        if (traits(body.kind).commutes) {
            write_diagonal(body, T(1.0), n, by_q + at);
            write_diagonal(body, T(1.0), n, by_dq + at);
            return;
        }
        const Motion<T> x = joint_twist(body, dq + body.v);
        const MotionMap<T> J = right_jacobian(x);
        write_joint_map(body, inverse_adjoint(x, J), n, by_q + at);
        write_joint_map(body, J, n, by_dq + at);
    });
}

template <class T>
struct DifferenceWorkspace {
    T* d;  // difference(q0, q1)
    DifferenceWorkspace(Arena& arena, const Tree& tree) : d(arena.take<T>(tree.nv)) {}
};

inline void difference_jacobians(const Tree& tree, const double* q0, const double* q1,
                                 double* by_q0, double* by_q1,
                                 const DifferenceWorkspace<double>& w) {
    const int n = tree.independent.n;
    difference(tree, q0, q1, w.d);
    for_independent_joints(tree, [&](const Body& body, int, int v) {
        const int at = v * (n + 1);
        if (traits(body.kind).commutes) {
            write_diagonal(body, -1.0, n, by_q0 + at);
            write_diagonal(body, 1.0, n, by_q1 + at);
            return;
        }
        const Motion<double> x = joint_twist(body, w.d + body.v);
        const Mat3<double> W = skew(x.ang), U = skew(x.lin), WW = W * W;
        const LogFunctions f = log_functions(dot(x.ang, x.ang));
        const MotionMap<double> odd = 0.5 * ad(x);  // [Notes] eq. 16.2
        const MotionMap<double> even = {
            fma(f.e, WW, Mat3<double>::identity()),
            fma(f.e, fma(1.0, W * U, U * W), (2.0 * dot(x.ang, x.lin) * f.de) * WW)};
        write_joint_map(body, fma(-1.0, even, odd), n, by_q0 + at);
        write_joint_map(body, fma(1.0, even, odd), n, by_q1 + at);
    });
}

// T = E / 2 and T^+ = 2 E^T / |x|^2 of a quaternion x, with E omega = x (omega; 0): T^+ is the
// derivative by the four numbers of x / |x|, whatever the norm.
template <class T>
DTAU_INLINE void quaternion_tangent(const T* x, T* from, int from_stride, T* to, int to_stride) {
    const T E[4][3] = {
        {x[3], -x[2], x[1]}, {x[2], x[3], -x[0]}, {-x[1], x[0], x[3]}, {-x[0], -x[1], -x[2]}};
    const T scale = T(2.0) / fma(x[0], x[0], fma(x[1], x[1], fma(x[2], x[2], x[3] * x[3])));
    for (int r = 0; r < 4; ++r)
        for (int c = 0; c < 3; ++c) {
            from[r * from_stride + c] = T(0.5) * E[r][c];
            to[c * to_stride + r] = scale * E[r][c];
        }
}

// from (nq, nv) and to (nv, nq): T and T^+.
template <class T>
void tangent_map(const Tree& tree, const T* q, T* from, T* to) {
    const int nv = tree.independent.n, nq = independent_nq(tree);
    for_independent_joints(tree, [&](const Body& body, int k, int v) {
        const T* x = q + body.q;
        T *f = from + k * nv + v, *t = to + v * nq + k;
        // A rotation R of lengths; its inverse is its transpose.
        const auto turn = [&](const T* columns, int size, int given) {
            for (int r = 0; r < size; ++r)
                for (int c = 0; c < size; ++c)
                    f[r * nv + c] = t[c * nq + r] = columns[c * given + r];
        };
        if (body.kind == JointKind::free) {
            const Mat3<T> R = quaternion_rotation(x + 3);
            const T columns[9] = {R.x.x, R.x.y, R.x.z, R.y.x, R.y.y, R.y.z, R.z.x, R.z.y, R.z.z};
            turn(columns, 3, 3);
            quaternion_tangent(x + 3, f + 3 * nv + 3, nv, t + 3 * nq + 3, nq);
        } else if (body.kind == JointKind::spherical) {
            quaternion_tangent(x, f, nv, t, nq);
        } else if (body.kind == JointKind::planar) {
            T s, c;
            sincos(x[2], s, c);
            const T columns[4] = {c, s, -s, c};
            turn(columns, 2, 2);
            f[2 * nv + 2] = t[2 * nq + 2] = T(1.0);
        } else {
            for (int i = 0; i < body.nv; ++i) f[i * (nv + 1)] = t[i * (nq + 1)] = T(1.0);
        }
    });
}

}  // namespace dtau::DTAU_VARIANT
