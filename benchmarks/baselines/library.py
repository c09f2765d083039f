"""The library of baselines, compiled by the compilers that are found, and trees in it.

The sources are the files of this folder with the package's own `include` and `src`: the same
scalars, lanes and batches, and the flags of CMakeLists.txt. A call loops over the states in C++: no
Python is in its time. Libraries are kept in the user's cache folder.
"""

from __future__ import annotations

import ctypes
import os
import weakref
from collections.abc import Callable, Sequence
from concurrent.futures import ThreadPoolExecutor
from dataclasses import dataclass
from functools import cache, partial
from pathlib import Path
from typing import Literal

import numpy as np

import dtau
from benchmarks.checks import Array, UnavailableError
from benchmarks.compilers import cxx_compiler, cxx_compilers, kept, run
from benchmarks.machine import cache_folder

Way = Literal["alone", "lanes"]

FOLDER = Path(__file__).parent
ROOT = FOLDER.parents[1]
SOURCES = (
    *(FOLDER / f"{name}.cpp" for name in ("forward", "inverse", "interface")),
    *(ROOT / "src" / name for name in ("batch/run.cpp", "batch/scratch.cpp", "batch/stores.cpp")),
    *(ROOT / "src" / name for name in ("tree/compiled_tree.cpp", "tree/sparsity.cpp")),
)
FLAGS = (
    *("-std=c++20", "-fPIC", "-fvisibility=hidden", "-w"),
    *("-ffp-contract=off", "-fno-math-errno", "-fno-trapping-math", "-fno-tree-slp-vectorize"),
    *(f"-I{path}" for path in (ROOT / "include", ROOT / "src", FOLDER)),
)
FAST = ("-O3", "-march=native")
WITHOUT_AVX = ("-O3", "-march=x86-64-v2")
EXACT = ("-O1", "-DDTAU_INLINE=inline")
COMPLEX = (*FAST, "-ftree-slp-vectorize", "-fcx-limited-range")  # to be timed

ELEMENT = {"lanes": 0, "alone": 1}
VALUES = ("inverse_dynamics", "forward_dynamics")
INVERSE = ("idsva", "idsva_body", "rneacr")
INVERTED = ("inverse_ltdl", "inverse_aza")  # M^-1; by q, what else is given is not read
FORWARD = ("fdsva_ltdl", "fdsva_aza", "fdsva_dmm", "fdcr_aza", "fdcr_dmm", "abacr")


@dataclass(frozen=True)
class Library:
    """The baselines as one compiler made them."""

    compiler: str
    version: str
    loaded: ctypes.CDLL

    def tree(self, model: dtau.Model) -> Tree:
        """The tree of a model."""
        return Tree(self, model)


class Tree:
    """A model in a library; functions take states as rows of q, v and a or tau."""

    def __init__(self, library: Library, model: dtau.Model) -> None:
        types = [joint.type for joint in model.joints]
        if any(joint.mimic for joint in model.joints):
            raise ValueError("expected a model whose joints are independent")
        if any(isinstance(joint, dtau.Universal) for joint in types):
            raise ValueError("expected a model without universal joints")
        if model.stiffness.any():
            raise ValueError("expected a model without springs")
        if model.friction.any():
            raise ValueError("expected a model without friction")
        axes = [getattr(joint, "axis", getattr(joint, "normal", np.zeros(3))) for joint in types]
        numbers = [
            [joint.placement.rotation for joint in model.joints],
            [joint.placement.translation for joint in model.joints],
            axes,
            [getattr(joint, "pitch", 0.0) for joint in types],
            [inertia.mass for inertia in model.inertias],
            [inertia.com for inertia in model.inertias],
            [inertia.tensor for inertia in model.inertias],
        ]
        counts = [np.array([joint._kind for joint in types], dtype=np.int32)]
        counts += [np.array([joint.parent for joint in model.joints], dtype=np.int32)]
        arrays = [np.ascontiguousarray(x, dtype=np.float64) for x in numbers]
        ends = [np.ascontiguousarray(x) for x in (model.armature, model.damping, model.gravity)]
        message = ctypes.create_string_buffer(200)
        self.model, self.library = model, library
        self._tree = library.loaded.open_tree(
            len(types),
            *(x.ctypes.data for x in counts + arrays),
            model.nv,
            *(x.ctypes.data for x in ends),
            message,
            len(message),
        )
        if not self._tree:
            raise ValueError(message.value.decode(errors="replace"))
        weakref.finalize(self, library.loaded.close_tree, self._tree)

    def __call__(self, function: str, *arrays: Array, way: Way = "lanes") -> tuple[Array, ...]:
        """The results of a function at all states."""
        results = self._results(function, arrays)
        self.loop(function, arrays, way, results)(1)
        return results

    def loop(
        self,
        function: str,
        arrays: tuple[Array, ...],
        way: Way,
        into: tuple[Array, ...] | None = None,
    ) -> Callable[[int], None]:
        """Apply a function to all states; so many passes a call, always into the same results."""
        results = into or self._results(function, arrays)
        pointers = (ctypes.c_void_p * len(results))(*(x.ctypes.data for x in results))
        given = [x.ctypes.data for x in arrays]
        fixed = (self._tree, function.encode(), ELEMENT[way], len(arrays[0]), *given, pointers)
        run = self.library.loaded.run

        # kept: what the pointers lead to
        def passes(count: int, kept: object = (self, arrays, results)) -> None:
            if not run(*fixed, count):
                raise LookupError(f"{function} is not in the library of baselines")

        return passes

    def counts(self, function: str, *arrays: Array) -> tuple[int, int, int]:
        """Multiplications, additions and divisions of all states; of a library of `Counted`."""
        taken = (ctypes.c_longlong * 3)()
        self.library.loaded.take_counts(taken)
        self(function, *arrays, way="alone")
        self.library.loaded.take_counts(taken)
        return taken[0], taken[1], taken[2]

    def _results(self, function: str, arrays: tuple[Array, ...]) -> tuple[Array, ...]:
        n = self.model.nv
        one = function in VALUES or function in INVERTED
        number = 1 if one else 2 if function in INVERSE else 3
        shape = (len(arrays[0]), n) if function in VALUES else (len(arrays[0]), n, n)
        return tuple(np.full(shape, np.nan, arrays[0].dtype) for _ in range(number))


