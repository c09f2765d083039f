"""CasADi's functions, to be called and timed: by its virtual machine, and compiled from its C code.

Import it where CasADi is installed (`python -m pip install casadi`).
"""

from __future__ import annotations

import ctypes
import os
import shlex
import shutil
import subprocess
from collections.abc import Sequence
from pathlib import Path
from typing import Any

import casadi
import numpy as np

from benchmarks.experiment import Array

FLAGS = ("-march=native", "-shared", "-fPIC")
LARGE = 20_000  # nodes, above which -O1 has to do: -O3 takes minutes, to save some percent
_LOOP = """
#include <stddef.h>
void many(const double* x, double* y, size_t nx, size_t ny, size_t states, double* w) {{
  for (size_t i = 0; i < states; ++i, x += nx, y += ny) {{
    const double* arg[1] = {{x}};
    double* res[1] = {{y}};
    {name}(arg, res, 0, w, 0);
  }}
}}
"""


class Called:
    """A function called from Python for one state after the other, in CasADi's fastest way."""

    def __init__(self, function: Any, states: Array) -> None:
        self._buffer, self._call = function.buffer()
        self._x = np.empty(states.shape[1])
        self.out = np.empty(function.nnz_out(0))
        self._buffer.set_arg(0, self._x.data)
        self._buffer.set_res(0, self.out.data)
        self._states = states

    def run(self, passes: int) -> None:
        """Evaluate at all states, one after the other."""
        x, states, call = self._x, list(self._states), self._call
        for _ in range(passes):
            for state in states:
                x[:] = state
                call()

    def all(self) -> Array:
        """The results at all states."""
        rows = []
        for state in self._states:
            self._x[:] = state
            self._call()
            rows.append(self.out.copy())
        return np.array(rows)


class Looped:
    """A compiled function, with a loop over states in C."""

    def __init__(self, library: Path, function: Any, states: Array) -> None:
        self._many = ctypes.CDLL(str(library)).many
        self._many.restype = None
        self.out = np.full((len(states), function.nnz_out(0)), np.nan)
        self._states = np.ascontiguousarray(states)
        self._work = np.empty(max(1, function.sz_w()))
        pointer = ctypes.c_void_p
        x, y, w = (pointer(a.ctypes.data) for a in (self._states, self.out, self._work))
        nx, ny = (ctypes.c_size_t(a.shape[1]) for a in (self._states, self.out))
        self._arguments = (x, y, nx, ny, ctypes.c_size_t(len(states)), w)

    def run(self, passes: int) -> None:
        """Evaluate at all states."""
        for _ in range(passes):
            self._many(*self._arguments)

    def all(self) -> Array:
        """The results at all states."""
        self.run(1)
        return self.out


def compile_c(function: Any, folder: Path) -> Path:
    """The library of a function of one input and one output, as C code; needs a compiler.

    One block of code with as many statements as the function has nodes.
    """
    name = function.name()
    generator = casadi.CodeGenerator(f"{name}.c", {"with_header": False})
    generator.add(function)
    source = Path(generator.generate(f"{folder}{os.sep}"))
    with source.open("a", encoding="utf-8") as file:
        file.write(_LOOP.format(name=name))
    library = folder / f"{name}.so"
    level = "-O1" if function.n_nodes() > LARGE else "-O3"
    command = [*c_compiler(), level, *FLAGS, str(source), "-o", str(library), "-lm"]
    subprocess.run(command, check=True, capture_output=True)
    return library


def c_compiler() -> Sequence[str]:
    """The system's C compiler, or what the variable CC says; nothing where there is none."""
    words = shlex.split(os.environ.get("CC", "cc"))
    return words if words and shutil.which(words[0]) else ()
