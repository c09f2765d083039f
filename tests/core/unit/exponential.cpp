// Tests exponential.hpp against exponentials of matrices by their power series, and against complex step.
#include "dtau/algorithms/steps/exponential.hpp"

#include "support.hpp"

namespace dtau::DTAU_VARIANT {
namespace {

constexpr double tight = 2e-15;

// exp(A) by halving A until its series converges fast, and squaring.
Matrix exponential(const Matrix& A) {
    constexpr int halvings = 8;
    const Matrix small = std::ldexp(1.0, -halvings) * A;
    Matrix sum = Matrix::identity(A.rows), term = sum;
    for (int k = 1; k < 14; ++k) {
        term = (1.0 / k) * (term * small);
        sum = sum + term;
    }
    for (int k = 0; k < halvings; ++k) sum = sum * sum;
    return sum;
}
// The right Jacobian 1 - ad/2! + ad^2/3! - ... by its series, to 60 terms.
Matrix jacobian_series(const Matrix& ad) {
    Matrix sum = Matrix::identity(ad.rows), term = sum;
    for (int k = 1; k < 60; ++k) {
        term = (-1.0 / (k + 1)) * (term * ad);
        sum = sum + term;
    }
    return sum;
}
Matrix dense(const MotionMap<double>& map) {
    return blocks(dense(map.E), Matrix(3, 3), dense(map.Q), dense(map.E));
}

// Directions at angles on both sides of t = 1, where series end and closed forms begin.
const double angles[] = {0.0, 1e-9, 1e-4, 0.3, 0.999999, 1.0, 1.000001, 2.0, 3.1, 6.0};
Vec3<double> axis_times(double angle) { return (angle / 7.0) * Vec3<double>{2.0, -3.0, 6.0}; }

TEST_SUITE_BEGIN("exponential");

TEST_CASE("series coefficients are inverse factorials") {
    const Coefficients<4> c = alternating<4>(2);
    CHECK(apart(Numbers(c.at, c.at + 4), Numbers{1.0 / 2, -1.0 / 24, 1.0 / 720, -1.0 / 40320}) <
          1e-18);
    const Coefficients<3> d = derivative(c);
    CHECK(apart(Numbers(d.at, d.at + 3), Numbers{-1.0 / 24, 2.0 / 720, -3.0 / 40320}) < 1e-18);
    CHECK(power_series(c, 0.0) == 0.5);
}

TEST_CASE("functions of the angle are their closed forms, where these do not cancel") {
    for (const double angle : {0.5, 0.9, 0.99, 1.01, 1.5, 3.0, 5.0}) {
        CAPTURE(angle);
        const AngleFunctions<double> f = angle_functions(axis_times(angle));
        const long double x = angle, t = x * x, s = std::sin(x), c = std::cos(x);
        CHECK(f.half_sine == doctest::Approx(double(std::sin(x / 2) / x)).epsilon(tight));
        CHECK(f.half_cosine == doctest::Approx(double(std::cos(x / 2))).epsilon(4 * tight));
        CHECK(f.b == doctest::Approx(double((1 - c) / t)).epsilon(tight));
        CHECK(f.c == doctest::Approx(double((x - s) / (x * t))).epsilon(tight));
        CHECK(f.db == doctest::Approx(double((x * s - 2 * (1 - c)) / (2 * t * t))).epsilon(1e-14));
        CHECK(f.dc ==
              doctest::Approx(double((3 * s - 2 * x - x * c) / (2 * t * t * x))).epsilon(1e-14));
    }
}

TEST_CASE("the translation of an exponential is that of the 4x4 matrix's") {
    const Vec3<double> u = {0.3, 1.2, -0.7};
    for (const double angle : angles) {
        CAPTURE(angle);
        const Vec3<double> w = axis_times(angle);
        Matrix twist(4, 4);
        const Matrix W = hat(w);
        for (int i = 0; i < 3; ++i)
            for (int j = 0; j < 3; ++j) twist(i, j) = W(i, j);
        twist(0, 3) = u.x, twist(1, 3) = u.y, twist(2, 3) = u.z;
        const Matrix X = exponential(twist);
        const Vec3<double> p = exp_translation(angle_functions(w), w, u);
        CHECK(apart(p, Numbers{X(0, 3), X(1, 3), X(2, 3)}) < 1e-13);
    }
}

TEST_CASE("the right Jacobian and the inverse adjoint are their series of 6x6 matrices") {
    for (const double angle : angles) {
        CAPTURE(angle);
        const Motion<double> x = {axis_times(angle), {0.4, -0.8, 1.1}};
        const Matrix ad_x = cross_matrix(x);
        const MotionMap<double> J = right_jacobian(x);
        CHECK(apart(dense(J), jacobian_series(ad_x)) < 1e-12);
        CHECK(apart(dense(inverse_adjoint(x, J)), exponential(-1.0 * ad_x)) < 1e-12);
    }
}

TEST_CASE("the derivatives db and dc are those of b and c by complex step") {
    for (const double angle : angles) {
        if (angle == 0.0) continue;
        CAPTURE(angle);
        const Vec3<double> w = axis_times(angle);
        const double step = 1e-40;  // along w: t becomes (1 + i h)^2 t
        const Complex scale = {1.0, step};
        const AngleFunctions<Complex> f =
            angle_functions(Vec3<Complex>{scale * w.x, scale * w.y, scale * w.z});
        const double dt = 2.0 * dot(w, w) * step;
        CHECK(f.b.imag() / dt == doctest::Approx(f.db.real()).epsilon(1e-12));
        CHECK(f.c.imag() / dt == doctest::Approx(f.dc.real()).epsilon(1e-12));
    }
}

TEST_CASE("lanes have the bits of single numbers on both sides of t = 1") {
    Lane w[3];
    for (int l = 0; l < lanes; ++l) {
        const Vec3<double> v = axis_times(angles[l]);
        w[0].value[l] = v.x, w[1].value[l] = v.y, w[2].value[l] = v.z;
    }
    const AngleFunctions<Lane> f = angle_functions(Vec3<Lane>{w[0], w[1], w[2]});
    for (int l = 0; l < lanes; ++l) {
        CAPTURE(angles[l]);
        const AngleFunctions<double> alone = angle_functions(axis_times(angles[l]));
        CHECK(f.half_sine.value[l] == alone.half_sine);
        CHECK(f.b.value[l] == alone.b);
        CHECK(f.c.value[l] == alone.c);
        CHECK(f.db.value[l] == alone.db);
        CHECK(f.dc.value[l] == alone.dc);
    }
}

TEST_CASE("a joint's matrix acts on its coordinates as the map acts on twists") {
    Random random(31);
    // Of a planar joint, whose twists turn about z and slide along x and y.
    const MotionMap<double> planar_map =
        right_jacobian(Motion<double>{{0, 0, 1.3}, {0.2, -0.5, 0}});
    for (const JointKind kind : {JointKind::spherical, JointKind::planar, JointKind::free}) {
        INFO(traits(kind).name);
        const int n = traits(kind).nv;
        Body body = {};
        body.kind = kind;
        const MotionMap<double> map =
            kind == JointKind::planar
                ? planar_map
                : MotionMap<double>{random.matrix<double>(), random.matrix<double>()};
        Matrix matrix(n, n), x(n, 1);
        joint_matrix(kind, map, matrix.at.data());
        for (double& number : x.at) number = random.number();
        const Motion<double> m = joint_twist(body, x.at.data());
        const Motion<double> mapped = {map.E * m.ang, mul_add(map.Q, m.ang, map.E * m.lin)};
        Numbers expected(n);
        joint_coordinates(body, mapped, expected.data());
        CHECK(apart(matrix * x, expected) < tight);
    }
}

TEST_SUITE_END();

}  // namespace
}  // namespace dtau::DTAU_VARIANT