def compiled(
    names: Sequence[str] = ("g++", "clang++"), flags: tuple[str, ...] = FAST
) -> tuple[list[Library], list[str]]:
    """The library by these compilers, and sentences on those that are missing."""
    libraries, notes = [], []
    for name in names:
        try:
            compiler = cxx_compiler(name)
        except UnavailableError as reason:
            notes.append(f"The baselines by {name} are left out: {reason}.")
        else:
            libraries.append(_library(compiler, flags))
    if not libraries:
        raise UnavailableError(" ".join(notes))
    return libraries, notes


def of_scalars(scalar: Literal["Complex", "Counted"], flags: tuple[str, ...] = EXACT) -> Library:
    """The library for such numbers alone, by the first compiler."""
    return _library(cxx_compiler("g++", "clang++"), (*flags, f"-DDTAU_SCALAR={scalar}"))


@cache
def _library(compiler: str, flags: tuple[str, ...]) -> Library:
    """A library from the cache, or made now."""
    headers = [*(ROOT / "include").rglob("*.hpp"), *(ROOT / "src").rglob("*.hpp")]
    headers += FOLDER.glob("*.hpp")
    command = [compiler, *FLAGS, *flags]
    native = run([*command, "-x", "c++", "-dM", "-E", os.devnull])  # version, instructions
    parts = [native, *command]
    parts += [path.read_text(encoding="utf-8") for path in sorted({*SOURCES, *headers})]
    name = f"baselines-{Path(compiler).name}"
    library = kept(name, parts, partial(_build, command), cache_folder())
    return Library(Path(compiler).name, cxx_compilers()[compiler], _load(library))


def _build(command: list[str], library: Path) -> None:
    """Compile the sources side by side, and link them."""
    objects = [library.parent / f"{source.stem}.o" for source in SOURCES]
    with ThreadPoolExecutor(os.cpu_count()) as pool:
        jobs = [
            pool.submit(run, [*command, "-c", str(source), "-o", str(made)])
            for source, made in zip(SOURCES, objects, strict=True)
        ]
        for job in jobs:
            job.result()
    run([command[0], "-shared", *map(str, objects), "-o", str(library)])


def _load(path: Path) -> ctypes.CDLL:
    """The library, its functions' types declared."""
    library = ctypes.CDLL(str(path))
    pointer, integer, size = ctypes.c_void_p, ctypes.c_int, ctypes.c_ssize_t
    text = ctypes.c_char_p
    last = (integer, pointer, pointer, pointer, text, size)
    library.open_tree.argtypes = (integer, *[pointer] * 9, *last)
    library.open_tree.restype = pointer
    library.close_tree.argtypes = (pointer,)
    library.close_tree.restype = None
    library.run.argtypes = (pointer, text, integer, size, *[pointer] * 4, size)
    library.run.restype = ctypes.c_bool
    return library
