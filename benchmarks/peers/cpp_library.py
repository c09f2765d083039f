"""Calls of the C++ library that comes with the package, in a loop in C++: no Python is in its time.

`cpp_library.cpp` is compiled against the package's headers and library in seconds, and loaded into
this process.
"""

from __future__ import annotations

import ctypes
import tempfile
import weakref
from collections.abc import Callable, Sequence
from pathlib import Path
from typing import Any

import numpy as np

from benchmarks.checks import Array, UnavailableError, WrongResultError
from benchmarks.compilers import cxx_compiler, run
from benchmarks.machine import library_file
from benchmarks.peers.cases import LONE_STATES, Case
from dtau.cli.timing import Contender
from dtau.registry import FUNCTIONS

SOURCE = Path(__file__).with_suffix(".cpp")
FLAGS = ("-std=c++20", "-O3", "-shared", "-fPIC", "-fvisibility=hidden", "-Wall", "-Wextra")


def library() -> Path:
    """The library inside the package."""
    if found := library_file():
        return found
    raise UnavailableError("the package has no C++ library on this system")


def compiler_of_library() -> str:
    """The command of the compiler that made the library: "g++" or "clang++"."""
    return "clang++" if b"clang version" in library().read_bytes() else "g++"


def compiled() -> ctypes.CDLL:
    """The calls, compiled by the first C++ compiler that is here."""
    folder = library().parent
    compiler = cxx_compiler(compiler_of_library(), "g++", "clang++")
    links = [f"-L{folder}", f"-Wl,-rpath,{folder}", "-ldtau"]
    with tempfile.TemporaryDirectory() as name:
        made = Path(name) / "calls.so"
        include = f"-I{folder.parent / 'include'}"
        run([compiler, *FLAGS, include, str(SOURCE), *links, "-o", str(made)])
        calls = ctypes.CDLL(str(made))
    pointer, text, count = ctypes.c_void_p, ctypes.c_char_p, ctypes.c_ssize_t
    calls.open_call.argtypes = (text, text, count, text, ctypes.c_size_t)
    calls.open_call.restype = pointer
    calls.close_call.argtypes = (pointer,)
    calls.close_call.restype = None
    calls.run.argtypes = (pointer, pointer, pointer, count, ctypes.c_bool, count)
    calls.results.argtypes = (pointer, pointer, pointer, count, ctypes.c_bool)
    calls.run.restype = calls.results.restype = ctypes.c_bool
    return calls


class Library:
    """One function of one robot: its results, checked, and its loops."""

    def __init__(self, calls: ctypes.CDLL, case: Case, folder: Path) -> None:
        path = folder / "robot.dtau"
        case.robot.model.save(path)
        message = ctypes.create_string_buffer(500)
        self._calls, self._case = calls, case
        self._arrays = [np.ascontiguousarray(x) for x in case.arguments.values()]
        self._states = len(self._arrays[0])
        arguments = bytes(path), case.function.encode(), self._states, message, len(message)
        self._call = calls.open_call(*arguments)
        if not self._call:
            raise WrongResultError(message.value.decode(errors="replace"))
        weakref.finalize(self, calls.close_call, self._call)
        names = list(case.arguments)
        inputs = [x.name for x in FUNCTIONS[case.function].inputs]
        given = dict(zip(names, self._arrays, strict=True))
        self._inputs = _pointers([given.get(name) for name in inputs])
        self._results = [np.empty_like(x) for x in case.call(threads=1)]
        self._check()

    def _check(self) -> None:
        """Raise `WrongResultError` unless results have Python's bits, alone and in a batch."""
        wanted = self._case.call(threads=1)
        for batch in (False, True):
            for x in self._results:
                x.fill(np.nan)
            done = self._calls.results(
                self._call, self._inputs, _pointers(self._results), self._states, batch
            )
            if not done or not all(map(np.array_equal, self._results, wanted)):
                what = f"{self._case.robot.label}, {self._case.function}"
                raise WrongResultError(f"{what}: the C++ library has other bits than Python")

    def alone(self) -> Contender:
        """The first states, a call each."""
        return Contender(self._loop(LONE_STATES, False), LONE_STATES)

    def batch(self) -> Contender:
        """All states in one call on one thread."""
        return Contender(self._loop(self._states, True), self._states)

    def _loop(self, states: int, batch: bool) -> Callable[[int], None]:
        results = _pointers(self._results)

        def loop(passes: int) -> None:
            if not self._calls.run(self._call, self._inputs, results, states, batch, passes):
                raise WrongResultError(f"the C++ library refuses a call of {self._case.function}")

        return loop


def _pointers(arrays: Sequence[Array | None]) -> Any:
    return (ctypes.c_void_p * len(arrays))(*(None if x is None else x.ctypes.data for x in arrays))
