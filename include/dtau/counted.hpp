// Counts the operations done with a double: exact operation counts for the benchmarks.
#pragma once

#include "dtau/sincos.hpp"

namespace dtau::DTAU_VARIANT {

struct OperationCounts {
    long long multiplications, additions, divisions;  // a fused multiply-add is one of each
};

struct Counted {
    double value;
    static inline thread_local OperationCounts counts = {};

    Counted() = default;
    DTAU_INLINE explicit Counted(double x) : value(x) {}

    DTAU_INLINE friend Counted operator+(Counted a, Counted b) {
        ++counts.additions;
        return Counted(a.value + b.value);
    }
    DTAU_INLINE friend Counted operator-(Counted a, Counted b) {
        ++counts.additions;
        return Counted(a.value - b.value);
    }
    DTAU_INLINE friend Counted operator*(Counted a, Counted b) {
        ++counts.multiplications;
        return Counted(a.value * b.value);
    }
    DTAU_INLINE friend Counted operator*(double a, Counted b) { return Counted(a) * b; }
    DTAU_INLINE friend Counted operator/(Counted a, Counted b) {
        ++counts.divisions;
        return Counted(a.value / b.value);
    }
    DTAU_INLINE friend Counted operator-(Counted a) { return Counted(-a.value); }
    DTAU_INLINE Counted& operator+=(Counted b) { return *this = *this + b; }
};

DTAU_INLINE Counted fma(Counted a, Counted b, Counted c) { return a * b + c; }
DTAU_INLINE Counted fma(double a, Counted b, Counted c) { return Counted(a) * b + c; }
DTAU_INLINE Counted fma(Counted a, double b, Counted c) { return a * Counted(b) + c; }

DTAU_INLINE std::int64_t to_bits(Counted x) { return to_bits(x.value); }
DTAU_INLINE Counted select(std::int64_t mask, Counted a, Counted b) { return mask ? a : b; }

DTAU_INLINE Counted square_root(Counted x) {
    ++Counted::counts.divisions;  // a square root takes as long as a division
    return Counted(square_root(x.value));
}
DTAU_INLINE std::int64_t less(Counted a, double b) { return less(a.value, b); }

DTAU_INLINE void sincos(Counted x, Counted& sine, Counted& cosine) {
    sincos_reduced(x, sine, cosine);
}

}  // namespace dtau::DTAU_VARIANT
