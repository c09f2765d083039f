// Computes the rows of constraints along a motion, one order at a time: ConstraintSeries. O(n d r^2) for n
// constraints at depth d. [Derivations] §27
//
// The rows (20.1) of constraints/rows.hpp are rates of the relative twist m = V_a - V_b of the two frames, which
// is J v. With the axes of the rows turning at w, and the angular velocity w_a of frame a along the same axes
// (27.2, 27.3):
//
//   linear    m_lin' + w x m_lin             + kd m_lin + kp p        p' = m_lin - w x p
//   angular   m_ang' + (w - w_a) x m_ang     + kd m_ang + kp phi      phi' = G m_ang along a's axes
//
// phi: rotation_vector_series.hpp. A hinge has z_b x z_a in its place, where z_b' = z_b x m_ang along a's axes. A
// spatial contact has w - w_a in the linear part too, and the logarithm (phi; rho) of the placement:
// rho = G^T d, where d is the distance along the axes of b.
//
// Symbols, series of `length` coefficients for each constraint:
//   spin, turn     angular velocity of a along world axes; w
//   p, z, d, phi   as above
#pragma once

#include "dtau/algorithms/time/constraint_jacobians.hpp"
#include "dtau/algorithms/time/rotation_vector_series.hpp"

namespace dtau::DTAU_VARIANT {

template <class T> struct ConstraintSeries : ConstraintJacobians<T> {
    Vec3<T>*spin, *turn, *p, *z, *d;
    RotationVectorSeries<T> rotations;
    TurnedSeries<T> velocities;

    ConstraintSeries(Arena& arena, const Tree& tree, const Options& options, int coefficients)
        : ConstraintSeries(arena, tree, options, coefficients, options.contacts->count) {}

  private:
    ConstraintSeries(Arena& arena, const Tree& tree, const Options& options, int coefficients,
                     int count)
        : ConstraintJacobians<T>(arena, tree, options, coefficients),
          rotations(arena, count, coefficients),
          velocities(arena, count * coefficients) {
        arena.take_each(count * coefficients, spin, turn, p, z, d);
    }
};

// ---------------------------------------------------------------- errors of positions

// Order 0 of p, z, d and phi.
template <class T>
[[gnu::cold]] void start_errors(const Tree& tree, const ConstraintEquations<T>& equations,
                                const ConstraintSeries<T>& w) {
    for (int c = 0; c < w.constraints->count; ++c) {
        const Constraint& constraint = w.constraints->at[c];
        if (!constraint.positions) continue;
        const std::ptrdiff_t at = w.at(c);
        const ConstraintFrames<T>& f = equations.frames[c];
        const PositionError<T> error = position_error(tree, constraint, f, equations.world);
        w.p[at] = transposed_mul(f.E, error.e.lin);
        w.z[at] = transposed_mul(f.a.R, error.z_b);
        w.rotations.of(c).start(transposed_mul(f.a.R, error.e.ang));
        if (!constraint.spatial) continue;
        const Vec3<T> apart = frame_placement(tree, constraint.a, equations.world).r - f.held;
        w.d[at] = transposed_mul(lift<T>(mat3(constraint.b.rotation)), apart);
    }
}
// Order k > 0, from the motion of orders below k.
template <class T> [[gnu::cold]] void extend_errors(int c, int k, const ConstraintSeries<T>& w) {
    const Constraint& constraint = w.constraints->at[c];
    if (!constraint.positions) return;
    const std::ptrdiff_t at = w.at(c);
    const T inverse(w.bodies.scale.inverse[k]);
    const VectorSeries<T>& m = along_rows(constraint, w.velocities);
    Vec3<T>*const p = w.p + at, *const z = w.z + at;
    p[k] = inverse * cross_sum(0, k - 1, p, w.turn + at, m.lin[at + k - 1]);
    if (constraint.hinge >= 0)
        z[k] = inverse * cross_sum(0, k - 1, z, w.velocities.own.ang + at);
    else if (constraint.count > 3)
        w.rotations.of(c).extend(k, w.velocities.own.ang + at, w.bodies.scale);
    if (constraint.spatial)
        w.d[at + k] = inverse * transposed_mul(lift<T>(mat3(constraint.b.rotation)),
                                               w.velocities.world.lin[at + k - 1]);
}
// Order k of the error along the axes of the rows.
template <class T>
[[gnu::cold]] Motion<T> error_of_order(int c, int k, const ConstraintSeries<T>& w) {
    const Constraint& constraint = w.constraints->at[c];
    const std::ptrdiff_t at = w.at(c);
    if (constraint.count <= 3) return {zero_vector<T>(), w.p[at + k]};
    const RotationVectorSeries<T> rotation = w.rotations.of(c);
    const Vec3<T> axis =
        lift<T>(Vec3<double>{double(constraint.hinge == 0), double(constraint.hinge == 1),
                             double(constraint.hinge == 2)});
    const auto own = [&](int i) {  // along a's axes
        if (constraint.hinge >= 0) return Motion<T>{cross(w.z[at + i], axis), zero_vector<T>()};
        Vec3<T> rho = zero_vector<T>();
        if (constraint.spatial) rho = turned_back_sum(i, rotation.G, w.d + at, rho);
        return Motion<T>{rotation.phi[i], rho};
    };
    Motion<T> e = own(k);
    if (constraint.axes == Axes::mixed) {
        e = zero_motion<T>();
        for (int i = 0; i <= k; ++i) e = mul_add(w.R[at + i], own(k - i), e);
    }
    return {e.ang, constraint.spatial ? e.lin : w.p[at + k]};
}

// ---------------------------------------------------------------- the rows

// Ends order k of the motion, now that v_k is known: v (length, nv) coefficients.
template <class T>
[[gnu::cold]] void extend_velocities(const Tree& tree, int k, const T* v,
                                     const ConstraintSeries<T>& w) {
    for (int c = 0; c < w.constraints->count; ++c) {
        const Constraint& constraint = w.constraints->at[c];
        const std::ptrdiff_t at = w.at(c);
        w.spin[at + k] = extend_motion_of(tree, c, true, k, v, w.velocities, w).ang;
        const Vec3<T> zero = zero_vector<T>();
        w.turn[at + k] =
            constraint.axes == Axes::mixed ? zero : turned_back_sum(k, w.R + at, w.spin + at, zero);
        if (k > 0) extend_errors(c, k, w);
    }
}

// Order k of the rows (20.1) at v_{k+1} = 0; v: (length, nv) coefficients up to order k.
template <class T>
[[gnu::cold]] void rows_at_rest(const Tree& tree, int k, const T* active, const T* v, T* rows,
                                const ConstraintSeries<T>& w) {
    for (int c = 0; c < w.constraints->count; ++c) {
        const Constraint& constraint = w.constraints->at[c];
        const std::ptrdiff_t at = w.at(c);
        const bool mixed = constraint.axes == Axes::mixed;
        extend_motion_of(tree, c, false, k + 1, v, w.velocities, w);
        const VectorSeries<T>& m = along_rows(constraint, w.velocities);
        const Vec3<T>*ang = m.ang + at, *lin = m.lin + at;
        const T next(k + 1.0), kd(constraint.kd);
        Motion<T> row = {fma(next, ang[k + 1], kd * ang[k]), fma(next, lin[k + 1], kd * lin[k])};
        if (!constraint.spatial) row.lin = cross_sum(0, k, w.turn + at, lin, row.lin);
        if (mixed && constraint.spatial) row.lin = cross_sum(0, k, lin, w.spin + at, row.lin);
        if (mixed) row.ang = cross_sum(0, k, ang, w.spin + at, row.ang);
        if (constraint.positions) row = fma(T(constraint.kp), error_of_order(c, k, w), row);
        store_order(c, active, row, rows, w);
    }
}

}  // namespace dtau::DTAU_VARIANT
