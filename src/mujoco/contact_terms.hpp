// Differentiates the joint forces J^T g of contacts of one state, at a constant active set:
// ContactTerms.
//
// A contact has six rows along its frame E: the motion of body 2 relative to body 1 at the contact
// point, linear and angular. With x = dist - margin,
//
//   y = J a + B J v + (K I(x) x, 0 ...)     g = -D s'(y)     H = D s''(y)
//
// and D varies with x as I / (1 - I). The point p and the frame move with the bodies. A degree of
// freedom j carries the later axes of a path along: the derivative of  sum S_i r_i  over the path is
// S_j x (the sum) - own_j.
#pragma once

#include <algorithm>

#include "dtau/arena.hpp"
#include "mujoco/constraint_terms.hpp"
#include "mujoco/contact_forces.hpp"
#include "mujoco/contact_motion.hpp"

namespace dtau::DTAU_VARIANT::mujoco_step {

// Numbers of a contact that the sweeps of the noslip solver start from: the force, its Hessian by the residuals y,
// these, their Jacobian (6, nv), and the motion (7, nv) of point, frame and distance.
struct ContactRows {
    double *force, *hessian, *y, *jacobian, *motion;

    ContactRows(double* at, Index nv)
        : force(at), hessian(at + 6), y(at + 42), jacobian(at + 48), motion(at + 48 + 6 * nv) {}
    static Index size(Index nv) { return 48 + 13 * nv; }
};

class ContactTerms {
  public:
    // `unknown`: how the contact moves is not known here. `jumps`: its frame jumps.
    enum class Outcome { added, unknown, jumps };

    ContactTerms(Arena& arena, Index nv) : nv_(nv), moved_(arena.take<unsigned char>(nv)) {
        arena.take_each(6 * nv, J_, y_, by_q_, by_v_, by_a_);
    }

    // Adds contact `c` of state `k`, unless it has a force and no derivative. `rows`: null, or where
    // its ContactRows go.
    Outcome add(const mujoco::Constants& m, const mujoco::Solutions& at, Index k, Index c,
                const Axes& axes, const double* given, const Terms& terms, double* rows) {
        read(m, at, k, c);
        rows_ = rows;
        const ConeForce cone = solve(m, at, k, c, axes);
        if (!is_active(cone)) return Outcome::added;
        const std::int32_t* geoms = at.geom + 2 * c;
        ContactMotion motion({m, at, k, geoms[0]}, {m, at, k, geoms[1]}, pos_, at.frame + 9 * c,
                             at.dist[c], at.dim[c] > 1, given);
        if (!motion.known()) return Outcome::unknown;
        bool jumps = motion.jumps();
        for (int r = 0; r < 2; ++r) {
            const double* rate = (r ? at.v : at.a) + k * nv_;
            for (int side = 0; side < 2; ++side)
                total_[r][side] = axes.sum(m.paths, bodies_[side], rate);
            apart_[r] = shifted(minus(total_[r][1], total_[r][0]));
        }
        motion.compare_points(fma(damping_[0], apart_[1].ang, apart_[0].ang), residual_[0]);
        for (Index j = 0; j < nv_ && !jumps; ++j) {
            if (moved_[j]) {
                jumps = !differentiate(j, axes, cone, motion);
            } else {
                store(y_, j, {}), store(by_q_, j, {});
            }
        }
        if (jumps) return Outcome::jumps;
        if (m.parameters.friction >= 0) add_friction(m, at, c, cone, terms);
        if (rows_) record(cone);
        multiply(cone);
        accumulate(cone, terms);
        return Outcome::added;
    }

  private:
    struct Six {
        double at[6];
    };

    static Six six(const Vector& lin, const Vector& ang) {
        return {{lin.x, lin.y, lin.z, ang.x, ang.y, ang.z}};
    }
    void store(double* rows, Index j, const Six& column) const {
        for (int i = 0; i < 6; ++i) rows[i * nv_ + j] = column.at[i];
    }
    Twist shifted(const Twist& twist) const {  // from the world's origin to the contact point
        return {twist.ang, cross(twist.ang, pos_, twist.lin)};
    }
    Vector along(const Vector& x) const { return transposed_mul(frame_, x); }

