// Tests mujoco/dense_solve.hpp against the matrix that it factorizes, full and with zeros.
#include "mujoco/dense_solve.hpp"

#include <vector>

#include "support.hpp"

namespace dtau::DTAU_VARIANT {
namespace {

using mujoco::Index;

// A symmetric matrix with a dominant diagonal; pairs (i, j) with (i + j) % period = 1 are zero.
std::vector<double> symmetric(Index n, Index period, Random& random) {
    std::vector<double> M(static_cast<std::size_t>(n * n));
    for (Index i = 0; i < n; ++i) {
        M[i * n + i] = static_cast<double>(n) + random.number();
        for (Index j = 0; j < i; ++j)
            M[i * n + j] = M[j * n + i] = (i + j) % period == 1 ? 0.0 : random.number();
    }
    return M;
}

TEST_SUITE_BEGIN("dense_solve");

TEST_CASE("solutions times the matrix are the right-hand sides") {
    Random random(5);
    for (Index n : {1, 2, 5, 27})
        for (Index period : {2, 3, 100})
            for (Index columns : {1, 4, 7}) {
                const std::vector<double> M = symmetric(n, period, random);
                std::vector<double> L = M, B(static_cast<std::size_t>(n * columns)),
                                    back(B.size(), NAN);
                for (double& x : B) x = random.number();
                std::vector<double> X = B;
                mujoco_step::factorize(L.data(), n);
                mujoco_step::solve(L.data(), n, X.data(), columns);
                mujoco_step::multiply(M.data(), X.data(), back.data(), n, columns);
                for (std::size_t i = 0; i < B.size(); ++i) CHECK(std::abs(back[i] - B[i]) < 1e-12);
            }
}

TEST_SUITE_END();

}  // namespace
}  // namespace dtau::DTAU_VARIANT
