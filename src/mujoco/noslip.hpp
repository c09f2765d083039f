// Differentiates the sweeps of MuJoCo's noslip solver over the friction forces of one state:
// NoslipSweeps.
//
// After the main solver, mj_solNoSlip minimizes  f^T A f / 2 + f^T b,  A = J M^-1 J^T,  over the friction
// forces f of one row or contact after the other, without regularization and at constant normal forces.
// It takes a few sweeps, which do not converge. So the derivatives go through each of them, from the
// solution of the main solver. A block of rows has the residual  J a + B J v  at the accelerations a so
// far, and a change x of its forces changes them by  M^-1 J^T x.
#pragma once

#include <algorithm>
#include <cmath>

#include "mujoco/bounded_forces.hpp"
#include "mujoco/contact_terms.hpp"
#include "mujoco/mass_motion.hpp"

namespace dtau::DTAU_VARIANT::mujoco_step {

class NoslipSweeps {
  public:
    NoslipSweeps(Arena& arena, Index nv, Index width, Index rows)
        : nv_(nv),
          width_(width),
          square_(nv * nv),
          rows_(take<Row>(arena, rows)),
          jacobian_(take<double>(arena, rows * nv)),
          solved_(take<double>(arena, rows * nv)),
          turning_(take<double>(arena, (rows + 1) * nv * nv)),
          solved_turning_(take<double>(arena, rows * nv * nv)),
          by_force_(take<double>(arena, rows * width)),
          by_bound_(take<double>(arena, rows * width)),
          by_schur_(take<double>(arena, rows * most * nv)),
          by_residual_(take<double>(arena, 6 * width)),
          a_(take<double>(arena, nv)),
          mass_(arena, nv),
          forces_(arena, nv, width) {}

    // Replaces the derivatives `by` (nv, width) of the accelerations of the main solver. `factors`
    // (nv, nv): room for those of the mass matrix. `contact_rows`: of the state's contacts. False if
    // MuJoCo's accelerations are others.
    bool add(const mujoco::StepJob& job, Index k, const Axes& axes, double* contact_rows,
             double* factors, double* by) {
        const mujoco::Constants& m = job.model;
        const mujoco::Solutions& at = job.at;
        const mujoco::Sweeps& sweeps = job.sweeps;
        count_ = 0, by_ = by, v_ = at.v + k * nv_;
        std::copy_n(at.a + k * nv_, nv_, a_);
        const Index* counts = sweeps.counts + at.row_starts[k];
        for (Index i = 0; i < at.plain_starts[k + 1] - at.plain_starts[k]; ++i)
            if (at.loss[at.row_starts[k] + i] > 0.0) read_loss(at, k, i, counts[i]);
        for (Index c = at.contact_starts[k]; c < at.contact_starts[k + 1]; ++c) {
            if (at.address[c] < 0 || at.dim[c] < 2) continue;
            double* rows = contact_rows + (c - at.contact_starts[k]) * ContactRows::size(nv_);
            if (ContactRows(rows, nv_).hessian[0] != 0.0)
                read_contact(m, at, k, c, axes, {rows, nv_}, counts[at.address[c]]);
        }
        if (count_ == 0) return true;
        std::copy_n(at.mass + k * square_, square_, factors);
        factorize(factors, nv_);
        mass_.read(m, at, k, axes, sweeps.inertias + 10 * k * m.nbody);
        Index most_sweeps = 0;
        for (Index r = 0; r < count_; r += rows_[r].size) {
            solve(r, factors);
            most_sweeps = std::max(most_sweeps, rows_[r].sweeps);
        }
        for (Index sweep = 0; sweep < most_sweeps; ++sweep)
            for (Index r = 0; r < count_; r += rows_[r].size)
                if (sweep < rows_[r].sweeps) visit(r);
        return is_close(at.a + k * nv_, sweeps.after + k * nv_);
    }

  private:
    static constexpr int most = BoundedForces::most;
    // A row, and of the first of a block its size, sweeps and bound.
    struct Row {
        double damping, friction, force, bound, schur[most];
        Index size, sweeps;
    };

    template <class X> static X* take(Arena& arena, Index count) {
        return arena.take<X>(static_cast<std::size_t>(count));
    }

    void read_loss(const mujoco::Solutions& at, Index k, Index i, Index sweeps) {
        const Index row = at.row_starts[k] + i, r = count_++;
        const double *J = at.jacobian + (at.plain_starts[k] + i) * nv_, loss = at.loss[row];
        const double damping = at.parameters[4 * row + 1], D = at.weight[row];
        std::copy_n(J, nv_, jacobian_ + r * nv_);
        std::fill_n(turning_ + r * square_, square_, 0.0);
        std::fill_n(by_bound_ + r * width_, width_, 0.0);
        double force = D * at.reference[row], *by = by_force_ + r * width_;
        for (Index j = 0; j < nv_; ++j) force -= D * J[j] * a_[j];
        std::fill_n(by, width_, 0.0);
        if (std::fabs(force) < loss) {
            for (Index j = 0; j < nv_; ++j)
                if (J[j] != 0.0) add_scaled(by, -D * J[j], by_ + j * width_, width_);
            add_scaled(by + nv_, -D * damping, J, nv_);
        }
        rows_[r] = {damping, 1.0, std::clamp(force, -loss, loss), loss, {}, 1, sweeps};
    }