    void read(const mujoco::Constants& m, const mujoco::Solutions& at, Index k, Index c) {
        const Index row = at.row_starts[k] + at.address[c];
        const double* KBIP = at.parameters + 4 * row;
        pos_ = vec3(at.pos + 3 * c), frame_ = mat3(at.frame + 9 * c);
        x_ = at.dist[c] - at.includemargin[c], weight_ = at.weight[row];
        stiffness_ = KBIP[0], impedance_ = KBIP[2], slope_ = KBIP[3];
        damping_[0] = KBIP[1];
        for (int i = 1; i < 6; ++i) damping_[i] = at.dim[c] > 1 ? KBIP[5] : 0.0;
        for (Index j = 0; j < nv_; ++j) moved_[j] = 0;
        for (int side = 0; side < 2; ++side) {
            bodies_[side] = m.geom_body[at.geom[2 * c + side]];
            for (const Index* j = m.paths.begin(bodies_[side]); j != m.paths.end(bodies_[side]);
                 ++j)
                moved_[*j] = static_cast<unsigned char>(moved_[*j] + 1 + side);
        }
    }

    // Writes J and returns the force.
    ConeForce solve(const mujoco::Constants& m, const mujoco::Solutions& at, Index k, Index c,
                    const Axes& axes) {
        const double *a = at.a + k * nv_, *v = at.v + k * nv_;
        double* y = residual_;
        std::fill_n(y, 6, 0.0);
        y[0] = stiffness_ * impedance_ * x_;
        for (Index j = 0; j < nv_; ++j) {
            if (!is_relative(j)) {
                store(J_, j, {});
                continue;
            }
            const Twist twist = shifted(axes.S[j]);
            const Vector lin = sign(j) * along(twist.lin), ang = sign(j) * along(twist.ang);
            const Six column = six(lin, ang);
            store(J_, j, column);
            for (int i = 0; i < 6; ++i)
                y[i] = fma(column.at[i], fma(damping_[i], v[j], a[j]), y[i]);
        }
        return cone_force(at.dim[c], m.elliptic, weight_, at.mu[c], at.friction + 5 * c, y);
    }

    // Whether a degree of freedom moves one body and not the other.
    bool is_relative(Index j) const { return moved_[j] == first || moved_[j] == second; }
    double sign(Index j) const { return moved_[j] == second ? 1.0 : -1.0; }

    // Writes the columns by q_j: of y, and of the force at constant y. False if the frame jumps.
    bool differentiate(Index j, const Axes& axes, const ConeForce& cone,
                       const ContactMotion& motion) {
        const Twist none = zero_motion<double>(), twist = shifted(axes.S[j]);
        const bool moves[2] = {moved_[j] != second, moved_[j] != first};
        const ContactChange by = motion(moves[0] ? twist : none, moves[1] ? twist : none);
        if (by.jumps) return false;
        if (rows_) record(j, by);
        Six y = {};
        for (int r = 0; r < 2; ++r) {
            Twist change[2];
            for (int side = 0; side < 2; ++side) {
                const Twist& total = total_[r][side];
                change[side] = moves[side] ? minus(cross(axes.S[j], total), axes.own[r][j]) : none;
                change[side].lin += cross(total.ang, by.point);
            }
            const Twist relative = shifted(minus(change[1], change[0]));
            const Six rows = six(along(cross(apart_[r].lin, by.turn, relative.lin)),
                                 along(cross(apart_[r].ang, by.turn, relative.ang)));
            for (int i = 0; i < 6; ++i)
                y.at[i] = r ? fma(damping_[i], rows.at[i], y.at[i]) : rows.at[i];
        }
        y.at[0] += stiffness_ * (impedance_ + slope_ * x_) * by.distance;
        store(y_, j, y);
        // D varies with the distance, the force turns with the frame and moves with the point.
        const Vector force = vec3(cone.force), moment = vec3(cone.force + 3);
        const Vector turn = along(by.turn), shift = along(by.point);
        Six g = six(-cross(force, turn), -(cross(moment, turn) + cross(force, shift)));
        const double by_weight = slope_ / (impedance_ * (1.0 - impedance_)) * by.distance;
        for (int i = 0; i < 6; ++i) g.at[i] = fma(by_weight, cone.force[i], g.at[i]);
        store(by_q_, j, g);
        return true;
    }

