"""Renders the .c and .h files around the generated function bodies: `header`, `source`."""

from __future__ import annotations

import hashlib
from collections.abc import Sequence

from dtau import _core
from dtau._version import __version__
from dtau.codegen.recording import Written, stack_bytes
from dtau.codegen.requests import Argument
from dtau.codegen.text import comment, include, paragraph
from dtau.model.model import Model

_CONVENTIONS = """\
Row k of a stack of time derivatives is the derivative of order k.
q, v       in the order of the table; a free joint has q = [position, quaternion x y z w] in the
           world and v = [linear, angular] in the body's frame. Quaternions have unit norm.
a          time derivative of v, component by component. tau belongs to v: N m and N.
6-vectors  linear part first, angular part second. f_ext: [force, moment] on each body.
payload    of a link: m, m c (3), I_xx I_xy I_yy I_xz I_yz I_zz about its origin, in its axes.
by q       derivatives are in the tangent space: by v's directions, nv of them.
Results must not overlap arguments. All entries of results are written. Functions allocate nothing
and keep nothing. Elsewhere: the documentation of dtau."""
_ARRAYS = {
    "c": """\
Units are SI. Shapes are those of arrays in C: entry [i][j] of J[6][18] is J[18 i + j]. One state.
Functions may run on any number of threads.""",
    "cuda": """\
Units are SI. Arrays are in the device's memory. The last axis is the states: of n states, entry
[i][j] of J[6][18] for state s is J[(18 i + j) n + s].""",
}
_STACK = {
    "c": "Stack: {} bytes at most, beside registers that are spilled.",
    "cuda": "Local memory: {} bytes a thread at most, beside registers that are spilled.",
}

_OPERATIONS = """\
typedef {scalar} real;
#define NUMBER(x) (x)
#define SIN(x) sin{f}(x)
#define COS(x) cos{f}(x)
#define SINCOS(x, s, c) {both}
#define TANH(x) tanh{f}(x)
#define SECH(x) (1 / cosh{f}(x))
#define SQRT(x) sqrt{f}(x)
#define FABS(x) fabs{f}(x)
#define REMAINDER(x, y) remainder{f}(x, y)
#define SELECT(condition, a, b) ((condition) ? (a) : (b))
"""
_FUSED = """\
#define FMA(a, b, c) {fma}(a, b, c)
#define FNMA(a, b, c) {fma}(-(a), b, c)
"""
_UNFUSED = """\
#define FMA(a, b, c) ((a) * (b) + (c))
#define FNMA(a, b, c) ((c) - (a) * (b))
"""


def operations(scalar: str, both: str) -> str:
    """Return the type of numbers and its operations; ``both``: sine and cosine at once."""
    return _OPERATIONS.format(scalar=scalar, f="f" if scalar == "float" else "", both=both)


def fused(fma: str, condition: str = "") -> str:
    """Return multiply-adds by a function, where a condition of the preprocessor holds."""
    defined = _FUSED.format(fma=fma)
    return f"#if {condition}\n{defined}#else\n{_UNFUSED}#endif\n" if condition else defined


# <math.h> defines FP_FAST_FMA if the processor has fused multiply-adds (gcc and clang:
# -march=native or -mfma); without it fma() is a slow call.
_DOUBLE = operations("double", "sine_cosine(x, &s, &c)")
DOUBLE = _DOUBLE + fused("fma", "defined(FP_FAST_FMA)")
GNU_DOUBLE = _DOUBLE + fused("__builtin_fma", "defined(__FMA__) || defined(__aarch64__)")
FLOAT = operations("float", "(s = sinf(x), c = cosf(x))") + fused("fmaf", "defined(FP_FAST_FMAF)")

# The core's constants: include/dtau/sincos_constants.hpp.
_SINCOS = _core.sincos_constants()
REDUCTION_LIMIT: float = _SINCOS["reduction_limit"]


def _horner(result: str, coefficients: Sequence[float]) -> str:
    """Return lines that evaluate a polynomial of z by Horner's scheme, as `result`."""
    *rest, second, last = coefficients
    lines = [f"real {result} = FMA(z, {last!r}, {second!r});"]
    lines += [f"{result} = FMA(z, {result}, {x!r});" for x in reversed(rest)]
    return "".join(f"    {line}\n" for line in lines)


def _series() -> str:
    """Return lines for sine and cosine of x: subtract k quarter turns, then two polynomials."""
    number, (first, second, third) = _SINCOS["reduction_number"], _SINCOS["half_pi"]
    return f"""\
    const real shifted = FMA(x, {_SINCOS["two_over_pi"]!r}, {number!r});
    const real k = {number!r} - shifted;
    const real first = FMA(k, {first!r}, x);
    const real second = FMA(k, {second!r}, first);
    const real r = FMA(k, {third!r}, second), z = r * r;
{_horner("s", _SINCOS["sine_series"])}\
    s = FMA(z * r, s, r);
{_horner("c", (1.0, -0.5, *_SINCOS["cosine_series"]))}"""


