"""Write functions as GNU C, for one state and, with vectors, for as many as the core has lanes.

Both use the same operations in the same order, with explicit fused multiply-adds, so that a state
has the same bits alone and in lanes.
"""

from __future__ import annotations

from dtau.codegen.recording import Written
from dtau.codegen.source import GNU_DOUBLE, REDUCTION_LIMIT, SERIES, SINE_COSINE

# `real` holds one number of each state. The C library handles angles that are huge, infinite or
# NaN, as it does for one state.
_VECTORS = """\
#include <math.h>

typedef double real __attribute__((vector_size(8 * LANES)));
typedef long long mask __attribute__((vector_size(8 * LANES)));
#define NUMBER(x) ((x) - (real){0})
#define SELECT(condition, a, b) ((real)(((mask)(a) & (condition)) | ((mask)(b) & ~(condition))))
#if LANES == 8 && defined(__AVX512F__)
#include <immintrin.h>
#define FMA(a, b, c) ((real)_mm512_fmadd_pd(NUMBER(a), NUMBER(b), NUMBER(c)))
#define FNMA(a, b, c) ((real)_mm512_fnmadd_pd(NUMBER(a), NUMBER(b), NUMBER(c)))
#define ALL(condition) (_mm512_movepi64_mask((__m512i)(condition)) == 255)
#elif LANES == 4 && defined(__FMA__)
#include <immintrin.h>
#define FMA(a, b, c) ((real)_mm256_fmadd_pd(NUMBER(a), NUMBER(b), NUMBER(c)))
#define FNMA(a, b, c) ((real)_mm256_fnmadd_pd(NUMBER(a), NUMBER(b), NUMBER(c)))
#define ALL(condition) (_mm256_movemask_pd((__m256d)(condition)) == 15)
#elif LANES == 2 && defined(__aarch64__)
#include <arm_neon.h>
#define FMA(a, b, c) ((real)vfmaq_f64(NUMBER(c), NUMBER(a), NUMBER(b)))
#define FNMA(a, b, c) ((real)vfmsq_f64(NUMBER(c), NUMBER(a), NUMBER(b)))
#else
#define FMA(a, b, c) ((a) * (b) + (c))
#define FNMA(a, b, c) ((c) - (a) * (b))
#endif
#ifndef ALL
static inline int every(mask condition) {
    long long all = -1;
    for (int l = 0; l < LANES; ++l) all &= condition[l];
    return all != 0;
}
#define ALL(condition) every(condition)
#endif
#define SINCOS(x, s, c) sine_cosine(x, &s, &c)
#define SIN(x) sine_of(x)
#define COS(x) cosine_of(x)

static inline real FABS(real x) { return (real)((mask)x & 0x7fffffffffffffffLL); }
static inline real SQRT(real x) {
    for (int l = 0; l < LANES; ++l) x[l] = sqrt(x[l]);
    return x;
}
static inline real TANH(real x) {
    for (int l = 0; l < LANES; ++l) x[l] = tanh(x[l]);
    return x;
}
static inline real SECH(real x) {
    for (int l = 0; l < LANES; ++l) x[l] = 1.0 / cosh(x[l]);
    return x;
}
static inline real REMAINDER(real x, double y) {
    for (int l = 0; l < LANES; ++l) x[l] = remainder(x[l], y);
    return x;
}

static __attribute__((noinline, cold)) void far_turns(real x, real *sine, real *cosine) {
    for (int l = 0; l < LANES; ++l) {
        if (fabs(x[l]) < LIMIT) continue;
        (*sine)[l] = sin(x[l]);
        (*cosine)[l] = cos(x[l]);
    }
}
static inline void sine_cosine(real x, real *sine, real *cosine) {
"""
_QUADRANTS = """\
    const mask quadrant = (mask)shifted, odd = -(quadrant & 1);
    real a = (real)((mask)SELECT(odd, c, s) ^ ((quadrant & 2) << 62));
    real b = (real)((mask)SELECT(odd, s, c) ^ (((quadrant + 1) & 2) << 62));
    *sine = a;
    *cosine = b;
    if (__builtin_expect(!ALL(FABS(x) < LIMIT), 0)) {
        far_turns(x, &a, &b);
        *sine = a;
        *cosine = b;
    }
}
static inline real sine_of(real x) {
    real s, c;
    sine_cosine(x, &s, &c);
    return s;
}
static inline real cosine_of(real x) {
    real s, c;
    sine_cosine(x, &s, &c);
    return c;
}

"""


def alone_source(written: Written, taken: list[bool]) -> str:
    """Return the C text of a function for one state, and of its entry point for the core.

    ``taken`` says of each input of the core whether it is an argument.
    """
    called = f"{written.name}({', '.join(_arguments(written, taken))});"
    head = "void robot_alone(const void *const *in, void *const *out)"
    text = "#include <math.h>\n\n" + GNU_DOUBLE + SINE_COSINE + "\n" + written.text
    return f"{text}\n{head} {{\n    {called}\n}}\n"


def lanes_source(written: Written, taken: list[bool], lanes: int) -> str:
    """Return the same for groups of states in lanes."""
    called = f"{written.name}(groups, {', '.join(_arguments(written, taken))}, w);"
    head = "void robot_in_lanes(int groups, const void *const *in, void *const *out, void *w)"
    defined = f"#define LANES {lanes}\n#define LIMIT {REDUCTION_LIMIT!r}\n"
    text = defined + _VECTORS + SERIES + _QUADRANTS + written.text
    return f"{text}\n{head} {{\n    {called}\n}}\n"


def _arguments(written: Written, taken: list[bool]) -> list[str]:
    given = [f"in[{k}]" for k, is_taken in enumerate(taken) if is_taken]
    return [*given, *(f"out[{k}]" for k in range(len(written.results)))]
