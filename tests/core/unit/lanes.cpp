// Tests lane.hpp, pack.hpp and counted.hpp: lanes against single numbers, bit by bit, and single numbers
// against the standard library.
#include "dtau/lane.hpp"

#include "dtau/counted.hpp"
#include "dtau/hyperbolic_tangent.hpp"
#include "dtau/pack.hpp"
#include "dtau/sincos.hpp"
#include "support.hpp"

namespace dtau::DTAU_VARIANT {
namespace {

constexpr double infinity = std::numeric_limits<double>::infinity();

bool same_bits(double a, double b) {
    return to_bits(a) == to_bits(b) || (std::isnan(a) && std::isnan(b));
}

// Compares f(x...) of lanes with f of each lane's numbers.
template <class F, class... X> bool same_alone(const F& f, X... x) {
    const Lane together = f(x...);
    for (int l = 0; l < lanes; ++l)
        if (!same_bits(together.value[l], f(x.value[l]...))) return false;
    return true;
}

// Units in the last place between a and the correctly rounded b.
double units(double a, double b) {
    return std::fabs(a - b) / (std::nextafter(std::fabs(b), infinity) - std::fabs(b));
}

TEST_SUITE_BEGIN("lanes");

TEST_CASE("a lane computes as a single number does, bit by bit") {
    Random random(21);
    for (int repeat = 0; repeat < 50; ++repeat) {
        const Lane a = random.scalar<Lane>(), b = random.scalar<Lane>(), c = random.scalar<Lane>();
        CHECK(same_alone([](auto x, auto y) { return x + y; }, a, b));
        CHECK(same_alone([](auto x, auto y) { return x - y; }, a, b));
        CHECK(same_alone([](auto x, auto y) { return x * y; }, a, b));
        CHECK(same_alone([](auto x, auto y) { return x / y; }, a, b));
        CHECK(same_alone([](auto x) { return -x; }, a));
        CHECK(same_alone([](auto x, auto y, auto z) { return fma(x, y, z); }, a, b, c));
        CHECK(same_alone([](auto x) { return square_root(x * x); }, a));
        CHECK(same_alone([](auto x, auto y) { return select(less(x, 0.25), y, -y); }, a, b));
        CHECK(same_alone([](auto x, auto y) { return dot(Vec3{x, y, x}, Vec3{y, y, x}); }, a, b));
    }
}

TEST_CASE("fma, square roots and conditions by numbers") {
    CHECK(fma(2.0, 3.0, 4.0) == 10.0);
    CHECK(square_root(9.0) == 3.0);
    CHECK(std::isnan(square_root(-1.0)));
    CHECK(select(less(1.0, 2.0), 5.0, 7.0) == 5.0);
    CHECK(select(less(2.0, 2.0), 5.0, 7.0) == 7.0);
    CHECK(fma(Complex{1, 2}, Complex{3, -1}, Complex{0.5, 0.25}) == Complex{5.5, 5.25});
#if defined(__FMA__) || defined(__aarch64__)
    CHECK(fma(1.0 + 0x1p-30, 1.0 - 0x1p-30, -1.0) == -0x1p-60);  // rounded once
#endif
}

TEST_CASE("sines and cosines are within two units of the last place") {
    Random random(22);
    for (int repeat = 0; repeat < 20000; ++repeat) {
        const double x = std::pow(10.0, 5.0 * std::fabs(random.number())) * random.number();
        double sine, cosine;
        sincos(x, sine, cosine);
        const auto exact = static_cast<long double>(x);
        REQUIRE(units(sine, static_cast<double>(std::sin(exact))) <= 2.0);
        REQUIRE(units(cosine, static_cast<double>(std::cos(exact))) <= 2.0);
    }
}

TEST_CASE("sines and cosines of lanes have the bits of single ones, huge angles and NaN too") {
    Random random(23);
    const double odd[] = {0.0,   -0.0, 1e300, -infinity, std::nan(""), 3e5, 1.5707963267948966,
                          1e-300};
    for (int repeat = 0; repeat < 200; ++repeat) {
        Lane x = Lane(10.0) * random.scalar<Lane>();
        if (repeat % 2) x.value[repeat / 2 % lanes] = odd[repeat / 2 % 8];
        CHECK(same_alone(
            [](auto y) {
                decltype(y) sine, cosine;
                sincos(y, sine, cosine);
                return sine;
            },
            x));
        CHECK(same_alone(
            [](auto y) {
                decltype(y) sine, cosine;
                sincos(y, sine, cosine);
                return cosine;
            },
            x));
    }
    double sine, cosine;
    sincos(1e300, sine, cosine);
    CHECK(sine == std::sin(1e300));
    sincos(infinity, sine, cosine);
    CHECK(std::isnan(sine));
    CHECK(std::isnan(cosine));
}

TEST_CASE("hyperbolic tangents are within four units of the last place, odd, and 1 far away") {
    Random random(24);
    for (int repeat = 0; repeat < 20000; ++repeat) {
        const double x = std::pow(10.0, 10.0 * random.number() - 8.0) * random.number();
        const double y = hyperbolic_tangent(x);
        REQUIRE(units(y, static_cast<double>(std::tanh(static_cast<long double>(x)))) <= 4.0);
        REQUIRE(hyperbolic_tangent(-x) == -y);
    }
    for (double x : {0x1p-1074, 1e-310, 1e-300, 1e-17}) CHECK(hyperbolic_tangent(x) == x);
    for (double x : {19.1, 20.0, 21.0, 700.0, 1e300, infinity}) {
        CHECK(hyperbolic_tangent(x) == 1.0);
        CHECK(hyperbolic_tangent(-x) == -1.0);
    }
    CHECK(std::signbit(hyperbolic_tangent(-0.0)));
    CHECK(!std::signbit(hyperbolic_tangent(0.0)));
    CHECK(std::isnan(hyperbolic_tangent(std::nan(""))));
    const Complex step = hyperbolic_tangent(Complex(0.7, 1e-30));
    CHECK(step.imag() / 1e-30 ==
          doctest::Approx(1.0 - std::tanh(0.7) * std::tanh(0.7)).epsilon(1e-15));
}

TEST_CASE("slopes of hyperbolic tangents are within four units of the last place, also far away") {
    Random random(26);
    for (int repeat = 0; repeat < 20000; ++repeat) {
        const double x =
            repeat % 2 ? 353.0 * random.number() : std::pow(10.0, 10.0 * random.number() - 8.0);
        const long double secant = 1.0L / std::cosh(static_cast<long double>(x));
        const double slope = tangent_and_slope(x).slope;
        REQUIRE(units(slope, static_cast<double>(secant * secant)) <= 4.0);
        REQUIRE(tangent_and_slope(-x).slope == slope);
        REQUIRE(hyperbolic_tangent(x) == tangent_and_slope(x).tangent);
    }
    CHECK(tangent_and_slope(0.0).slope == 1.0);
    for (double x : {354.1, 700.0, 1e300, infinity}) CHECK(tangent_and_slope(x).slope == 0.0);
    CHECK(std::isnan(tangent_and_slope(std::nan("")).slope));
    const Complex step = tangent_and_slope(Complex(9.0, 1e-30)).slope;
    const double secant = 1.0 / std::cosh(9.0);
    CHECK(step.imag() / 1e-30 ==
          doctest::Approx(-2.0 * std::tanh(9.0) * secant * secant).epsilon(1e-14));
}

TEST_CASE("hyperbolic tangents of lanes have the bits of single ones, infinity and NaN too") {
    Random random(25);
    const double odd[] = {0.0, -0.0, 1e300, -infinity, std::nan(""), 22.0, 1e-310, -0.3};
    for (int repeat = 0; repeat < 200; ++repeat) {
        Lane x = Lane(5.0) * random.scalar<Lane>();
        if (repeat % 2) x.value[repeat / 2 % lanes] = odd[repeat / 2 % 8];
        CHECK(same_alone([](auto y) { return hyperbolic_tangent(y); }, x));
        CHECK(same_alone([](auto y) { return tangent_and_slope(y).slope; }, x));
    }
}

TEST_CASE("transposing turns rows into columns") {
    Lane::Vector x[lanes];
    for (int i = 0; i < lanes; ++i)
        for (int j = 0; j < lanes; ++j) x[i][j] = 10 * i + j;
    transpose(x);
    for (int i = 0; i < lanes; ++i)
        for (int j = 0; j < lanes; ++j) CHECK(x[i][j] == 10 * j + i);
}

TEST_CASE("vectors are loaded, stored and streamed where they belong") {
    alignas(64) double from[3 * lanes], to[3 * lanes];
    for (int k = 0; k < 3 * lanes; ++k) from[k] = k + 0.5, to[k] = -1.0;
    Lane::load(from + 1).store(to + 3);
    for (int k = 0; k < 3 * lanes; ++k)
        CHECK(to[k] == (k >= 3 && k < 3 + lanes ? k - 2 + 0.5 : -1.0));
    Lane::load(from).stream(to + lanes);
    end_streams();
    for (int k = 0; k < lanes; ++k) CHECK(to[lanes + k] == k + 0.5);
}

TEST_CASE("packs keep to the numbers that they were given") {
    using P = Pack<double>;
    for (int count = 0; count <= P::width; ++count) {
        const Numbers from(count, 2.0);  // of this size, for the address sanitizer
        Numbers to(count + 1, 7.0);
        const P p = P::load(from.data(), count);
        double whole[P::width];
        p.store(whole);
        for (int k = 0; k < P::width; ++k) CHECK(whole[k] == (k < count ? 2.0 : 0.0));
        fma(3.0, p, p).store(to.data(), count);
        for (int k = 0; k <= count; ++k) CHECK(to[k] == (k < count ? 8.0 : 7.0));
    }
    for (int i = -1; i <= P::width; ++i) {
        double unit[P::width];
        P::unit(i).store(unit);
        for (int k = 0; k < P::width; ++k) CHECK(unit[k] == (k == i ? 1.0 : 0.0));
    }
    double rows[P::width];
    int index[P::width];
    for (int k = 0; k < P::width; ++k) rows[k] = k + 1.0, index[k] = P::width - 1 - k;
    Numbers scattered(3 * P::width, 0.0);
    P::load(rows).scatter(scattered.data(), 3, index, P::width - 1);
    for (int k = 0; k < P::width; ++k)
        CHECK(scattered[3 * index[k]] == (k < P::width - 1 ? k + 1.0 : 0.0));
    CHECK(whole_packs<double>(P::width + 1) == 2 * P::width);
    CHECK(whole_packs<double>(P::width) == P::width);
    CHECK(whole_packs<Lane>(5) == 5);
}

TEST_CASE_TEMPLATE("four neighbors by numbers", T, double, Lane) {
    const FourNumbers<T> from = {T(1.0), T(2.0), T(3.0), T(4.0)};
    const auto numbers = [](const Vec4<T>& x) {
        FourNumbers<T> to;
        x.store(to);
        Numbers all;
        for (const T& number : {to.x, to.y, to.z, to.w}) put(all, number);
        return all;
    };
    const auto are = [](double x, double y, double z, double w) {
        Numbers all;
        for (double number : {x, y, z, w}) put(all, T(number));
        return all;
    };
    Vec4<T> x = Vec4<T>::of(T(10.0), T(20.0), T(30.0), T(40.0));
    const Vec4<T> one = Vec4<T>::load(from);
    x.add(T(2.0), from);
    CHECK(apart(numbers(x), are(12, 24, 36, 48)) == 0.0);
    x.add_rotated(one);
    CHECK(apart(numbers(x), are(14, 23, 40, 45)) == 0.0);
    x.subtract_rotated(one);
    CHECK(apart(numbers(x), are(12, 24, 36, 48)) == 0.0);
    CHECK(apart(numbers(Vec4<T>::zero()), are(0, 0, 0, 0)) == 0.0);
}

TEST_CASE("operations are counted: a cross product takes 6 multiplications and 3 additions") {
    Counted::counts = {};
    const Vec3<Counted> a = {Counted(1), Counted(2), Counted(3)},
                        b = {Counted(4), Counted(5), Counted(6)};
    const Vec3<Counted> c = cross(a, b);
    CHECK(c.x.value == -3.0);
    CHECK(Counted::counts.multiplications == 6);
    CHECK(Counted::counts.additions == 3);
    CHECK(Counted::counts.divisions == 0);
    (void)square_root(c.y / c.z);
    CHECK(Counted::counts.divisions == 2);
}

TEST_SUITE_END();

}  // namespace
}  // namespace dtau::DTAU_VARIANT
