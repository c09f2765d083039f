"""Write PREFIX_check() for CUDA: it launches kernels and compares their results with the core's."""

from __future__ import annotations

from collections.abc import Sequence

import numpy as np

from dtau.codegen.check import Example, array_text, comparison, examples, tolerance
from dtau.codegen.cuda import THREADS, kernel_names
from dtau.codegen.recording import Written
from dtau.codegen.text import comment, paragraph
from dtau.model.model import Model

_STATES = THREADS + 1  # two blocks, the second of them with idle threads

CUDA_COMPARE = """\
static int differs(const real *got, const int *entry, const real *want, int count, real scale) {
    for (int k = 0; k < count; ++k)
        for (int s = 0; s < STATES; ++s) {
            const real error = got[entry[k] * STATES + s] - want[k];
            if (!(error <= TOLERANCE * scale && -error <= TOLERANCE * scale)) return 1;
        }
    return 0;
}
static real *spread(real *to, const real *from, int count) {
    for (int k = 0; k < count * STATES; ++k) to[k] = from ? from[k / STATES] : NAN;
    return to + count * STATES;
}
"""


def cuda_check_source(model: Model, written: Sequence[Written], prefix: str, scalar: str) -> str:
    """Return the text of the check function and of its reference values."""
    text = CUDA_COMPARE.replace("TOLERANCE", tolerance(scalar)).replace("STATES", str(_STATES))
    body = ""
    for k, (function, made) in enumerate(zip(written, examples(model, written), strict=True)):
        body += _checked(function, made, k + 1, scalar == "float")
    numbers = max(sum(x.size for x in (*f.arguments, *f.results)) for f in written) * _STATES
    return f"""
{text}
extern "C" int {prefix}check(void) {{
    int wrong = 0;
    real *memory;
    cudaError_t error = cudaMallocManaged((void **)&memory, {numbers} * sizeof(real));
    if (error != cudaSuccess) return -(int)error;
{body}    cudaFree(memory);
    return error == cudaSuccess ? wrong : -(int)error;
}}
"""


def _checked(function: Written, made: Example, number: int, single: bool) -> str:
    """Return the block that checks a function, unless an earlier one went wrong."""
    arrays, copies, called, compared = "", "        real *at = memory;\n", [], ""
    for argument, numbers in zip(function.arguments, made.arguments, strict=True):
        name = argument.name
        arrays += array_text(f"static const real {name}", numbers, single)
        copies += f"        const real *{name}_given = at;\n"
        copies += f"        at = spread(at, {name}, {argument.size});\n"
        called.append(f"{name}_given")
    for result, numbers, scale in zip(function.results, made.results, made.scales, strict=True):
        copies += f"        real *{result.name}_got = at;\n"
        copies += f"        at = spread(at, 0, {result.size});\n"
        called.append(f"{result.name}_got")
        compared += comparison(result.name, np.ravel(numbers), scale, single)
    launch = f"{kernel_names(function.name)[1]}({_STATES}, {', '.join(called)}, 0)"
    return (
        f"    {comment(function.request.name)}"
        f"    if (error == cudaSuccess && !wrong) {{\n{arrays}{copies}"
        f"        error = {launch};\n"
        "        if (error == cudaSuccess) error = cudaDeviceSynchronize();\n"
        f"        if (error == cudaSuccess) {{\n{compared}        }}\n"
        f"        if (wrong) wrong = {number};\n    }}\n"
    )


def cuda_check_prototype(prefix: str) -> str:
    """Return the declaration of the check function, with its comment."""
    said = paragraph(
        f"0 if all kernels give, for {_STATES} equal states on the current device, the numbers "
        "that the functions gave when they were written; else the number of the first one that "
        "does not, counted from 1, or minus an error of CUDA. It waits for the device."
    )
    return comment(*said) + f"int {prefix}check(void);\n\n"
