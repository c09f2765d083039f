// Differentiates the joint forces J^T g of connects and welds of one state: BodyEqualities.
//
// A connect holds a point of body 1 at a point of body 2; a weld also holds the orientations, by the
// vector part of the quaternion  conj(q_2) q_1.  With the error c, of norm |c|, the rows have
// a_ref = -B J v - K I(|c|) c - (dJ/dt) v,  and their forces  g = -D (J a - a_ref)  are always active.
//
// With V and A the twist and the spatial acceleration of a body, and V_j, A_j their parts before j:
//
//   dV/dq_j = S_j x (V - V_j)
//   dA/dq_j = S_j x (A - A_j) + (V_j x S_j) x (V - V_j)      dA/dv_j = dV/dq_j + dS_j/dt
//
// The error of a weld has the second derivative  conj(q_2) Z q_1 / 2  with the quaternion
// Z = (-|w|^2 / 2, dw/dt + w_1 x w_2)  of the relative angular velocity  w = w_1 - w_2.
#pragma once

#include <algorithm>
#include <cmath>

#include "dtau/arena.hpp"
#include "mujoco/contact_motion.hpp"

namespace dtau::DTAU_VARIANT::mujoco_step {

struct Quaternion {
    double real;
    Vector vector;
};
DTAU_INLINE Quaternion operator*(const Quaternion& p, const Quaternion& q) {
    return {p.real * q.real - dot(p.vector, q.vector),
            fma(p.real, q.vector, fma(q.real, p.vector, cross(p.vector, q.vector)))};
}
DTAU_INLINE Quaternion quaternion(const double* x) { return {x[0], vec3(x + 1)}; }

// The vector part of  conj(q_2) x q_1  is  by_real x_0 + by_vector x.
struct QuaternionProduct {
    Vector by_real;
    Matrix by_vector;

    QuaternionProduct(double scale, const Quaternion& other, const Quaternion& one) {
        const Vector &u = other.vector, &w = one.vector;
        const double a = scale * other.real, b = scale * one.real;
        by_real = fma(a, w, -(b * u)) - scale * cross(u, w);
        by_vector = outer(scale * w, u);
        by_vector += (a * one.real) * Matrix::identity();
        by_vector += (-b) * skew(u);
        by_vector += (-a) * skew(w);
        by_vector += (scale * skew(w)) * skew(u);
    }
    Vector operator()(double real, const Vector& x) const {
        return mul_add(by_vector, x, real * by_real);
    }
};

class BodyEqualities {
  public:
    BodyEqualities(Arena& arena, Index nv) : nv_(nv) {
        arena.take_each(static_cast<std::size_t>(nv), turned_, slow_, before_);
        arena.take_each(static_cast<std::size_t>(6 * nv), by_q_, by_v_, arms_);
    }

    static bool any(const mujoco::Constants& m, const mujoco::Solutions& at, Index k) {
        for (Index row = at.row_starts[k]; row < end_of_equalities(at, k); ++row)
            if (m.equalities[at.id[row]].holds_bodies()) return true;
        return false;
    }
    // Adds all of state `k`.
    void add(const mujoco::Constants& m, const mujoco::Solutions& at, Index k, const Axes& axes,
             const Terms& terms) const {
        const double* v = at.v + k * nv_;
        for (Index j = 0; j < nv_; ++j) turned_[j] = cross(axes.sum(m.carried, j, v), axes.S[j]);
        for (Index j = 0; j < nv_; ++j) {
            slow_[j] = axes.sum(m.still, j, v);
            before_[j] = axes.own[0][j] + cross(axes.S[j], turning(m.still, j, v));
        }
        for (Index row = at.row_starts[k]; row < end_of_equalities(at, k);) {
            const mujoco::Equality& equality = m.equalities[at.id[row]];
            if (equality.holds_bodies()) add_rows(m, at, k, row, equality, axes, terms);
            row += static_cast<Index>(equality.rows);
        }
    }

  private:
    // A body: its motion at the world's origin and at the point that is held.
    struct Side {
        Index body;
        Quaternion orientation;
        Vector point, velocity;
        Twist V, A;
    };
    // The sides and the forces on the first.
    struct Held {
        Side sides[2];
        double damping;
        Vector force, moment;
        QuaternionProduct product;
    };

