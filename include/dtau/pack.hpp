// Processes neighboring numbers of an array together: Pack. For a lone state a pack is a vector of several
// numbers; in lanes it is one number, itself a vector of states. So an algorithm that is written with packs
// runs on vectors in both cases, with the same arithmetic for each number.
#pragma once

#include <cstring>
#include <type_traits>
#include <utility>

#include "dtau/spatial.hpp"

namespace dtau::DTAU_VARIANT {

// Calls f(0) ... f(count - 1), unrolled early, so that arrays indexed with it become registers.
template <int count, class F> DTAU_INLINE void unrolled(const F& f) {
    [&]<int... i>(std::integer_sequence<int, i...>)
        __attribute__((always_inline)) { (f(i), ...); }(std::make_integer_sequence<int, count>());
}

template <class T> struct Pack {
    static constexpr int width = 1;
    T value;

    static DTAU_INLINE Pack load(const T* x) { return {*x}; }
    static DTAU_INLINE Pack load(const T* x, int) { return {*x}; }
    static DTAU_INLINE Pack unit(int i) { return {T(i == 0 ? 1.0 : 0.0)}; }  // 1 at place i
    DTAU_INLINE void store(T* x, int = width) const { *x = value; }
    // Stores the numbers in a column: at x[0], x[stride], ...
    DTAU_INLINE void store_column(T* x, std::ptrdiff_t, int = width) const { *x = value; }
    // Stores the numbers at x[stride * index[0]], x[stride * index[1]], ...
    DTAU_INLINE void scatter(T* x, std::ptrdiff_t stride, const int* index, int) const {
        x[stride * *index] = value;
    }
};

template <> struct Pack<double> {
    static constexpr int width = lanes;
    Lane value;

#if defined(__AVX512F__)
    static DTAU_INLINE __mmask8 first(int count) {
        return static_cast<__mmask8>((1u << count) - 1u);
    }
#endif

    static DTAU_INLINE Pack load(const double* x) { return {Lane::load(x)}; }
    // Loads the first `count` numbers; zeros follow.
    static DTAU_INLINE Pack load(const double* x, int count) {
        if (count >= width) return load(x);
#if defined(__AVX512F__)
        return {Lane(Lane::Vector(_mm512_maskz_loadu_pd(first(count), x)))};
#elif defined(__AVX__)
        __m128d low = _mm_setzero_pd(), high = low;
        if (count & 2) low = _mm_loadu_pd(x);
        if (count & 1) (count & 2 ? high : low) = _mm_load_sd(x + (count & 2));
        return {Lane(Lane::Vector(_mm256_set_m128d(high, low)))};
#else
        Pack p{Lane(0.0)};
        for (int k = 0; k < count; ++k) p.value.value[k] = x[k];
        return p;
#endif
    }
    static DTAU_INLINE Pack unit(int i) {  // a load: selecting the place takes several instructions
        static constexpr struct Numbers {
            double at[2 * width + 1] = {};
            constexpr Numbers() { at[width] = 1.0; }
        } numbers;
        return load(numbers.at + (i < 0 || i >= width ? 0 : width - i));
    }
    DTAU_INLINE void store(double* x, int count = width) const {
        if (count >= width) {
            value.store(x);
            return;
        }
#if defined(__AVX512F__)
        _mm512_mask_storeu_pd(x, first(count), value.value);
#elif defined(__AVX__)
        const __m128d low = _mm256_castpd256_pd128(value.value),
                      high = _mm256_extractf128_pd(value.value, 1);
        if (count & 2) _mm_storeu_pd(x, low);
        if (count & 1) _mm_store_sd(x + (count & 2), count & 2 ? high : low);
#else
        for (int k = 0; k < count; ++k) x[k] = value.value[k];
#endif
    }
    DTAU_INLINE void store_column(double* x, std::ptrdiff_t stride, int count = width) const {
        if (count >= width)
            unrolled<width>([&](int k)
                                __attribute__((always_inline)) { x[k * stride] = value.value[k]; });
        else
            unrolled<width - 1>([&](int k) __attribute__((always_inline)) {
                if (k < count) x[k * stride] = value.value[k];
            });
    }
    DTAU_INLINE void scatter(double* x, std::ptrdiff_t stride, const int* index, int count) const {
        double numbers[width];
        store(numbers);
        for (int k = 0; k < width && k < count; ++k) x[stride * index[k]] = numbers[k];
    }
};

template <class T> DTAU_INLINE Pack<T> fma(T l, const Pack<T>& x, const Pack<T>& y) {
    return {fma(l, x.value, y.value)};
}
// y - l x
template <class T> DTAU_INLINE Pack<T> fnma(T l, const Pack<T>& x, const Pack<T>& y) {
    return {fnma(decltype(x.value)(l), x.value, y.value)};
}
template <class T> DTAU_INLINE Pack<T> operator*(T l, const Pack<T>& x) {
    return {decltype(x.value)(l) * x.value};
}

// Four neighboring numbers in memory.
template <class T> struct FourNumbers {
    T x, y, z, w;
};

// Four neighboring numbers in registers: for a lone state one vector, if vectors have room for four.
template <class T> struct Vec4 {
    T x, y, z, w;

    static DTAU_INLINE Vec4 zero() { return {T(0.0), T(0.0), T(0.0), T(0.0)}; }
    static DTAU_INLINE Vec4 of(T x, T y, T z, T w) { return {x, y, z, w}; }
    static DTAU_INLINE Vec4 load(const FourNumbers<T>& p) { return {p.x, p.y, p.z, p.w}; }
    DTAU_INLINE void store(FourNumbers<T>& p) const { p.x = x, p.y = y, p.z = z, p.w = w; }
    DTAU_INLINE void store(T* p) const { p[0] = x, p[1] = y, p[2] = z, p[3] = w; }
    // Adds s times four numbers.
    DTAU_INLINE void add(T s, const FourNumbers<T>& p) {
        x = fma(s, p.x, x), y = fma(s, p.y, y), z = fma(s, p.z, z), w = fma(s, p.w, w);
    }
    DTAU_INLINE void add(T s, const T* p) { add(s, FourNumbers<T>{p[0], p[1], p[2], p[3]}); }
    // Adds, or subtracts, two pairs of numbers rotated by -90 degrees.
    DTAU_INLINE void add_rotated(const Vec4& b) {
        x = x + b.y, y = y - b.x, z = z + b.w, w = w - b.z;
    }
    DTAU_INLINE void subtract_rotated(const Vec4& b) {
        x = x - b.y, y = y + b.x, z = z - b.w, w = w + b.z;
    }
};

#if defined(__AVX__) && defined(__FMA__)
template <> struct Vec4<double> {
    __m256d value;

    static DTAU_INLINE Vec4 zero() { return {_mm256_setzero_pd()}; }
    static DTAU_INLINE Vec4 of(double x, double y, double z, double w) {
        return {_mm256_setr_pd(x, y, z, w)};
    }
    static DTAU_INLINE Vec4 load(const FourNumbers<double>& p) {
        Vec4 v;
        std::memcpy(&v.value, &p, sizeof(p));
        return v;
    }
    DTAU_INLINE void store(FourNumbers<double>& p) const { std::memcpy(&p, &value, sizeof(p)); }
    DTAU_INLINE void store(double* p) const { _mm256_storeu_pd(p, value); }
    DTAU_INLINE void add(double s, const FourNumbers<double>& p) {
        value = _mm256_fmadd_pd(_mm256_set1_pd(s), load(p).value, value);
    }
    DTAU_INLINE void add(double s, const double* p) {
        value = _mm256_fmadd_pd(_mm256_set1_pd(s), _mm256_loadu_pd(p), value);
    }
    DTAU_INLINE void add_rotated(const Vec4& b) {
        const __m256d minus = _mm256_xor_pd(b.value, _mm256_set1_pd(-0.0));
        value = _mm256_addsub_pd(value, _mm256_permute_pd(minus, 0b0101));
    }
    DTAU_INLINE void subtract_rotated(const Vec4& b) {
        value = _mm256_addsub_pd(value, _mm256_permute_pd(b.value, 0b0101));
    }
};
#endif

// Whether mirror_block() exists for a scalar.
#if defined(__AVX__) && defined(__FMA__)
template <class T> inline constexpr bool mirrors_blocks = std::is_same_v<T, double>;

// Adds +0 to the upper triangle of blocks of four rows and columns of a symmetric matrix, and mirrors it.
// Rows are `stride` apart.
struct FourRows {
    __m256d row[4];

