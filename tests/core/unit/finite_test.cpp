// Tests batch/finite_test.hpp: one number that is not finite, at each place of arrays of all sizes.
#include "batch/finite_test.hpp"

#include "support.hpp"

namespace dtau::DTAU_VARIANT {
namespace {

constexpr double infinity = std::numeric_limits<double>::infinity();
constexpr double largest = std::numeric_limits<double>::max();
const double not_finite[] = {infinity, -infinity, std::numeric_limits<double>::quiet_NaN()};

TEST_SUITE_BEGIN("finite test");

TEST_CASE("of one state") {
    for (int size = 0; size < 3 * lanes + 2; ++size) {
        std::vector<double> x(size, -largest);
        FiniteTest<double> finite;
        finite.add(x.data(), size);
        CHECK(finite.is_finite(0));
        for (int k = 0; k < size; ++k)
            for (const double bad : not_finite) {
                FiniteTest<double> test;
                x[k] = bad;
                test.add(x.data(), size);
                x[k] = largest;
                test.add(x.data(), size);  // forgets nothing
                CHECK(!test.is_finite(0));
            }
    }
}

TEST_CASE("of each state in lanes") {
    for (int size = 0; size < 14; ++size) {
        std::vector<Lane> x(size, Lane(-largest));
        for (int k = 0; k < size; ++k)
            for (int l = 0; l < lanes; ++l)
                for (const double bad : not_finite) {
                    FiniteTest<Lane> test;
                    x[k].value[l] = bad;
                    test.add(x.data(), size);
                    x[k].value[l] = largest;
                    test.add(x.data(), size);
                    for (int other = 0; other < lanes; ++other)
                        CHECK(test.is_finite(other) == (other != l));
                }
    }
}

TEST_SUITE_END();

}  // namespace
}  // namespace dtau::DTAU_VARIANT
