// Records operations instead of computing them: Recorded, record(). Every operation with a Recorded number
// becomes a node of a tape, from which C is written (src/codegen). Operations on known numbers are computed
// at once.
#pragma once

#include "dtau/hyperbolic_tangent.hpp"

namespace dtau {

// The operation holds the signs of its operands, so that operands of products and sums have none.
enum class Operation : std::uint8_t {
    input,
    add,               // a + b
    subtract,          // a - b
    multiply,          // a b
    divide,            // a / b
    multiply_add,      // a b + c
    subtract_product,  // c - a b
    square_root,
    sine,
    cosine,
    hyperbolic_tangent,
    hyperbolic_secant,  // 1 / cosh
    absolute,
    within_half_turn,  // a less a multiple of 2 pi
    less,              // a < b: 1 or 0
    select,            // a ? b : c
};

// Records an operation on the tape of this thread. Returns a known number, or a NaN that names a node and
// its sign (tape.hpp).
double record(Operation operation, double a, double b = 0.0, double c = 0.0);

// A tree as it is recorded: its gravity and a payload may be inputs.
struct Tree;
Tree recorded_tree(const Tree& tree);

// Zeroed memory for an algorithm's run on the tape of this thread.
void* recorded_scratch(std::size_t bytes);

namespace DTAU_VARIANT {

struct Recorded {
    double value;

    Recorded() = default;
    DTAU_INLINE explicit Recorded(double x) : value(x) {}

    DTAU_INLINE friend Recorded operator+(Recorded a, Recorded b) {
        return Recorded(record(Operation::add, a.value, b.value));
    }
    DTAU_INLINE friend Recorded operator-(Recorded a, Recorded b) {
        return Recorded(record(Operation::subtract, a.value, b.value));
    }
    DTAU_INLINE friend Recorded operator*(Recorded a, Recorded b) {
        return Recorded(record(Operation::multiply, a.value, b.value));
    }
    DTAU_INLINE friend Recorded operator*(double a, Recorded b) { return Recorded(a) * b; }
    DTAU_INLINE friend Recorded operator/(Recorded a, Recorded b) {
        return Recorded(record(Operation::divide, a.value, b.value));
    }
    DTAU_INLINE friend Recorded operator-(Recorded a) {
        return Recorded(from_bits(to_bits(a.value) ^ (std::int64_t(1) << 63)));
    }
    DTAU_INLINE Recorded& operator+=(Recorded b) { return *this = *this + b; }
};

DTAU_INLINE Recorded fma(Recorded a, Recorded b, Recorded c) {
    return Recorded(record(Operation::multiply_add, a.value, b.value, c.value));
}
DTAU_INLINE Recorded fma(double a, Recorded b, Recorded c) { return fma(Recorded(a), b, c); }
DTAU_INLINE Recorded fma(Recorded a, double b, Recorded c) { return fma(a, Recorded(b), c); }
DTAU_INLINE Recorded square_root(Recorded x) {
    return Recorded(record(Operation::square_root, x.value));
}
DTAU_INLINE Recorded absolute(Recorded x) { return Recorded(record(Operation::absolute, x.value)); }
DTAU_INLINE Recorded within_half_turn(Recorded x) {
    return Recorded(record(Operation::within_half_turn, x.value));
}
DTAU_INLINE void sincos(Recorded x, Recorded& sine, Recorded& cosine) {
    sine = Recorded(record(Operation::sine, x.value));
    cosine = Recorded(record(Operation::cosine, x.value));
}

DTAU_INLINE TangentAndSlope<Recorded> tangent_and_slope(Recorded x) {
    const Recorded secant(record(Operation::hyperbolic_secant, x.value));
    return {Recorded(record(Operation::hyperbolic_tangent, x.value)), secant * secant};
}
DTAU_INLINE Recorded hyperbolic_tangent(Recorded x) { return tangent_and_slope(x).tangent; }

// A condition is no bool, because control flow cannot depend on recorded numbers: it only selects one of
// two numbers.
struct RecordedCondition {
    double value;
};
struct RecordedBits {
    Recorded number;

    DTAU_INLINE friend RecordedCondition operator<(RecordedBits x, int) {  // 0: is it negative?
        return {record(Operation::less, x.number.value, 0.0)};
    }
};
DTAU_INLINE RecordedBits to_bits(Recorded x) { return {x}; }
DTAU_INLINE RecordedCondition less(Recorded a, double b) {
    return {record(Operation::less, a.value, b)};
}
DTAU_INLINE Recorded select(RecordedCondition condition, Recorded a, Recorded b) {
    return Recorded(record(Operation::select, condition.value, a.value, b.value));
}

}  // namespace DTAU_VARIANT
}  // namespace dtau
