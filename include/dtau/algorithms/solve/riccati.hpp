// Solves linear-quadratic optimal control problems backwards in time by the Riccati recursion:
// riccati_backward(). [Bertsekas] section 4.1, with linear terms.
//
//   minimize    sum over k < N of  1/2 x' Q x + u' S x + 1/2 u' R u + q' x + r' u   (of knot k)
//               + 1/2 x_N' Q_N x_N + q_N' x_N
//   subject to  x_(k+1) = A x_k + B u_k + c
//
//   V_k(x) = 1/2 x' P x + p' x + s is the cost from knot k on.      P = Q_N, p = q_N, s = 0
//   for k = N - 1 ... 0:
//     H_uu = R + B' P B     H_ux = S + B' P A     h_u = r + B' (P c + p)
//     H_xx = Q + A' P A                           h_x = q + A' (P c + p)
//     K = H_uu^-1 H_ux,     kappa = H_uu^-1 h_u,  u = -(K x + kappa)
//     P = H_xx - H_ux' K,   p = h_x - H_ux' kappa,  s = s + 1/2 c' P c + p' c - 1/2 h_u' kappa
//
// Differences from the textbook: the column c beside [B A] carries the affine terms through the
// same products, as homogeneous coordinates do. So p, kappa and s are the last columns of P and K.
// One symmetric product F' P F with F = [B A c] gives all of H, and eliminating its first nu rows
// gives K and the next P. The numbers of one knot, not several problems, fill the lanes of a
// vector, so a problem gives the same bits alone and in a batch.
#pragma once

#include "dtau/arena.hpp"

namespace dtau::DTAU_VARIANT {

// The matrices or vectors of all knots, each contiguous by rows; null: zeros. `next` is the
// distance from one knot to the next in bytes, 0 if all knots share the numbers.
struct KnotArray {
    const char* data = nullptr;
    std::ptrdiff_t next = 0;

    const double* at(std::ptrdiff_t knot) const {
        return data ? reinterpret_cast<const double*>(data + knot * next) : nullptr;
    }
};
struct RiccatiProblem {
    KnotArray A, B, Q, R, S, c, q, r;
    KnotArray Q_final, q_final;  // of one knot
    double regularization;       // added to the diagonal of R
    // Results: gains (N, nu, nx), feedforward (N, nu); of the value V P (N + 1, nx, nx), p, s.
    double *K, *kappa, *P, *p, *s;
};

// Matrices are padded with zeros to whole vectors of columns and blocks of four rows.
struct RiccatiWorkspace {
    static constexpr int block = 4, unit = lanes > block ? lanes : block;
    int nx, nu;
    int x;       // the column where A begins: B's, rounded up to whole vectors
    int stride;  // columns of [B A c]
    int width;   // columns of [A c]
    double *F, *PF, *H, *P;
    double* scaled;  // H_uu^-1 times the rows of u, with the opposite sign; then the gains

    RiccatiWorkspace(Arena& arena, int nx, int nu)
        : nx(nx),
          nu(nu),
          x(rounded(nu, unit)),
          stride(x + rounded(nx + 1, unit)),
          width(stride - x),
          F(arena.take_zeros<double>(static_cast<std::size_t>(nx) * stride)),
          PF(arena.take_zeros<double>(rows(nx) * stride)),
          H(arena.take_zeros<double>(rows(stride) * stride)),
          P(arena.take_zeros<double>(rows(nx) * width)),
          scaled(arena.take_zeros<double>(rows(nu) * stride)) {}

