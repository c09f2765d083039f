"""Compile functions for one model: `compile`."""

from __future__ import annotations

import ctypes
import os
import shlex
import shutil
import subprocess
import warnings
from collections.abc import Mapping, Sequence
from contextlib import suppress
from dataclasses import dataclass
from pathlib import Path

from dtau import _core
from dtau.codegen.compiler import Compiler, compiler_of
from dtau.codegen.lanes import alone_source, lanes_source
from dtau.codegen.libraries import (
    cache_folder,
    keep_library,
    kept_library,
    load_library,
    work_folder,
)
from dtau.codegen.limit import require_limit
from dtau.codegen.recording import COMPILES, LARGE, record
from dtau.codegen.requests import Argument, Functions, Request, requests
from dtau.model.contacts import Contacts
from dtau.model.model import Model
from dtau.support.checks import require
from dtau.support.errors import ModelWarning


def compile(
    model: Model,
    functions: Functions = ("inverse_dynamics", "inverse_dynamics_derivatives"),
    *,
    parameters: Sequence[str] = (),
    limit: float = 120.0,
) -> Model:
    """Compile functions for one model: return an equal model that runs the compiled code.

    Parameters
    ----------
    model : Model
    functions : str, sequence of str, or mapping
        Functions as in `dtau.generate`, without options that name frames or joints, or arrays.
    parameters : sequence of str, optional
        Arrays of the calls that are compiled: ``"f_ext"``, external wrenches; ``"active"``, which
        contacts are active; ``"positions"``, where they are held.
    limit : float
        Largest expected time of the compiler, in seconds.

    Returns
    -------
    Model
        Calls of these functions with these options and arrays, for any number of states, run the
        compiled code; all other calls run the core. Contacts may be those given here or equal ones.

    Raises
    ------
    ValueError
        If a function, an option or a parameter is unknown or cannot be compiled, or the compiler is
        expected to take longer than ``limit`` (the message gives the time).
    TypeError
        If an argument is of the wrong type.

    Warns
    -----
    ModelWarning
        If there is no C compiler (``cc``, or the command in the environment variable ``CC``), or it
        fails: the model is returned unchanged, and the core computes everything. If a function has
        so many operations for this robot that the core is faster in batches: it is compiled anyway.
        If the code cannot be cached: later processes compile it again.

    Notes
    -----
    The code is `dtau.generate`'s, for as many states at once as the processor's vectors hold.
    A state has the same bits alone and in a batch, except for the sign of a zero, and differs from
    the core's result by roundings. The code is cached in ``$XDG_CACHE_HOME/dtau`` or
    ``~/.cache/dtau``, under a hash of everything that it depends on. Cached code is verified before
    it is loaded, and compiled again if it is damaged or belongs to another user. A folder that
    others can write to is not used. Only the returned object runs the code: models derived from it
    (`replace`, pickles) run the core, and so do the functions of `dtau.jax`, `dtau.torch` and
    `dtau.casadi`.

    Examples
    --------
    >>> import dtau, numpy as np
    >>> model = dtau.robots.quadruped()
    >>> fast = dtau.compile(model, "gravity_torque")
    >>> q = dtau.random_state(model, np.random.default_rng(0), shape=(100,)).q
    >>> want = dtau.gravity_torque(model, q)
    >>> bool(np.allclose(dtau.gravity_torque(fast, q), want, rtol=1e-13, atol=1e-12))
    True
    """
    require("model", model, Model)
    require_limit(limit)
    asked = requests(model, functions, parameters)
    for request in asked:
        _require_plain(request)
    sources = _sources(model, asked, limit)
    made = Model.__new__(Model)
    made.__setstate__(model.__getstate__())
    command = _compiler()
    if shutil.which(command[0]) is None:
        _warn(
            f"there is no C compiler {' '.join(command)!r}: the core computes everything. "
            "Install one, or name it in the environment variable CC"
        )
        return made
    folder = None
    try:
        folder = cache_folder()
    except OSError as problem:
        _warn(_NOT_KEPT + str(problem))
    for request, source in zip(asked, sources, strict=True):
        if source.operations > LARGE:
            _warn(
                f"{request.function} has {source.operations:,} operations for this robot: from "
                f"some {LARGE:,} on, the core was measured to be as fast in batches, or faster. It "
                "computes the functions that are not named here"
            )
        try:
            code = _functions(compiler_of(command, _core.instruction_set()), folder, source.files)
        except (OSError, subprocess.SubprocessError) as problem:
            _warn(f"{request.function} was not compiled, the core computes it: {_said(problem)}")
            continue
        given = [x is not None for x in request.inputs.values()]
        what = (request.function, dict(request.options), given, _core.lanes())
        vars(made).setdefault("_held", []).append(request.options)  # contacts that the code names
        _core.add_code(made, *what, code.alone, code.in_lanes, source.memory)
    return made


