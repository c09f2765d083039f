// From derivatives in tangent coordinates to those by the nq numbers of q, for libraries whose
// variables these are: f(q) means f(normalize(q)), and with T the way from rates of the numbers to
// velocities ("to_tangent")
//
//     df/dq = J T        d2f/dq2 = T^T H T + C,    C dq = d(T^T) g
//
// for the gradient g and the raw second derivatives H[j, k] = dg_j along xi_k. T is 1 but at
// quaternions, and at positions that turn with the body. [Derivations] eqs. 16.3 to 16.7.
#pragma once

#include <vector>

namespace dtau {

// A joint at which T is not 1.
struct ManifoldJoint {
    enum Kind { spherical, free, planar } kind;
    int q, v;  // its first coordinate and velocity, as the user counts them
};

class TangentColumns {
  public:
    TangentColumns() = default;
    TangentColumns(int nq, int nv, std::vector<ManifoldJoint> joints);

    bool trivial() const { return joints_.empty(); }
    // (rows, nv) times T: (rows, nq).
    void right(const double* q, const double* J, int rows, double* to) const;
    // T^T times (nv, columns): (nq, columns).
    void left(const double* q, const double* A, int columns, double* to) const;
    // Adds C to T^T H T (nq, nq). The gradient is what raw second derivatives (nv, nv) differ by in
    // their order.
    void add_curvature(const double* q, const double* raw, double* H) const;

  private:
    int nq_ = 0, nv_ = 0;
    std::vector<ManifoldJoint> joints_;
    // Coordinates that are velocities' own, in runs.
    struct Run {
        int q, v, count;
    };
    std::vector<Run> plain_;
};

}  // namespace dtau
