// Tests series.hpp: series against closed forms and identities, short ones against long ones and lanes against
// single numbers, bit by bit.
#include "series.hpp"

#include <algorithm>
#include <string>

#include "support.hpp"

namespace dtau::DTAU_VARIANT {
namespace {

constexpr int length = 9;  // orders to 8
using Long = Series<double, length>;
constexpr double infinity = std::numeric_limits<double>::infinity();

Numbers coefficients(const Long& x) { return Numbers(x.at, x.at + length); }

Long random_series(Random& random) {
    return Long::of([&](int) { return random.number(); });
}
Long line(double x0, double slope) {
    return Long::of([&](int k) { return k == 0 ? x0 : k == 1 ? slope : 0.0; });
}
// Coefficients of exp(slope t) times `scale`.
Long exponential(double scale, double slope) {
    double term = scale;
    return Long::of([&](int k) { return term = k == 0 ? scale : term * slope / k; });
}

// The largest difference of coefficients, in parts of the largest coefficient.
double relative(const Long& a, const Long& b) {
    double largest = 0.0;
    for (const double x : b.at) largest = std::max(largest, std::fabs(x));
    return apart(coefficients(a), coefficients(b)) / largest;
}

// Calls f with each function of one or two series as an operator on series of any scalar and length.
template <class F> void for_functions(const F& f) {
    f("a + b", [](const auto& a, const auto& b) { return a + b; });
    f("a - b", [](const auto& a, const auto& b) { return -b - -a; });
    f("a b", [](const auto& a, const auto& b) { return a * b; });
    f("a / b", [](const auto& a, const auto& b) { return a / b; });
    f("2 a", [](const auto& a, const auto&) { return 2.0 * a; });
    f("a b + a", [](const auto& a, const auto& b) { return fma(a, b, a); });
    f("a - a b", [](const auto& a, const auto& b) { return fnma(a, b, a); });
    f("3 a + b", [](const auto& a, const auto& b) { return fma(3.0, a, b); });
    f("a 3 + b", [](const auto& a, const auto& b) { return fma(a, 3.0, b); });
    f("sqrt", [](const auto& a, const auto& b) { return square_root(fma(a, a, b * b)); });
    f("|a|", [](const auto& a, const auto&) { return absolute(a); });
    f("select", [](const auto& a, const auto& b) { return select(less(a, 0.25), a, b); });
    f("sin + 2 cos", [](const auto& a, const auto&) {
        auto sine = a, cosine = a;
        sincos(a, sine, cosine);
        return fma(2.0, cosine, sine);
    });
    f("tanh", [](const auto& a, const auto&) { return tangent_and_slope(a).tangent; });
    f("slope", [](const auto& a, const auto&) { return tangent_and_slope(a).slope; });
    f("angle", [](const auto& a, const auto& b) { return angle_of(absolute(a), absolute(b)); });
}

TEST_SUITE_BEGIN("series");

TEST_CASE("sine and cosine of a line") {
    const double x0 = 0.7, slope = -1.3;
    Long sine, cosine;
    sincos(line(x0, slope), sine, cosine);
    const Long s = exponential(std::sin(x0), slope), c = exponential(std::cos(x0), slope);
    for (int k = 0; k < length; ++k) {  // derivatives of sin: cos, -sin, -cos, sin, ...
        const double sign = k % 4 < 2 ? 1.0 : -1.0;
        CAPTURE(k);
        CHECK(std::fabs(sine.at[k] - sign * (k % 2 ? exponential(std::cos(x0), slope) : s).at[k]) <
              1e-15);
        CHECK(std::fabs(cosine.at[k] - (k % 2 ? -sign * s.at[k] : sign * c.at[k])) < 1e-15);
    }
}

TEST_CASE("quotients and roots of polynomials") {
    const double slope = -1.5;
    double power = 1.0, binomial = 1.0;  // 1/(1 - x t), sqrt(1 + x t)
    const Long quotient = Long(1.0) / line(1.0, -slope), root = square_root(line(1.0, slope));
    for (int k = 0; k < length; ++k) {
        CAPTURE(k);
        CHECK(quotient.at[k] == doctest::Approx(power).epsilon(1e-14));
        CHECK(root.at[k] == doctest::Approx(binomial).epsilon(1e-14));
        power *= slope, binomial *= slope * (0.5 - k) / (k + 1);
    }
}

TEST_CASE("hyperbolic tangent and its slope by exponentials") {
    const double x0 = 0.4, slope = 0.9;
    const TangentAndSlope<Long> y = tangent_and_slope(line(x0, slope));
    const Long e = exponential(std::exp(2.0 * x0), 2.0 * slope), sum = e + Long(1.0);
    CHECK(relative(y.tangent, (e - Long(1.0)) / sum) < 1e-15);
    CHECK(relative(y.slope, 4.0 * e / (sum * sum)) < 1e-14);
}

TEST_CASE("identities of random series") {
    Random random(91);
    for (int repeat = 0; repeat < 20; ++repeat) {
        const Long a = random_series(random), b = random_series(random) + Long(2.5);
        Long sa, ca, sb, cb, s, c;
        sincos(a, sa, ca), sincos(b, sb, cb), sincos(a + b, s, c);
        CHECK(relative(s, sa * cb + ca * sb) < 1e-14);
        CHECK(relative(c, ca * cb - sa * sb) < 1e-14);
        CHECK(relative(a / b * b, a) < 1e-14);
        const Long root = square_root(b);
        CHECK(relative(root * root, b) < 1e-15);
        const Long theta = fma(0.5, a, Long(0.75));  // between both axes
        sincos(theta, s, c);
        CHECK(relative(angle_of(b * s, b * c), theta) < 1e-14);
        CHECK(relative(fma(a, b, a), a * b + a) < 1e-15);
        CHECK(relative(integral(a.at[0], Long::of([&](int k) {
                                    return k + 1 < length ? (k + 1) * a.at[k + 1] : 0.0;
                                })),
                       a) < 1e-15);
    }
}

TEST_CASE("derivatives of a polynomial") {
    const Long x = Long::of([](int k) { return k < 5 ? k + 1.0 : 0.0; });
    CHECK(derivative(x, 0) == 1.0);
    CHECK(derivative(x, 1) == 2.0);
    CHECK(derivative(x, 4) == 5.0 * 24.0);
    CHECK(derivative(x, 5) == 0.0);
}

TEST_CASE("a shorter series has the same bits, and a lane those of a number") {
    Random random(92);
    for (int repeat = 0; repeat < 10; ++repeat) {
        const Long a = random_series(random), b = random_series(random);
        for_functions([&](const char* name, const auto& f) {
            CAPTURE(std::string(name));
            const Long all = f(a, b);
            const auto cut = [](const Long& x) {
                return Series<double, 3>::of([&](int k) { return x.at[k]; });
            };
            const auto lanes_of = [](const Long& x) {
                return Series<Lane, length>::of([&](int k) { return Lane(x.at[k]); });
            };
            const Series<double, 3> few = f(cut(a), cut(b));
            const Series<Lane, length> wide = f(lanes_of(a), lanes_of(b));
            for (int k = 0; k < 3; ++k) CHECK(to_bits(few.at[k]) == to_bits(all.at[k]));
            for (int k = 0; k < length; ++k)
                CHECK(to_bits(wide.at[k].value[lanes - 1]) == to_bits(all.at[k]));
        });
    }
}

TEST_CASE("NaN of an order stays in this and higher orders") {
    Random random(93);
    for (int order = 0; order < length; order += 4) {
        const Long a = random_series(random), b = random_series(random);
        Long wrong = a;
        wrong.at[order] = std::nan("");
        for_functions([&](const char* name, const auto& f) {
            CAPTURE(std::string(name));
            const Long clean = f(a, b), result = f(wrong, b);
            for (int k = 0; k < order; ++k) CHECK(to_bits(result.at[k]) == to_bits(clean.at[k]));
            // It may select b.
            if (std::string(name) != "select") CHECK(std::isnan(result.at[order]));
        });
    }
}

TEST_CASE("infinite and undefined numbers") {
    Long sine, cosine;
    sincos(Long(infinity), sine, cosine);
    CHECK(std::isnan(sine.at[0]));
    CHECK(std::isnan(cosine.at[1]));
    CHECK(std::isnan(square_root(Long(-1.0)).at[0]));
    const Long root = square_root(line(0.0, 1.0));  // its slope is infinite
    CHECK(root.at[0] == 0.0);
    CHECK(root.at[1] == infinity);
    const Long quotient = Long(1.0) / Long(0.0);
    CHECK(quotient.at[0] == infinity);
    CHECK(std::isnan(quotient.at[1]));
    const TangentAndSlope<Long> y = tangent_and_slope(line(infinity, 1.0));
    CHECK(relative(y.tangent, Long(1.0)) == 0.0);
    CHECK(apart(coefficients(y.slope), Numbers(length)) == 0.0);
    CHECK(std::isnan(tangent_and_slope(line(infinity, infinity)).tangent.at[1]));
}

TEST_SUITE_END();

}  // namespace
}  // namespace dtau::DTAU_VARIANT
