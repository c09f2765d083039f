// Calls with Eigen's vectors and matrices: they have the results of calls on pointers, copy nothing,
// and what does not fit is refused.
//    Usage: eigen ROBOT.dtau
#include <cstdio>
#include <stdexcept>
#include <string>

#include <dtau.hpp>
#include <dtau/eigen.hpp>

namespace {

using Rows = Eigen::Matrix<double, Eigen::Dynamic, Eigen::Dynamic, Eigen::RowMajor>;
using Columns = Eigen::MatrixXd;

[[noreturn]] void fail(const std::string& what) { throw std::runtime_error(what); }

void require(bool holds, const char* what) {
    if (!holds) fail(what);
}
void computed(bool done, const dtau::Call& call) {
    if (!done) fail(call.error());
}
void refused(bool done, const dtau::Call& call, const char* part) {
    if (done) fail(std::string("accepted, expected: ") + part);
    if (std::string(call.error()).find(part) == std::string::npos) fail(call.error());
}

void check_vectors(const dtau::Model& model, const Columns& q, const Columns& v) {
    dtau::InverseDynamics call(model);
    Eigen::VectorXd tau(model.nv()), wanted(model.nv());
    computed(call(q.col(1).data(), v.col(1).data(), v.col(0).data(), wanted.data()), call);
    computed(call(q.col(1), v.col(1), v.col(0), tau), call);
    require(tau == wanted, "columns of matrices");
    tau.setConstant(NAN);
    const Eigen::VectorXd q1 = q.col(1), v1 = v.col(1);
    const Eigen::Map<const Eigen::VectorXd> a(v.data(), model.nv());
    const Eigen::Ref<const Eigen::VectorXd> v_ref(v1);
    computed(call(q1, v_ref, a, Eigen::Ref<Eigen::VectorXd>(tau)), call);
    require(tau == wanted, "maps and references");
    Columns results = Columns::Constant(model.nv(), 3, NAN);
    computed(call(q1, v1, a, results.col(2)), call);
    require(results.col(2) == wanted, "a block of a result");
    require(results.leftCols(2).array().isNaN().all(), "the rest of the matrix");
    Eigen::RowVectorXd row(model.nv());
    computed(call(q1, v1, a, row), call);
    require(row.transpose() == wanted, "a row vector");

    refused(call(v1, v1, a, tau), call,
            "q: expected as many numbers as the states have, 19, got 18");
    refused(call(q1, v1, a, results), call, "tau: expected as many numbers");
    const Rows by_rows = v.transpose();
    computed(call(q1, by_rows.row(1), a, tau), call);
    require(tau == wanted, "a row of a matrix by rows");
    refused(call(q1, by_rows.col(0), a, tau), call, "v: expected contiguous numbers");
    Rows wide(model.nv(), 2);
    refused(call(q1, wide.col(0), a, tau), call, "v: expected contiguous numbers");
    refused(call(q1, Eigen::VectorXd(), a, tau), call, "v: expected as many numbers");
}

void check_matrices(const dtau::Model& model, const Columns& q) {
    const int nv = model.nv();
    dtau::MassMatrix mass_matrix(model);
    Rows M(nv, nv), wanted(nv, nv);
    computed(mass_matrix(q.col(0).data(), wanted.data()), mass_matrix);
    computed(mass_matrix(q.col(0), M), mass_matrix);
    require(M == wanted, "a matrix by rows");
    Columns by_columns(nv, nv);
    refused(mass_matrix(q.col(0), by_columns), mass_matrix,
            "M: expected a matrix by rows (Eigen::RowMajor), or a state in each column");
    Rows other(2 * nv, nv / 2);
    refused(mass_matrix(q.col(0), other), mass_matrix, "M: expected rows of whole axes");
    Rows larger(nv, nv + 1);
    refused(mass_matrix(q.col(0), larger.leftCols(nv)), mass_matrix,
            "M: expected contiguous numbers");
    Eigen::Matrix<double, 18, 18, Eigen::RowMajor> fixed;
    computed(mass_matrix(q.col(0), fixed), mass_matrix);
    require(fixed == wanted, "a matrix of a fixed size");

    dtau::FrameJacobians jacobians(model, {.frames = {"LF_FOOT", "RF_FOOT"}});
    Rows J(12, nv), pointers(12, nv);
    computed(jacobians(q.col(0).data(), pointers.data()), jacobians);
    computed(jacobians(q.col(0), J), jacobians);
    require(J == pointers, "stacked Jacobians");
    Rows flat(2, 6 * nv);
    computed(jacobians(q.col(0), flat), jacobians);
    require(std::equal(flat.data(), flat.data() + flat.size(), J.data()), "a row for each frame");
}

void check_batches(const dtau::Model& model, const Columns& q, const Columns& v) {
    const std::ptrdiff_t n = q.cols();
    dtau::InverseDynamics call(model, {}, n);
    Columns tau(model.nv(), n), wanted(model.nv(), n);
    computed(call(q.data(), v.data(), v.data(), wanted.data(), n), call);
    computed(call(q, v, v, tau, n), call);
    require(tau == wanted, "states in columns");
    const Rows q_rows = q.transpose(), v_rows = v.transpose();
    Rows tau_rows(n, model.nv());
    computed(call(q_rows, v_rows, v, tau_rows, n), call);
    require(tau_rows == wanted.transpose(), "states in rows");
    refused(call(Rows(q), v, v, tau, n), call, "q: expected rows of whole axes");
    refused(call(Columns(q_rows), v, v, tau, n), call, "q: expected a matrix by rows");
    dtau::MassMatrix mass_matrix(model, {}, n);
    Columns M(model.nv() * model.nv(), n);
    computed(mass_matrix(q, M, n), mass_matrix);
    const Eigen::Map<Rows> last(M.col(n - 1).data(), model.nv(), model.nv());
    dtau::MassMatrix alone(model);
    Rows one(model.nv(), model.nv());
    computed(alone(q.col(n - 1), one), alone);
    require(last == one, "a matrix of each state in a column");
    computed(call(q.leftCols(0), v.leftCols(0), v.leftCols(0), tau.leftCols(0), 0), call);
}

}  // namespace

int main(int, char** argv) {
    try {
        const dtau::Model model = dtau::Model::load(argv[1]);
        std::srand(1);
        const Columns q = Columns::Random(model.nq(), 5), v = Columns::Random(model.nv(), 5);
        check_vectors(model, q, v);
        check_matrices(model, q);
        check_batches(model, q, v);
        return 0;
    } catch (const std::exception& error) {
        std::fprintf(stderr, "%s\n", error.what());
        return 1;
    }
}