    static int rounded(int n, int unit) { return (n + unit - 1) / unit * unit; }
    static std::size_t rows(int n) { return static_cast<std::size_t>(rounded(n, block)); }
};

namespace riccati {

// C = C + X' Y for a block of four rows i of C and `n` vectors of columns; X' Y sums over `depth`
// rows of X and Y.
template <int n>
DTAU_INLINE void add_block(double* C, int of_C, const double* X, int of_X, const double* Y,
                           int of_Y, int depth) {
    constexpr int rows = RiccatiWorkspace::block;
    Lane sum[rows][n];
    for (int i = 0; i < rows; ++i)
        for (int j = 0; j < n; ++j) sum[i][j] = Lane::load(C + i * of_C + j * lanes);
    for (int k = 0; k < depth; ++k, X += of_X, Y += of_Y) {
        Lane y[n];
        for (int j = 0; j < n; ++j) y[j] = Lane::load(Y + j * lanes);
        for (int i = 0; i < rows; ++i)
            for (int j = 0; j < n; ++j) sum[i][j] = fma(Lane(X[i]), y[j], sum[i][j]);
    }
    for (int i = 0; i < rows; ++i)
        for (int j = 0; j < n; ++j) sum[i][j].store(C + i * of_C + j * lanes);
}

// The numbers of the knot that comes next. Problems of a batch lie in memory, and processors do not
// foresee reads that go backwards by knots: the products ask for some lines with every block.
class NextKnot {
  public:
    NextKnot(const RiccatiProblem& problem, std::ptrdiff_t k, int nx, int nu) {
        if (k < 0) return;
        const int sizes[arrays] = {nx * nx, nx * nu, nx * nx, nu * nu, nu * nx};
        const KnotArray from[arrays] = {problem.A, problem.B, problem.Q, problem.R, problem.S};
        for (int i = 0; i < arrays; ++i) {
            if (!from[i].data || !from[i].next) continue;  // shared by all knots: it is there
            ranges[n++] = {reinterpret_cast<const char*>(from[i].at(k)),
                           static_cast<std::ptrdiff_t>(sizes[i] * sizeof(double))};
        }
    }
    DTAU_INLINE void prefetch() {
        for (int i = 0; i < per_block && current < n; ++i) {
            Range& range = ranges[current];
            __builtin_prefetch(range.at);
            range.at += line;
            if ((range.left -= line) <= 0) ++current;
        }
    }

