// What the processor can do at most: the rate of independent fused multiply-adds.
#include <ctime>

#include "dtau/counted.hpp"
#include "kernels/table.hpp"

namespace dtau::DTAU_VARIANT {
namespace {

template <class T>
double rate() {
    constexpr int chains = 12;  // enough to hide the latency
    constexpr long rounds = 2'000'000;
    T x[chains], scale(0.999999), shift(1e-6);
    for (int c = 0; c < chains; ++c) x[c] = T(1.0 + 0.01 * c);
    const std::clock_t start = std::clock();
    for (long r = 0; r < rounds; ++r) {
        for (int c = 0; c < chains; ++c) {
            x[c] = fma(x[c], scale, shift);
            asm volatile("" : "+x"(x[c]));  // keeps the chains apart: nothing to vectorise
        }
    }
    return rounds * chains / (static_cast<double>(std::clock() - start) / CLOCKS_PER_SEC);
}

}  // namespace

PeakRate peak_rate() { return {rate<double>(), rate<Lane>() * lanes}; }

#ifdef DTAU_WITH_TEST_SCALARS
void take_operation_counts(long long* counts) {
    counts[0] = Counted::counts.multiplications;
    counts[1] = Counted::counts.additions;
    counts[2] = Counted::counts.divisions;
    Counted::counts = {};
}
#else
void take_operation_counts(long long*) {}
#endif

}  // namespace dtau::DTAU_VARIANT
