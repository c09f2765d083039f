"""Second derivatives by complex step of the package's own first ones, compiled on the spot.

`complex_step.cpp` is the core's IDSVA with complex numbers, with the core's flags and for this
processor; multiplications are those of finite numbers. A call loops over states and directions in
C++: no Python is in its time. It works on trees of revolute joints, from a checkout of the sources.
"""

from __future__ import annotations

import ctypes
import tempfile
import weakref
from pathlib import Path
from typing import Any

import numpy as np

import dtau
from benchmarks.checks import Array, UnavailableError
from benchmarks.compilers import cxx_compiler, run

ROOT = Path(__file__).parents[1]
SOURCES = ("benchmarks/complex_step.cpp", "src/tree/compiled_tree.cpp", "src/tree/sparsity.cpp")
FLAGS = (
    *("-std=c++20", "-O3", "-march=native", "-ffp-contract=off", "-fno-math-errno"),
    *("-fno-trapping-math", "-fcx-limited-range", "-shared", "-fPIC", "-Iinclude", "-Isrc"),
)


def library() -> ctypes.CDLL:
    """The compiled program; raise `UnavailableError` where there is no compiler or no source."""
    compiler = cxx_compiler("g++", "clang++")
    if missing := [source for source in SOURCES if not (ROOT / source).is_file()]:
        raise UnavailableError(f"there is no {missing[0]} here")
    with tempfile.TemporaryDirectory() as folder:
        path = Path(folder) / "complex_step.so"
        run([compiler, *FLAGS, *SOURCES, "-o", str(path)], folder=ROOT)
        program = ctypes.CDLL(str(path))
    pointer, size = ctypes.c_void_p, ctypes.c_ssize_t
    program.open_robot.argtypes = (ctypes.c_int, *(pointer,) * 8)
    program.open_robot.restype = pointer
    program.close_robot.argtypes = (pointer,)
    program.close_robot.restype = None
    program.second.argtypes = (*(pointer,) * 4, size, pointer)
    program.second.restype = None
    return program


class ComplexStep:
    """Second derivatives of a robot at given states, into an array of their own."""

    def __init__(
        self, program: ctypes.CDLL, model: dtau.Model, q: Array, v: Array, a: Array
    ) -> None:
        joints, inertias, n = model.joints, model.inertias, model.nv
        if not all(isinstance(joint.type, dtau.Revolute) for joint in joints):
            raise ValueError("model: expected revolute joints only")
        fields: list[Any] = [np.array([joint.parent for joint in joints], dtype=np.int32)]
        fields += [[joint.placement.rotation for joint in joints]]
        fields += [[joint.placement.translation for joint in joints]]
        fields += [[joint.type.axis for joint in joints]]  # type: ignore[attr-defined]
        fields += [[getattr(x, name) for x in inertias] for name in ("mass", "com", "tensor")]
        arrays = [np.ascontiguousarray(x) for x in (*fields, model.gravity)]
        robot = program.open_robot(n, *(x.ctypes.data for x in arrays))
        weakref.finalize(self, program.close_robot, robot)
        self._second = program.second
        self._states = [np.ascontiguousarray(x) for x in (q, v, a)]
        self.out = np.full((len(q), 4, *(n,) * 3), np.nan)
        pointers = (x.ctypes.data for x in self._states)
        self._arguments = (robot, *pointers, len(q), self.out.ctypes.data)

    def run(self, passes: int) -> None:
        """Evaluate at all states."""
        for _ in range(passes):
            self._second(*self._arguments)

    def tensors(self) -> list[Array]:
        """d2tau/dqdq, dvdv, dvdq, dM/dq, [i, j, k]: output i, by the first along j, then k."""
        self.run(1)
        return [np.moveaxis(self.out[:, m], 1, -1) for m in range(4)]