def _compiler() -> list[str]:
    """Return the words of the compiler's command; an empty CC counts as missing."""
    given = os.environ.get("CC", "").strip() or "cc"
    try:
        return shlex.split(given)
    except ValueError:  # an unmatched quotation mark
        return [given]


_NOT_KEPT = "compiled code is not kept, and every process compiles it again: "


def _warn(said: str, depth: int = 1) -> None:
    """Warn at the line that calls `compile`, which is `depth` calls above."""
    warnings.warn(f"dtau.compile: {said}", ModelWarning, stacklevel=2 + depth)


def _require_plain(request: Request) -> None:
    if any(not isinstance(x, Argument | None) for x in request.inputs.values()) or any(
        not isinstance(x, str | bool | int | float | Contacts | None)
        for x in request.options.values()
    ):
        plain = "options that are words, numbers or contacts can, and arrays that parameters= names"
        raise _impossible(request, f"only {plain}")
    if request.options.get("by"):
        raise _impossible(request, "only the results without by= can")
    for constant in request.constants:
        raise ValueError(f"parameters: {constant.name} is the model's in compiled functions")


def _impossible(request: Request, why: str) -> ValueError:
    return ValueError(
        f"functions: {request.function} with {request.said} cannot be compiled: {why}; "
        "dtau.generate writes it as C"
    )


@dataclass(frozen=True)
class _Functions:
    """Addresses."""

    alone: int
    in_lanes: int

    @classmethod
    def of(cls, library: ctypes.CDLL) -> _Functions:
        """Return the two functions of a library; OSError if it does not have them."""
        try:
            found = (library.robot_alone, library.robot_in_lanes)
        except AttributeError as missing:
            raise OSError(f"the compiler made a library without functions: {missing}") from missing
        alone, in_lanes = (ctypes.cast(x, ctypes.c_void_p).value for x in found)
        assert alone
        assert in_lanes
        return cls(alone, in_lanes)


@dataclass(frozen=True)
class _Code:
    """Sources by file name, and the memory that a group of states needs."""

    files: dict[str, str]
    memory: int
    operations: int  # for one state


def _sources(model: Model, asked: Sequence[Request], limit: float) -> list[_Code]:
    lanes, sources, operations = _core.lanes(), [], 0
    for request in asked:
        taken = [isinstance(x, Argument) for x in request.inputs.values()]
        alone = record(model, request, "one_", single=False, static=True)
        grouped = record(model, request, "one_", single=False, static=True, lanes=lanes)
        operations += alone.operations + grouped.operations
        files = {
            "alone.c": alone_source(alone, taken),
            "lanes.c": lanes_source(grouped, taken, lanes),
        }
        sources.append(_Code(files, grouped.memory, alone.operations))
    seconds = operations / COMPILES["c"]
    if seconds > limit:
        raise ValueError(
            f"functions: {operations} operations would take the compiler about {seconds:.0f} s, "
            f"more than limit={limit:g}"
        )
    return sources


def _functions(compiler: Compiler, folder: Path | None, sources: Mapping[str, str]) -> _Functions:
    """Return a function for one state and in lanes, from the cached library or a new one."""
    name = f"{compiler.key(sources)}.so"
    kept = kept_library(folder, name) if folder else None
    if kept is not None:
        with suppress(OSError):  # compiled on another system that shares the folder
            return _Functions.of(load_library(kept))
    with work_folder(folder) as work:
        code = compiler.library(sources, work)
        found = _Functions.of(load_library(code))
        if folder:
            try:
                keep_library(folder, work, name, code)
            except OSError as problem:
                _warn(_NOT_KEPT + str(problem), depth=2)
    return found


def _said(problem: Exception) -> str:
    output = getattr(problem, "stderr", None) or b""
    last = output.decode(errors="replace").strip().splitlines()
    return last[-1] if last else str(problem)
