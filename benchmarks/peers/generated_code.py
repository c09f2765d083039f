"""C that CasADi writes for one robot: of expressions as one writes them, Pinocchio and adam.

All are functions of CasADi's, of one state; their code is compiled as in `casadi_code`, with a
loop over states in C.
"""

from __future__ import annotations

import tempfile
from collections.abc import Callable, Iterator
from dataclasses import dataclass
from pathlib import Path
from time import perf_counter
from typing import Any

import numpy as np

from benchmarks.checks import Array, UnavailableError, WrongResultError
from benchmarks.optional import optional
from benchmarks.peers.cases import CHECKED, Case, largest
from benchmarks.robots import Robot
from dtau.cli.timing import Contender

# What wrote the expressions.
EXPRESSIONS, PINOCCHIO, ADAM = "CasADi", "Pinocchio and CasADi", "adam and CasADi"
LARGEST = {False: 60_000, True: 30_000}  # instructions; by quick


@dataclass(frozen=True)
class Code:
    """Code of one function, compiled."""

    name: str
    operations: int  # CasADi's instructions
    compiling: float  # seconds
    size: int  # bytes of the library

    def cells(self) -> list[str]:
        """As tables show it."""
        return [f"{self.operations:,}", f"{self.compiling:.1f} s", f"{self.size / 1000:.0f} kB"]


@dataclass(frozen=True)
class Generated:
    """One function's code by another package, and what is timed."""

    code: Code
    contender: Contender


def generated(
    robot: Robot, function: str, states: tuple[Array, ...], quick: bool, note: Callable[[str], None]
) -> Iterator[Generated]:
    """What others make of a function, its results checked; a note where they make nothing."""
    if optional("casadi") is None:
        note("CasADi is not installed: nothing stands beside the package's code")
        return
    q, v, u = states
    case = Case(function, robot, {"q": q, "v": v, "a": u, "tau": u})
    for name in (EXPRESSIONS,) if quick else (EXPRESSIONS, PINOCCHIO, ADAM):
        try:
            yield _compiled(name, case, LARGEST[quick])
        except UnavailableError as reason:
            note(f"{robot.label}, {function}, C of {name}: left out: {reason}")


def _compiled(name: str, case: Case, most: int) -> Generated:
    from benchmarks.peers import (
        adam_casadi,
        casadi_calls,
        casadi_code,
        pinocchio_casadi,
        pinocchio_peer,
    )

    made: Any
    arguments, want = list(case.arguments.values()), case.wanted
    if name == EXPRESSIONS:
        functions = casadi_calls.Functions(case.robot)
        made = functions.get(case)
        if made is None:
            raise UnavailableError(functions.why(case))
    elif name == ADAM:
        made = adam_casadi.function(case.robot, case.function)
    else:
        made = pinocchio_casadi.function(case.robot, case.function)
        arguments, want = pinocchio_peer.arguments(case), pinocchio_peer.in_order(case)
    if made.n_instructions() > most:
        count = f"{made.n_instructions():,} instructions"
        raise UnavailableError(f"{count}: more than {most:,} take compilers long")
    with tempfile.TemporaryDirectory() as folder:
        start = perf_counter()
        library = casadi_code.compiled(made, Path(folder))
        seconds, size = perf_counter() - start, library.stat().st_size
        looped = casadi_code.Looped(library, made, np.ascontiguousarray(np.hstack(arguments)))
    got = casadi_calls.split(case, looped.all()[:CHECKED])
    error, limit = largest(got, want), case.tolerance()
    if not error <= limit:
        what = f"{case.robot.label}, {case.function}, C of {name}"
        raise WrongResultError(f"{what}: differs by {error:.1e} of the largest element")
    contender = Contender(looped.run, case.call.count)
    return Generated(Code(name, made.n_instructions(), seconds, size), contender)
