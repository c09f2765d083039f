// Computes the Jacobians J of constraints along a motion, one order at a time, and multiplies with them:
// ConstraintJacobians, J x and J^T f. O(n d r^2) for n constraints at depth d. [Derivations] §27
//
// All columns are along the axes of the world (mixed axes), as in frames.hpp; only products turn into the
// axes of the rows, which are the axes of frame a, R, or the world's:
//
//   (J x)_k   = sum of R_l^T (J_a - J_b)_i x_{k-i-l}        x: velocities or another series of motions
//   (J^T f)_k = sum of (J_a - J_b)_i^T R_l f_{k-i-l}
//
// While x_k or f_k is not known, its terms are left out.
//
// The functions of this file, and of the files that include it, are compiled for size ([[gnu::cold]]): half of
// the bytes, a tenth more time.
#pragma once

#include "dtau/algorithms/constraints/dynamics.hpp"
#include "dtau/algorithms/time/poses.hpp"

namespace dtau::DTAU_VARIANT {

// Angular and linear vectors of all constraints: motions along the axes of the world and of frame a, or
// forces along the axes of the world and of the rows.
template <class T> struct VectorSeries {
    Vec3<T>*ang, *lin;

    VectorSeries(Arena& arena, int count) { arena.take_each(count, ang, lin); }
};
template <class T> struct TurnedSeries {
    VectorSeries<T> world, own;

    TurnedSeries(Arena& arena, int count) : world(arena, count), own(arena, count) {}
};

template <class T> struct ConstraintJacobians {
    int length, nv;
    const Constraints* constraints;
    MovingBodies<T> bodies;
    Motion<T>* S;  // (nv, length) columns of joints at their own bodies, along world axes
    Vec3<T>* D;    // (length) from the origin of a body to the origin of a frame, of one frame
    Mat3<T>* R;    // (count, length) axes of frame a in the world
    Motion<T>* J;  // (2 count, nv, length): of frame a, of frame b

    ConstraintJacobians(Arena& arena, const Tree& tree, const Options& options, int coefficients)
        : length(coefficients),
          nv(tree.nv),
          constraints(options.contacts),
          bodies(arena, tree, length),
          S(arena.take<Motion<T>>(nv * length)),
          D(arena.take<Vec3<T>>(length)),
          R(arena.take<Mat3<T>>(constraints->count * length)),
          J(arena.take<Motion<T>>(2 * std::ptrdiff_t(constraints->count) * nv * length)) {}

    // Where the series of constraint c begin, and the series of column j of frame a or b.
    std::ptrdiff_t at(int c) const { return std::ptrdiff_t(c) * length; }
    Motion<T>* column(int c, bool of_b, int j) const {
        return J + ((2 * std::ptrdiff_t(c) + of_b) * nv + j) * length;
    }
};

// ---------------------------------------------------------------- frames and their columns

// Order k of the columns of one frame, and of its axes. Its body has order k.
template <class T>
[[gnu::cold]] void extend_columns(const Tree& tree, int c, bool of_b, int k,
                                  const ConstraintJacobians<T>& w) {
    const Constraint& constraint = w.constraints->at[c];
    const Frame& frame = of_b ? constraint.b : constraint.a;
    Mat3<T>* const R = w.R + w.at(c);
    if (frame.body < 0) {
        if (!of_b) R[k] = k == 0 ? lift<T>(mat3(frame.rotation)) : zero_matrix<T>();
        return;
    }
    const Placement<double> in_body = frame_in_body(tree, frame);
    const PoseSeries<T> pose = w.bodies.poses.of(frame.body);
    if (!of_b) R[k] = pose.R[k] * in_body.R;
    for (int m = 0; m <= k; ++m) w.D[m] = mul_add(pose.R[m], in_body.r, zero_vector<T>());
    for_moving_bodies(tree, frame.body, [&](const Body& body, int i) {
        for (int j = body.v; j < body.v + body.nv; ++j) {
            const Motion<T>* S = w.S + std::ptrdiff_t(j) * w.length;
            Motion<T> column = S[k];  // [Derivations] eq. 13.14
            for (int m = 0; m <= k; ++m) column.lin = cross(S[m].ang, w.D[k - m], column.lin);
            w.column(c, of_b, j)[k] = column;
        }
        for (int m = 0; m <= k; ++m) w.D[m] = w.D[m] + w.bodies.poses.of(i).d[m];
    });
}

// Order k of all poses and of J. v: derivative k - 1 of the velocities; not read if k = 0.
template <class T>
[[gnu::cold]] void extend_jacobians(const Tree& tree, int k, const Configuration<T>& x, const T* v,
                                    const ConstraintJacobians<T>& w) {
    for (int i = 0; i < tree.nnodes; ++i) {
        const Body& body = tree.bodies[i];
        move_body(tree, i, k, x, v, w.bodies);
        Motion<T> S[6];
        motion_subspace(body, {w.bodies.poses.of(i).R[k], zero_vector<T>()}, S);
        for (int c = 0; c < body.nv; ++c) w.S[std::ptrdiff_t(body.v + c) * w.length + k] = S[c];
    }
    for (int c = 0; c < w.constraints->count; ++c) {
        extend_columns(tree, c, false, k, w);
        extend_columns(tree, c, true, k, w);
    }
}

// ---------------------------------------------------------------- J x and J^T f

// Order k of V = J x of one frame along world axes, of the terms from order `first` of J on. x: (length,
// nv) coefficients.
template <class T>
[[gnu::cold]] Motion<T> frame_motion_of(const Tree& tree, int c, bool of_b, int first, int k,
                                        const T* x, const ConstraintJacobians<T>& w) {
    const Constraint& constraint = w.constraints->at[c];
    Motion<T> sum = zero_motion<T>();
    for_moving_dofs(tree, (of_b ? constraint.b : constraint.a).body, [&](const Body&, int j) {
        const Motion<T>* J = w.column(c, of_b, j);
        for (int m = first; m <= k; ++m) sum = fma(x[(k - m) * w.nv + j], J[m], sum);
    });
    return sum;
}

// Order k of the relative motion of a constraint's frames; if x_k is not known yet, without its part.
// Returns the motion of frame a.
template <class T>
[[gnu::cold]] Motion<T> extend_motion_of(const Tree& tree, int c, bool known, int k, const T* x,
                                         const TurnedSeries<T>& to,
                                         const ConstraintJacobians<T>& w) {
    const std::ptrdiff_t at = w.at(c);
    const Vec3<T> zero = zero_vector<T>();
    const Motion<T> V_a = frame_motion_of(tree, c, false, !known, k, x, w);
    const Motion<T> V_b = frame_motion_of(tree, c, true, !known, k, x, w);
    to.world.ang[at + k] = V_a.ang - V_b.ang, to.world.lin[at + k] = V_a.lin - V_b.lin;
    to.own.ang[at + k] = turned_back_sum(k, w.R + at, to.world.ang + at, zero);
    to.own.lin[at + k] = turned_back_sum(k, w.R + at, to.world.lin + at, zero);
    return V_a;
}

// The motion along the axes of the rows.
template <class T>
const VectorSeries<T>& along_rows(const Constraint& constraint, const TurnedSeries<T>& m) {
    return constraint.axes == Axes::mixed ? m.world : m.own;
}
// Writes order k of a constraint's rows of such a motion; zeros for one that is not active.
template <class T>
[[gnu::cold]] void store_order(int c, const T* active, const Motion<T>& m, T* rows,
                               const ConstraintJacobians<T>& w) {
    const Constraint& constraint = w.constraints->at[c];
    store_active_rows(c, constraint, Mat3<T>::identity(), m, active, rows + constraint.first);
}
// Order k of J x, without the part of x_k.
template <class T>
[[gnu::cold]] void rows_of_motion(const Tree& tree, int k, const T* active, const T* x,
                                  const TurnedSeries<T>& to, T* rows,
                                  const ConstraintJacobians<T>& w) {
    for (int c = 0; c < w.constraints->count; ++c) {
        extend_motion_of(tree, c, false, k, x, to, w);
        const VectorSeries<T>& m = along_rows(w.constraints->at[c], to);
        store_order(c, active, Motion<T>{m.ang[w.at(c) + k], m.lin[w.at(c) + k]}, rows, w);
    }
}

// Order k of the forces, (nrows) coefficients; null: not known yet.
template <class T>
[[gnu::cold]] void extend_forces(int k, const T* rows, const TurnedSeries<T>& f,
                                 const ConstraintJacobians<T>& w) {
    const Mat3<T> one = Mat3<T>::identity();
    const Vec3<T> zero = zero_vector<T>();
    for (int c = 0; c < w.constraints->count; ++c) {
        const Constraint& constraint = w.constraints->at[c];
        const std::ptrdiff_t at = w.at(c);
        const Force<T> W =
            rows ? constraint_wrench(constraint, one, rows + constraint.first) : zero_force<T>();
        f.own.ang[at + k] = W.ang, f.own.lin[at + k] = W.lin;
        const bool mixed = constraint.axes == Axes::mixed;
        f.world.ang[at + k] = mixed ? W.ang : turned_sum(k, w.R + at, f.own.ang + at, zero);
        f.world.lin[at + k] = mixed ? W.lin : turned_sum(k, w.R + at, f.own.lin + at, zero);
    }
}
// Adds order k of J^T f to the torques of all joints.
template <class T>
[[gnu::cold]] void add_torques_of_forces(const Tree& tree, int k, const TurnedSeries<T>& f,
                                         T* torque, const ConstraintJacobians<T>& w) {
    for (int c = 0; c < w.constraints->count; ++c) {
        const Constraint& constraint = w.constraints->at[c];
        const Vec3<T>*ang = f.world.ang + w.at(c), *lin = f.world.lin + w.at(c);
        const auto add = [&](bool of_b, T sign) {
            const int last = (of_b ? constraint.b : constraint.a).body;
            for_moving_dofs(tree, last, [&](const Body&, int j) {
                const Motion<T>* J = w.column(c, of_b, j);
                T sum(0.0);
                for (int m = 0; m <= k; ++m)
                    sum = dot(J[m].ang, ang[k - m], dot(J[m].lin, lin[k - m], sum));
                torque[j] = fma(sign, sum, torque[j]);
            });
        };
        add(false, T(1.0)), add(true, T(-1.0));
    }
}

}  // namespace dtau::DTAU_VARIANT