    static Index end_of_equalities(const mujoco::Solutions& at, Index k) {
        Index row = at.row_starts[k];
        const Index end = row + at.plain_starts[k + 1] - at.plain_starts[k];
        while (row < end && at.kind[row] == mujoco::equality) ++row;
        return row;
    }
    // The sum of v_i dS_i/dt over list `i`.
    Twist turning(const mujoco::Lists& lists, Index i, const double* v) const {
        Twist out = zero_motion<double>();
        for (const Index* j = lists.begin(i); j != lists.end(i); ++j)
            out = fma(v[*j], turned_[*j], out);
        return out;
    }
    Side side(const mujoco::Constants& m, const mujoco::Solutions& at, Index k, Index body,
              const mujoco::Equality::Object& object, const Axes& axes) const {
        const double* v = at.v + k * nv_;
        const Index place = k * m.nbody + body;
        const Vector point =
            mul_add(from_rows(at.xmat + 9 * place), vec3(object.point), vec3(at.xipos + 3 * place));
        const Twist V = axes.sum(m.paths, body, v);
        return {body,  quaternion(at.xquat + 4 * place) * quaternion(object.orientation),
                point, cross(V.ang, point, V.lin),
                V,     axes.sum(m.paths, body, at.a + k * nv_) + turning(m.paths, body, v)};
    }

    void add_rows(const mujoco::Constants& m, const mujoco::Solutions& at, Index k, Index row,
                  const mujoco::Equality& equality, const Axes& axes, const Terms& terms) const {
        const Index size = static_cast<Index>(equality.rows);
        const Index* bodies = m.equality_bodies + 2 * at.id[row];
        const double* J = at.jacobian + (at.plain_starts[k] + row - at.row_starts[k]) * nv_;
        double force[6] = {};
        for (Index r = 0; r < size; ++r) {
            double acceleration = 0.0;
            for (Index j = 0; j < nv_; ++j) acceleration += J[r * nv_ + j] * at.a[k * nv_ + j];
            force[r] = -at.weight[row + r] * (acceleration - at.reference[row + r]);
        }
        const Side one = side(m, at, k, bodies[0], equality.objects[0], axes);
        const Side other = side(m, at, k, bodies[1], equality.objects[1], axes);
        const Held held = {
            {one, other},
            at.parameters[4 * row + 1],
            vec3(force),
            vec3(force + 3),
            {size > 3 ? 0.5 * equality.torque_scale : 0.0, other.orientation, one.orientation}};
        for (double* rows : {by_q_, by_v_, arms_}) std::fill_n(rows, 6 * nv_, 0.0);
        for (int s = 0; s < 2; ++s) differentiate(m, held, s, axes);
        finish(at, row, size, J, force);
        for (Index r = 0; r < size; ++r)
            for (Index i = 0; i < nv_; ++i) {
                const double left = J[r * nv_ + i];
                if (left == 0.0) continue;
                add_scaled(terms.by_a + i * nv_, at.weight[row + r] * left, J + r * nv_, nv_);
                add_scaled(terms.by_q + i * nv_, left, by_q_ + r * nv_, nv_);
                add_scaled(terms.by_v + i * nv_, left, by_v_ + r * nv_, nv_);
            }
        for (int s = 0; s < 2; ++s) add_moments(m, held, s, axes, terms);
    }

