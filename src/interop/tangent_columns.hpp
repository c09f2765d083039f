// Converts derivatives in tangent coordinates to derivatives by the nq numbers of q: TangentColumns,
// for libraries whose variables are these numbers. f(q) means f(normalize(q)), and T maps rates of the
// numbers to velocities ("to_tangent"):
//
//     df/dq = J T        d2f/dq2 = T^T H T + C,    C dq = d(T^T) g
//
// with the gradient g and the raw second derivatives H[j, k] = dg_j along xi_k. T is the identity
// except at quaternions, and at positions that turn with the body. [Derivations] eqs. 16.3 to 16.7.
#pragma once

#include <vector>

namespace dtau {

// A joint whose T is not the identity.
struct ManifoldJoint {
    enum Kind { spherical, free, planar } kind;
    int q, v;  // its first coordinate and velocity, as the user counts them

    int nv() const { return kind == free ? 6 : 3; }
};

class TangentColumns {
  public:
    TangentColumns() = default;
    TangentColumns(int nq, int nv, std::vector<ManifoldJoint> joints);

    bool trivial() const { return joints_.empty(); }
    // Multiplies (rows, nv) by T: (rows, nq).
    void right(const double* q, const double* J, int rows, double* to) const;
    // The entries of this product on a pattern in the format CSC: offsets of the nq columns, and rows.
    void right(const double* q, const double* J, const long long* offsets, const long long* rows,
               double* to) const;
    // Multiplies T^T by (nv, columns): (nq, columns).
    void left(const double* q, const double* A, int columns, double* to) const;
    // Adds C to T^T H T (nq, nq). The gradient follows from the asymmetry of the raw second
    // derivatives (nv, nv).
    void add_curvature(const double* q, const double* raw, double* H) const;

    // The numbers of q (+) xi as results, at unit quaternions. They change at rates F xi, with
    // F T = 1 in the tangent space; weights (nq) have the gradient F^T weights.
    //
    // Multiplies F by (nv, columns): (nq, columns).
    void rates(const double* q, const double* A, int columns, double* to) const;
    // Multiplies F^T by weights of the numbers: (nv).
    void by_displacement(const double* q, const double* weights, double* to) const;
    // Multiplies the second derivatives of the weighted numbers by xi, in the exponential chart,
    // by (nv, columns).
    void number_curvature(const double* q, const double* weights, const double* A, int columns,
                          double* to) const;
    const std::vector<ManifoldJoint>& joints() const { return joints_; }

  private:
    int nq_ = 0, nv_ = 0;
    std::vector<ManifoldJoint> joints_;
    // Runs of coordinates whose rates are the velocities.
    struct Run {
        int q, v, count;
    };
    std::vector<Run> plain_;
};

}  // namespace dtau
