// Multiplies derivatives by the map T from rates of q to velocities, and adds the curvature C of
// that map: TangentColumns::right(), left(), add_curvature(). Does the same for displaced numbers of
// q as results: rates(), by_displacement(), number_curvature().
#include "interop/tangent_columns.hpp"

#include <algorithm>
#include <cmath>
#include <utility>

#include "dtau/joint.hpp"

namespace dtau {
namespace {

// T of one joint. Its first `position` velocities depend on positions alone, the others on the
// other coordinates.
struct Block {
    int nq, nv, position;
    double T[6][7] = {};

    // F of a unit quaternion is T^T / 4; of a position, T^T.
    double rate(int column) const { return column < position || nq == nv ? 1.0 : 0.25; }

    int begin(int column) const { return column < position ? 0 : position; }
    int end(int column) const { return column < position ? position : nv; }
};

// 2 E(q) / |q|^2 with E(q) dq = w dx - x dw - x cross dx, q = (x, w), at this row and column.
void turn_rates(const double* q, Block& block, int row, int column) {
    const double s = 2.0 / (q[0] * q[0] + q[1] * q[1] + q[2] * q[2] + q[3] * q[3]);
    const double E[3][4] = {
        {q[3], q[2], -q[1], -q[0]}, {-q[2], q[3], q[0], -q[1]}, {q[1], -q[0], q[3], -q[2]}};
    for (int i = 0; i < 3; ++i)
        for (int k = 0; k < 4; ++k) block.T[row + i][column + k] = s * E[i][k];
}

Block block_of(const ManifoldJoint& joint, const double* q) {
    Block block;
    switch (joint.kind) {
        case ManifoldJoint::spherical:
            block.nq = 4, block.nv = 3, block.position = 0;
            turn_rates(q, block, 0, 0);
            break;
        case ManifoldJoint::free: {
            block.nq = 7, block.nv = 6, block.position = 3;
            const DTAU_VARIANT::Mat3<double> R = DTAU_VARIANT::quaternion_rotation(q + 3);
            const DTAU_VARIANT::Vec3<double> columns[3] = {R.x, R.y, R.z};
            for (int i = 0; i < 3; ++i) {
                block.T[i][0] = columns[i].x, block.T[i][1] = columns[i].y;
                block.T[i][2] = columns[i].z;
            }
            turn_rates(q + 3, block, 3, 3);
            break;
        }
        case ManifoldJoint::planar: {
            block.nq = 3, block.nv = 3, block.position = 2;
            const double c = std::cos(q[2]), s = std::sin(q[2]);
            block.T[0][0] = c, block.T[0][1] = s, block.T[1][0] = -s, block.T[1][1] = c;
            block.T[2][2] = 1.0;
            break;
        }
    }
    return block;
}

// The derivative of T^T g by the numbers of a quaternion, where T = 2 E(q) / |q|^2: [Derivations] eq. 16.7.
void add_turn_curvature(const double* q, const double* g, const Block& block, int first, double* H,
                        int stride) {
    const double s = 2.0 / (q[0] * q[0] + q[1] * q[1] + q[2] * q[2] + q[3] * q[3]);
    // E(q)^T g = (w g + x cross g, -x . g), differentiated.
    const double D[4][4] = {{0.0, g[2], -g[1], g[0]},
                            {-g[2], 0.0, g[0], g[1]},
                            {g[1], -g[0], 0.0, g[2]},
                            {-g[0], -g[1], -g[2], 0.0}};
    for (int i = 0; i < 4; ++i) {
        double gradient = 0.0;
        for (int r = 0; r < 3; ++r) gradient += block.T[first + r][first + i] * g[r];
        for (int k = 0; k < 4; ++k) H[i * stride + k] += s * (D[i][k] - gradient * q[k]);
    }
}

}  // namespace

TangentColumns::TangentColumns(int nq, int nv, std::vector<ManifoldJoint> joints)
    : nq_(nq), nv_(nv), joints_(std::move(joints)) {
    std::vector<char> q_taken(nq), v_taken(nv);
    const std::vector<double> neutral(7, 1.0);
    for (const ManifoldJoint& joint : joints_) {
        const Block block = block_of(joint, neutral.data());
        std::fill_n(q_taken.begin() + joint.q, block.nq, char(1));
        std::fill_n(v_taken.begin() + joint.v, block.nv, char(1));
    }
    for (int i = 0, k = 0; i < nq; ++i) {
        if (q_taken[i]) continue;
        while (v_taken[k]) ++k;
        const bool next = i > 0 && !q_taken[i - 1] && k > 0 && !v_taken[k - 1];
        if (next)
            ++plain_.back().count;
        else
            plain_.push_back({i, k, 1});
        ++k;
    }
}

void TangentColumns::right(const double* q, const double* J, int rows, double* to) const {
    for (int r = 0; r < rows; ++r)
        for (const Run& run : plain_)
            std::copy_n(J + r * nv_ + run.v, run.count, to + r * nq_ + run.q);
    for (const ManifoldJoint& joint : joints_) {
        const Block block = block_of(joint, q + joint.q);
        for (int r = 0; r < rows; ++r)
            for (int k = 0; k < block.nq; ++k) {
                double sum = 0.0;
                for (int i = block.begin(k); i < block.end(k); ++i)
                    sum += J[r * nv_ + joint.v + i] * block.T[i][k];
                to[r * nq_ + joint.q + k] = sum;
            }
    }
}

void TangentColumns::right(const double* q, const double* J, const long long* offsets,
                           const long long* rows, double* to) const {
    for (const Run& run : plain_)
        for (int c = 0; c < run.count; ++c)
            for (long long e = offsets[run.q + c]; e < offsets[run.q + c + 1]; ++e)
                to[e] = J[rows[e] * nv_ + run.v + c];
    for (const ManifoldJoint& joint : joints_) {
        const Block block = block_of(joint, q + joint.q);
        for (int k = 0; k < block.nq; ++k)
            for (long long e = offsets[joint.q + k]; e < offsets[joint.q + k + 1]; ++e) {
                double sum = 0.0;
                for (int i = block.begin(k); i < block.end(k); ++i)
                    sum += J[rows[e] * nv_ + joint.v + i] * block.T[i][k];
                to[e] = sum;
            }
    }
}

void TangentColumns::left(const double* q, const double* A, int columns, double* to) const {
    for (const Run& run : plain_)
        std::copy_n(A + run.v * columns, run.count * columns, to + run.q * columns);
    for (const ManifoldJoint& joint : joints_) {
        const Block block = block_of(joint, q + joint.q);
        for (int k = 0; k < block.nq; ++k)
            for (int c = 0; c < columns; ++c) {
                double sum = 0.0;
                for (int i = block.begin(k); i < block.end(k); ++i)
                    sum += block.T[i][k] * A[(joint.v + i) * columns + c];
                to[(joint.q + k) * columns + c] = sum;
            }
    }
}

void TangentColumns::add_curvature(const double* q, const double* raw, double* H) const {
    for (const ManifoldJoint& joint : joints_) {
        const double* x = q + joint.q;
        const Block block = block_of(joint, x);
        double* here = H + joint.q * nq_ + joint.q;
        // D_j D_k - D_k D_j of velocities j and k of the joint: the gradient along their bracket.
        const double* own = raw + joint.v * nv_ + joint.v;
        const auto along_bracket = [&](int j, int k) {
            return own[k * nv_ + j] - own[j * nv_ + k];
        };
        switch (joint.kind) {
            case ManifoldJoint::spherical: {
                const double g[3] = {along_bracket(1, 2), along_bracket(2, 0), along_bracket(0, 1)};
                add_turn_curvature(x, g, block, 0, here, nq_);
                break;
            }
            case ManifoldJoint::free: {
                const double g[3] = {along_bracket(4, 5), along_bracket(5, 3), along_bracket(3, 4)};
                add_turn_curvature(x + 3, g, block, 3, here + 3 * nq_ + 3, nq_);
                // R l, as R turns: R (w cross l).
                const double l[3] = {along_bracket(4, 2), along_bracket(5, 0), along_bracket(3, 1)};
                for (int k = 3; k < 7; ++k) {
                    const double w[3] = {block.T[3][k], block.T[4][k], block.T[5][k]};
                    const double turned[3] = {w[1] * l[2] - w[2] * l[1], w[2] * l[0] - w[0] * l[2],
                                              w[0] * l[1] - w[1] * l[0]};
                    for (int i = 0; i < 3; ++i)
                        here[i * nq_ + k] += block.T[0][i] * turned[0] + block.T[1][i] * turned[1] +
                                             block.T[2][i] * turned[2];
                }
                break;
            }
            case ManifoldJoint::planar: {
                // R l with R turned by a quarter.
                const double l[2] = {-along_bracket(2, 1), along_bracket(2, 0)};
                const double c = block.T[0][0], s = block.T[0][1];
                here[2] -= c * l[1] + s * l[0];
                here[nq_ + 2] += c * l[0] - s * l[1];
                break;
            }
        }
    }
}

void TangentColumns::rates(const double* q, const double* A, int columns, double* to) const {
    left(q, A, columns, to);
    for (const ManifoldJoint& joint : joints_) {
        const Block block = block_of(joint, q + joint.q);
        for (int k = 0; k < block.nq; ++k)
            for (int c = 0; c < columns; ++c) to[(joint.q + k) * columns + c] *= block.rate(k);
    }
}

void TangentColumns::by_displacement(const double* q, const double* weights, double* to) const {
    for (const Run& run : plain_) std::copy_n(weights + run.q, run.count, to + run.v);
    for (const ManifoldJoint& joint : joints_) {
        const Block block = block_of(joint, q + joint.q);
        std::fill_n(to + joint.v, block.nv, 0.0);
        for (int k = 0; k < block.nq; ++k)
            for (int i = block.begin(k); i < block.end(k); ++i)
                to[joint.v + i] += block.T[i][k] * block.rate(k) * weights[joint.q + k];
    }
}

void TangentColumns::number_curvature(const double* q, const double* weights, const double* A,
                                      int columns, double* to) const {
    std::fill_n(to, std::ptrdiff_t(nv_) * columns, 0.0);
    for (const ManifoldJoint& joint : joints_) {
        const Block block = block_of(joint, q + joint.q);
        const double *x = q + joint.q, *s = weights + joint.q;
        double K[6][6] = {};
        if (block.nq != block.nv) {  // x o exp(w / 2) = (1 - w^2 / 8) x + ...
            const int p = block.position;
            double along = 0.0;
            for (int k = 0; k < 4; ++k) along += s[p + k] * x[p + k];
            for (int i = 0; i < 3; ++i) K[p + i][p + i] = -0.25 * along;
        }
        double l[3] = {};  // the weights of the position, along the joint's axes
        for (int i = 0; i < block.position; ++i)
            for (int k = 0; k < block.position; ++k) l[i] += block.T[i][k] * s[k];
        if (joint.kind == ManifoldJoint::planar) {  // u + w turned(u) / 2
            K[0][2] = K[2][0] = 0.5 * l[1];
            K[1][2] = K[2][1] = -0.5 * l[0];
        } else if (joint.kind == ManifoldJoint::free) {  // u + w cross u / 2
            for (int i = 0; i < 3; ++i) {
                const int j = (i + 1) % 3, k = (i + 2) % 3;
                K[3 + i][j] = K[j][3 + i] = 0.5 * l[k];
                K[3 + i][k] = K[k][3 + i] = -0.5 * l[j];
            }
        }
        for (int i = 0; i < block.nv; ++i)
            for (int j = 0; j < block.nv; ++j)
                for (int c = 0; c < columns && K[i][j] != 0.0; ++c)
                    to[(joint.v + i) * columns + c] += K[i][j] * A[(joint.v + j) * columns + c];
    }
}

}  // namespace dtau
