"""Pinocchio's headers, compiled on this machine for this machine: a contender beside its wheel.

The wheel is compiled once for many processors. Here `pinocchio_headers.cpp` is compiled with `-O3
-march=native` by clang++ and by g++, whichever are found, against the headers that lie beside the
installed Python package, and kept in the user's cache folder. A call loops over the states in C++:
no Python is in its time. Compilers and headers that are missing leave it out; one that fails on
headers that are there is a failure.
"""

from __future__ import annotations

import ctypes
import weakref
from collections.abc import Callable, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import numpy as np

from benchmarks.checks import Array, UnavailableError
from benchmarks.compilers import cxx_compilers, kept, run
from benchmarks.machine import cache_folder
from benchmarks.robots import Robot, pinocchio
from benchmarks.watch import say

SOURCE = Path(__file__).with_name("pinocchio_headers.cpp")
OPTIMISATION = ("-O3", "-march=native", "-DNDEBUG")
FLAGS = (
    "-std=c++17",
    *OPTIMISATION,
    *("-shared", "-fPIC", "-fvisibility=hidden", "-w"),
    # what Pinocchio's CMake target sets, less its extern templates: they would bring in the wheel's
    "-DBOOST_MPL_LIMIT_LIST_SIZE=30",
    "-DBOOST_MPL_LIMIT_VECTOR_SIZE=30",
    "-DBOOST_MPL_CFG_NO_PREPROCESSED_HEADERS",
    "-DBOOST_FUSION_INVOKE_MAX_ARITY=12",
)
# What a compiled library depends on, as far as macros tell: the compiler's version, the
# processor's instructions, the versions of the headers.
NEEDED = {
    "Eigen/Core": "cmeel-eigen",
    "boost/version.hpp": "cmeel-boost",
    "pinocchio/config.hpp": "pin",
}  # by the package that has them
VERSIONS = "".join(f"#include <{header}>\n" for header in NEEDED)
MISSING = "".join(f"#if !__has_include(<{x}>)\nmissing {x}\n#endif\n" for x in NEEDED)


class HeadersRobot:
    """A robot in a compiled library. Functions have the package's names, arrays are Pinocchio's."""

    def __init__(self, library: ctypes.CDLL, peer: Any) -> None:
        message = ctypes.create_string_buffer(200)
        text = peer.saveToString().encode()
        self._library = library
        self._robot = library.open_robot(text, message, len(message))
        if not self._robot:
            raise ValueError(message.value.decode(errors="replace"))
        weakref.finalize(self, library.close_robot, self._robot)

    def loop(self, function: str, arguments: tuple[Array, ...]) -> Callable[[int], None]:
        """All states, rows of q, or of q, v and u, one after the other; so many passes a call."""
        states = self._states(function, arguments)

        def loop(passes: int) -> None:
            if not self._library.run(*states, passes):
                raise LookupError(f"{function} is not in this library")

        return loop

    def results(
        self, function: str, arguments: tuple[Array, ...], shapes: Sequence[tuple[int, ...]]
    ) -> list[Array]:
        """What a function leaves in Pinocchio's data at all states; the shapes are of one state."""
        arrays = [np.full((len(arguments[0]), *shape), np.nan) for shape in shapes]
        pointers = (ctypes.c_void_p * len(arrays))(*(array.ctypes.data for array in arrays))
        if not self._library.results(*self._states(function, arguments), pointers):
            raise LookupError(f"{function} is not in this library")
        return arrays

    def _states(self, function: str, arguments: tuple[Array, ...]) -> tuple[Any, ...]:
        if not all(x.dtype == np.float64 and x.flags.c_contiguous for x in arguments):
            raise TypeError("expected contiguous arrays of float64")
        void = ctypes.c_void_p
        pointers = [x.ctypes.data_as(void) for x in arguments]  # each keeps its array alive
        pointers += [void()] * (3 - len(arguments))
        return self._robot, function.encode(), *pointers, len(arguments[0])


