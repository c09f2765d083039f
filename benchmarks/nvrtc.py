"""Compiles CUDA text by NVRTC, which its wheel brings: `compiled`. It needs no GPU and no toolkit.

The compiler's log, with `--ptxas-options=-v`, says of each kernel how many registers a thread has,
and how many bytes of local memory: its stack, and what is spilled from registers and loaded again.
"""

from __future__ import annotations

import ctypes
import importlib.metadata
import re
from dataclasses import dataclass
from functools import cache
from pathlib import Path
from time import perf_counter
from typing import Any

from benchmarks.checks import UnavailableError
from benchmarks.compilers import CompilationError

WHEEL = "nvidia-cuda-nvrtc"
_ENTRY = re.compile(r"Compiling entry function '(\w+)' for '\w+'\n")
_REGISTERS = re.compile(r"Used (\d+) registers(?:.*?(\d+) bytes cumulative stack size)?")
_FUNCTION = re.compile(
    r"(\d+) bytes stack frame, (\d+) bytes spill stores, (\d+) bytes spill loads"
)


@dataclass(frozen=True)
class Resources:
    """What a thread of a kernel takes: registers, and bytes of local memory.

    With the functions that the kernel calls.
    """

    registers: int
    stack: int  # spilled registers among them
    spill_stores: int
    spill_loads: int


@dataclass(frozen=True)
class Compiled:
    """A program, and what its kernels take, by their names."""

    ptx: str
    cubin: bytes
    kernels: dict[str, Resources]
    log: str
    seconds: float


@cache
def library() -> Any:
    """The library; raise `UnavailableError` if the wheel is not installed."""
    try:
        files = importlib.metadata.files(WHEEL) or []
    except importlib.metadata.PackageNotFoundError:
        raise UnavailableError(f"the package {WHEEL} is not installed") from None
    path = next(Path(str(x.locate())) for x in files if re.match(r"(lib)?nvrtc(\.so|64)", x.name))
    nvrtc = ctypes.CDLL(str(path))
    nvrtc.nvrtcGetErrorString.restype = ctypes.c_char_p
    return nvrtc


def version() -> str:
    """The version of the library."""
    major, minor = ctypes.c_int(), ctypes.c_int()
    _require(library().nvrtcVersion(ctypes.byref(major), ctypes.byref(minor)))
    return f"{major.value}.{minor.value}"


def compiled(text: str, architecture: str = "sm_90") -> Compiled:
    """Compile a program; raise `CompilationError` with the compiler's first error."""
    nvrtc, program = library(), ctypes.c_void_p()
    start = perf_counter()
    _require(
        nvrtc.nvrtcCreateProgram(ctypes.byref(program), text.encode(), b"robot.cu", 0, None, None)
    )
    try:
        options = [f"--gpu-architecture={architecture}".encode(), b"--ptxas-options=-v"]
        given = (ctypes.c_char_p * len(options))(*options)
        failed = nvrtc.nvrtcCompileProgram(program, len(options), given)
        log = _bytes(program, "ProgramLog").decode()
        if failed:
            lines = log.splitlines()
            raise CompilationError(next((x for x in lines if "error" in x), log))
        ptx, cubin = _bytes(program, "PTX").decode(), _bytes(program, "CUBIN")
        return Compiled(ptx, cubin, _kernels(log), log, perf_counter() - start)
    finally:
        _require(nvrtc.nvrtcDestroyProgram(ctypes.byref(program)))


def _bytes(program: ctypes.c_void_p, what: str) -> bytes:
    """What `nvrtcGetProgramLog`, `nvrtcGetPTX` or `nvrtcGetCUBIN` give."""
    size = ctypes.c_size_t()
    _require(getattr(library(), f"nvrtcGet{what}Size")(program, ctypes.byref(size)))
    buffer = ctypes.create_string_buffer(size.value)
    _require(getattr(library(), f"nvrtcGet{what}")(program, buffer))
    return buffer.raw if what == "CUBIN" else buffer.value


def _kernels(log: str) -> dict[str, Resources]:
    """Read the compiler's log, in which functions follow the kernel that calls them."""
    _, *parts = _ENTRY.split(log)
    kernels = {}
    for name, said in zip(parts[::2], parts[1::2], strict=True):
        used = _REGISTERS.search(said)
        functions = [tuple(map(int, x)) for x in _FUNCTION.findall(said)]
        if used is None or not functions:
            raise CompilationError(f"the compiler's log says nothing of {name}: {said}")
        stacks, stores, loads = zip(*functions, strict=True)
        stack = int(used[2]) if used[2] else max(stacks)
        kernels[name] = Resources(int(used[1]), stack, sum(stores), sum(loads))
    return kernels


def _require(result: int) -> None:
    if result:
        raise RuntimeError(f"NVRTC: {library().nvrtcGetErrorString(result).decode()}")