    // The derivative of  J a + B J v  of a row.
    void differentiate_residual(const double* J, const double* turning, double damping,
                                double* by) const {
        std::fill_n(by, width_, 0.0);
        for (Index j = 0; j < nv_; ++j) {
            if (J[j] != 0.0) add_scaled(by, J[j], by_ + j * width_, width_);
            add_scaled(by, fma(damping, v_[j], a_[j]), turning + j * nv_, nv_);
        }
        add_scaled(by + nv_, damping, J, nv_);
    }

    // Reads the rows along the tangents of a contact, and about its axes.
    void read_contact(const mujoco::Constants& m, const mujoco::Solutions& at, Index k, Index c,
                      const Axes& axes, const ContactRows& of, Index sweeps) {
        const Index row = at.row_starts[k] + at.address[c], first = count_, dim = at.dim[c];
        const double *KBIP = at.parameters + 4 * row, *friction = at.friction + 5 * c;
        const double impedance = KBIP[2], slope = KBIP[3];
        const double depth = at.dist[c] - at.includemargin[c];
        set_turning(m, at, c, axes, of, dim, turning_ + first * square_);
        double* by_y = by_residual_;
        for (Index i = 0; i < dim; ++i)
            differentiate_residual(of.jacobian + i * nv_, turning_ + (first + i) * square_,
                                   KBIP[i ? 5 : 1], by_y + i * width_);
        add_scaled(by_y, KBIP[0] * fma(slope, depth, impedance), of.motion + 6 * nv_, nv_);
        // D varies with the distance.
        const double by_weight = slope / (impedance * (1.0 - impedance));
        const auto combine = [&](double* out, const double* factors, double force) {
            std::fill_n(out, width_, 0.0);
            for (Index i = 0; i < dim; ++i)
                if (factors[i] != 0.0) add_scaled(out, -factors[i], by_y + i * width_, width_);
            add_scaled(out, force * by_weight, of.motion + 6 * nv_, nv_);
        };
        for (Index i = 1; i < dim; ++i) {
            const Index r = count_++;
            const double mu = friction[i - 1], *hessian = of.hessian + 6 * i;
            rows_[r] = {KBIP[5], mu, of.force[i], of.force[0], {}, 1, sweeps};
            combine(by_force_ + r * width_, hessian, of.force[i]);
            std::copy_n(of.jacobian + i * nv_, nv_, jacobian_ + r * nv_);
            // The rows of the normal make room.
            std::copy_n(turning_ + (r + 1) * square_, square_, turning_ + r * square_);
            if (m.elliptic) continue;
            // Pairs of edges have normal forces of their own.
            double normal[6] = {};
            normal[0] = hessian[i] / (mu * mu), normal[i] = hessian[0];
            rows_[r].bound = -(normal[0] * of.y[0] + normal[i] * of.y[i]);
            combine(by_bound_ + r * width_, normal, rows_[r].bound);
        }
        if (!m.elliptic) return;
        rows_[first].size = dim - 1;
        combine(by_bound_ + first * width_, of.hessian, of.force[0]);
    }

    // The derivatives (dim, nv, nv) of the Jacobian of a contact by q.
    void set_turning(const mujoco::Constants& m, const mujoco::Solutions& at, Index c,
                     const Axes& axes, const ContactRows& of, Index dim, double* out) const {
        const Vector point = vec3(at.pos + 3 * c);
        const Matrix frame = mat3(at.frame + 9 * c);
        std::fill_n(out, dim * square_, 0.0);
        const auto add = [&](Index i, Index j, double sign, const Twist& change) {
            double by[6];
            put_vector(by, transposed_mul(frame, cross(change.ang, point, change.lin)));
            put_vector(by + 3, transposed_mul(frame, change.ang));
            for (Index r = 0; r < dim; ++r) out[r * square_ + i * nv_ + j] += sign * by[r];
        };
        const auto of_column = [&](int row, Index j) {
            const double* x = of.motion + row * nv_ + j;
            return Vector{x[0], x[nv_], x[2 * nv_]};
        };
        for (int side = 0; side < 2; ++side) {
            const double sign = side ? 1.0 : -1.0;
            const Index body = m.geom_body[at.geom[2 * c + side]];
            for (const Index* i = m.paths.begin(body); i != m.paths.end(body); ++i) {
                const Twist& S = axes.S[*i];
                const Vector lin = cross(S.ang, point, S.lin);
                for (const Index* j = m.carried.begin(*i); j != m.carried.end(*i); ++j)
                    add(*i, *j, sign, cross(axes.S[*j], S));
                for (Index j = 0; j < nv_; ++j) {  // the point moves, and the frame turns
                    const Vector turn = of_column(3, j), ang = cross(S.ang, turn);
                    const Vector moved = cross(S.ang, of_column(0, j), cross(lin, turn));
                    add(*i, j, sign, {ang, moved - cross(ang, point)});
                }
            }
        }
    }
    static void put_vector(double* to, const Vector& x) { to[0] = x.x, to[1] = x.y, to[2] = x.z; }