@dataclass(frozen=True)
class Headers:
    """The headers as one compiler made them."""

    name: str  # the compiler's command
    version: str
    library: ctypes.CDLL

    def said(self) -> str:
        """How they were compiled."""
        return f"Pinocchio's headers by {self.name} ({self.version}), {' '.join(OPTIMISATION)}."

    def robot(self, peer: Any) -> HeadersRobot:
        """The robot of a pinocchio.Model."""
        return HeadersRobot(self.library, peer)


def compiled(order: int, left_out: Callable[[str], None] = say) -> list[Headers]:
    """The functions of an order of derivatives, by each compiler; a line on what is missing."""
    try:
        prefix = headers_prefix()
        found_here = cxx_compilers()
        if not found_here:
            raise UnavailableError("neither clang++ nor g++ was found")
    except UnavailableError as reason:
        left_out(f"Pinocchio's headers: left out: {reason}")
        return []
    found = []
    for path, version in found_here.items():
        try:
            found.append(_headers(path, version, prefix, order))
        except UnavailableError as reason:
            left_out(f"Pinocchio's headers by {Path(path).name}: left out: {reason}")
    return found


def headers_robots(headers: Sequence[Headers], robot: Robot) -> dict[str, HeadersRobot]:
    """A robot in Pinocchio's headers by the compiler."""
    return {compiler.name: compiler.robot(robot.peer) for compiler in headers}


def headers_prefix() -> Path:
    """The folder whose `include` has the headers of the installed Pinocchio."""
    if pinocchio is None:
        raise UnavailableError("Pinocchio is not installed: python -m pip install pin")
    for folder in Path(pinocchio.__file__).parents:
        if (folder / "include/pinocchio/algorithm/rnea.hpp").is_file():
            return folder
    raise UnavailableError(f"they do not come with {Path(pinocchio.__file__).parent}")


def _headers(compiler: str, version: str, prefix: Path, order: int) -> Headers:
    """The library of one compiler."""
    path = library(SOURCE, compiler, prefix, [f"-DORDER={order}"])
    return Headers(Path(compiler).name, version, _load(path))


def library(
    source: Path, compiler: str, prefix: Path, flags: Sequence[str], more: Sequence[str] = ()
) -> Path:
    """A source file compiled against the headers, from the cache if it is there.

    ``more``: libraries beside that of Pinocchio's files.
    """
    places = (prefix, Path("/usr/local"), Path("/usr"))
    eigen = [place / "include/eigen3" for place in places]
    includes = [prefix / "include", *(path for path in eigen if path.is_dir())]
    command = [compiler, *FLAGS, *flags, *(f"-isystem{path}" for path in includes)]
    libraries = [f"-L{prefix / 'lib'}", f"-Wl,-rpath,{prefix / 'lib'}", "-lboost_serialization"]
    libraries += more

    if missing := run([*command, "-x", "c++", "-E", "-P", "-"], MISSING).split():
        raise UnavailableError(
            f"{missing[1]} is missing: python -m pip install {NEEDED[missing[1]]}"
        )
    macros = run([*command, "-x", "c++", "-dM", "-E", "-"], VERSIONS)
    parts = (source.read_text(encoding="utf-8"), macros, *command, *libraries)
    name = Path(compiler).name

    def make(made: Path) -> None:
        say(f"compiling Pinocchio's headers with {name}, once: takes minutes")
        run([*command, str(source), *libraries, "-o", str(made)])

    return kept(f"pinocchio-{name}", parts, make, cache_folder())


def _load(path: Path) -> ctypes.CDLL:
    """The library, its functions' types declared."""
    library = ctypes.CDLL(str(path))
    pointer, text, count = ctypes.c_void_p, ctypes.c_char_p, ctypes.c_ssize_t
    library.open_robot.argtypes = (text, text, ctypes.c_size_t)
    library.open_robot.restype = pointer
    library.close_robot.argtypes = (pointer,)
    library.close_robot.restype = None
    for function, last in ((library.run, count), (library.results, pointer)):
        function.argtypes = (pointer, text, pointer, pointer, pointer, count, last)
        function.restype = ctypes.c_bool
    return library
