// Computes the kinematics of a joint by a switch over its kind: joint_placement(), joint_origin(),
// motion_subspace(), joint_twist(), joint_torque(). All other properties of a kind: joint_traits.hpp.
//
// [RBDA] section 4.4 (jcalc). The motion subspace S of every joint is constant in body axes, so
// that no velocity-product term of the joint itself ([RBDA]'s c_J) arises. Columns of the free
// and the other joints are in the order of their velocities: linear first.
#pragma once

#include "dtau/arena.hpp"
#include "dtau/joint_traits.hpp"
#include "dtau/pack.hpp"
#include "dtau/sincos.hpp"

namespace dtau::DTAU_VARIANT {

// A configuration, with the sines and cosines of its angles.
template <class T> struct Configuration {
    const T* q;
    T *sine, *cosine;

    Configuration(const T* coordinates, const Configuration& scratch)
        : q(coordinates), sine(scratch.sine), cosine(scratch.cosine) {}
    Configuration(Arena& arena, const Tree& tree)
        : q(nullptr),
          sine(arena.take<T>(whole_packs<T>(tree.nq))),
          cosine(arena.take<T>(whole_packs<T>(tree.nq))) {}
};

// The configuration q, with sines and cosines in `scratch`. For a lone state, vectors take the sines of
// several neighbors of q at once, also of numbers between the angles that are none.
template <class T>
DTAU_INLINE Configuration<T> configuration(const Tree& tree, const T* q,
                                           const Configuration<T>& scratch) {
    if constexpr (Pack<T>::width > 1) {
        for (int k = 0; k < tree.nq; k += Pack<T>::width) {
            Pack<T> sine, cosine;
            sincos(Pack<T>::load(q + k, tree.nq - k).value, sine.value, cosine.value);
            sine.store(scratch.sine + k);
            cosine.store(scratch.cosine + k);
        }
    } else {
        for (int i = 0; i < tree.nnodes; ++i) {
            const Body& body = tree.bodies[i];
            const int k = body.q + traits(body.kind).angle;
            if (k >= body.q) sincos(q[k], scratch.sine[k], scratch.cosine[k]);
        }
    }
    return {q, scratch};
}

// R Rz(angle)
template <class T> DTAU_INLINE Mat3<T> rotate_z(const Mat3<T>& R, T sine, T cosine) {
    return {fma(cosine, R.x, sine * R.y), fma(cosine, R.y, -sine * R.x), R.z};
}

// Rotation of a quaternion x y z w; any norm but zero.
template <class T> DTAU_INLINE Mat3<T> quaternion_rotation(const T* q) {
    const T x = q[0], y = q[1], z = q[2], w = q[3], one(1.0);
    const T s = T(2.0) / fma(x, x, fma(y, y, fma(z, z, w * w)));
    const T sx = s * x, sy = s * y, sz = s * z;
    const T xx = sx * x, yy = sy * y, zz = sz * z, wx = sx * w, wy = sy * w, wz = sz * w;
    return {{one - (yy + zz), fma(sx, y, wz), fma(sx, z, -wy)},
            {fma(sx, y, -wz), one - (xx + zz), fma(sy, z, wx)},
            {fma(sx, z, wy), fma(sy, z, -wx), one - (xx + yy)}};
}

// Moves the joint frame A to the body frame.
template <class T>
DTAU_INLINE Placement<T> joint_placement(const Body& body, const Placement<T>& A,
                                         const Configuration<T>& x) {
    const T* q = x.q + body.q;
    switch (body.kind) {
        case JointKind::revolute: return {rotate_z(A.R, x.sine[body.q], x.cosine[body.q]), A.r};
        case JointKind::prismatic: return {A.R, fma(q[0], A.R.z, A.r)};
        case JointKind::helical:
            return {rotate_z(A.R, x.sine[body.q], x.cosine[body.q]),
                    fma(T(body.pitch) * q[0], A.R.z, A.r)};
        case JointKind::spherical: return {A.R * quaternion_rotation(q), A.r};
        case JointKind::free:
            return {A.R * quaternion_rotation(q + 3), mul_add(A.R, Vec3<T>{q[0], q[1], q[2]}, A.r)};
        case JointKind::cylindrical:
            return {rotate_z(A.R, x.sine[body.q + 1], x.cosine[body.q + 1]), fma(q[0], A.R.z, A.r)};
        case JointKind::planar:
            return {rotate_z(A.R, x.sine[body.q + 2], x.cosine[body.q + 2]),
                    fma(q[0], A.R.x, fma(q[1], A.R.y, A.r))};
    }
    __builtin_unreachable();
}

// Origin of the body in the frame of its joint.
template <class T> DTAU_INLINE Vec3<T> joint_offset(const Body& body, const T* q) {
    const T zero(0.0);
    switch (body.kind) {
        case JointKind::prismatic:
        case JointKind::cylindrical: return {zero, zero, q[0]};
        case JointKind::helical: return {zero, zero, T(body.pitch) * q[0]};
        case JointKind::free: return {q[0], q[1], q[2]};
        case JointKind::planar: return {q[0], q[1], zero};
        case JointKind::revolute:
        case JointKind::spherical: return {zero, zero, zero};
    }
    __builtin_unreachable();
}

// The columns of S for a body placed at P, in the coordinates in which P is given.
template <class T>
DTAU_INLINE void motion_subspace(const Body& body, const Placement<T>& P, Motion<T>* S) {
    const Vec3<T> zero = zero_vector<T>();
    const Vec3<T> axis[3] = {P.R.x, P.R.y, P.R.z};
    switch (body.kind) {
        case JointKind::revolute: S[0] = {P.R.z, cross(P.r, P.R.z)}; return;
        case JointKind::prismatic: S[0] = {zero, P.R.z}; return;
        case JointKind::helical:
            S[0] = {P.R.z, fma(T(body.pitch), P.R.z, cross(P.r, P.R.z))};
            return;
        case JointKind::spherical:
            for (int k = 0; k < 3; ++k) S[k] = {axis[k], cross(P.r, axis[k])};
            return;
        case JointKind::free:
            for (int k = 0; k < 3; ++k) S[k] = {zero, axis[k]};
            for (int k = 0; k < 3; ++k) S[3 + k] = {axis[k], cross(P.r, axis[k])};
            return;
        case JointKind::cylindrical:
            S[0] = {zero, P.R.z};
            S[1] = {P.R.z, cross(P.r, P.R.z)};
            return;
        case JointKind::planar:
            for (int k = 0; k < 2; ++k) S[k] = {zero, axis[k]};
            S[2] = {P.R.z, cross(P.r, P.R.z)};
            return;
    }
}

// S x in body axes: the joint's twist for rates x.
template <class T> DTAU_INLINE Motion<T> joint_twist(const Body& body, const T* x) {
    const T zero(0.0);
    switch (body.kind) {
        case JointKind::revolute: return {{zero, zero, x[0]}, {zero, zero, zero}};
        case JointKind::prismatic: return {{zero, zero, zero}, {zero, zero, x[0]}};
        case JointKind::helical: return {{zero, zero, x[0]}, {zero, zero, T(body.pitch) * x[0]}};
        case JointKind::spherical: return {{x[0], x[1], x[2]}, {zero, zero, zero}};
        case JointKind::free: return {{x[3], x[4], x[5]}, {x[0], x[1], x[2]}};
        case JointKind::cylindrical: return {{zero, zero, x[1]}, {zero, zero, x[0]}};
        case JointKind::planar: return {{zero, zero, x[2]}, {x[0], x[1], zero}};
    }
    __builtin_unreachable();
}

// S^T f in body axes: the joint's torque for a force across it.
template <class T> DTAU_INLINE void joint_torque(const Body& body, const Force<T>& f, T* tau) {
    switch (body.kind) {
        case JointKind::revolute: tau[0] = f.ang.z; return;
        case JointKind::prismatic: tau[0] = f.lin.z; return;
        case JointKind::helical: tau[0] = fma(T(body.pitch), f.lin.z, f.ang.z); return;
        case JointKind::spherical: tau[0] = f.ang.x, tau[1] = f.ang.y, tau[2] = f.ang.z; return;
        case JointKind::free:
            tau[0] = f.lin.x, tau[1] = f.lin.y, tau[2] = f.lin.z;
            tau[3] = f.ang.x, tau[4] = f.ang.y, tau[5] = f.ang.z;
            return;
        case JointKind::cylindrical: tau[0] = f.lin.z, tau[1] = f.ang.z; return;
        case JointKind::planar: tau[0] = f.lin.x, tau[1] = f.lin.y, tau[2] = f.ang.z; return;
    }
}

}  // namespace dtau::DTAU_VARIANT