  private:
    static constexpr int arrays = 5, line = 64, per_block = 10;
    struct Range {
        const char* at;
        std::ptrdiff_t left;
    } ranges[arrays];
    int n = 0, current = 0;
};

// C = C + X' Y for rows 0 ... m - 1 of C, rounded up to blocks, and whole vectors of columns. With
// `upper` only the blocks that reach the diagonal and beyond.
inline void add_product(double* C, int of_C, const double* X, int of_X, const double* Y, int of_Y,
                        int m, int columns, int depth, NextKnot& next, bool upper = false) {
    constexpr int most = lanes == 8 ? 3 : 2;  // vectors: 12 or 8 sums hide the latency
    for (int i = 0; i < m; i += RiccatiWorkspace::block) {
        int j = upper ? i / lanes * lanes : 0;
        for (; j + most * lanes <= columns; j += most * lanes, next.prefetch())
            add_block<most>(C + i * of_C + j, of_C, X + i, of_X, Y + j, of_Y, depth);
        if (most == 3 && j + 2 * lanes <= columns) {
            add_block<2>(C + i * of_C + j, of_C, X + i, of_X, Y + j, of_Y, depth);
            j += 2 * lanes;
        }
        if (j < columns) add_block<1>(C + i * of_C + j, of_C, X + i, of_X, Y + j, of_Y, depth);
    }
}

// to = to + scale from, for columns begin ... end - 1; whole vectors around them.
DTAU_INLINE void add_row(double* to, double scale, const double* from, int begin, int end) {
    for (int j = begin / lanes * lanes; j < end; j += lanes)
        fma(Lane(scale), Lane::load(from + j), Lane::load(to + j)).store(to + j);
}

DTAU_INLINE void copy_row(double* to, const double* from, int n) {
    for (int j = 0; j < n; ++j) to[j] = from ? from[j] : 0.0;
}

// F = [B A c] and H = [[R, S, r], [., Q, q], [., ., 0]], of which the upper half is read.
inline void load_knot(const RiccatiProblem& problem, std::ptrdiff_t k, const RiccatiWorkspace& w) {
    const int nx = w.nx, nu = w.nu;
    const double *A = problem.A.at(k), *B = problem.B.at(k), *c = problem.c.at(k);
    for (int i = 0; i < nx; ++i) {
        double* row = w.F + i * w.stride;
        copy_row(row, B + i * nu, nu);
        copy_row(row + w.x, A + i * nx, nx);
        row[w.x + nx] = c ? c[i] : 0.0;
    }
    const double *R = problem.R.at(k), *S = problem.S.at(k), *r = problem.r.at(k);
    for (int i = 0; i < nu; ++i) {
        double* row = w.H + i * w.stride;
        copy_row(row, R + i * nu, nu);
        row[i] += problem.regularization;
        copy_row(row + w.x, S ? S + i * nx : nullptr, nx);
        row[w.x + nx] = r ? r[i] : 0.0;
    }
    const double *Q = problem.Q.at(k), *q = problem.q.at(k);
    for (int i = 0; i < nx; ++i) {
        double* row = w.H + (w.x + i) * w.stride + w.x;
        copy_row(row, Q + i * nx, nx);
        row[nx] = q ? q[i] : 0.0;
    }
}

// Eliminates the rows of u from H: scaled = -H_uu^-1 [H_ux h_u]. False: a pivot is not positive.
inline bool eliminate_inputs(const RiccatiWorkspace& w, NextKnot& next) {
    const int nu = w.nu, stride = w.stride;
    for (int m = 0; m < nu; ++m) {
        const double *row = w.H + m * stride, pivot = row[m];
        if (pivot <= 0.0) return false;  // NaN passes, and gives NaN
        double* U = w.scaled + m * stride;
        const double inverse = -1.0 / pivot;
        for (int j = m / lanes * lanes; j < stride; j += lanes)
            (Lane(inverse) * Lane::load(row + j)).store(U + j);
        for (int i = m + 1; i < nu; ++i) add_row(w.H + i * stride, U[i], row, i, stride);
    }
    // The next P and p: H_xx - H_ux' H_uu^-1 H_ux, and the same with the column of c.
    add_product(w.H + w.x * stride + w.x, stride, w.scaled + w.x, stride, w.H + w.x, stride,
                w.nx + 1, w.width, nu, next, true);
    for (int m = nu - 1; m >= 0; --m)  // back substitution
        for (int i = m + 1; i < nu; ++i)
            add_row(w.scaled + m * stride, w.scaled[m * stride + i], w.scaled + i * stride, w.x,
                    stride);
    return true;
}

}  // namespace riccati

// Writes the results of all knots. If H_uu is not positive definite at a knot, stops there and
// returns this knot; otherwise returns -1.
inline std::ptrdiff_t riccati_backward(const RiccatiProblem& problem, std::ptrdiff_t N,
                                       const RiccatiWorkspace& w) {
    using namespace riccati;
    const int nx = w.nx, nu = w.nu, stride = w.stride, affine = w.x + nx;
    const auto store_value = [&](std::ptrdiff_t k, double s) {
        for (int i = 0; i < nx; ++i) {
            copy_row(problem.P + (k * nx + i) * nx, w.P + i * w.width, nx);
            problem.p[k * nx + i] = w.P[i * w.width + nx];
        }
        problem.s[k] = s;
    };
    const double *Q_final = problem.Q_final.at(0), *q_final = problem.q_final.at(0);
    for (int i = 0; i < nx; ++i) {
        for (int j = i; j < nx; ++j)
            w.P[i * w.width + j] = w.P[j * w.width + i] = Q_final[i * nx + j];
        w.P[i * w.width + nx] = q_final ? q_final[i] : 0.0;
    }
    double s = 0.0;
    store_value(N, s);
    for (std::ptrdiff_t k = N - 1; k >= 0; --k) {
        load_knot(problem, k, w);
        NextKnot next(problem, k - 1, nx, nu);
        // P F, and p beside P c. P is symmetric, so that its rows are its columns.
        for (int i = 0; i < nx; ++i) {
            double* row = w.PF + i * stride;
            for (int j = 0; j < stride; j += lanes) Lane(0.0).store(row + j);
            row[affine] = w.P[i * w.width + nx];
        }
        add_product(w.PF, stride, w.P, w.width, w.F, stride, nx, stride, nx, next);
        // c' (P c + p) comes with the product below, p' c does not.
        double& twice_s = w.H[affine * stride + affine];
        twice_s = 2.0 * s;
        for (int i = 0; i < nx; ++i)
            twice_s = fma(w.P[i * w.width + nx], w.F[i * stride + affine], twice_s);
        add_product(w.H, stride, w.F, stride, w.PF, stride, nu, stride, nx, next, true);
        add_product(w.H + w.x * stride + w.x, stride, w.F + w.x, stride, w.PF + w.x, stride, nx + 1,
                    w.width, nx, next, true);
        if (!eliminate_inputs(w, next)) return k;
        for (int m = 0; m < nu; ++m) {
            const double* row = w.scaled + m * stride + w.x;
            for (int j = 0; j < nx; ++j) problem.K[(k * nu + m) * nx + j] = -row[j];
            problem.kappa[k * nu + m] = -row[nx];
        }
        for (int i = 0; i < nx; ++i) {
            const double* row = w.H + (w.x + i) * stride + w.x;
            for (int j = i; j < nx; ++j) w.P[i * w.width + j] = w.P[j * w.width + i] = row[j];
            w.P[i * w.width + nx] = row[nx];
        }
        s = 0.5 * twice_s;
        store_value(k, s);
    }
    return -1;
}

}  // namespace dtau::DTAU_VARIANT