    static DTAU_INLINE FourRows load(const double* block, std::ptrdiff_t stride) {
        FourRows x;
        for (int k = 0; k < 4; ++k)
            x.row[k] = _mm256_loadu_pd(block + k * stride) + _mm256_setzero_pd();
        return x;
    }
    DTAU_INLINE void store(double* block, std::ptrdiff_t stride) const {
        for (int k = 0; k < 4; ++k) _mm256_storeu_pd(block + k * stride, row[k]);
    }
    DTAU_INLINE FourRows transposed() const {
        const __m256d even_low = _mm256_unpacklo_pd(row[0], row[1]),
                      odd_low = _mm256_unpackhi_pd(row[0], row[1]),
                      even_high = _mm256_unpacklo_pd(row[2], row[3]),
                      odd_high = _mm256_unpackhi_pd(row[2], row[3]);
        return {{_mm256_permute2f128_pd(even_low, even_high, 0x20),
                 _mm256_permute2f128_pd(odd_low, odd_high, 0x20),
                 _mm256_permute2f128_pd(even_low, even_high, 0x31),
                 _mm256_permute2f128_pd(odd_low, odd_high, 0x31)}};
    }
};
// A block right of the diagonal, whose columns become rows in `to`.
DTAU_INLINE void mirror_block(double* block, double* to, std::ptrdiff_t stride) {
    const FourRows x = FourRows::load(block, stride);
    x.store(block, stride);
    x.transposed().store(to, stride);
}
// A block on the diagonal.
DTAU_INLINE void mirror_diagonal_block(double* block, std::ptrdiff_t stride) {
    const FourRows x = FourRows::load(block, stride), y = x.transposed();
    const FourRows both = {{x.row[0], _mm256_blend_pd(x.row[1], y.row[1], 0b0001),
                            _mm256_blend_pd(x.row[2], y.row[2], 0b0011),
                            _mm256_blend_pd(x.row[3], y.row[3], 0b0111)}};
    both.store(block, stride);
}
#else
template <class T> inline constexpr bool mirrors_blocks = false;
#endif

// Calls visit<packs>() for a number of packs that is at most `most`.
template <int most, class Visit> DTAU_INLINE void with_packs(int packs, const Visit& visit) {
    if constexpr (most > 1)
        if (packs < most) return with_packs<most - 1>(packs, visit);
    visit.template operator()<most>();
}
// Calls visit<some>(p) for packs p ... p + some - 1, in parts of nearly equal width.
template <int most, class Visit> DTAU_INLINE void in_parts(int packs, const Visit& visit) {
    const int parts = (packs + most - 1) / most;
    for (int part = 0; part < parts; ++part) {
        const int first = packs * part / parts, next = packs * (part + 1) / parts;
        with_packs<most>(next - first, [&]<int some>() { visit.template operator()<some>(first); });
    }
}

// A row's length in whole packs.
template <class T> DTAU_INLINE int whole_packs(int count) {
    return (count + Pack<T>::width - 1) / Pack<T>::width * Pack<T>::width;
}

// Replaces a matrix (n, n) of second derivatives, rows `stride` apart, by its symmetric part: they are then
// derivatives in the exponential chart. [Derivations] eq. 7.7
template <class T> inline void symmetrize(T* x, int n, int stride) {
    for (int r = 0; r < n; ++r)
        for (int c = 0; c < r; ++c) {
            T &a = x[r * stride + c], &b = x[c * stride + r];
            a = b = T(0.5) * (a + b);
        }
}

}  // namespace dtau::DTAU_VARIANT