    // Adds the part of the degrees of freedom of side `s` to the changes of  J a + B J v + (dJ/dt) v  by
    // q and v, at constant J in B J v by v, and of the moments on both bodies by q.
    void differentiate(const mujoco::Constants& m, const Held& held, int s,
                       const Axes& axes) const {
        const double sign = s == 0 ? 1.0 : -1.0;
        const Side &side = held.sides[s], &one = held.sides[0], &other = held.sides[1];
        const Vector &p = side.point, &w = side.V.ang, relative = one.V.ang - other.V.ang;
        const Vector& opposite = held.sides[1 - s].V.ang;
        const double real = -0.5 * dot(relative, relative);
        const Vector faster =
            fma(held.damping, relative, one.A.ang - other.A.ang) + cross(one.V.ang, other.V.ang);
        const Vector moment = transposed_mul(held.product.by_vector, held.moment);
        const double along = dot(held.product.by_real, held.moment);
        for (const Index* at = m.paths.begin(side.body); at != m.paths.end(side.body); ++at) {
            const Index j = *at;
            const Twist& S = axes.S[j];
            const Twist V = minus(cross(S, side.V), axes.own[1][j]);
            const Twist A = cross(cross(slow_[j], S), minus(side.V, slow_[j]),
                                  minus(cross(S, side.A), before_[j]));
            const Twist A_by_v = V + turned_[j];
            // The point's acceleration has the part w x v.
            const Vector moved = cross(S.ang, p, S.lin), swept = cross(w, moved);
            const Vector velocity = cross(V.ang, p, V.lin + swept);
            const Vector by_q = cross(A.ang, p, A.lin) + cross(side.A.ang, moved) +
                                cross(w, velocity, cross(V.ang, side.velocity));
            const Vector by_v =
                cross(A_by_v.ang, p, A_by_v.lin) + cross(S.ang, side.velocity, swept);
            add(by_q_, j, sign * fma(held.damping, velocity, by_q));
            add(by_v_, j, sign * by_v);
            add(arms_ + 3 * s * nv_, j, sign * cross(moved, held.force));
            // The quaternions on both sides of Z turn, too.
            const Vector change =
                fma(held.damping, V.ang, fma(0.5 * real, S.ang, A.ang)) - cross(opposite, V.ang);
            add(by_q_ + 3 * nv_, j,
                held.product(-sign * (dot(relative, V.ang) + 0.5 * dot(faster, S.ang)),
                             fma(sign, change, 0.5 * cross(faster, S.ang))));
            add(by_v_ + 3 * nv_, j,
                held.product(-sign * dot(relative, S.ang),
                             sign * (A_by_v.ang - cross(opposite, S.ang))));
            const Vector turned = -0.5 * fma(sign * along, S.ang, cross(moment, S.ang));
            add(arms_, j, turned), add(arms_ + 3 * nv_, j, -turned);
        }
    }
    void add(double* rows, Index j, const Vector& x) const {
        rows[j] += x.x, rows[nv_ + j] += x.y, rows[2 * nv_ + j] += x.z;
    }

    // Makes changes of the forces of the rows.
    void finish(const mujoco::Solutions& at, Index row, Index size, const double* J,
                const double* force) const {
        const double *KBIP = at.parameters + 4 * row, *error = at.position + row;
        const double K = KBIP[0], B = KBIP[1], impedance = KBIP[2], slope = KBIP[3];
        double squares = 0.0;
        for (Index r = 0; r < size; ++r) squares += error[r] * error[r];
        const double inverse = squares > 0.0 ? 1.0 / std::sqrt(squares) : 0.0;
        for (Index j = 0; j < nv_; ++j) {
            double longer = 0.0;
            for (Index r = 0; r < size; ++r) longer += inverse * error[r] * J[r * nv_ + j];
            for (Index r = 0; r < size; ++r) {
                const Index place = r * nv_ + j;
                const double stiffer = K * fma(slope * error[r], longer, impedance * J[place]);
                const double heavier = slope / (impedance * (1.0 - impedance)) * longer;
                const double D = at.weight[row + r];
                by_q_[place] = fma(-D, by_q_[place] + stiffer, force[r] * heavier);
                by_v_[place] = -D * fma(B, J[place], by_v_[place]);
            }
        }
    }

    // Forces move with the points, and the moment of a weld turns with the bodies.
    void add_moments(const mujoco::Constants& m, const Held& held, int s, const Axes& axes,
                     const Terms& terms) const {
        const double* rows = arms_ + 3 * s * nv_;
        const Side& side = held.sides[s];
        const Vector moment = transposed_mul(held.product.by_vector, held.moment);
        const Wrench wrench = {cross(side.point, held.force, moment), held.force};
        for (const Index* at = m.paths.begin(side.body); at != m.paths.end(side.body); ++at) {
            const Vector& axis = axes.S[*at].ang;
            const double along[3] = {axis.x, axis.y, axis.z};
            for (int r = 0; r < 3; ++r)
                add_scaled(terms.by_q + *at * nv_, along[r], rows + r * nv_, nv_);
            terms.wrenches[*at] = fma(s == 0 ? 1.0 : -1.0, wrench, terms.wrenches[*at]);
        }
    }

    Index nv_;
    Twist *turned_, *slow_, *before_;  // dS_j/dt, V_j and S_j x A_j
    double *by_q_, *by_v_, *arms_;     // (6, nv)
};

}  // namespace dtau::DTAU_VARIANT::mujoco_step