    // Computes M^-1 J^T and A of a block, with their derivatives by q.
    void solve(Index first, const double* factors) {
        const Index size = rows_[first].size;
        for (Index r = first; r < first + size; ++r) {
            double *S = solved_ + r * nv_, *by = solved_turning_ + r * square_;
            std::copy_n(jacobian_ + r * nv_, nv_, S);
            mujoco_step::solve(factors, nv_, S, 1);
            std::copy_n(turning_ + r * square_, square_, by);
            mass_.subtract_change(S, by);
            mujoco_step::solve(factors, nv_, by, nv_);
        }
        for (Index r = first; r < first + size; ++r)
            for (Index s = 0; s < size; ++s) {
                const double *J = jacobian_ + r * nv_, *S = solved_ + (first + s) * nv_;
                double &schur = rows_[r].schur[s], *by = by_schur_ + (r * most + s) * nv_;
                schur = 0.0, std::fill_n(by, nv_, 0.0);
                for (Index i = 0; i < nv_; ++i) {
                    schur += J[i] * S[i];
                    add_scaled(by, S[i], turning_ + r * square_ + i * nv_, nv_);
                    add_scaled(by, J[i], solved_turning_ + (first + s) * square_ + i * nv_, nv_);
                }
            }
    }

    void visit(Index first) {
        const Index size = rows_[first].size;
        double matrix[most * most], friction[most], slope[most], change[most];
        for (Index r = 0; r < size; ++r) {
            const Row& row = rows_[first + r];
            const double* J = jacobian_ + (first + r) * nv_;
            double* by = forces_.by_linear + r * width_;
            differentiate_residual(J, turning_ + (first + r) * square_, row.damping, by);
            slope[r] = 0.0, friction[r] = row.friction;
            for (Index j = 0; j < nv_; ++j) slope[r] += J[j] * fma(row.damping, v_[j], a_[j]);
            forces_.linear[r] = slope[r];
            for (Index s = 0; s < size; ++s) {
                const double A = matrix[r * most + s] = row.schur[s], old = rows_[first + s].force;
                forces_.linear[r] -= A * old;
                add_scaled(by, -A, by_force_ + (first + s) * width_, width_);
                add_scaled(by, -old, by_schur_ + ((first + r) * most + s) * nv_, nv_);
            }
        }
        forces_.solve(static_cast<int>(size), matrix, by_schur_ + first * most * nv_, friction,
                      rows_[first].bound, by_bound_ + first * width_);
        double cost = 0.0;
        for (Index r = 0; r < size; ++r) change[r] = forces_.force[r] - rows_[first + r].force;
        for (Index r = 0; r < size; ++r) {
            cost += change[r] * slope[r];
            for (Index s = 0; s < size; ++s)
                cost += 0.5 * change[r] * rows_[first + r].schur[s] * change[s];
        }
        if (cost > SmallFactors::tolerance) return;  // MuJoCo undoes a change that costs more
        for (Index r = 0; r < size; ++r) {
            const double* S = solved_ + (first + r) * nv_;
            double* old = by_force_ + (first + r) * width_;
            const double* by = forces_.by_force + r * width_;
            for (Index c = 0; c < width_; ++c) old[c] = by[c] - old[c];
            for (Index i = 0; i < nv_; ++i) {
                a_[i] += S[i] * change[r];
                if (S[i] != 0.0) add_scaled(by_ + i * width_, S[i], old, width_);
                add_scaled(by_ + i * width_, change[r],
                           solved_turning_ + (first + r) * square_ + i * nv_, nv_);
            }
            std::copy_n(by, width_, old);
            rows_[first + r].force = forces_.force[r];
        }
    }

    bool is_close(const double* before, const double* after) const {
        constexpr double close = 1e-6;  // of the largest acceleration
        double difference = 0.0, largest = 0.0, largest_before = 0.0;
        for (Index i = 0; i < nv_; ++i) {
            difference = std::fmax(difference, std::fabs(a_[i] - after[i]));
            largest = std::fmax(largest, std::fabs(after[i]));
            largest_before = std::fmax(largest_before, std::fabs(before[i]));
        }
        return difference <= close * (largest + largest_before);
    }

    Index nv_, width_, square_, count_ = 0;
    Row* rows_;
    double *jacobian_, *solved_;         // (rows, nv): J and M^-1 J^T
    double *turning_, *solved_turning_;  // (rows, nv, nv): their derivatives by q
    double *by_force_, *by_bound_;       // (rows, width)
    double* by_schur_;                   // (rows, most, nv)
    double* by_residual_;                // (6, width)
    double *a_, *by_ = nullptr;          // (nv), (nv, width)
    const double* v_ = nullptr;
    MassMotion mass_;
    BoundedForces forces_;
};

}  // namespace dtau::DTAU_VARIANT::mujoco_step
