// Measures the processor's peak rate: independent fused multiply-adds, peak_rate().
#include "batch/peak.hpp"

#include <ctime>

#include "dtau/lane.hpp"

namespace dtau::DTAU_VARIANT {
namespace {

// Ten independent chains hide the latency. Variables, and not an array, keep them in registers.
template <class T> double rate() {
    constexpr long rounds = 4'000'000;
    T a(1.0), b(1.1), c(1.2), d(1.3), e(1.4), f(1.5), g(1.6), h(1.7), i(1.8), j(1.9);
    const T scale(0.999999), shift(1e-6);
    const auto step = [&](T& x) { x = fma(x, scale, shift); };
    const std::clock_t start = std::clock();
    for (long r = 0; r < rounds; ++r) {
        step(a), step(b), step(c), step(d), step(e), step(f), step(g), step(h), step(i), step(j);
    }
    const double seconds = static_cast<double>(std::clock() - start) / CLOCKS_PER_SEC;
    const T sum = a + b + c + d + e + f + g + h + i + j;
    asm volatile("" : : "m"(sum));  // uses the result, so the compiler keeps all operations
    return 10.0 * rounds / seconds;
}

}  // namespace

PeakRate peak_rate() { return {rate<double>(), rate<Lane>() * lanes}; }

}  // namespace dtau::DTAU_VARIANT