# For numbers and for vectors: within three units in the last place.
SERIES = _series()
SINE_COSINE = f"""\
static inline void sine_cosine(real x, real *sine, real *cosine) {{
    if (!(fabs(x) < {REDUCTION_LIMIT!r})) {{
        *sine = sin(x);
        *cosine = cos(x);
        return;
    }}
{SERIES}\
    const int quadrant = -(int)k;
    const real a = quadrant & 1 ? c : s, b = quadrant & 1 ? s : c;
    *sine = quadrant & 2 ? -a : a;
    *cosine = (quadrant + 1) & 2 ? -b : b;
}}
"""


def model_hash(model: Model) -> str:
    """Return a hash of everything in a model that results depend on."""
    parts: list[bytes] = [
        model.gravity.tobytes(),
        model.armature.tobytes(),
        model.damping.tobytes(),
    ]
    if model.stiffness.any():
        parts += [model.stiffness.tobytes(), model.rest_position.tobytes()]
    if model.friction.any():
        parts.append(repr([(link.friction, link.friction_speed) for link in model.links]).encode())
    for joint in model.joints:
        parts.append(repr((joint.type, joint.parent, joint.mimic)).encode())
        placement = joint.placement
        parts += [placement.rotation.tobytes(), placement.translation.tobytes()]
    parts.append(model.parameters.tobytes())
    return hashlib.sha256(b"\0".join(parts)).hexdigest()[:16]


def head(model: Model, written: Sequence[Written], scalar: str, language: str) -> str:
    """Return the comment at the head of both files."""
    gravity = ", ".join(f"{x:g}" for x in model.gravity)
    return comment(
        f"{model.name or 'A robot'}: rigid-body dynamics in {scalar} precision, "
        f"generated by dtau {__version__}.",
        "",
        f"Model of hash {model_hash(model)}, gravity ({gravity}) m/s^2",
        "",
        *str(model).split("\n")[1:],
        "",
        *_ARRAYS[language].splitlines(),
        *_CONVENTIONS.splitlines(),
        _STACK[language].format(stack_bytes(written, scalar)),
    )


def guard(prefix: str) -> str:
    """Return the include guard of the header."""
    return f"DTAU_{prefix}H"


def sizes(prefix: str) -> list[tuple[str, str]]:
    """Return the names of the model's sizes, in C and in Python."""
    return [(prefix + name, name) for name in ("nq", "nv", "nbodies")]


def header(model: Model, written: Sequence[Written], prefix: str, scalar: str, extra: str) -> str:
    """Return the text of the header, without the comment at its head."""
    numbers = ", ".join(f"{name} = {getattr(model, size)}" for name, size in sizes(prefix))
    text = f"#ifndef {guard(prefix)}\n#define {guard(prefix)}\n\n"
    text += '#ifdef __cplusplus\nextern "C" {\n#endif\n\n'
    text += f"enum {{ {numbers} }};\n\n"
    for function in written:
        text += function_comment(function) + prototype(function, scalar) + ";\n\n"
    return text + extra + "#ifdef __cplusplus\n}\n#endif\n\n#endif\n"


def function_comment(function: Written) -> str:
    """Return the comment above the declaration of a function."""
    request = function.request
    said = f" with {request.said}" if request.said else ""
    results, arguments = map(_declared, (function.results, function.arguments))
    return comment(
        *paragraph(
            f"dtau.{request.function}{said}: {results} from {arguments or 'nothing'}. "
            f"{function.operations} operations, {function.sines} sines and cosines."
        )
    )


def _declared(arrays: Sequence[Argument]) -> str:
    return ", ".join(x.name + "".join(f"[{n}]" for n in x.shape or (1,)) for x in arrays)


def prototype(function: Written, scalar: str) -> str:
    """Return the declaration of a function, without the semicolon."""
    given = [f"const {scalar} *{x.name}" for x in function.arguments]
    return f"void {function.name}({', '.join([*given, *_targets(function, scalar)])})"


def _targets(function: Written, scalar: str) -> list[str]:
    return [f"{scalar} *{x.name}" for x in function.results]


def source(written: Sequence[Written], header_name: str, scalar: str, extra: str) -> str:
    """Return the text of the source file, without the comment at its head."""
    text = include(header_name) + "\n#include <math.h>\n\n"
    text += FLOAT if scalar == "float" else DOUBLE
    everything = "".join(function.text for function in written)
    if scalar == "double" and "SINCOS(" in everything:
        text += "\n" + SINE_COSINE
    return text + "\n" + "\n".join(function.text for function in written) + extra
