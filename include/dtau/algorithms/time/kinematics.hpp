// Computes the time derivatives of the poses and twists of all bodies:
// kinematics_time_derivatives(). O(N r^2). [HO-FBS] Algorithm 1 and eq. 20 in body coordinates.
//
//   omega_i = E R0^T omega_p + omega_J      v_i = E R0^T (v_p + omega_p x r) + v_J
//   R_i = R_p R0 E^T                        x_i = x_p + d_i
//
// with the joint's omega_J, v_J, E, R0 and r of joint_series.hpp, and R and d of poses.hpp; products are
// convolutions of Taylor coefficients (taylor.hpp). The paper has 6x6
// adjoint maps and binomials. Here rotations and vectors are convolved, and a joint that turns about
// z convolves only x and y.
#pragma once

#include "dtau/algorithms/time/inverse.hpp"
#include "dtau/algorithms/time/poses.hpp"
#include "dtau/algorithms/values/placements.hpp"

namespace dtau::DTAU_VARIANT {

template <class T> struct TimeKinematicsWorkspace {
    int length;
    Configuration<T> angles;
    TaylorScale scale;
    JointSeries<T> joints;  // by level on the path, as all arrays but the last two
    PoseSeries<T> poses;
    Vec3<T>*omega, *v, *x;
    TwoVectors<T>* seen;  // for one body: R0^T times the motion of the parent
    Vec3<T>* r;
    int* path;

    TimeKinematicsWorkspace(Arena& arena, const Tree& tree, const Options& options)
        : length(options.order + 1),
          angles(arena, tree),
          scale(arena, length),
          joints(arena, tree.depth, length),
          poses(arena, tree.depth, length),
          path(arena.take<int>(tree.depth)) {
        arena.take_each(tree.depth * length, omega, v, x);
        arena.take_each(length, seen, r);
    }
};

// omega and v, orders below `rows`, of a body.
template <class T>
inline void twist_series(const Body& body, int place, int rows, const JointSeries<T>& s,
                         const TimeKinematicsWorkspace<T>& w) {
    Vec3<T>*omega = w.omega + place * w.length, *v = w.v + place * w.length;
    const Rotation how = traits(body.kind).rotation;
    const Mat3<double> R0 = mat3(body.rotation);
    const auto sliding = [&](int k) {
        return traits(body.kind).slides ? s.v[k] : zero_vector<T>();
    };
    if (body.parent < 0) {
        for (int k = 0; k < rows; ++k) omega[k] = s.omega[k], v[k] = sliding(k);
        return;
    }
    const int parent = (place - 1) * w.length;
    const Vec3<T>*omega_p = w.omega + parent, *v_p = w.v + parent;
    for (int k = 0; k < rows; ++k) {
        w.seen[k] = two_vectors(transposed_mul(R0, omega_p[k]),
                                transposed_mul(R0, cross_sum(0, k, omega_p, w.r, v_p[k])));
    }
    for (int k = 0; k < rows; ++k) {
        const TwoVectors<T> both = rotated<false>(how, s, k, w.seen);
        omega[k] = both.a() + s.omega[k], v[k] = both.b() + sliding(k);  // [Derivations] eq. 13.12
    }
}

// v: (order, nv). rotation (order + 1, nbodies, 3, 3), translation (order + 1, nbodies, 3),
// twist (order, nbodies, 6).
template <class T>
void kinematics_time_derivatives(const Tree& tree, int order, const T* q, const T* v, T* rotation,
                                 T* translation, T* twist, const TimeKinematicsWorkspace<T>& w) {
    const Configuration<T> x = configuration(tree, q, w.angles);
    int places = 0;
    for (int i = 0; i < tree.nnodes; ++i) {
        const Body& body = tree.bodies[i];
        while (places > 0 && w.path[places - 1] != body.parent) --places;
        const JointSeries<T> s = w.joints.of(places);
        const Vec3<T>*omega = w.omega + places * w.length, *velocity = w.v + places * w.length;
        Vec3<T>* origin = w.x + places * w.length;
        const Vec3<T>* origin_p = places == 0 ? nullptr : w.x + (places - 1) * w.length;
        const PoseSeries<T> pose = w.poses.of(places);
        joint_series<false>(tree, body, x, v, order, order + 1, w.scale, s);
        for (int k = 0; k <= order; ++k) {
            w.r[k] = traits(body.kind).slides ? offset(body, k, s) : zero_vector<T>();
            if (!traits(body.kind).slides && k == 0) w.r[0] = lift<T>(vec3(body.translation));
        }
        twist_series(body, places, order, s, w);
        const Mat3<T>* R_p = places == 0 ? nullptr : w.poses.of(places - 1).R;
        for (int k = 0; k <= order; ++k) {
            extend_pose(body, k, s, R_p, pose);
            origin[k] = places == 0 ? pose.d[k] : origin_p[k] + pose.d[k];
        }
        w.path[places++] = i;
        if (body.link < 0) continue;
        for (int k = 0; k <= order; ++k) {
            const T factor(w.scale.factorial[k]);
            const std::ptrdiff_t at = std::ptrdiff_t(k) * tree.nbodies + body.link;
            const Mat3<T> axes = user_axes(body, Placement<T>{pose.R[k], origin[k]}).R;
            write_rows(factor * axes, rotation + 9 * at);
            store_vector(factor * origin[k], translation + 3 * at);
            if (k < order)
                store_twist(body, Motion<T>{factor * omega[k], factor * velocity[k]},
                            twist + 6 * std::ptrdiff_t(k) * tree.nbodies);
        }
    }
}

}  // namespace dtau::DTAU_VARIANT
