"""`dtau.compile`: a model some of whose functions were compiled for it."""

from __future__ import annotations

import ctypes
import hashlib
import os
import shlex
import shutil
import subprocess
import tempfile
import warnings
from collections.abc import Sequence
from dataclasses import dataclass
from pathlib import Path

from dtau import _core
from dtau.c_code.lanes import alone_source, lanes_source
from dtau.c_code.limit import require_limit
from dtau.c_code.recording import COMPILES, LARGE, record
from dtau.c_code.requests import Argument, Functions, Request, requests
from dtau.checks import require
from dtau.errors import ModelWarning
from dtau.model.model import Model

_FLAGS = (
    *("-std=gnu99", "-O2", "-ffp-contract=off", "-fno-math-errno", "-fno-trapping-math"),
    *("-fPIC", "-shared"),
)
_OF_GCC = ("-fschedule-insns", "-fsched-pressure")  # fewer operations wait for each other


def compile(
    model: Model,
    functions: Functions = ("inverse_dynamics", "inverse_dynamics_derivatives"),
    *,
    parameters: Sequence[str] = (),
    limit: float = 120.0,
) -> Model:
    """Return a model equal to this one whose functions run code that was compiled for it.

    Parameters
    ----------
    model : Model
    functions : str, sequence of str, or mapping
        As `dtau.generate` takes them, without options that name frames, contacts or joints.
    parameters : sequence of str, optional
        ``["f_ext"]``: the functions as they are called with external wrenches.
    limit : float
        Seconds that the compiler may take, by what is expected beforehand.

    Returns
    -------
    Model
        Calls of these functions with these options, of any number of states, run the compiled code;
        all other calls run the core.

    Raises
    ------
    ValueError
        If a function, an option or a parameter is unknown or cannot be compiled, or the compiler
        would take longer than ``limit``: the message says how long.
    TypeError
        If an argument is of the wrong type.

    Warns
    -----
    ModelWarning
        If there is no C compiler (``cc``, or what the environment variable ``CC`` names), or it
        fails: the model is returned as it is, and the core computes everything. And where a
        function has so many operations for this robot that the core is faster in batches: it is
        compiled all the same.

    Notes
    -----
    The code is that of `dtau.generate` for as many states at once as the processor's vectors hold;
    a state has the same bits alone and in a batch, and differs from the core's result by roundings.
    It is kept in the user's cache, ``$XDG_CACHE_HOME/dtau`` or ``~/.cache/dtau``, by what it
    depends on. It belongs to the returned object alone: models that are made of it (`replace`,
    pickles) run the core, as do the functions of `dtau.jax`, `dtau.torch` and `dtau.casadi`.

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
    compiler = _compiler()
    if shutil.which(compiler[0]) is None:
        warnings.warn(
            f"dtau.compile: there is no C compiler {' '.join(compiler)!r}: the core "
            "computes everything. Install one, or name it in the environment variable CC",
            ModelWarning,
            stacklevel=2,
        )
        return made
    for request, source in zip(asked, sources, strict=True):
        if source.operations > LARGE:
            warnings.warn(
                f"dtau.compile: {request.function} has {source.operations:,} operations for this "
                f"robot: from some {LARGE:,} on, the core was measured to be as fast in batches, "
                "or faster. It computes the functions that are not named here",
                ModelWarning,
                stacklevel=2,
            )
        try:
            alone, in_lanes = _loaded(compiler, source.files)
        except (OSError, subprocess.SubprocessError) as problem:
            warnings.warn(
                f"dtau.compile: {request.function} was not compiled, the core computes it: "
                f"{_said(problem)}",
                ModelWarning,
                stacklevel=2,
            )
            continue
        given = [x is not None for x in request.inputs]
        what = (request.core, request.given, given, _core.lanes())
        _core.add_code(made, *what, alone, in_lanes, source.memory)
    return made


def _compiler() -> list[str]:
    """The words of the command; a CC of nothing is as good as none."""
    given = os.environ.get("CC", "").strip() or "cc"
    try:
        return shlex.split(given)
    except ValueError:  # a quotation mark without another
        return [given]


def _require_plain(request: Request) -> None:
    if any(not isinstance(x, Argument | None) for x in request.inputs) or any(
        not isinstance(x, str | bool | int | float | None) for x in request.given
    ):
        raise ValueError(
            f"functions: {request.function} with {request.said} cannot be compiled: only options "
            "that are words or numbers can; dtau.generate writes it as C"
        )
    for constant in request.constants:
        raise ValueError(f"parameters: {constant.name} is the model's in compiled functions")


@dataclass(frozen=True)
class _Code:
    """Texts by the names of their files; the memory that a group of states needs."""

    files: dict[str, str]
    memory: int
    operations: int  # of one state


def _sources(model: Model, asked: Sequence[Request], limit: float) -> list[_Code]:
    lanes, sources, operations = _core.lanes(), [], 0
    for request in asked:
        taken = [isinstance(x, Argument) for x in request.inputs]
        alone = record(model, request, "one_", single=False)
        grouped = record(model, request, "one_", single=False, lanes=lanes)
        operations += alone.operations + grouped.operations
        files = {
            "alone.c": alone_source(alone, taken),
            "lanes.c": lanes_source(grouped, taken, lanes),
        }
        sources.append(_Code(files, grouped.memory, alone.operations))
    seconds = operations / COMPILES
    if seconds > limit:
        raise ValueError(
            f"functions: {operations} operations would take the compiler about {seconds:.0f} s, "
            f"more than limit={limit:g}"
        )
    return sources


def _machine() -> list[str]:
    """What the compiler needs to know of the processor: as the core was chosen for it."""
    chosen = _core.instruction_set()
    return [f"-march={chosen}"] if chosen.startswith("x86-64") else []


def _loaded(compiler: list[str], sources: dict[str, str]) -> tuple[int, int]:
    """The addresses of a function alone and in lanes, compiled if it is not kept."""
    version = subprocess.run([*compiler, "--version"], capture_output=True, check=True).stdout
    is_gcc = b"Free Software Foundation" in version
    command = [*compiler, *_FLAGS, *(_OF_GCC if is_gcc else ()), *_machine()]
    key = hashlib.sha256("\0".join([*command, *sources.values()]).encode() + version)
    folder = Path(os.environ.get("XDG_CACHE_HOME") or Path.home() / ".cache") / "dtau"
    library = folder / f"{key.hexdigest()[:32]}.so"
    if not library.exists():
        folder.mkdir(parents=True, exist_ok=True)
        with tempfile.TemporaryDirectory(dir=folder) as work:
            made, files = Path(work) / "robot.so", [Path(work) / name for name in sources]
            for file, text in zip(files, sources.values(), strict=True):
                file.write_text(text, encoding="ascii")
            subprocess.run(
                [*command, *map(str, files), "-o", str(made), "-lm"],
                capture_output=True,
                check=True,
            )
            made.replace(library)  # whole, whoever else makes it at the same time
    code = ctypes.CDLL(str(library))
    alone, in_lanes = (
        ctypes.cast(x, ctypes.c_void_p).value for x in (code.robot_alone, code.robot_in_lanes)
    )
    assert alone
    assert in_lanes
    return alone, in_lanes


def _said(problem: Exception) -> str:
    output = getattr(problem, "stderr", None) or b""
    last = output.decode(errors="replace").strip().splitlines()
    return last[-1] if last else str(problem)
