// Converts derivatives in the tangent space of q to derivatives by its numbers: times_tangent_map(),
// times_block(), to_tangent(), add_map_curvature(), number_curvature().
//
// f(q) means f(normalize(q)). T maps rates of the numbers to velocities, F velocities to rates of the numbers
// of a unit q: F T = 1 in the tangent space.
//
//     df/dq = J T        d2f/dq2 = T^T H T + C,    C dq = d(T^T) g        q+ as a result: F J T
//
// with the gradient g and the raw second derivatives H[j, k] = dg_j along xi_k. T is the identity except at
// quaternions, and at positions that turn with the body: blocks of at most 6 x 7. [Derivations] eqs. 16.3
// to 16.8
#pragma once

#include "dtau/joint.hpp"
#include "dtau/mimic.hpp"
#include "dtau/rotation_vector.hpp"

namespace dtau {

// A run of independent coordinates: of one joint whose T is not the identity, or of neighbors where
// it is.
struct CoordinateRun {
    int q, v, nv;    // first coordinate, first velocity, number of velocities
    JointKind kind;  // of the joint
};

// The runs of all coordinates: the joints first.
struct CoordinateRuns {
    int nq, nv, joints, count;
    const CoordinateRun* at;
};

}  // namespace dtau

namespace dtau::DTAU_VARIANT {

// T of one joint. Its first `position` velocities depend on positions alone, the others on the other
// coordinates.
template <class T> struct TangentBlock {
    int nq, nv, position;
    T t[6][7];

    // F of a unit quaternion is T^T / 4; of a position, T^T.
    T rate(int column) const { return T(column < position || nq == nv ? 1.0 : 0.25); }
    int begin(int column) const { return column < position ? 0 : position; }
    int end(int column) const { return column < position ? position : nv; }
};

// 2 E(q) / |q|^2 with E(q) dq = w dx - x dw - x cross dx, q = (x, w), at this row and column.
template <class T>
DTAU_INLINE void turn_rates(const T* q, TangentBlock<T>& block, int row, int column) {
    const T s = T(2.0) / dot(load_quaternion(q).v, load_quaternion(q).v, q[3] * q[3]);
    const T E[3][4] = {
        {q[3], q[2], -q[1], -q[0]}, {-q[2], q[3], q[0], -q[1]}, {q[1], -q[0], q[3], -q[2]}};
    for (int i = 0; i < 3; ++i)
        for (int k = 0; k < 4; ++k) block.t[row + i][column + k] = s * E[i][k];
}

template <class T> TangentBlock<T> tangent_block(JointKind kind, const T* q) {
    TangentBlock<T> block;
    for (auto& row : block.t)
        for (T& x : row) x = T(0.0);
    if (kind == JointKind::spherical) {
        block.nq = 4, block.nv = 3, block.position = 0;
        turn_rates(q, block, 0, 0);
    } else if (kind == JointKind::free) {
        block.nq = 7, block.nv = 6, block.position = 3;
        const Mat3<T> R = quaternion_rotation(q + 3);
        const Vec3<T> columns[3] = {R.x, R.y, R.z};
        for (int i = 0; i < 3; ++i)
            block.t[i][0] = columns[i].x, block.t[i][1] = columns[i].y,
            block.t[i][2] = columns[i].z;
        turn_rates(q + 3, block, 3, 3);
    } else {
        block.nq = 3, block.nv = 3, block.position = 2;
        T s, c;
        sincos(q[2], s, c);
        block.t[0][0] = c, block.t[0][1] = s, block.t[1][0] = -s, block.t[1][1] = c;
        block.t[2][2] = T(1.0);
    }
    return block;
}

// T at a configuration: the blocks of its joints.
template <class T> struct TangentMap {
    CoordinateRuns runs;
    TangentBlock<T>* blocks;  // of the joints, which are the first of the runs

    DTAU_INLINE void set(const T* q) const {
        for (int c = 0; c < runs.joints; ++c)
            blocks[c] = tangent_block(runs.at[c].kind, q + runs.at[c].q);
    }
};

// ---------------------------------------------------------------- first derivatives

template <class T> DTAU_INLINE void copy_numbers(const T* from, std::ptrdiff_t count, T* to) {
    __builtin_memcpy(static_cast<void*>(to), from, count * sizeof(T));
}

// Multiplies by the part of a block that begins at this row and column.
template <int rows, int columns, class T>
DTAU_INLINE void times_part(const T* from, const TangentBlock<T>& block, int first, T* to) {
    T sum[columns];
    for (T& x : sum) x = T(0.0);
    for (int i = 0; i < rows; ++i)
        for (int k = 0; k < columns; ++k)
            sum[k] = fma(from[first + i], block.t[first + i][first + k], sum[k]);
    for (int k = 0; k < columns; ++k) to[first + k] = sum[k];
}

// Multiplies rows of `columns` numbers, the first nv of them derivatives by tangents, by T.
template <class T>
void times_tangent_map(const TangentMap<T>& map, const T* J, std::ptrdiff_t rows, int columns,
                       T* to) {
    const CoordinateRuns& runs = map.runs;
    const int stride = columns + runs.nq - runs.nv;
    for (std::ptrdiff_t r = 0; r < rows; ++r, J += columns, to += stride) {
        for (int c = 0; c < runs.count; ++c) {
            const CoordinateRun& run = runs.at[c];
            const T* const from = J + run.v;
            T* const by_q = to + run.q;
            if (c >= runs.joints) {
                copy_numbers(from, run.nv, by_q);
                continue;
            }
            const TangentBlock<T>& block = map.blocks[c];
            if (run.kind == JointKind::planar) {
                times_part<2, 2>(from, block, 0, by_q);
                by_q[2] = from[2];
                continue;
            }
            if (run.kind == JointKind::free) times_part<3, 3>(from, block, 0, by_q);
            times_part<3, 4>(from, block, block.position, by_q);
        }
        if (columns > runs.nv) copy_numbers(J + runs.nv, columns - runs.nv, to + runs.nq);
    }
}

// Multiplies the rows A (nv, columns) of one joint by its T^T, or by F with `rates`: (nq, columns).
template <class T>
void times_block(const TangentBlock<T>& block, const T* A, std::ptrdiff_t columns, bool rates,
                 T* to) {
    for (int k = 0; k < block.nq; ++k) {
        const T rate = rates ? block.rate(k) : T(1.0);
        const auto several = [&]<int width>(std::ptrdiff_t j) {
            T sum[width];
            for (T& x : sum) x = T(0.0);
            for (int i = block.begin(k); i < block.end(k); ++i)
                for (int l = 0; l < width; ++l)
                    sum[l] = fma(block.t[i][k], A[i * columns + j + l], sum[l]);
            for (int l = 0; l < width; ++l) to[k * columns + j + l] = rate * sum[l];
        };
        std::ptrdiff_t j = 0;
        if constexpr (std::is_same_v<T, double>)
            for (; j + 8 <= columns; j += 8) several.template operator()<8>(j);
        for (; j < columns; ++j) several.template operator()<1>(j);
    }
}

// T n: the tangent of rates n of the numbers, and F^T s: the weights of displacements for weights s
// of the numbers of a unit q.
template <class T> void to_tangent(const TangentMap<T>& map, const T* n, bool weights, T* to) {
    for (int c = 0; c < map.runs.count; ++c) {
        const CoordinateRun& run = map.runs.at[c];
        T* const xi = to + run.v;
        if (c >= map.runs.joints) {
            copy_numbers(n + run.q, run.nv, xi);
            continue;
        }
        const TangentBlock<T>& block = map.blocks[c];
        for (int i = 0; i < block.nv; ++i) xi[i] = T(0.0);
        for (int k = 0; k < block.nq; ++k)
            for (int i = block.begin(k); i < block.end(k); ++i)
                xi[i] = fma(weights ? block.rate(k) * block.t[i][k] : block.t[i][k], n[run.q + k],
                            xi[i]);
    }
}

// The configuration that a step reaches, in a call by numbers.
template <class T> struct Reached {
    TangentMap<T> map;
    T *numbers, *lam;  // (nq), (nv)

    // Keeps the numbers of a configuration of all joints.
    void keep(const Tree& tree, const T* q) const {
        if (tree.mimic)
            pick_q(tree, q, numbers);
        else
            copy_numbers(q, map.runs.nq, numbers);
        map.set(numbers);
    }
    // The weights of displacements from this configuration for weights s of its numbers.
    const T* weights(const Tree& tree, const T* q, const T* s) const {
        keep(tree, q);
        to_tangent(map, s, true, lam);
        return lam;
    }
};

// ---------------------------------------------------------------- second derivatives

// The derivative of T^T g by the numbers of a quaternion, where T = 2 E(q) / |q|^2: [Derivations] eq. 16.7.
template <class T>
void add_turn_curvature(const T* q, const T* g, const TangentBlock<T>& block, int first, T* H,
                        std::ptrdiff_t stride) {
    const T s = T(2.0) / dot(load_quaternion(q).v, load_quaternion(q).v, q[3] * q[3]), zero(0.0);
    // E(q)^T g = (w g + x cross g, -x . g), differentiated.
    const T D[4][4] = {{zero, g[2], -g[1], g[0]},
                       {-g[2], zero, g[0], g[1]},
                       {g[1], -g[0], zero, g[2]},
                       {-g[0], -g[1], -g[2], zero}};
    for (int i = 0; i < 4; ++i) {
        T gradient(0.0);
        for (int r = 0; r < 3; ++r) gradient = fma(block.t[first + r][first + i], g[r], gradient);
        for (int k = 0; k < 4; ++k) {
            T& to = H[i * stride + k];
            to = fma(s, D[i][k] - gradient * q[k], to);
        }
    }
}

// Adds C to T^T H T, whose rows are `stride` apart. The gradient follows from the asymmetry of the raw
// second derivatives, with rows `raw_stride` apart: D_j D_k - D_k D_j is the derivative along the
// bracket of j and k.
template <class T>
void add_map_curvature(const TangentMap<T>& map, const T* q, const T* raw,
                       std::ptrdiff_t raw_stride, T* H, std::ptrdiff_t stride) {
    for (int c = 0; c < map.runs.joints; ++c) {
        const CoordinateRun& run = map.runs.at[c];
        const TangentBlock<T>& block = map.blocks[c];
        T* here = H + run.q * stride + run.q;
        const T* own = raw + run.v * raw_stride + run.v;
        const auto along_bracket = [&](int j, int k) {
            return own[k * raw_stride + j] - own[j * raw_stride + k];
        };
        if (run.kind == JointKind::planar) {  // R l with R turned by a quarter
            const T l0 = -along_bracket(2, 1), l1 = along_bracket(2, 0);
            const T cosine = block.t[0][0], sine = block.t[0][1];
            here[2] = here[2] - fma(cosine, l1, sine * l0);
            here[stride + 2] = here[stride + 2] + fma(cosine, l0, -(sine * l1));
            continue;
        }
        const int p = block.position;
        const T g[3] = {along_bracket(p + 1, p + 2), along_bracket(p + 2, p),
                        along_bracket(p, p + 1)};
        add_turn_curvature(q + run.q + p, g, block, p, here + p * stride + p, stride);
        if (run.kind == JointKind::spherical) continue;
        // R l, as R turns: R (w cross l).
        const Vec3<T> l = {along_bracket(4, 2), along_bracket(5, 0), along_bracket(3, 1)};
        for (int k = 3; k < 7; ++k) {
            const Vec3<T> turned = cross(Vec3<T>{block.t[3][k], block.t[4][k], block.t[5][k]}, l);
            for (int i = 0; i < 3; ++i) {
                const Vec3<T> column = {block.t[0][i], block.t[1][i], block.t[2][i]};
                here[i * stride + k] = here[i * stride + k] + dot(column, turned);
            }
        }
    }
}

// Second derivatives K (nv, nv) of the numbers of a unit q of one joint, weighted with s, by its
// displacements in the exponential chart. [Derivations] eq. 16.8
template <class T>
void number_curvature(JointKind kind, const TangentBlock<T>& block, const T* q, const T* s,
                      T (&K)[6][6]) {
    for (auto& row : K)
        for (T& x : row) x = T(0.0);
    const int p = block.position;
    if (block.nq != block.nv) {  // x o exp(w / 2) = (1 - w^2 / 8) x + ...
        T along(0.0);
        for (int k = 0; k < 4; ++k) along = fma(s[p + k], q[p + k], along);
        for (int i = 0; i < 3; ++i) K[p + i][p + i] = T(-0.25) * along;
    }
    T l[3] = {T(0.0), T(0.0), T(0.0)};  // the weights of the position, along the joint's axes
    for (int i = 0; i < p; ++i)
        for (int k = 0; k < p; ++k) l[i] = fma(block.t[i][k], s[k], l[i]);
    const T half(0.5);
    if (kind == JointKind::planar) {  // u + w turned(u) / 2
        K[0][2] = K[2][0] = half * l[1];
        K[1][2] = K[2][1] = -half * l[0];
    } else if (kind == JointKind::free) {  // u + w cross u / 2
        for (int i = 0; i < 3; ++i) {
            const int j = (i + 1) % 3, k = (i + 2) % 3;
            K[3 + i][j] = K[j][3 + i] = half * l[k];
            K[3 + i][k] = K[k][3 + i] = -half * l[j];
        }
    }
}

}  // namespace dtau::DTAU_VARIANT
