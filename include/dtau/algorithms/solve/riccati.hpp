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
// Differences from the textbook: one symmetric product F' P F with F = [B A] gives all of H, and
// eliminating its first nu rows gives K and the next P. The affine terms go through the same steps as
// vectors. The numbers of one knot, not several problems, fill the lanes of a vector, so a problem
// gives the same bits alone and in a batch.
#pragma once

#include "dtau/algorithms/solve/dense_products.hpp"
#include "dtau/arena.hpp"
#include "dtau/pack.hpp"

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

struct RiccatiWorkspace {
    static constexpr int unit = lanes > tile_rows ? lanes : tile_rows;

    int nx, nu;
    DenseMatrix F, PF, H, P;  // F = [B A]
    DenseMatrix scaled;       // H_uu^-1 times the rows of u, with the opposite sign; then the gains
    double *c, *p, *y, *h;    // y = P c + p, h = [h_u h_x]
    double* feedforward;      // as `scaled`, of h_u
    double* factors;          // of one row

    RiccatiWorkspace(Arena& arena, int nx, int nu)
        : nx(nx),
          nu(nu),
          F(matrix(arena, nx, nu + nx)),
          PF(matrix(arena, nx, nu + nx)),
          H(matrix(arena, nu + nx, nu + nx)),
          P(matrix(arena, nx, nx)),
          scaled(matrix(arena, nu, nu + nx)),
          c(vector(arena, nx)),
          p(vector(arena, nx)),
          y(vector(arena, nx)),
          h(vector(arena, nu + nx)),
          feedforward(vector(arena, nu)),
          factors(vector(arena, nu)) {}

  private:
    // With room for a tile that begins at any row and column.
    static int padded(int n) { return (n + unit - 1) / unit * unit + unit; }
    static double* vector(Arena& arena, int n) { return arena.take_zeros<double>(padded(n)); }
    static DenseMatrix matrix(Arena& arena, int rows, int columns) {
        const std::ptrdiff_t stride = padded(columns);
        return {arena.take_zeros<double>(static_cast<std::size_t>(padded(rows) * stride)), stride};
    }
};

