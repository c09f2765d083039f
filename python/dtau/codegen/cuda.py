"""Renders the .cu and .cuh files around device functions: `cuda_header`, `cuda_source`.

A kernel computes one state per thread. The entries of a state lie as far apart as there are states,
so the 32 threads of a warp read and write 32 adjacent numbers at a time. With states as rows, every
thread would touch a memory sector of its own, and use 8 of its 32 bytes.
"""

from __future__ import annotations

from collections.abc import Sequence

from dtau.codegen.recording import Written
from dtau.codegen.source import function_comment, fused, operations
from dtau.codegen.text import comment, include, paragraph
from dtau.model.model import Model

# Threads of a block: with 255 registers a thread, a multiprocessor holds four blocks of 64. Larger
# blocks would leave multiprocessors idle in small batches.
THREADS = 64

# Outside of NVRTC, nvcc includes <cuda_runtime.h> itself.
_TOP = """\
#ifdef __CUDACC_RTC__
#define NAN nan("")
#define HUGE_VAL __longlong_as_double(0x7ff0000000000000LL)
#else
#include <math.h>
#endif

"""


def macros(scalar: str) -> str:
    """Return the type of numbers and the operations of the functions' text."""
    f = "f" if scalar == "float" else ""
    return operations(scalar, f"sincos{f}(x, &s, &c)") + fused(f"fma{f}") + "\n"


def cuda_guard(prefix: str) -> str:
    """Return the include guard of the header."""
    return f"DTAU_{prefix}CUH"


def kernel_names(name: str) -> tuple[str, str]:
    """Return the names of a function's kernel and of the host function that launches it."""
    return f"{name}_kernel", f"{name}_launch"


def cuda_header(
    model: Model, written: Sequence[Written], prefix: str, scalar: str, extra: str
) -> str:
    """Return the text of the header, without the comment at its head."""
    given = {prefix + name: getattr(model, name) for name in ("nq", "nv", "nbodies")}
    given[f"{prefix}threads"] = THREADS
    numbers = ", ".join(f"{name} = {value}" for name, value in given.items())
    guard = cuda_guard(prefix)
    text = f"#ifndef {guard}\n#define {guard}\n\n" + "#include <cuda_runtime_api.h>\n\n"
    text += '#ifdef __cplusplus\nextern "C" {\n#endif\n\n'
    text += f"enum {{ {numbers} }};\n\n"
    for function in written:
        text += function_comment(function) + _launch(function, scalar) + ";\n\n"
    text += extra + "#ifdef __cplusplus\n}\n#endif\n\n"
    text += "#ifdef __CUDACC__\n" + comment(*paragraph(_FOR_KERNELS))
    text += "".join(f"{_device(function, scalar)};\n" for function in written)
    return text + "#endif\n\n#endif\n"


_FOR_KERNELS = (
    "For kernels of your own: one state. Entries of an array are stride numbers apart: 1 in an "
    "array of one state, the number of states in arrays of all. Link with nvcc -rdc=true, or "
    "include the source file."
)


def cuda_source(written: Sequence[Written], header_name: str, scalar: str, check: str) -> str:
    """Return the text of the source file, without the comment at its head."""
    text = _TOP.replace("#else\n", f"#else\n{include(header_name)}") + macros(scalar)
    for function in written:
        text += f"{function.text}{_kernel(function)}\n"
    launches = "\n".join(_launch_body(function, scalar) for function in written)
    return f"{text}#ifndef __CUDACC_RTC__\n{launches}{check}#endif\n"


def _device(function: Written, scalar: str) -> str:
    return (
        f"__device__ void {function.name}({', '.join(_declared(function, scalar))}, size_t stride)"
    )


def _launch(function: Written, scalar: str) -> str:
    declared = ", ".join(_declared(function, scalar))
    return (
        f"cudaError_t {kernel_names(function.name)[1]}(int states, {declared}, cudaStream_t stream)"
    )


def _declared(function: Written, scalar: str, qualifier: str = "") -> list[str]:
    given = [f"const {scalar} *{qualifier}{x.name}" for x in function.arguments]
    return [*given, *(f"{scalar} *{qualifier}{x.name}" for x in function.results)]


def _names(function: Written) -> list[str]:
    return [x.name for x in (*function.arguments, *function.results)]


def _kernel(function: Written) -> str:
    declared = ", ".join(_declared(function, "real", "__restrict__ "))
    called = ", ".join(f"{name} + state" for name in _names(function))
    return (
        f'extern "C" __global__ void __launch_bounds__({THREADS})\n'
        f"{kernel_names(function.name)[0]}(int states, {declared}) {{\n"
        "    const unsigned state = blockIdx.x * blockDim.x + threadIdx.x;\n"
        f"    if (state < (unsigned)states) {function.name}({called}, (size_t)states);\n}}\n"
    )


def _launch_body(function: Written, scalar: str) -> str:
    kernel = kernel_names(function.name)[0]
    pointers = ", ".join(f"&{name}" for name in _names(function))
    return (
        f'extern "C" {_launch(function, scalar)} {{\n'
        "    if (states < 0) return cudaErrorInvalidValue;\n"
        "    if (states == 0) return cudaSuccess;\n"
        f"    void *arguments[] = {{&states, {pointers}}};\n"
        f"    const dim3 blocks((unsigned)(states - 1) / {THREADS} + 1), threads({THREADS});\n"
        f"    return cudaLaunchKernel({kernel}, blocks, threads, arguments, 0, stream);\n}}\n"
    )