    // Forces by the friction of the geoms.
    void add_friction(const mujoco::Constants& m, const mujoco::Solutions& at, Index c,
                      const ConeForce& cone, const Terms& terms) const {
        const FrictionDerivatives by = friction_derivatives(cone, m.elliptic, weight_, at.mu[c],
                                                            at.friction + 5 * c, residual_);
        for (int side = 0; side < 2; ++side)
            for (int kind = 0; kind < 3; ++kind) {
                const double share = at.shares[6 * c + 3 * side + kind];
                if (share == 0.0) continue;
                double* column =
                    terms.by_parameters + m.parameters.friction + 3 * at.geom[2 * c + side] + kind;
                for (Index i = 0; i < nv_; ++i)
                    for (int r = 0; r < cone.rows; ++r)
                        column[i * m.parameters.columns] +=
                            share * J_[r * nv_ + i] * by.by[kind][r];
            }
    }

    void record(Index j, const ContactChange& by) const {
        const double motion[7] = {by.point.x, by.point.y, by.point.z, by.turn.x,
                                  by.turn.y,  by.turn.z,  by.distance};
        for (int i = 0; i < 7; ++i) ContactRows(rows_, nv_).motion[i * nv_ + j] = motion[i];
    }
    void record(const ConeForce& cone) const {
        const ContactRows rows(rows_, nv_);
        std::copy_n(cone.force, 6, rows.force), std::copy_n(&cone.hessian[0][0], 36, rows.hessian);
        std::copy_n(residual_, 6, rows.y), std::copy_n(J_, 6 * nv_, rows.jacobian);
    }

    // H J, H B J, and the change of g by q.
    void multiply(const ConeForce& cone) {
        for (int i = 0; i < cone.rows; ++i) {
            double *by_a = by_a_ + i * nv_, *by_v = by_v_ + i * nv_;
            for (Index j = 0; j < nv_; ++j) by_a[j] = by_v[j] = 0.0;
            for (int l = 0; l < cone.rows; ++l) {
                const double h = cone.hessian[i][l];
                if (h == 0.0) continue;
                add_scaled(by_a, h, J_ + l * nv_, nv_);
                add_scaled(by_v, h * damping_[l], J_ + l * nv_, nv_);
                add_scaled(by_q_ + i * nv_, -h, y_ + l * nv_, nv_);
            }
        }
    }

    void accumulate(const ConeForce& cone, const Terms& terms) const {
        const Vector force = frame_ * vec3(cone.force);
        const Wrench wrench = {cross(pos_, force, frame_ * vec3(cone.force + 3)), force};
        for (Index i = 0; i < nv_; ++i) {
            if (!is_relative(i)) continue;
            for (int r = 0; r < 6; ++r) {
                const double left = J_[r * nv_ + i];
                if (left == 0.0) continue;
                add_scaled(terms.by_q + i * nv_, left, by_q_ + r * nv_, nv_);
                if (r >= cone.rows) continue;
                add_scaled(terms.by_a + i * nv_, left, by_a_ + r * nv_, nv_);
                add_scaled(terms.by_v + i * nv_, -left, by_v_ + r * nv_, nv_);
            }
            terms.wrenches[i] = fma(sign(i), wrench, terms.wrenches[i]);
        }
    }

    enum Moved : unsigned char { first = 1, second = 2 };  // their sum: both bodies

    Index nv_, bodies_[2];
    double *J_, *y_, *by_q_, *by_v_, *by_a_;  // (6, nv)
    unsigned char* moved_;                    // (nv)
    Vector pos_;
    Matrix frame_;  // by columns: the normal and two tangents
    double x_, weight_, stiffness_, impedance_, slope_, damping_[6];
    double residual_[6];            // y
    double* rows_;                  // of ContactRows, or null
    Twist total_[2][2], apart_[2];  // by rate; at the origin by body, and of body 2 relative to 1
};

}  // namespace dtau::DTAU_VARIANT::mujoco_step
