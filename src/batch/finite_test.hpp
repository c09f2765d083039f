// Collects whether the numbers of a state, or of each state of a group in lanes, are finite: FiniteTest.
#pragma once

#include <cstddef>
#include <cstdint>

#include "dtau/pack.hpp"

namespace dtau::DTAU_VARIANT {

// `largest` is the largest finite number. Its bits minus the bits of |x|, as integers, are negative exactly
// for non-finite numbers.
DTAU_INLINE Lane::Bits excess(Lane x) {
    constexpr std::int64_t magnitude = 0x7fffffffffffffff, largest = 0x7fefffffffffffff;
    return largest - (to_bits(x) & magnitude);
}

// Other scalars are not tested.
template <class T> class FiniteTest {
  public:
    void add(const T*, std::ptrdiff_t) {}
    bool is_finite(int) const { return true; }
};

template <> class FiniteTest<double> {
  public:
    void add(const double* x, std::ptrdiff_t size) {
        if (size < lanes) {
            for (std::ptrdiff_t k = 0; k < size; ++k) found_ |= excess(Lane(x[k]));
            return;
        }
        for (std::ptrdiff_t k = 0; k < size - lanes; k += lanes)
            found_ |= excess(Lane::load(x + k));
        found_ |= excess(Lane::load(x + size - lanes));  // some of them again
    }
    bool is_finite(int) const {
        std::int64_t any = 0;
        for (int l = 0; l < lanes; ++l) any |= found_[l];
        return any >= 0;
    }

  private:
    Lane::Bits found_ = {};
};

template <> class FiniteTest<Lane> {
  public:
    void add(const Lane* x, std::ptrdiff_t size) {
        // Zeros, or NaN. Four sums hide the latency of the additions.
        Lane sum[4] = {Lane(0.0), Lane(0.0), Lane(0.0), Lane(0.0)};
        std::ptrdiff_t k = 0;
        for (; k + 4 <= size; k += 4)
            unrolled<4>([&](int i) { sum[i] = fma(x[k + i], Lane(0.0), sum[i]); });
        for (; k < size; ++k) sum[0] = fma(x[k], Lane(0.0), sum[0]);
        found_ += (sum[0] + sum[1]) + (sum[2] + sum[3]);
    }
    bool is_finite(int lane) const { return found_.value[lane] == 0.0; }

  private:
    Lane found_ = Lane(0.0);
};

}  // namespace dtau::DTAU_VARIANT
