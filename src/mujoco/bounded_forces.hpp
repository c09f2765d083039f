// Minimizes  g^T A g / 2 + g^T b  over forces within  sum (g_i / mu_i)^2 <= n^2,  as MuJoCo's noslip
// solver does for a row or a contact, with derivatives: BoundedForces.
//
// Newton's method finds the multiplier of the bound, as in MuJoCo's mju_QCQP, and ends at a tolerance.
// The derivatives go through its iterations.
#pragma once

#include <algorithm>
#include <cmath>
#include <limits>

#include "dtau/arena.hpp"
#include "mujoco/dense_solve.hpp"
#include "mujoco/muscles.hpp"

namespace dtau::DTAU_VARIANT::mujoco_step {

// A symmetric matrix of up to five rows, factorized into L D L^T.
class SmallFactors {
  public:
    static constexpr int most = 5;

    SmallFactors(const double* matrix, int n, double shift) : n_(n) {
        for (int i = 0; i < n; ++i) {
            for (int j = 0; j <= i; ++j) {
                double x = matrix[i * most + j] + (i == j ? shift : 0.0);
                for (int l = 0; l < j; ++l) x -= L_[i][l] * L_[j][l] * D_[l];
                if (i == j)
                    D_[i] = x;
                else
                    L_[i][j] = x / D_[j];
            }
        }
    }
    // MuJoCo takes determinants up to size 3, then pivots.
    bool is_singular() const {
        double product = 1.0, least = std::numeric_limits<double>::infinity();
        for (int i = 0; i < n_; ++i) product *= D_[i], least = std::fmin(least, D_[i]);
        return !(least > 0.0 && (n_ <= 3 ? product : least) >= tolerance);
    }
    // X = -(L D L^T)^-1 X for X (n, columns).
    void solve_negative(double* X, Index columns) const {
        for (int i = 0; i < n_; ++i)
            for (int l = 0; l < i; ++l)
                add_scaled(X + i * columns, -L_[i][l], X + l * columns, columns);
        for (int i = n_ - 1; i >= 0; --i) {
            for (Index c = 0; c < columns; ++c) X[i * columns + c] /= -D_[i];
            for (int l = i + 1; l < n_; ++l)
                add_scaled(X + i * columns, -L_[l][i], X + l * columns, columns);
        }
    }

    static constexpr double tolerance = 1e-10;

  private:
    int n_;
    double L_[most][most], D_[most];
};

class BoundedForces {
  public:
    static constexpr int most = SmallFactors::most;

    BoundedForces(Arena& arena, Index nv, Index width)
        : nv_(nv),
          width_(width),
          by_matrix_(arena.take<double>(static_cast<std::size_t>(most * most * nv))),
          by_multiplier_(arena.take<double>(static_cast<std::size_t>(width))) {
        arena.take_each(static_cast<std::size_t>(most * width), by_linear, by_force, turned_);
    }

    // b, which solve() overwrites, and the forces, with their derivatives (rows, width).
    double linear[most], force[most];
    double *by_linear, *by_force;

    // Writes the forces. `matrix` (rows, most) and `by_matrix` (rows, most, nv): A and its derivatives
    // by q.
    void solve(int rows, const double* matrix, const double* by_matrix, const double* friction,
               double bound, const double* by_bound) {
        rows_ = rows;
        if (rows == 1) return solve_row(*matrix, by_matrix, *friction, bound, by_bound);
        if (bound < smallest) return be_zero();
        // In the forces  g_i / mu_i  the bound is a sphere.
        for (int i = 0; i < rows; ++i) {
            linear[i] *= friction[i];
            scale(by_linear + i * width_, friction[i], width_);
            for (int j = 0; j < rows; ++j) {
                const double factor = friction[i] * friction[j];
                matrix_[i * most + j] = factor * matrix[i * most + j];
                double* to = by_matrix_ + (i * most + j) * nv_;
                std::copy_n(by_matrix + (i * most + j) * nv_, nv_, to);
                scale(to, factor, nv_);
            }
        }
        solve_within_sphere(bound, by_bound);
        for (int i = 0; i < rows; ++i)
            force[i] *= friction[i], scale(by_force + i * width_, friction[i], width_);
    }

  private:
    static constexpr double tolerance = SmallFactors::tolerance;
    static constexpr int iterations = 20;

