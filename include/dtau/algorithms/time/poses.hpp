// Computes the poses of bodies in the world as functions of time: extend_pose(), move_body().
// O(N r^2). [HO-FBS] Algorithm 1 and eq. 20, with the joint's E and r_J of joint_series.hpp;
// [Derivations] eq. 13.12.
//
// Coefficients of order k, for body i with parent p:
//   F   axes of the joint's frame in the world      F = R_p R0
//   R   axes of the body                            R = F E^T
//   d   from the origin of the parent to the origin of the body (of a root: from the world's), along world
//       axes                                        d = R_p p0 + F r_J
// Positions are sums of d over a path: what lies between two bodies loses no digit far from the
// world's origin.
#pragma once

#include "dtau/algorithms/time/joint_series.hpp"

namespace dtau::DTAU_VARIANT {

// The series of poses, each with room for `length` coefficients.
template <class T> struct PoseSeries {
    int length;
    Mat3<T>*F, *R;
    Vec3<T>* d;

    PoseSeries(Arena& arena, int bodies, int room) : length(room) {
        arena.take_each(bodies * room, F, R, d);
    }
    // Series of body i.
    PoseSeries of(int i) const {
        PoseSeries s = *this;
        advance(std::ptrdiff_t(i) * length, s.F, s.R, s.d);
        return s;
    }
};

// Computes order k of F and d, from the joint's series up to k and the parent's R up to k.
template <class T>
inline void extend_frame(const Body& body, int k, const JointSeries<T>& s, const Mat3<T>* R_p,
                         const PoseSeries<T>& p) {
    const bool root = body.parent < 0;
    const Mat3<double> R0 = mat3(body.rotation);
    const Vec3<double> p0 = vec3(body.translation);
    if (root) {
        p.F[k] = k == 0 ? lift<T>(R0) : zero_matrix<T>();
        p.d[k] = k == 0 ? lift<T>(p0) : zero_vector<T>();
    } else {
        p.F[k] = R_p[k] * R0;
        p.d[k] = mul_add(R_p[k], p0, zero_vector<T>());
    }
    for (int m = root ? k : 0; m <= k && traits(body.kind).slides;
         ++m)  // F of a root body is constant
        p.d[k] = mul_add(p.F[k - m], s.r[m], p.d[k]);
}

// Computes order k of R and d.
template <class T>
inline void extend_pose(const Body& body, int k, const JointSeries<T>& s, const Mat3<T>* R_p,
                        const PoseSeries<T>& p) {
    extend_frame(body, k, s, R_p, p);
    const int first = body.parent < 0 ? k : 0;
    switch (traits(body.kind).rotation) {
        case Rotation::none: p.R[k] = p.F[k]; return;
        case Rotation::about_z: {
            Vec3<T> x = zero_vector<T>(), y = x;
            for (int m = first; m <= k; ++m) {
                const Mat3<T>& F = p.F[k - m];
                const T sine = s.angle[m].sine, cosine = s.angle[m].cosine;
                x = fma(cosine, F.x, fma(sine, F.y, x));
                y = fma(cosine, F.y, fma(-sine, F.x, y));
            }
            p.R[k] = {x, y, p.F[k].z};
            return;
        }
        case Rotation::any:
            p.R[k] = zero_matrix<T>();
            for (int m = first; m <= k; ++m) p.R[k] += p.F[k - m] * transposed(s.E[m]);
    }
}

// Joints and poses of all bodies, an order at a time.
template <class T> struct MovingBodies {
    Configuration<T> angles;
    TaylorScale scale;
    JointSeries<T> joints;
    PoseSeries<T> poses;

    MovingBodies(Arena& arena, const Tree& tree, int length)
        : angles(arena, tree),
          scale(arena, length),
          joints(arena, tree.nnodes, length),
          poses(arena, tree.nnodes, length) {}
};

// Computes order k of body i, after its parent. v: derivative k - 1 of the velocities; not read if k = 0.
template <class T>
inline void move_body(const Tree& tree, int i, int k, const Configuration<T>& x, const T* v,
                      const MovingBodies<T>& w) {
    const Body& body = tree.bodies[i];
    const JointTraits& joint = traits(body.kind);
    const JointSeries<T> s = w.joints.of(i);
    if (k == 0) {
        start_joint<false>(body, x, s);
    } else {
        set_joint_twist<false>(body, k - 1, v, w.scale, s);
        extend_joint(joint.rotation, joint.slides, k - 1, w.scale, s);
    }
    const Mat3<T>* R_p = body.parent < 0 ? nullptr : w.poses.of(body.parent).R;
    extend_pose(body, k, s, R_p, w.poses.of(i));
}

}  // namespace dtau::DTAU_VARIANT
