// Defines the scalars that the core is instantiated with, and their functions: Lane, fma(), select().
//
//   double                 a lone state
//   Lane                   one hardware vector: lane l holds state l of a group of states
//   std::complex<double>   complex step, for tests
//   Counted                operation counts, for benchmarks (counted.hpp)
//
// Every function here exists for double and Lane with the same arithmetic in the same order: a
// state's result has the same bits alone and in a batch ([Derivations] §14). For that, contraction is off
// for the whole project, and fused multiply-adds are written out as fma(a, b, c) = a b + c.
#pragma once

#include <cmath>
#include <complex>
#include <cstdint>

#if defined(__x86_64__)
#include <immintrin.h>
#elif defined(__aarch64__)
#include <arm_neon.h>
#endif

#ifndef DTAU_INLINE
#define DTAU_INLINE inline __attribute__((always_inline))
#endif

#ifndef DTAU_VARIANT  // namespace of one instruction set, so that its inline functions stay separate
#define DTAU_VARIANT baseline
#endif

namespace dtau::DTAU_VARIANT {

using Complex = std::complex<double>;

// ---------------------------------------------------------------- double

#if defined(__FMA__) || defined(__aarch64__)
DTAU_INLINE double fma(double a, double b, double c) { return __builtin_fma(a, b, c); }
#else  // without the instruction it would be a slow call
DTAU_INLINE double fma(double a, double b, double c) { return a * b + c; }
#endif

DTAU_INLINE std::int64_t to_bits(double x) { return __builtin_bit_cast(std::int64_t, x); }
DTAU_INLINE double from_bits(std::int64_t x) { return __builtin_bit_cast(double, x); }
DTAU_INLINE double select(std::int64_t mask, double a, double b) { return mask ? a : b; }
// -x, for an x that may come from a fused multiply-add. GCC would fold -(a b + c) into (-a) b - c, whose
// zero has the other sign; it does so for a lone state only, which would change its bits.
template <class T> DTAU_INLINE T negated(T x) { return -x; }
DTAU_INLINE double negated(double x) {
#if defined(__GNUC__) && !defined(__clang__) && defined(__x86_64__)
    asm("" : "+x"(x));
#elif defined(__GNUC__) && !defined(__clang__) && defined(__aarch64__)
    asm("" : "+w"(x));
#endif
    return -x;
}
DTAU_INLINE double square_root(double x) { return __builtin_sqrt(x); }
DTAU_INLINE std::int64_t less(double a, double b) { return a < b; }

// ---------------------------------------------------------------- Lane

#if defined(__AVX512F__)
inline constexpr int lanes = 8;
#elif defined(__AVX__)
inline constexpr int lanes = 4;
#else
inline constexpr int lanes = 2;
#endif

struct Lane {
    typedef double Vector __attribute__((vector_size(8 * lanes)));
    typedef double Unaligned __attribute__((vector_size(8 * lanes), aligned(8), may_alias));
    typedef std::int64_t Bits __attribute__((vector_size(8 * lanes)));

    Vector value;

    Lane() = default;
    DTAU_INLINE Lane(double x) : value(x - Vector{}) {}  // x in every lane
    DTAU_INLINE explicit Lane(Vector x) : value(x) {}
    // Written out so that structs of lanes are copied vector by vector. Some compilers copy halves, and a
    // load of the whole vector then waits for both stores.
    DTAU_INLINE Lane(const Lane& x) : value(x.value) {}
    DTAU_INLINE Lane& operator=(const Lane& x) {
        value = x.value;
        return *this;
    }

    // Neighboring numbers, in one instruction (a memcpy may become several).
    static DTAU_INLINE Lane load(const double* x) {
        return Lane(Vector(*reinterpret_cast<const Unaligned*>(x)));
    }
    DTAU_INLINE void store(double* x) const { *reinterpret_cast<Unaligned*>(x) = value; }
    // Stores past the caches (a streaming store). x is aligned to a whole vector.
    DTAU_INLINE void stream(double* x) const {
#if defined(__AVX512F__)
        _mm512_stream_pd(x, value);
#elif defined(__AVX__)
        _mm256_stream_pd(x, value);
#elif defined(__x86_64__)
        _mm_stream_pd(x, value);
#else
        store(x);
#endif
    }

