// Joint torques of external wrenches that are given along world axes, as functions of time, O(N r^2):
// [HO-FBS] eqs. 69, 70. An order at a time, as the motion may be what is being solved for: order k
// needs velocities up to their derivative of order k - 1. [Notes] eq. 13.15.
//
// Torques are linear in wrenches: what these do is subtracted from the torques of inverse dynamics, and
// added to those that drive forward dynamics, so that neither sees them.
//
// Coefficients of order k, for body i with parent p and R, d of poses.hpp:
//   x      position of the body in the world, where moments are about the world's origin
//   f, n   force, and moment about the body's origin, of all wrenches on the subtree:
//            own n less x x f;    f_p += f,  n_p += n + d x f
//   torque S^T R^T (n; f)
#pragma once

#include "dtau/algorithms/time/poses.hpp"

namespace dtau::DTAU_VARIANT {

template <class T>
struct WorldWrenchWorkspace {
    Axes axes;
    int length;  // 0: wrenches are along body axes, and nothing of this is used
    MovingBodies<T> bodies;
    Vec3<T>*x, *force;  // (nbodies, length); force: the body's own
    Force<T>* W;        // (nbodies, length)
    T* torque;          // (nv), of one order

    WorldWrenchWorkspace(Arena& arena, const Tree& tree, Axes wrench_axes, int order)
        : axes(wrench_axes),
          length(axes == Axes::body ? 0 : order + 1),
          bodies(arena, tree, length),
          x(arena.take<Vec3<T>>(tree.nbodies * length)),
          force(arena.take<Vec3<T>>(tree.nbodies * length)),
          W(arena.take<Force<T>>(tree.nbodies * length)),
          torque(arena.take<T>(length > 0 ? tree.nv : 0)) {}

    std::ptrdiff_t at(int i) const { return std::ptrdiff_t(i) * length; }
    bool take(const T* f_ext) const { return f_ext && length > 0; }
};

// Order k of the wrench on a body about its origin. f_ext: (nlinks, 6), of order k.
template <class T>
DTAU_INLINE Force<T> own_wrench(const Body& body, int k, const T* f_ext, std::ptrdiff_t at,
                                const WorldWrenchWorkspace<T>& w) {
    const T factor(w.bodies.scale.inverse_factorial[k]);
    const T* g = f_ext + 6 * body.link;
    w.force[at + k] = factor * Vec3<T>{g[0], g[1], g[2]};
    Vec3<T> moment = factor * Vec3<T>{g[3], g[4], g[5]};
    if (w.axes == Axes::world) moment = cross_sum(0, k, w.force + at, w.x + at, moment);
    return {moment, w.force[at + k]};
}

// Order k of the joint's torque, unscaled.
template <class T>
DTAU_INLINE void wrench_torque(const Body& body, int k, const Mat3<T>* R, const Force<T>* W,
                               T factor, T* tau) {
    if (body.kind == JointKind::revolute) {
        T sum(0.0);
        for (int m = 0; m <= k; ++m) sum += dot(R[m].z, W[k - m].ang);
        tau[body.v] = factor * sum;
        return;
    }
    Force<T> F = zero_force<T>();
    for (int m = 0; m <= k; ++m) {
        const Mat3<T> back = transposed(R[m]);
        F = {mul_add(back, W[k - m].ang, F.ang), mul_add(back, W[k - m].lin, F.lin)};
    }
    T torque[6];
    joint_torque(body, F, torque);
    for (int c = 0; c < body.nv; ++c) tau[body.v + c] = factor * torque[c];
}

// w.torque of order k, from the derivatives v of the velocities of order k - 1 (of order 0: any) and
// f_ext of order k. Lower orders come first.
template <class T>
void world_wrench_torques(const Tree& tree, int k, const T* q, const T* v, const T* f_ext,
                          const WorldWrenchWorkspace<T>& w) {
    const Configuration<T> angles =
        k == 0 ? configuration(tree, q, w.bodies.angles) : Configuration<T>(q, w.bodies.angles);
    for (int i = 0; i < tree.nbodies; ++i) {
        const Body& body = tree.bodies[i];
        const std::ptrdiff_t at = w.at(i);
        move_body(tree, i, k, angles, v, w.bodies);
        const Vec3<T> d = w.bodies.poses.of(i).d[k];
        w.x[at + k] = body.parent < 0 ? d : w.x[w.at(body.parent) + k] + d;
        w.W[at + k] = acts_on(f_ext, body) ? own_wrench(body, k, f_ext, at, w) : zero_force<T>();
    }
    for (int i = tree.nbodies - 1; i >= 0; --i) {
        const Body& body = tree.bodies[i];
        const PoseSeries<T> pose = w.bodies.poses.of(i);
        const Force<T>* W = w.W + w.at(i);
        wrench_torque(body, k, pose.R, W, T(w.bodies.scale.factorial[k]), w.torque);
        if (body.parent < 0) continue;
        Force<T> shifted = W[k];
        for (int m = 0; m <= k; ++m) shifted.ang = cross(pose.d[m], W[k - m].lin, shifted.ang);
        w.W[w.at(body.parent) + k] += shifted;
    }
}

// Subtracts those of orders up to `order` from tau (order + 1, nv). v: (order, nv) or more; f_ext:
// (order + 1, nlinks, 6).
template <class T>
void subtract_world_wrenches(const Tree& tree, int order, const T* q, const T* v, const T* f_ext,
                             T* tau, const WorldWrenchWorkspace<T>& w) {
    for (int k = 0; k <= order; ++k) {
        const T* rates = k == 0 ? v : v + (k - 1) * tree.nv;
        world_wrench_torques(tree, k, q, rates, f_ext + k * 6 * tree.nlinks, w);
        for (int j = 0; j < tree.nv; ++j) tau[k * tree.nv + j] = tau[k * tree.nv + j] - w.torque[j];
    }
}

}  // namespace dtau::DTAU_VARIANT
