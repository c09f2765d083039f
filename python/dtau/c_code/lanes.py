"""Functions as C of one state, and of as many as the core has lanes: GNU C, with vectors.

Both do the same arithmetic in the same order, with fused multiply-adds written out, so that a state
has the same bits alone and in lanes.
"""

from __future__ import annotations

import re

from dtau.c_code.recording import Written
from dtau.c_code.source import DOUBLE, SINE_COSINE

_FUSED = """\
#undef FMA
#undef FNMA
#if defined(__FMA__) || defined(__aarch64__)
#define FMA(a, b, c) __builtin_fma(a, b, c)
#define FNMA(a, b, c) __builtin_fma(-(a), b, c)
#else
#define FMA(a, b, c) ((a) * (b) + (c))
#define FNMA(a, b, c) ((c) - (a) * (b))
#endif

"""

# `real` holds one number of each state. The sine and cosine are those of the core, see source.py;
# angles that are huge, infinite or not a number go to the library, as there.
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
#elif LANES == 4 && defined(__FMA__)
#include <immintrin.h>
#define FMA(a, b, c) ((real)_mm256_fmadd_pd(NUMBER(a), NUMBER(b), NUMBER(c)))
#define FNMA(a, b, c) ((real)_mm256_fnmadd_pd(NUMBER(a), NUMBER(b), NUMBER(c)))
#elif LANES == 2 && defined(__aarch64__)
#include <arm_neon.h>
#define FMA(a, b, c) ((real)vfmaq_f64(NUMBER(c), NUMBER(a), NUMBER(b)))
#define FNMA(a, b, c) ((real)vfmsq_f64(NUMBER(c), NUMBER(a), NUMBER(b)))
#else
#define FMA(a, b, c) ((a) * (b) + (c))
#define FNMA(a, b, c) ((c) - (a) * (b))
#endif
#define SINCOS(x, s, c) sine_cosine(x, &s, &c)
#define SIN(x) sine_of(x)
#define COS(x) cosine_of(x)

static inline real FABS(real x) { return (real)((mask)x & 0x7fffffffffffffffLL); }
static inline real SQRT(real x) {
    for (int l = 0; l < LANES; ++l) x[l] = sqrt(x[l]);
    return x;
}
static inline real REMAINDER(real x, double y) {
    for (int l = 0; l < LANES; ++l) x[l] = remainder(x[l], y);
    return x;
}

static inline void sine_cosine(real x, real *sine, real *cosine) {
    const real shifted = FMA(x, 0.63661977236758134, 6755399441055744.0);
    const mask quadrant = (mask)shifted;
    const real k = 6755399441055744.0 - shifted;
    const real first = FMA(k, 1.57079632673412561417e+00, x);
    const real second = FMA(k, 6.07710050630396597660e-11, first);
    const real tail =
        FMA(k, 2.02226624879595063154e-21, FMA(k, 6.07710050630396597660e-11, first - second));
    const real r = second + tail, low = (second - r) + tail, z = r * r;
    real s = FMA(z, 1.58969099521155010221e-10, -2.50507602534068634195e-08);
    s = FMA(z, s, 2.75573137070700676789e-06);
    s = FMA(z, s, -1.98412698298579493134e-04);
    s = FMA(z, s, 8.33333333332248946124e-03);
    s = FMA(z, s, -1.66666666666666324348e-01);
    s = r + FMA(z * r, s, low);
    real c = FMA(z, -1.13596475577881948265e-11, 2.08757232129817482790e-09);
    c = FMA(z, c, -2.75573143513906633035e-07);
    c = FMA(z, c, 2.48015872894767294178e-05);
    c = FMA(z, c, -1.38888888888741095749e-03);
    c = FMA(z, c, 4.16666666666666019037e-02);
    const real half = 0.5 * z, w = 1.0 - half;
    c = w + (((1.0 - w) - half) + FMA(z, z * c, -(r * low)));
    const mask odd = -(quadrant & 1);
    *sine = (real)((mask)SELECT(odd, c, s) ^ ((quadrant & 2) << 62));
    *cosine = (real)((mask)SELECT(odd, s, c) ^ (((quadrant + 1) & 2) << 62));
    const mask near = FABS(x) < 1e5;
    long long all = -1;
    for (int l = 0; l < LANES; ++l) all &= near[l];
    for (int l = 0; l < LANES && !all; ++l) {
        if (near[l]) continue;
        (*sine)[l] = sin(x[l]);
        (*cosine)[l] = cos(x[l]);
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
    """The text of a function of one state, and of how the core calls it.

    ``taken`` says of each input of the core whether it is an argument.
    """
    called = f"{written.name}({', '.join(_arguments(written, taken))});"
    head = "void robot_alone(const void *const *in, void *const *out)"
    text = DOUBLE + _FUSED + SINE_COSINE + "\n" + _static(written)
    return f"{text}\n{head} {{\n    {called}\n}}\n"


def lanes_source(written: Written, taken: list[bool], lanes: int) -> str:
    """The same of groups of states in lanes."""
    called = f"{written.name}(groups, {', '.join(_arguments(written, taken))}, w);"
    head = "void robot_in_lanes(int groups, const void *const *in, void *const *out, void *w)"
    text = f"#define LANES {lanes}\n" + _VECTORS + _static(written)
    return f"{text}\n{head} {{\n    {called}\n}}\n"


def _arguments(written: Written, taken: list[bool]) -> list[str]:
    given = [f"in[{k}]" for k, is_taken in enumerate(taken) if is_taken]
    return [*given, *(f"out[{k}]" for k in range(len(written.results)))]


def _static(written: Written) -> str:
    head = f"void {written.name}("
    return re.sub("^" + re.escape(head), "static " + head, written.text, flags=re.MULTILINE)
