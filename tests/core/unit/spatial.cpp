// Tests spatial.hpp against numbers by hand, dense matrices and the identities of spatial vectors.
#include "dtau/spatial.hpp"

#include "support.hpp"

namespace dtau::DTAU_VARIANT {
namespace {

constexpr double tight = 1e-15;

TEST_SUITE_BEGIN("spatial");

TEST_CASE("vectors and matrices by numbers") {
    const Vec3<double> a = {1, 2, 3}, b = {4, 5, 6}, c = {0.5, 0.25, -1};
    CHECK(apart(cross(a, b), Numbers{-3, 6, -3}) == 0.0);
    CHECK(apart(cross(a, b, c), Numbers{-2.5, 6.25, -4}) == 0.0);
    CHECK(dot(a, b) == 32.0);
    CHECK(dot(a, b, -2.0) == 30.0);
    CHECK(apart(fma(2.0, a, b), Numbers{6, 9, 12}) == 0.0);
    CHECK(apart(a - b, Numbers{-3, -3, -3}) == 0.0);

    const Mat3<double> m = {{1, 2, 3}, {4, 5, 6}, {7, 8, 10}};  // by columns
    CHECK(apart(m * c, Numbers{0.5 + 1 - 7, 1 + 1.25 - 8, 1.5 + 1.5 - 10}) == 0.0);
    CHECK(apart(mul_add(m, c, a), Numbers{-4.5, -3.75, -4}) == 0.0);
    CHECK(apart(transposed_mul(m, c), Numbers{-2, -2.75, -4.5}) == 0.0);
    CHECK(apart(transposed(m).y, Numbers{2, 5, 8}) == 0.0);
    CHECK(apart(m * Mat3<double>::identity(), m) == 0.0);

    const Sym3<double> s = {1, 2, 3, 4, 5, 6};
    CHECK(apart(s * Vec3<double>{1, 10, 100}, Numbers{321, 542, 653}) == 0.0);
    CHECK(apart(full(s), Numbers{1, 2, 3, 2, 4, 5, 3, 5, 6}) == 0.0);
}

TEST_CASE("a zero that comes out of a fused multiply-add changes its sign") {
    const double zero = fma(2.0, 3.0, -6.0);
    CHECK(std::signbit(negated(zero)));
    const Vec3<double> minus = -Vec3<double>{zero, 1.0, -zero};
    CHECK(std::signbit(minus.x));
    CHECK(!std::signbit(minus.z));
}

TEST_CASE("products of matrices are those of dense matrices") {
    Random random(1);
    const Mat3<double> a = random.matrix<double>(), b = random.matrix<double>();
    const Sym3<double> s = random.symmetric<double>();
    const Mat3<double> R = random.rotation<double>();
    CHECK(apart(dense(a * b), dense(a) * dense(b)) < tight);
    CHECK(apart(dense(fma(0.5, a, b)), 0.5 * dense(a) + dense(b)) < tight);
    CHECK(apart(dense(rotated(R, s)), dense(R) * dense(s) * transposed(dense(R))) < 1e-14);
    CHECK(apart(dense(skew(a.x)), hat(a.x)) == 0.0);
}

TEST_CASE("cross products of motions and forces are [RBDA] eqs. 2.31 and 2.32") {
    Random random(2);
    const Motion<double> v = random.motion<double>(), m = random.motion<double>(),
                         c = random.motion<double>();
    const Force<double> f = random.force<double>(), g = random.force<double>();
    CHECK(apart(cross(v, m), cross_matrix(v) * column(m)) < tight);
    CHECK(apart(cross(v, m, c), cross_matrix(v) * column(m) + column(c)) < tight);
    CHECK(apart(cross_star(v, f), cross_star_matrix(v) * column(f)) < tight);
    CHECK(apart(cross_star(v, f, g), cross_star_matrix(v) * column(f) + column(g)) < tight);
}

TEST_CASE_TEMPLATE("identities of spatial vectors", T, double, Lane, Complex) {
    Random random(3);
    const Motion<T> u = random.motion<T>(), v = random.motion<T>(), m = random.motion<T>();
    const Force<T> f = random.force<T>();
    const Motion<T> jacobi = cross(u, cross(v, m)) + cross(v, cross(m, u)) + cross(m, cross(u, v));
    CHECK(apart(jacobi, zero_motion<T>()) < 1e-14);
    CHECK(apart(dot(cross(v, m), f), -dot(m, cross_star(v, f))) < 1e-14);
    CHECK(apart(dot(m, f), dot(f, m)) == 0.0);
    CHECK(apart(dot(f, m, u.ang.x), dot(f, m) + u.ang.x) < tight);
}

TEST_CASE_TEMPLATE("power does not depend on the frame", T, double, Lane) {
    Random random(4);
    const Placement<T> P = random.placement<T>();
    const Motion<T> m = random.motion<T>();
    const Force<T> f = random.force<T>();
    CHECK(apart(dot(seen_from(P, m), f), dot(m, transformed(P, f))) < 1e-14);
}

TEST_CASE("a motion seen from a frame, and a force given in it, by numbers") {
    // At (1, 0, 0), a quarter turn about z: its x axis is the y axis of the world.
    const Placement<double> P = {{{0, 1, 0}, {-1, 0, 0}, {0, 0, 1}}, {1, 0, 0}};
    const Motion<double> spin = {{0, 0, 2}, {0, 0, 0}};  // about z of the world
    CHECK(apart(seen_from(P, spin), Numbers{0, 0, 2, 2, 0, 0}) == 0.0);
    const Force<double> push = {{0, 0, 0}, {3, 0, 0}};  // along y of the world, with arm 1
    CHECK(apart(transformed(P, push), Numbers{0, 0, 3, 0, 3, 0}) == 0.0);
}

TEST_SUITE_END();

}  // namespace
}  // namespace dtau::DTAU_VARIANT