namespace riccati {

// y = y + x' Y for n vectors of columns; Y has `depth` rows.
template <int n> inline void add_some_rows(double* y, const double* x, DenseMatrix Y, int depth) {
    Lane::Vector sum[n];
    unrolled<n>([&](int v) { sum[v] = Lane::load(y + v * lanes).value; });
    for (int k = 0; k < depth; ++k, Y.at += Y.stride)
        unrolled<n>([&](int v) {
            sum[v] = fma(Lane(x[k]), Lane::load(Y.at + v * lanes), Lane(sum[v])).value;
        });
    unrolled<n>([&](int v) { Lane(sum[v]).store(y + v * lanes); });
}
// The same for all vectors that begin before `columns`.
inline void add_rows(double* y, const double* x, DenseMatrix Y, int columns, int depth) {
    int j = 0;
    const auto add = [&]<int n>() __attribute__((always_inline)) {
        add_some_rows<n>(y + j, x, Y.from(0, j), depth);
        j += n * lanes;
    };
    while (j + 4 * lanes < columns) add.template operator()<5>();
    if (j + 2 * lanes < columns) add.template operator()<3>();
    if (j + lanes < columns) add.template operator()<2>();
    if (j < columns) add.template operator()<1>();
}

// Copies n numbers, or the numbers with the opposite sign; null: zeros. The last vector overlaps the
// one before it.
template <bool negative = false> inline void copy_row(double* to, const double* from, int n) {
    if (!from || n < lanes) {
        for (int j = 0; j < n; ++j) to[j] = !from ? 0.0 : negative ? -from[j] : from[j];
        return;
    }
    const auto copy = [&](int j) {
        const Lane x = Lane::load(from + j);
        (negative ? -x : x).store(to + j);
    };
    for (int j = 0; j + lanes <= n; j += lanes) copy(j);
    if (n % lanes != 0) copy(n - lanes);
}

// F = [B A], H = [[R, S], [., Q]], h = [r q]; the upper half of H is read.
inline void load_knot(const RiccatiProblem& problem, std::ptrdiff_t k, const RiccatiWorkspace& w) {
    const int nx = w.nx, nu = w.nu;
    const double *A = problem.A.at(k), *B = problem.B.at(k);
    for (int i = 0; i < nx; ++i) {
        copy_row(w.F.row(i), B + i * nu, nu);
        copy_row(w.F.row(i) + nu, A + i * nx, nx);
    }
    const double *R = problem.R.at(k), *S = problem.S.at(k);
    for (int i = 0; i < nu; ++i) {
        double* row = w.H.row(i);
        copy_row(row, R + i * nu, nu);
        row[i] += problem.regularization;
        copy_row(row + nu, S ? S + i * nx : nullptr, nx);
    }
    const double* Q = problem.Q.at(k);
    for (int i = 0; i < nx; ++i) {
        const int j = i / lanes * lanes;
        copy_row(w.H.row(nu + i) + nu + j, Q + i * nx + j, nx - j);
    }
    copy_row(w.c, problem.c.at(k), nx);
    copy_row(w.h, problem.r.at(k), nu);
    copy_row(w.h + nu, problem.q.at(k), nx);
}

// The memory of the results of a knot, and the numbers of the one that comes next.
inline Prefetches memory_ahead(const RiccatiProblem& problem, std::ptrdiff_t k, int nx, int nu) {
    Prefetches ahead;
    ahead.add(problem.P + k * nx * nx, nx * nx);
    ahead.add(problem.K + k * nu * nx, nu * nx);
    if (k == 0) return ahead;
    const auto add = [&](const KnotArray& array, int numbers) {
        if (array.next) ahead.add(array.at(k - 1), numbers);  // others are there
    };
    add(problem.A, nx * nx);
    add(problem.B, nx * nu);
    add(problem.Q, nx * nx);
    add(problem.R, nu * nu);
    add(problem.S, nu * nx);
    return ahead;
}

// Eliminates the rows of u from each other: scaled = -H_uu^-1 [H_uu H_ux h_u] up to back
// substitution. False: a pivot is not positive.
inline bool eliminate_inputs(const RiccatiWorkspace& w) {
    const int n = w.nu + w.nx;
    for (int m = 0; m < w.nu; ++m) {
        double *row = w.H.row(m), *scaled = w.scaled.row(m);
        const int first = m / lanes * lanes;
        for (int i = 0; i < m; ++i) {
            w.factors[i] = w.scaled.row(i)[m];
            w.h[m] = fma(w.factors[i], w.h[i], w.h[m]);
        }
        add_rows(row + first, w.factors, w.H.from(0, first), n - first, m);
        // A pivot that is not finite gives NaN.
        const double nothing = 0.0 * row[m];
        if (row[m] <= 0.0 && nothing == 0.0) return false;
        const double inverse = -1.0 / row[m] + nothing;
        for (int j = first; j < n; j += lanes)
            (Lane(inverse) * Lane::load(row + j)).store(scaled + j);
        w.feedforward[m] = inverse * w.h[m];
    }
    return true;
}

// Turns the scaled rows into gains, and h_u into feedforward, with the opposite sign.
inline void substitute_back(const RiccatiWorkspace& w) {
    const int first = w.nu / lanes * lanes;
    for (int m = w.nu - 2; m >= 0; --m) {
        const int below = w.nu - 1 - m;
        copy_row(w.factors, w.scaled.row(m) + m + 1, below);
        add_rows(w.scaled.row(m) + first, w.factors, w.scaled.from(m + 1, first),
                 w.nu + w.nx - first, below);
        for (int i = 0; i < below; ++i)
            w.feedforward[m] = fma(w.factors[i], w.feedforward[m + 1 + i], w.feedforward[m]);
    }
}

// P = the upper half of a symmetric matrix, and its transpose below.
inline void copy_symmetric(DenseMatrix from, const RiccatiWorkspace& w) {
    for (int i = 0; i < w.nx; i += lanes)
        for (int j = i; j < w.nx; j += lanes) {
            Lane::Vector rows[lanes], columns[lanes];
            unrolled<lanes>(
                [&](int r) { rows[r] = columns[r] = Lane::load(from.row(i + r) + j).value; });
            transpose(columns);
            unrolled<lanes>([&](int r) {
                Lane::Bits below = {};
                for (int l = 0; l < r && i == j; ++l) below[l] = -1;
                select(below, Lane(columns[r]), Lane(rows[r])).store(w.P.row(i + r) + j);
                if (i != j) Lane(columns[r]).store(w.P.row(j + r) + i);
            });
        }
}

// Writes NaN for all results of N knots if the value of the first one, P and p of the workspace and s,
// is not finite: numbers that are not finite spread from every knot to it.
inline void leave_finite(const RiccatiProblem& problem, std::ptrdiff_t N,
                         const RiccatiWorkspace& w) {
    const int nx = w.nx, nu = w.nu;
    for (int i = 0; i < nx; ++i) w.c[i] = 0.0, w.y[i] = 0.0 * w.p[i];
    add_rows(w.y, w.c, w.P, nx, nx);
    double test = 0.0 * problem.s[0];
    for (int i = 0; i < nx; ++i) test += w.y[i];
    if (test == 0.0) return;
    const auto spoil = [&](double* to, std::ptrdiff_t size) {
        for (std::ptrdiff_t i = 0; i < size; ++i) to[i] = __builtin_nan("");
    };
    spoil(problem.K, N * nu * nx), spoil(problem.kappa, N * nu), spoil(problem.s, N + 1);
    spoil(problem.P, (N + 1) * nx * nx), spoil(problem.p, (N + 1) * nx);
}

}  // namespace riccati

