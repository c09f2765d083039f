// Tests the algorithms of include/dtau/textbook/ against the fast ones and by complex step. Nothing here
// is recorded: these complex numbers are independent of the recorder that Python's tests replay.
#include "dtau/textbook/aba.hpp"
#include "dtau/textbook/crba.hpp"
#include "dtau/textbook/idsva_so.hpp"
#include "dtau/textbook/rnea.hpp"
#include "robot.hpp"

namespace dtau::DTAU_VARIANT {
namespace {

constexpr double step = 1e-40;

template <class T> std::vector<T> as(const Numbers& x) { return {x.begin(), x.end()}; }

template <class T> struct State {
    std::vector<T> q, v, a, f_ext;
};

State<double> random_state(const Robot& robot, Random& random) {
    return {robot.random_q(random), robot.random_v(random), robot.random_v(random),
            Robot::random_numbers(6 * robot.tree.nbodies, random)};
}
State<Complex> as_complex(const State<double>& x) {
    return {as<Complex>(x.q), as<Complex>(x.v), as<Complex>(x.a), as<Complex>(x.f_ext)};
}

template <class T> std::vector<T> torque(const Robot& robot, const State<T>& x) {
    Scratch scratch;
    std::vector<T> tau(robot.n);
    textbook::rnea<T>(robot.tree, x.q.data(), x.v.data(), x.a.data(), x.f_ext.data(), tau.data(),
                      scratch.make<textbook::RneaWorkspace<T>>(robot.tree, Options()));
    return tau;
}

// dtau_dq, dtau_dv, dtau_da, one behind the other.
template <class T> std::vector<T> first_derivatives(const Robot& robot, const State<T>& x) {
    Scratch scratch;
    const std::ptrdiff_t size = std::ptrdiff_t(robot.n) * robot.n;
    std::vector<T> all(3 * size);
    textbook::idsva<T>(robot.tree, x.q.data(), x.v.data(), x.a.data(), x.f_ext.data(), all.data(),
                       all.data() + size, all.data() + 2 * size,
                       scratch.make<textbook::IdsvaWorkspace<T>>(robot.tree, Options()));
    return all;
}

// Columns of the derivative of function(state) along the numbers of one of its vectors.
template <class Function>
Matrix by_complex_step(const Function& function, const State<double>& at,
                       std::vector<Complex> State<Complex>::* which) {
    const int count = static_cast<int>((as_complex(at).*which).size());
    Matrix columns(static_cast<int>(function(as_complex(at)).size()), count);
    for (int k = 0; k < count; ++k) {
        State<Complex> moved = as_complex(at);
        (moved.*which)[k] += Complex(0.0, step);
        const std::vector<Complex> value = function(moved);
        for (int i = 0; i < columns.rows; ++i) columns(i, k) = value[i].imag() / step;
    }
    return columns;
}

// Rows first ... first + count - 1.
Numbers part(const Numbers& all, std::ptrdiff_t first, std::ptrdiff_t count) {
    return Numbers(all.begin() + first, all.begin() + first + count);
}

TEST_SUITE_BEGIN("textbook");

TEST_CASE("the fast algorithms give what the textbook's give") {
    Random random(81);
    const Robot robot = branched(all_kinds);
    const int n = robot.n;
    for (int repeat = 0; repeat < 3; ++repeat) {
        const State<double> x = random_state(robot, random);
        Scratch scratch;

        const Numbers tau = torque(robot, x);
        Numbers fast(n);
        rnea<double>(robot.tree, x.q.data(), x.v.data(), x.a.data(), x.f_ext.data(), fast.data(),
                     scratch.make<RneaWorkspace<double>>(robot.tree, Options()));
        CHECK(apart(fast, tau) < 1e-12);

        Numbers a(n);
        textbook::aba<double>(robot.tree, x.q.data(), x.v.data(), tau.data(), x.f_ext.data(),
                              a.data(),
                              scratch.make<textbook::AbaWorkspace<double>>(robot.tree, Options()));
        CHECK(apart(a, x.a) < 1e-9);

        Matrix M(n, n);
        textbook::crba<double>(
            robot.tree, x.q.data(), M.at.data(),
            scratch.make<textbook::CrbaWorkspace<double>>(robot.tree, Options()));
        CHECK(apart(M, robot.mass_matrix(x.q)) < 1e-12);

        const std::ptrdiff_t size = std::ptrdiff_t(n) * n;
        Numbers derivatives(3 * size);
        idsva<double>(robot.tree, x.q.data(), x.v.data(), x.a.data(), x.f_ext.data(),
                      derivatives.data(), derivatives.data() + size, derivatives.data() + 2 * size,
                      scratch.make<IdsvaWorkspace<double>>(robot.tree, Options()));
        CHECK(apart(derivatives, first_derivatives(robot, x)) < 1e-11);
    }
}

TEST_CASE("first derivatives are complex steps of the textbook's inverse dynamics") {
    Random random(82);
    for (const bool adding : {true, false}) {
        const Robot robot = branched(adding ? adding_kinds : all_kinds);
        const int n = robot.n, size = n * n;
        const State<double> x = random_state(robot, random);
        const Numbers all = first_derivatives(robot, x);
        const auto function = [&](const State<Complex>& y) { return torque(robot, y); };
        if (adding)  // coordinates that add
            CHECK(apart(by_complex_step(function, x, &State<Complex>::q), part(all, 0, size)) <
                  1e-12);
        CHECK(apart(by_complex_step(function, x, &State<Complex>::v), part(all, size, size)) <
              1e-12);
        CHECK(apart(by_complex_step(function, x, &State<Complex>::a), part(all, 2 * size, size)) <
              1e-12);
    }
}

TEST_CASE("second derivatives are complex steps of the textbook's first") {
    Random random(83);
    for (const bool adding : {true, false}) {
        const Robot robot = branched(adding ? adding_kinds : all_kinds);
        const int n = robot.n, size = n * n, cube = size * n;
        const State<double> x = random_state(robot, random);
        Numbers dqdq(cube), dqdv(cube), dvdv(cube), dadq(cube);
        Scratch scratch;
        textbook::idsva_so<double>(
            robot.tree, x.q.data(), x.v.data(), x.a.data(), x.f_ext.data(),
            {dqdq.data(), dqdv.data(), dvdv.data(), dadq.data()},
            scratch.make<textbook::IdsvaWorkspace<double>>(robot.tree, Options()));
        const auto function = [&](const State<Complex>& y) { return first_derivatives(robot, y); };
        // Entry [i, j, k] of a derivative of the first ones [i, j] along k.
        const Numbers by_v = by_complex_step(function, x, &State<Complex>::v).at;
        CHECK(apart(dqdv, part(by_v, 0, cube)) < 1e-11);
        CHECK(apart(dvdv, part(by_v, cube, cube)) < 1e-11);
        if (!adding) continue;
        const Numbers by_q = by_complex_step(function, x, &State<Complex>::q).at;
        CHECK(apart(dqdq, part(by_q, 0, cube)) < 1e-11);
        CHECK(apart(dadq, part(by_q, 2 * cube, cube)) < 1e-11);
    }
}

TEST_CASE("inside one joint, second derivatives are first along j, then along k") {
    Random random(84);
    const Robot robot = branched({JointKind::spherical});
    const State<double> x = random_state(robot, random);
    Numbers dqdq(27), dqdv(27), dvdv(27), dadq(27);
    Scratch scratch;
    textbook::idsva_so<double>(
        robot.tree, x.q.data(), x.v.data(), x.a.data(), x.f_ext.data(),
        {dqdq.data(), dqdv.data(), dvdv.data(), dadq.data()},
        scratch.make<textbook::IdsvaWorkspace<double>>(robot.tree, Options()));
    for (int k = 0; k < 3; ++k) {
        State<Complex> moved = as_complex(x);
        const int l = (k + 1) % 3, m = (k + 2) % 3;  // x e_k / 2 as a product of quaternions
        const Complex half(0.0, 0.5 * step);
        moved.q[k] += half * x.q[3], moved.q[3] -= half * x.q[k];
        moved.q[l] += half * x.q[m], moved.q[m] -= half * x.q[l];
        const std::vector<Complex> first = first_derivatives(robot, moved);
        for (int i = 0; i < 9; ++i)
            CHECK(dqdq[3 * i + k] == doctest::Approx(first[i].imag() / step).epsilon(1e-12));
    }
}

TEST_SUITE_END();

}  // namespace
}  // namespace dtau::DTAU_VARIANT
