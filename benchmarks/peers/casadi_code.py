"""CasADi's functions, to be called and timed: by its virtual machine, and compiled from its C code.

Import it where CasADi is installed (`python -m pip install casadi`).
"""

from __future__ import annotations

import ctypes
from pathlib import Path
from typing import Any

import casadi
import numpy as np

from benchmarks.checks import Array
from benchmarks.compilers import c_compiler, kept, run

FLAGS = ("-march=native", "-ffp-contract=fast", "-shared", "-fPIC")
LARGE = 20_000  # nodes, above which -O1 has to do: -O3 takes minutes, to save some percent
_LOOP = """
#include <stddef.h>
void many(const double* x, double* y, size_t nx, size_t ny, size_t states, size_t passes,
          double* w) {{
  for (size_t pass = 0; pass < passes; ++pass)
    for (size_t i = 0; i < states; ++i) {{
      const double* arg[1] = {{x + i * nx}};
      double* res[1] = {{y + i * ny}};
      {name}(arg, res, 0, w, 0);
    }}
}}
"""


class Called:
    """A function called from Python for one state after the other, in CasADi's fastest way."""

    def __init__(self, function: Any, states: Array) -> None:
        self._buffer, self.call = function.buffer()
        self._x = np.array(states[0])  # what `call` reads
        self.out = np.empty(function.nnz_out(0))
        self._buffer.set_arg(0, self._x.data)
        self._buffer.set_res(0, self.out.data)
        self._states = states

    def run(self, passes: int) -> None:
        """Evaluate at all states, one after the other."""
        x, states, call = self._x, list(self._states), self.call
        for _ in range(passes):
            for state in states:
                x[:] = state
                call()

    def all(self) -> Array:
        """The results at all states."""
        rows = []
        for state in self._states:
            self._x[:] = state
            self.call()
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
        self._x, self._y, self._w = (
            ctypes.c_void_p(a.ctypes.data) for a in (self._states, self.out, self._work)
        )
        sizes = (self._states.shape[1], self.out.shape[1], len(states))
        self._sizes = [ctypes.c_size_t(size) for size in sizes]

    def run(self, passes: int) -> None:
        """Evaluate at all states."""
        self._many(self._x, self._y, *self._sizes, ctypes.c_size_t(passes), self._w)

    def all(self) -> Array:
        """The results at all states."""
        self.run(1)
        return self.out


def compiled(function: Any, folder: Path) -> Path:
    """The library of a function of one input and one output, from the folder if it is there.

    Its C code is one block with as many statements as the function has nodes; needs a compiler.
    """
    generator = casadi.CodeGenerator("function.c", {"with_header": False})
    generator.add(function)
    source = generator.dump() + _LOOP.format(name=function.name())
    level = "-O1" if function.n_nodes() > LARGE else "-O3"
    command = [*c_compiler(), level, *FLAGS]
    version = run([*c_compiler(), "--version"])

    def make(library: Path) -> None:
        code = library.with_suffix(".c")
        code.write_text(source, encoding="utf-8")
        run([*command, str(code), "-o", str(library), "-lm"])

    return kept("casadi", (source, version, *command), make, folder)