// Writes the results of all knots. If H_uu is not positive definite at a knot, stops there and
// returns this knot; otherwise returns -1. Calls look() before every knot.
template <class Look>
inline std::ptrdiff_t riccati_backward(const RiccatiProblem& problem, std::ptrdiff_t N,
                                       const RiccatiWorkspace& w, const Look& look) {
    using namespace riccati;
    const int nx = w.nx, nu = w.nu, n = nu + nx, vectors = (n + lanes - 1) / lanes;
    const auto store_value = [&](std::ptrdiff_t k, double s) {
        for (int i = 0; i < nx; ++i) copy_row(problem.P + (k * nx + i) * nx, w.P.row(i), nx);
        copy_row(problem.p + k * nx, w.p, nx);
        problem.s[k] = s;
    };
    const double* Q_final = problem.Q_final.at(0);
    for (int i = 0; i < nx; ++i)
        for (int j = i; j < nx; ++j) w.P.row(i)[j] = w.P.row(j)[i] = Q_final[i * nx + j];
    copy_row(w.p, problem.q_final.at(0), nx);
    double s = 0.0;
    store_value(N, s);
    for (std::ptrdiff_t k = N - 1; k >= 0; --k) {
        look();
        load_knot(problem, k, w);
        Prefetches ahead = memory_ahead(problem, k, nx, nu);
        // P is symmetric, so that its rows are its columns.
        set_product(w.PF, w.P, w.F, nx, vectors, nx, ahead);
        copy_row(w.y, w.p, nx);
        add_rows(w.y, w.c, w.P, nx, nx);
        add_upper_product(w.H, w.F, w.PF, 0, n, vectors, nx, ahead);
        add_rows(w.h, w.y, w.F, n, nx);
        double twice_s = 2.0 * s;
        for (int i = 0; i < nx; ++i) twice_s = fma(w.p[i], w.c[i], twice_s);
        for (int i = 0; i < nx; ++i) twice_s = fma(w.c[i], w.y[i], twice_s);
        if (!eliminate_inputs(w)) return k;
        // The next P, p and s: H_xx - H_ux' H_uu^-1 H_ux, and the same with h_x and h_u.
        add_upper_product(w.H, w.scaled, w.H, nu, n, vectors, nu, ahead);
        copy_symmetric(w.H.from(nu, nu), w);
        add_rows(w.h + nu, w.h, w.scaled.from(0, nu), nx, nu);
        copy_row(w.p, w.h + nu, nx);
        for (int m = 0; m < nu; ++m) twice_s = fma(w.feedforward[m], w.h[m], twice_s);
        s = 0.5 * twice_s;
        store_value(k, s);
        substitute_back(w);
        for (int m = 0; m < nu; ++m)
            copy_row<true>(problem.K + (k * nu + m) * nx, w.scaled.row(m) + nu, nx);
        copy_row<true>(problem.kappa + k * nu, w.feedforward, nu);
    }
    leave_finite(problem, N, w);
    return -1;
}

}  // namespace dtau::DTAU_VARIANT
