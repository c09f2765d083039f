// Tests ltdl.hpp, ltdl_block.hpp, ltdl_columns.hpp and column_blocks.hpp against dense elimination, on random
// trees whose sizes are near the sizes of packs and blocks.
#include "dtau/algorithms/solve/ltdl.hpp"

#include "dtau/algorithms/solve/column_blocks.hpp"
#include "support.hpp"

namespace dtau::DTAU_VARIANT {
namespace {

constexpr double tight = 1e-12;

// Degrees of freedom of a random forest, numbered depth first, by the definitions of Paths.
struct Forest {
    std::vector<int> parent, end, depth;
    Paths paths;

    Forest(int n, Random& random) {
        for (int k = 0; k < n; ++k) {
            int p = k - 1;  // often the one before, else one on its path, or the world
            while (p >= 0 && random.number() > 0.4) p = parent[p];
            parent.push_back(p);
        }
        paths = {n, nullptr, nullptr, nullptr, 0};
        for (int k = 0; k < n; ++k) {
            depth.push_back(0), end.push_back(k + 1);
            for (int j = parent[k]; j >= 0; j = parent[j]) ++depth[k], end[j] = k + 1;
            paths.max_depth = std::max(paths.max_depth, depth[k]);
        }
        paths.parent = parent.data(), paths.end = end.data(), paths.depth = depth.data();
    }
    bool on_path(int j, int k) const {  // of k
        while (k > j) k = parent[k];
        return k == j;
    }
    bool related(int j, int k) const { return on_path(j, k) || on_path(k, j); }
};

// M = L^T D L of a forest with random factors, for every state, and a workspace that holds M.
template <class T> struct System {
    Forest forest;
    int n;
    std::vector<Matrix> L, D, M;
    Scratch scratch;
    LtdlWorkspace<T> w;

    System(int size, Random& random)
        : forest(size, random), n(size), w(scratch.make<LtdlWorkspace<T>>(forest.paths)) {
        for (int l = 0; l < states<T>; ++l) {
            Matrix lower = Matrix::identity(n), diagonal(n, n);
            for (int k = 0; k < n; ++k) {
                diagonal(k, k) = 1.0 + 0.5 * random.number();
                for (int j = 0; j < k; ++j)
                    if (forest.on_path(j, k)) lower(k, j) = 0.2 * random.number();
            }
            L.push_back(lower), D.push_back(diagonal);
            M.push_back(transposed(lower) * diagonal * lower);
        }
        for (int k = 0; k < n; ++k)
            for (int j = 0; j <= k; ++j)
                if (forest.on_path(j, k))
                    for (int l = 0; l < states<T>; ++l)
                        set_lane(w.L[k * w.stride + forest.depth[j]], l, M[l](k, j));
    }
    const Paths& dofs() const { return forest.paths; }

    // A random matrix, zero where row and column are not related, or not.
    std::vector<T> random_matrix(Random& random, int columns, bool sparse) const {
        std::vector<T> B(n * columns, T(0.0));
        for (int k = 0; k < n; ++k)
            for (int c = 0; c < columns; ++c)
                if (!sparse || forest.related(k, c)) B[k * columns + c] = random.scalar<T>();
        return B;
    }
};

// State l of a matrix by rows.
template <class T> Matrix state(const T* x, int rows, int columns, std::ptrdiff_t stride, int l) {
    Matrix m(rows, columns);
    for (int i = 0; i < rows; ++i)
        for (int j = 0; j < columns; ++j) m(i, j) = lane(x[i * stride + j], l);
    return m;
}

const int sizes[] = {1, 2, 3, 7, 8, 9, 17, 32, 65};

TEST_SUITE_BEGIN("ltdl");

TEST_CASE_TEMPLATE("factors are those that M was made of", T, double, Lane) {
    Random random(51);
    for (const int n : sizes) {
        CAPTURE(n);
        const System<T> s(n, random);
        ltdl_factorize(s.dofs(), s.w);
        for (int l = 0; l < states<T>; ++l)
            for (int k = 0; k < n; ++k)
                for (int j = 0; j <= k; ++j) {
                    if (!s.forest.on_path(j, k)) continue;
                    const double factor = j == k ? 1.0 / s.D[l](k, k) : s.L[l](k, j);
                    const double found = lane(s.w.L[k * s.w.stride + s.forest.depth[j]], l);
                    REQUIRE(std::fabs(found - factor) < tight);
                }
    }
}

TEST_CASE_TEMPLATE("a vector", T, double, Lane) {
    Random random(52);
    for (const int n : sizes) {
        CAPTURE(n);
        const System<T> s(n, random);
        ltdl_factorize(s.dofs(), s.w);
        std::vector<T> x = s.random_matrix(random, 1, false);
        const std::vector<T> b = x;
        ltdl_solve_vector(s.dofs(), x.data(), s.w);
        for (int l = 0; l < states<T>; ++l)
            CHECK(apart(state(x.data(), n, 1, 1, l), solved(s.M[l], state(b.data(), n, 1, 1, l))) <
                  tight);
    }
}

// Matrices that are solved for together, side by side.
template <int matrices, class T> void check_solve(const System<T>& s, Random& random) {
    const int n = s.n, padded = whole_packs<T>(n), stride = matrices * padded + 3;
    std::vector<T> B(n * stride, T(0.0)), X[matrices];
    Solution<T> solutions[matrices];
    for (int m = 0; m < matrices; ++m) {
        const std::vector<T> one = s.random_matrix(random, n, true);
        for (int k = 0; k < n; ++k)
            for (int c = 0; c < n; ++c) B[k * stride + m * padded + c] = one[k * n + c];
        X[m].assign(n * (n + m), T(7.0));
        solutions[m] = {X[m].data(), n + m};
    }
    ltdl_solve(s.dofs(), T(-2.0), B.data(), stride, solutions, s.w);
    for (int m = 0; m < matrices; ++m)
        for (int l = 0; l < states<T>; ++l) {
            const Matrix right = state(B.data() + m * padded, n, n, stride, l);
            CHECK(apart(state(X[m].data(), n, n, n + m, l), -2.0 * solved(s.M[l], right)) < tight);
            for (int k = 0; k < n && m > 0; ++k)  // nothing is written beside the columns
                REQUIRE(lane(X[m][k * (n + m) + n], l) == 7.0);
        }
}

TEST_CASE_TEMPLATE("columns of up to three matrices", T, double, Lane) {
    Random random(53);
    for (const int n : sizes) {
        CAPTURE(n);
        const System<T> s(n, random);
        ltdl_factorize(s.dofs(), s.w);
        check_solve<1>(s, random);
        if constexpr (Pack<T>::width > 1) {  // in lanes a block lies in one matrix
            check_solve<2>(s, random);
            check_solve<3>(s, random);
        }
    }
}

TEST_CASE_TEMPLATE("any number of columns in place", T, double, Lane) {
    Random random(54);
    const System<T> s(17, random);
    ltdl_factorize(s.dofs(), s.w);
    const std::vector<T> widest = s.random_matrix(random, 140, false);
    Numbers first;  // bits of the first column
    for (const int columns : {140, 1, 2, 7, 8, 9, 16, 25, 64}) {
        CAPTURE(columns);
        std::vector<T> X(17 * columns);
        for (int k = 0; k < 17; ++k)
            for (int c = 0; c < columns; ++c) X[k * columns + c] = widest[k * 140 + c];
        const std::vector<T> B = X;
        ltdl_solve_in_place(s.dofs(), X.data(), columns, s.w);
        for (int l = 0; l < states<T>; ++l) {
            const Matrix right = state(B.data(), 17, columns, columns, l);
            CHECK(apart(state(X.data(), 17, columns, columns, l), -1.0 * solved(s.M[l], right)) <
                  tight);
        }
        const Matrix column = state(X.data(), 17, 1, columns, 0);
        if (first.empty()) first = column.at;
        CHECK(apart(column, first) == 0.0);  // whatever the block
    }
}

TEST_CASE_TEMPLATE("the inverse, and one with a change between the two passes", T, double, Lane) {
    Random random(55);
    for (const int n : sizes) {
        CAPTURE(n);
        const System<T> s(n, random);
        ltdl_factorize(s.dofs(), s.w);
        std::vector<T> inverse(n * n), changed(n * n);
        ltdl_inverse(s.dofs(), inverse.data(), s.w);
        const auto entry = [](int k, int c) { return 0.1 * k - 0.03 * c; };
        ltdl_changed_inverse(s.dofs(), changed.data(), s.w,
                             [&](int packs, int begin, T* X, std::ptrdiff_t stride) {
                                 for (int k = 0; k < n; ++k)
                                     for (int c = 0; c < packs * Pack<T>::width; ++c)
                                         if (begin + c < n)
                                             X[k * stride + c] += T(entry(k, begin + c));
                             });
        Matrix change(n, n);
        for (int k = 0; k < n; ++k)
            for (int c = 0; c < n; ++c) change(k, c) = entry(k, c);
        for (int l = 0; l < states<T>; ++l) {
            const Matrix identity = Matrix::identity(n);
            const Matrix expected = solved(s.M[l], identity);
            CHECK(apart(state(inverse.data(), n, n, n, l), expected) < tight);
            const Matrix more = solved(s.D[l] * s.L[l], change);  // L^-1 D^-1 of it
            CHECK(apart(state(changed.data(), n, n, n, l), expected + more) < 10 * tight);
        }
    }
}

TEST_CASE("lanes have the bits of single states") {
    Random random(56);
    const int n = 23;
    Random lone_seed = random;
    const System<Lane> s(n, random);
    System<double> alone(n, lone_seed);  // the same forest
    ltdl_factorize(s.dofs(), s.w);
    std::vector<Lane> inverse(n * n);
    ltdl_inverse(s.dofs(), inverse.data(), s.w);
    for (int l = 0; l < lanes; ++l) {
        for (int k = 0; k < n; ++k)
            for (int j = 0; j <= k; ++j)
                if (s.forest.on_path(j, k))
                    alone.w.L[k * alone.w.stride + s.forest.depth[j]] = s.M[l](k, j);
        ltdl_factorize(alone.dofs(), alone.w);
        std::vector<double> one(n * n);
        ltdl_inverse(alone.dofs(), one.data(), alone.w);
        CHECK(apart(state(inverse.data(), n, n, n, l), one) == 0.0);
    }
}

// A block of columns by packs, from and to a matrix (n, columns) of each state.
template <class T> std::vector<Pack<T>> packed(const std::vector<T>& x, int n, int packs) {
    std::vector<Pack<T>> block(n * packs);
    for (int k = 0; k < n * packs; ++k) block[k] = Pack<T>::load(x.data() + k * Pack<T>::width);
    return block;
}
template <class T> std::vector<T> unpacked(const std::vector<Pack<T>>& block) {
    std::vector<T> x(block.size() * Pack<T>::width);
    for (std::size_t k = 0; k < block.size(); ++k) block[k].store(x.data() + k * Pack<T>::width);
    return x;
}

TEST_CASE_TEMPLATE("products of sparse matrices and blocks, and solutions for them", T, double,
                   Lane) {
    Random random(57);
    for (const int n : {1, 9, 20}) {
        const System<T> s(n, random);
        ltdl_factorize(s.dofs(), s.w);
        for (int k = 0; k < n; ++k) s.w.rows[k] = k;  // no row of the block is zero
        for (int packs = 1; packs <= LtdlWorkspace<T>::packs; packs += 2) {
            CAPTURE(n);
            CAPTURE(packs);
            const int columns = packs * Pack<T>::width;
            const std::vector<T> A = s.random_matrix(random, n, true),
                                 B = s.random_matrix(random, n, true);
            const std::vector<T> x = s.random_matrix(random, columns, false),
                                 b = s.random_matrix(random, columns, false);
            std::vector<T> y = s.random_matrix(random, columns, false);
            const Rows some = {n / 3, n - n / 4};  // of y
            for (int k = 0; k < n; ++k)
                for (int c = 0; c < columns && (k < some.begin || k >= some.end); ++c)
                    y[k * columns + c] = T(0.0);
            const std::vector<Pack<T>> x_block = packed(x, n, packs), y_block = packed(y, n, packs);
            std::vector<T> A_entries(factor_size(s.dofs())), B_entries(A_entries.size());
            arrange_factor(s.dofs(), A.data(), A_entries.data(), s.w.path);
            arrange_factor(s.dofs(), B.data(), B_entries.data(), s.w.path);
            const Factor<T> Ax = {A_entries.data(), x_block.data(), {0, n}};
            const Factor<T> By = {B_entries.data(), y_block.data(), some};
            std::vector<Pack<T>> product(n * packs), solution = packed(b, n, packs);
            negative_products(s.dofs(), packs, Ax, By, product.data(), s.w.path);
            solve_block_in_place(s.dofs(), packs, solution.data(), s.w, NoChange{});
            const std::vector<T> products = unpacked(product), solutions = unpacked(solution);
            for (int l = 0; l < states<T>; ++l) {
                const auto of = [&](const std::vector<T>& m, int width) {
                    return state(m.data(), n, width, width, l);
                };
                const Matrix sum = of(A, n) * of(x, columns) + of(B, n) * of(y, columns);
                CHECK(apart(of(products, columns), -1.0 * sum) < tight);
                CHECK(apart(of(solutions, columns), solved(s.M[l], of(b, columns))) < tight);
            }
        }
    }
}

TEST_SUITE_END();

}  // namespace
}  // namespace dtau::DTAU_VARIANT