    DTAU_INLINE friend Lane operator+(Lane a, Lane b) { return Lane(a.value + b.value); }
    DTAU_INLINE friend Lane operator-(Lane a, Lane b) { return Lane(a.value - b.value); }
    DTAU_INLINE friend Lane operator*(Lane a, Lane b) { return Lane(a.value * b.value); }
    DTAU_INLINE friend Lane operator/(Lane a, Lane b) { return Lane(a.value / b.value); }
    DTAU_INLINE friend Lane operator-(Lane a) { return Lane(-a.value); }
    DTAU_INLINE Lane& operator+=(Lane b) { return *this = *this + b; }
};

DTAU_INLINE Lane fma(Lane a, Lane b, Lane c) {
#if defined(__AVX512F__)
    return Lane(Lane::Vector(_mm512_fmadd_pd(a.value, b.value, c.value)));
#elif defined(__FMA__)
    return Lane(Lane::Vector(_mm256_fmadd_pd(a.value, b.value, c.value)));
#elif defined(__aarch64__)
    return Lane(Lane::Vector(vfmaq_f64(c.value, a.value, b.value)));
#else
    return Lane(a.value * b.value + c.value);
#endif
}

// c - a b, in one instruction: a negated factor that is used several times would be an instruction more.
template <class T> DTAU_INLINE T fnma(T a, T b, T c) { return fma(-a, b, c); }
#if defined(__FMA__)
DTAU_INLINE Lane fnma(Lane a, Lane b, Lane c) {
#if defined(__AVX512F__)
    return Lane(Lane::Vector(_mm512_fnmadd_pd(a.value, b.value, c.value)));
#else
    return Lane(Lane::Vector(_mm256_fnmadd_pd(a.value, b.value, c.value)));
#endif
}
#endif

DTAU_INLINE Lane::Bits to_bits(Lane x) { return (Lane::Bits)x.value; }
DTAU_INLINE Lane from_bits(Lane::Bits x) { return Lane((Lane::Vector)x); }
DTAU_INLINE Lane select(Lane::Bits mask, Lane a, Lane b) { return Lane(mask ? a.value : b.value); }

DTAU_INLINE Lane square_root(Lane x) {
#if defined(__AVX512F__)
    return Lane(Lane::Vector(_mm512_maskz_sqrt_pd(0xff, x.value)));
#elif defined(__AVX__)
    return Lane(Lane::Vector(_mm256_sqrt_pd(x.value)));
#elif defined(__x86_64__)
    return Lane(Lane::Vector(_mm_sqrt_pd(x.value)));
#else
    for (int l = 0; l < lanes; ++l) x.value[l] = __builtin_sqrt(x.value[l]);
    return x;
#endif
}
// A number that is used several times. Some compilers would load it again for each use.
template <class T> DTAU_INLINE T in_register(T x) { return x; }
DTAU_INLINE Lane in_register(Lane x) {
#if defined(__AVX512F__)
    asm("" : "+v"(x.value));
#elif defined(__x86_64__)
    asm("" : "+x"(x.value));
#elif defined(__aarch64__)
    asm("" : "+w"(x.value));
#endif
    return x;
}

// Orders streamed stores before all stores that follow, as other threads see them.
DTAU_INLINE void end_streams() {
#if defined(__x86_64__)
    _mm_sfence();
#endif
}
DTAU_INLINE Lane::Bits less(Lane a, double b) { return (Lane::Bits)(a.value < Lane(b).value); }

// Transposes a square of `lanes` rows.
DTAU_INLINE void transpose(Lane::Vector (&x)[lanes]) {
#if defined(__AVX512F__)
    Lane::Vector even[4], odd[4];  // columns 2 c and 2 c + 1 of two rows in the c-th pair
    for (int i = 0; i < 4; ++i) {
        even[i] = __builtin_shufflevector(x[2 * i], x[2 * i + 1], 0, 8, 2, 10, 4, 12, 6, 14);
        odd[i] = __builtin_shufflevector(x[2 * i], x[2 * i + 1], 1, 9, 3, 11, 5, 13, 7, 15);
    }
    const auto pairs = [](Lane::Vector a, Lane::Vector b, Lane::Vector& first, Lane::Vector& second)
                           __attribute__((always_inline)) {
                               first = __builtin_shufflevector(a, b, 0, 1, 4, 5, 8, 9, 12, 13);
                               second = __builtin_shufflevector(a, b, 2, 3, 6, 7, 10, 11, 14, 15);
                           };
    const auto columns = [&](const Lane::Vector(&y)[4], Lane::Vector* column)
                             __attribute__((always_inline)) {
                                 Lane::Vector a, b, c, d;
                                 pairs(y[0], y[1], a, b);
                                 pairs(y[2], y[3], c, d);
                                 pairs(a, c, column[0], column[4]);
                                 pairs(b, d, column[2], column[6]);
                             };
    columns(even, x);
    columns(odd, x + 1);
#elif defined(__AVX__)
    Lane::Vector y[4];
    for (int i = 0; i < 4; i += 2) {
        y[i] = __builtin_shufflevector(x[i], x[i + 1], 0, 4, 2, 6);
        y[i + 1] = __builtin_shufflevector(x[i], x[i + 1], 1, 5, 3, 7);
    }
    for (int i = 0; i < 2; ++i) {
        x[i] = __builtin_shufflevector(y[i], y[i + 2], 0, 1, 4, 5);
        x[i + 2] = __builtin_shufflevector(y[i], y[i + 2], 2, 3, 6, 7);
    }
#else
    const Lane::Vector a = x[0], b = x[1];
    x[0] = __builtin_shufflevector(a, b, 0, 2);
    x[1] = __builtin_shufflevector(a, b, 1, 3);
#endif
}

// ---------------------------------------------------------------- complex

DTAU_INLINE Complex fma(Complex a, Complex b, Complex c) {
    return {a.real() * b.real() - a.imag() * b.imag() + c.real(),
            a.real() * b.imag() + a.imag() * b.real() + c.imag()};
}

DTAU_INLINE Complex fnma(Complex a, Complex b, Complex c) { return fma(-a, b, c); }

DTAU_INLINE std::int64_t to_bits(Complex x) { return to_bits(x.real()); }  // to read its sign
DTAU_INLINE Complex select(std::int64_t mask, Complex a, Complex b) { return mask ? a : b; }
DTAU_INLINE Complex square_root(Complex x) { return std::sqrt(x); }
DTAU_INLINE std::int64_t less(Complex a, double b) { return a.real() < b; }

}  // namespace dtau::DTAU_VARIANT
