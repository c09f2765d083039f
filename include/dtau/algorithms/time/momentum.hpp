// Computes the time derivatives of the momentum of all moving bodies: momentum_time_derivatives(),
// centroidal_momentum_time_derivatives(). O(N r^2): the sum over the bodies of [HO-FBS] eq. 62, by
// vectors instead of the 6x6 matrices of its eq. 61. [Derivations] eqs. 13.18 to 13.20.
//
// Symbols as in values/momentum.hpp, with R and d of poses.hpp; coefficients of order k:
//   c           center of mass of a body from the first tree's reference
//   S           second moment of a body about its center of mass, in its own axes
//   L           sum of m c x c' + integral of (R rho) x (R' rho)
//   h, P        sum of m c;  M x_0' + h'
//   x_0         reference of the first tree in the world
// about the center of mass   L - h x h'/M
// about the world's origin   L + x_0 x P + h x x_0'
#pragma once

#include "dtau/algorithms/time/poses.hpp"
#include "dtau/algorithms/values/momentum.hpp"

namespace dtau::DTAU_VARIANT {

template <class T> struct MomentumSeriesWorkspace {
    int length;
    Configuration<T> angles;
    TaylorScale scale;
    JointSeries<T> joints;  // by level on the path, as poses
    PoseSeries<T> poses;
    int* path;
    Vec3<T>*d, *y, *trees;  // by body, as in values/momentum.hpp
    Vec3<T>* arm;           // R com, by body
    Vec3<T>*c, *mc;         // for one body
    Vec3<T>*h, *P, *L, *x;
    Mat3<T>* RS;  // for one body

    MomentumSeriesWorkspace(Arena& arena, const Tree& tree, const Options& options)
        : length(options.order + 2),
          angles(arena, tree),
          scale(arena, length),
          joints(arena, tree.depth, length),
          poses(arena, tree.depth, length),
          path(arena.take<int>(tree.depth)) {
        arena.take_each(tree.nnodes * length, d, y, trees, arm);
        arena.take_each(length, c, mc, h, P, L, x, RS);
    }
};

// sum + order k of a x b', for b along a: the terms m and k + 1 - m are combined.
template <class T>
inline Vec3<T> cross_rate(int k, const Vec3<T>* a, const Vec3<T>* b, Vec3<T> sum) {
    for (int m = 0; 2 * m <= k; ++m)
        sum = fma(T(k + 1.0 - 2.0 * m), cross(a[m], b[k + 1 - m]), sum);  // [Derivations] eq. 13.18
    return sum;
}

// The second moment (integral of r r^T) of a body with the rotational inertia J: xx xy xz yy yz zz.
template <class A> inline Mat3<A> second_moment(const double* J) {
    const A xx(J[0]), xy(J[1]), xz(J[2]), yy(J[3]), yz(J[4]), zz(J[5]);
    const A half = 0.5 * (xx + yy + zz);
    return {{half - xx, -xy, -xz}, {-xy, half - yy, -yz}, {-xz, -yz, half - zz}};
}

// Computes d and R com, and adds the bodies' angular momenta about their own centers to L. v: (order + 1, nv)
template <class T>
inline void spins(const Tree& tree, int order, const T* q, const T* v,
                  const MomentumSeriesWorkspace<T>& w) {
    const Configuration<T> angles = configuration(tree, q, w.angles);
    int places = 0;
    for (int i = 0; i < tree.nnodes; ++i) {
        const Body& body = tree.bodies[i];
        while (places > 0 && w.path[places - 1] != body.parent) --places;
        const JointSeries<T> joint = w.joints.of(places);
        const PoseSeries<T> pose = w.poses.of(places);
        const Mat3<T>* R_p = places == 0 ? nullptr : w.poses.of(places - 1).R;
        w.path[places++] = i;
        joint_series<false>(tree, body, angles, v, order + 1, order + 2, w.scale, joint);
        const Vec3<double> com = vec3(body.com);
        const Mat3<Constant<T>> S = second_moment<Constant<T>>(body.inertia);
        const std::ptrdiff_t at = std::ptrdiff_t(i) * w.length;
        for (int k = 0; k <= order + 1; ++k) {
            extend_pose(body, k, joint, R_p, pose);
            w.d[at + k] = pose.d[k];
            w.arm[at + k] = pose.R[k] * com;
            if (2 * k <= order) w.RS[k] = pose.R[k] * S;
        }
        for (int k = 0; k <= order; ++k) {
            Vec3<T> sum = w.L[k];
            for (int m = 0; 2 * m <= k; ++m) {
                const Mat3<T>&A = w.RS[m], &B = pose.R[k + 1 - m];
                const Vec3<T> spin = cross(A.x, B.x, cross(A.y, B.y, cross(A.z, B.z)));
                sum = fma(T(k + 1.0 - 2.0 * m), spin, sum);  // [Derivations] eq. 13.18
            }
            w.L[k] = sum;
        }
    }
}

// Computes h, L, P and x_0 up to `order`, h and x_0 one order further; returns the mass.
template <class T>
inline Constant<T> momentum_series(const Tree& tree, int order, const T* q, const T* v,
                                   const MomentumSeriesWorkspace<T>& w) {
    for (int k = 0; k <= order + 1; ++k) w.h[k] = w.L[k] = w.x[k] = zero_vector<T>();
    spins(tree, order, q, v, w);
    for (int k = 0; k <= order + 1; ++k) {
        const auto order_k = [&](Vec3<T>* series) {
            return [&w, series, k](int i) -> Vec3<T>& {
                return series[std::ptrdiff_t(i) * w.length + k];
            };
        };
        join_origins<T>(tree, order_k(w.y), order_k(w.d), order_k(w.trees));
    }
    Constant<T> mass(0.0);
    for (int i = 0; i < tree.nnodes; ++i) {
        const Body& body = tree.bodies[i];
        const std::ptrdiff_t at = std::ptrdiff_t(i) * w.length;
        const Vec3<T>* to_tree = w.trees + std::ptrdiff_t(body.root) * w.length;
        mass += Constant<T>(body.mass);
        for (int k = 0; k <= order + 1; ++k) {
            w.c[k] = to_tree[k] + (w.y[at + k] + w.arm[at + k]);
            w.mc[k] = body.mass * w.c[k];
            w.h[k] += w.mc[k];
        }
        for (int k = 0; k <= order; ++k) w.L[k] = cross_rate(k, w.mc, w.c, w.L[k]);
    }
    for (int k = 0; k <= order + 1 && tree.nnodes > 0; ++k) w.x[k] = w.d[k] - w.y[k];
    for (int k = 0; k <= order; ++k)
        w.P[k] = T(k + 1.0) * fma(T(mass), w.x[k + 1], w.h[k + 1]);  // [Derivations] eq. 13.19
    return mass;
}

template <class T>
inline void store_momentum_series(int order, T* result, const MomentumSeriesWorkspace<T>& w) {
    for (int k = 0; k <= order; ++k) {
        const T factor(w.scale.factorial[k]);
        store_momentum(Force<T>{factor * w.L[k], factor * w.P[k]}, result + 6 * k);
    }
}

// The momentum about the world's origin. result: (order + 1, 6)
template <class T>
void momentum_time_derivatives(const Tree& tree, int order, const T* q, const T* v, T* result,
                               const MomentumSeriesWorkspace<T>& w) {
    momentum_series(tree, order, q, v, w);
    for (int k = 0; k <= order; ++k) {
        w.L[k] = cross_sum(0, k, w.x, w.P, w.L[k]);  // [Derivations] eq. 13.20
        for (int m = 0; m <= k; ++m)
            w.L[k] = fma(T(k + 1.0 - m), cross(w.h[m], w.x[k + 1 - m]), w.L[k]);
    }
    store_momentum_series(order, result, w);
}

// The momentum about the center of mass; NaN for a robot without mass.
template <class T>
void centroidal_momentum_time_derivatives(const Tree& tree, int order, const T* q, const T* v,
                                          T* result, const MomentumSeriesWorkspace<T>& w) {
    const Constant<T> mass = momentum_series(tree, order, q, v, w);
    const T minus_inverse(Constant<T>(-1.0) / mass);
    for (int k = 0; k <= order + 1; ++k) w.c[k] = minus_inverse * w.h[k];
    // [Derivations] eq. 13.20
    for (int k = 0; k <= order; ++k) w.L[k] = cross_rate(k, w.h, w.c, w.L[k]);
    store_momentum_series(order, result, w);
}

}  // namespace dtau::DTAU_VARIANT
