// Tests rnea.hpp, aba.hpp, crba.hpp and idsva.hpp against equations of motion from textbooks, complex step
// and each other.
#include "robot.hpp"

namespace dtau::DTAU_VARIANT {
namespace {

TEST_SUITE_BEGIN("dynamics");

TEST_CASE("a pendulum") {
    // About y, with its center of mass at (l, 0, 0): it is at height -l sin(q).
    const double m = 2.0, l = 0.7, J = 0.05, g = 9.81, armature = 0.3, damping = 0.4;
    const Robot robot({body(JointKind::revolute, -1, 0, {1, 2, 3}, {0, 1, 0}, m, {l, 0, 0},
                            {0, 0, 0, 0, J, 0, 0, 0, J})},
                      armature, damping, {0, 0, -g});
    const double q = 0.6, v = -1.2, a = 2.5;
    const double tau = (m * l * l + J + armature) * a + damping * v - m * g * l * std::cos(q);
    CHECK(robot.inverse<double>({q}, {v}, {a})[0] == doctest::Approx(tau).epsilon(1e-14));
    CHECK(robot.forward({q}, {v}, {tau})[0] == doctest::Approx(a).epsilon(1e-14));
    CHECK(robot.mass_matrix({q})(0, 0) == doctest::Approx(m * l * l + J + armature).epsilon(1e-14));
}

TEST_CASE("a planar arm of two links") {
    // Siciliano et al., Robotics (2009), section 7.3.2: rigid links, gravity along -y.
    const double m1 = 2.0, m2 = 1.5, l1 = 0.8, c1 = 0.35, c2 = 0.25, J1 = 0.11, J2 = 0.07, g = 9.81;
    const Robot robot({body(JointKind::revolute, -1, 0, {0, 0, 0}, {0, 0, 1}, m1, {c1, 0, 0},
                            {0, 0, 0, 0, J1, 0, 0, 0, J1}),
                       body(JointKind::revolute, 0, 1, {l1, 0, 0}, {0, 0, 1}, m2, {c2, 0, 0},
                            {0, 0, 0, 0, J2, 0, 0, 0, J2})},
                      0.0, 0.0, {0, -g, 0});
    const Numbers q = {0.4, 1.1}, v = {-0.9, 1.7}, a = {2.2, -0.3};
    const double b11 =
        J1 + m1 * c1 * c1 + J2 + m2 * (l1 * l1 + c2 * c2 + 2 * l1 * c2 * std::cos(q[1]));
    const double b12 = J2 + m2 * (c2 * c2 + l1 * c2 * std::cos(q[1])), b22 = J2 + m2 * c2 * c2;
    const double h = -m2 * l1 * c2 * std::sin(q[1]);
    const double g2 = m2 * c2 * g * std::cos(q[0] + q[1]);
    const double g1 = (m1 * c1 + m2 * l1) * g * std::cos(q[0]) + g2;
    const Numbers tau = {b11 * a[0] + b12 * a[1] + h * v[1] * (2 * v[0] + v[1]) + g1,
                         b12 * a[0] + b22 * a[1] - h * v[0] * v[0] + g2};
    CHECK(apart(robot.inverse(q, v, a), tau) < 1e-13);
    CHECK(apart(robot.forward(q, v, tau), a) < 1e-13);
    CHECK(apart(robot.mass_matrix(q), Numbers{b11, b12, b12, b22}) < 1e-14);
}

TEST_CASE("a free body falls, and turns as Euler says") {
    const double J[3] = {0.3, 0.5, 0.7};
    const Robot robot({body(JointKind::free, -1, 0, {0, 0, 0}, {0, 0, 1}, 4.0, {0, 0, 0},
                            {J[0], 0, 0, 0, J[1], 0, 0, 0, J[2]})},
                      0.0, 0.0, {0, 0, -9.81});
    const double s = std::sqrt(0.5);
    const Numbers v = {0, 0, 0, 1.0, -2.0, 3.0};
    const Numbers a = robot.forward({0, 0, 0, s, 0, 0, s}, v, Numbers(6));  // a quarter about x
    // The world's -z is the body's -y; J domega/dt = J omega x omega.
    CHECK(apart(a, Numbers{0, -9.81, 0, (J[1] - J[2]) / J[0] * v[4] * v[5],
                           (J[2] - J[0]) / J[1] * v[5] * v[3],
                           (J[0] - J[1]) / J[2] * v[3] * v[4]}) < 1e-14);
}

TEST_CASE("forward dynamics inverts inverse dynamics, and M is its derivative by a") {
    Random random(71);
    const Robot robot = branched(all_kinds);
    for (int repeat = 0; repeat < 5; ++repeat) {
        const Numbers q = robot.random_q(random), v = robot.random_v(random),
                      a = robot.random_v(random);
        const Numbers tau = robot.inverse(q, v, a);
        CHECK(apart(robot.forward(q, v, tau), a) < 1e-10);

        const Matrix M = robot.mass_matrix(q);
        CHECK(apart(M, transposed(M)) == 0.0);
        const Numbers bias = robot.inverse(q, v, Numbers(robot.n));
        Matrix accelerations(robot.n, 1), torques(robot.n, 1);
        accelerations.at = a, torques.at = bias;
        CHECK(apart(M * accelerations + torques, tau) < 1e-12);
    }
}

TEST_CASE("derivatives of inverse dynamics are those by complex step") {
    Random random(72);
    for (const bool adding : {true, false}) {
        const Robot robot = branched(adding ? adding_kinds : all_kinds);
        const int n = robot.n;
        const Numbers q = robot.random_q(random), v = robot.random_v(random),
                      a = robot.random_v(random);
        Scratch scratch;
        Matrix dq(n, n), dv(n, n), da(n, n);
        idsva<double>(robot.tree, q.data(), v.data(), a.data(), nullptr, dq.at.data(), dv.at.data(),
                      da.at.data(), scratch.make<IdsvaWorkspace<double>>(robot.tree, Options()));
        const std::vector<Complex> at[3] = {
            {q.begin(), q.end()}, {v.begin(), v.end()}, {a.begin(), a.end()}};
        const Matrix* of[3] = {&dq, &dv, &da};
        for (int which = adding ? 0 : 1; which < 3; ++which) {  // coordinates must add
            CAPTURE(which);
            Matrix expected(n, n);
            for (int k = 0; k < n; ++k) {
                std::vector<Complex> moved[3] = {at[0], at[1], at[2]};
                moved[which][k] += Complex(0.0, 1e-40);
                const std::vector<Complex> tau = robot.inverse(moved[0], moved[1], moved[2]);
                for (int i = 0; i < n; ++i) expected(i, k) = tau[i].imag() / 1e-40;
            }
            CHECK(apart(*of[which], expected) < 1e-12);
        }
    }
}

TEST_SUITE_END();

}  // namespace
}  // namespace dtau::DTAU_VARIANT