    static void scale(double* x, double factor, Index n) {
        for (Index j = 0; j < n; ++j) x[j] *= factor;
    }
    void be_zero() { std::fill_n(force, rows_, 0.0), std::fill_n(by_force, rows_ * width_, 0.0); }
    void solve_row(double a, const double* by_a, double friction, double bound,
                   const double* by_bound) {
        if (a < smallest) return be_zero();
        const double g = -linear[0] / a, most_force = friction * bound;
        const bool slides = std::fabs(g) >= most_force;
        const double sign = g < 0.0 ? -1.0 : (g > 0.0 ? 1.0 : 0.0);
        force[0] = slides ? sign * most_force : g;
        for (Index c = 0; c < width_; ++c)
            by_force[c] = slides ? sign * friction * by_bound[c] : -by_linear[c] / a;
        if (!slides) add_scaled(by_force, -g / a, by_a, nv_);
    }
    // Adds  s dA x,  whose columns are of q.
    void add_times(double* rows, double s, const double* x) const {
        for (int i = 0; i < rows_; ++i)
            for (int j = 0; j < rows_; ++j)
                add_scaled(rows + i * width_, s * x[j], by_matrix_ + (i * most + j) * nv_, nv_);
    }
    static double product(const double* x, const double* y, int n) {
        double out = 0.0;
        for (int i = 0; i < n; ++i) out += x[i] * y[i];
        return out;
    }

    // As mju_QCQP; the noslip solver projects what it leaves on the sphere.
    void solve_within_sphere(double n, const double* by_n) {
        double multiplier = 0.0, turned[most];
        std::fill_n(by_multiplier_, width_, 0.0);
        for (int iteration = 0; iteration < iterations; ++iteration) {
            const SmallFactors factors(matrix_, rows_, multiplier);
            if (factors.is_singular()) return be_zero();
            std::copy_n(linear, rows_, force);
            factors.solve_negative(force, 1);
            std::copy_n(by_linear, rows_ * width_, by_force);
            for (int i = 0; i < rows_; ++i)
                add_scaled(by_force + i * width_, force[i], by_multiplier_, width_);
            add_times(by_force, 1.0, force);
            factors.solve_negative(by_force, width_);
            const double excess = product(force, force, rows_) - n * n;
            if (excess < tolerance) break;
            std::copy_n(force, rows_, turned);
            factors.solve_negative(turned, 1);  // -(A + multiplier)^-1 g
            const double slope = 2.0 * product(force, turned, rows_), step = -excess / slope;
            if (step < tolerance) break;
            // The derivative of the slope is  4 turned . dg + 2 turned . (dA + dmultiplier) turned.
            std::fill_n(turned_, rows_ * width_, 0.0);
            add_times(turned_, 1.0, turned);
            for (int i = 0; i < rows_; ++i)
                add_scaled(turned_ + i * width_, turned[i], by_multiplier_, width_);
            for (Index c = 0; c < width_; ++c) {
                double by_excess = -n * by_n[c], by_slope = 0.0;
                for (int i = 0; i < rows_; ++i) {
                    const Index place = i * width_ + c;
                    by_excess += force[i] * by_force[place];
                    by_slope += turned[i] * (2.0 * by_force[place] + turned_[place]);
                }
                by_multiplier_[c] -= 2.0 * (by_excess + step * by_slope) / slope;
            }
            multiplier += step;
        }
        if (multiplier != 0.0) project(n, by_n);
    }
    void project(double n, const double* by_n) {
        const double length = std::sqrt(product(force, force, rows_)), ratio = n / length;
        for (int i = 0; i < rows_; ++i) force[i] /= length;
        for (Index c = 0; c < width_; ++c) {
            double along = 0.0;
            for (int i = 0; i < rows_; ++i) along += force[i] * by_force[i * width_ + c];
            for (int i = 0; i < rows_; ++i) {
                double& by = by_force[i * width_ + c];
                by = fma(force[i], by_n[c], ratio * (by - force[i] * along));
            }
        }
        for (int i = 0; i < rows_; ++i) force[i] *= n;
    }

    Index nv_, width_;
    int rows_ = 0;
    double matrix_[most * most];
    double *by_matrix_, *turned_, *by_multiplier_;
};

}  // namespace dtau::DTAU_VARIANT::mujoco_step
