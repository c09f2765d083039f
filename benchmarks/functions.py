"""Functions that both libraries have, and whether their results agree."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from dataclasses import dataclass
from typing import Any

import numpy as np

import dtau
from benchmarks.experiment import Array, WrongResultError
from benchmarks.harness import loop
from benchmarks.peers.headers import HeadersRobot
from benchmarks.robots import Robot, pinocchio
from dtau import _testing
from dtau.registry import arrays_of

TOLERANCE = 1e-9  # of the largest element of the result
CONDITION = 5e-16  # and so much for each unit of the mass matrix's condition, where it is solved


@dataclass(frozen=True)
class Function:
    """A function of the package and the one of Pinocchio that does the same."""

    name: str
    peer: str
    arguments: tuple[str, ...]
    results: tuple[str, ...]  # where Pinocchio's data keeps them
    axes: int  # of a result of one state: 1 for vectors, 2 for matrices

    def bytes(self, robot: Robot) -> int:
        """The size of all results of one state."""
        return 8 * len(self.results) * int(robot.model.nv**self.axes)

    def shapes(self, robot: Robot) -> list[tuple[int, ...]]:
        """The shapes of the results of one state."""
        return [(robot.model.nv,) * self.axes] * len(self.results)

    def buffers(self, robot: Robot, count: int) -> Any:
        """What `out=` takes, full of NaN: one array, or a tuple of them."""
        arrays = tuple(np.full((count, *shape), np.nan) for shape in self.shapes(robot))
        return arrays if len(arrays) > 1 else arrays[0]


FUNCTIONS = (
    Function("inverse_dynamics", "rnea", ("q", "v", "a"), ("tau",), 1),
    Function("forward_dynamics", "aba", ("q", "v", "tau"), ("ddq",), 1),
    Function("mass_matrix", "crba", ("q",), ("M",), 2),
    Function("mass_matrix_inverse", "computeMinverse", ("q",), ("Minv",), 2),
    Function(
        "inverse_dynamics_derivatives",
        "computeRNEADerivatives",
        ("q", "v", "a"),
        ("dtau_dq", "dtau_dv", "M"),
        2,
    ),
    Function(
        "forward_dynamics_derivatives",
        "computeABADerivatives",
        ("q", "v", "tau"),
        ("ddq_dq", "ddq_dv", "Minv"),
        2,
    ),
)


@dataclass(frozen=True)
class Case:
    """A function at states of a robot, in the coordinates of both libraries."""

    function: Function
    robot: Robot
    ours: tuple[Array, ...]
    theirs: tuple[Array, ...]

    @staticmethod
    def of(function: Function, robot: Robot, at: dict[str, Array]) -> Case:
        """The function's arguments among the states."""
        ours = tuple(at[name] for name in function.arguments)
        q, *others = ours
        theirs = (robot.peer_q(q), *(robot.peer_v(other) for other in others))
        return Case(function, robot, ours, theirs)

    @property
    def count(self) -> int:
        """The number of states."""
        return len(self.ours[0])

    def call(self, *state: Array, **options: Any) -> tuple[Array, ...]:
        """Call the package's function; its results as a tuple."""
        return together(getattr(dtau, self.function.name)(self.robot.model, *state, **options))

    # What is timed: functions of the number of passes

    def batch_loop(self, **options: Any) -> Callable[[int], None]:
        """All states in one call."""
        names = list(self.function.arguments)
        arguments = dict(zip(names, self.ours, strict=True))
        words = ", ".join(["model", *names, *(f"{option}={option}" for option in options)])
        f = getattr(dtau, self.function.name)
        return loop(f"f({words})", f=f, model=self.robot.model, **arguments, **options)

    def lone_loop(self, count: int) -> Callable[[int], None]:
        """The first states, one call each."""
        names = ", ".join(self.function.arguments)
        return loop(
            f"for {names}{',' * (len(self.ours) == 1)} in states: f(model, {names})",
            f=getattr(dtau, self.function.name),
            model=self.robot.model,
            states=_one_by_one(self.ours, count),
        )

    def peer_loop(self, count: int) -> Callable[[int], None]:
        """The first states, one call of Pinocchio each."""
        names = ", ".join(self.function.arguments)
        return loop(
            f"for {names}{',' * (len(self.theirs) == 1)} in states: f(model, data, {names})",
            f=getattr(pinocchio, self.function.peer),
            model=self.robot.peer,
            data=self.robot.peer.createData(),
            states=_one_by_one(self.theirs, count),
        )

    def headers_loop(self, headers: HeadersRobot, count: int) -> Callable[[int], None]:
        """The first states in Pinocchio's headers, one after the other in one call."""
        return headers.loop(self.function.name, self._first(count))

    def _first(self, count: int) -> tuple[Array, ...]:
        """The first states, as Pinocchio writes them."""
        return tuple(np.ascontiguousarray(argument[:count]) for argument in self.theirs)

    # Checks

    def expected(self) -> list[Array]:
        """Pinocchio's results at all states, their triangles mirrored."""
        data = self.robot.peer.createData()
        rows: list[list[Array]] = [[] for _ in self.function.results]
        for state in zip(*self.theirs, strict=True):
            getattr(pinocchio, self.function.peer)(self.robot.peer, data, *state)
            for name, row in zip(self.function.results, rows, strict=True):
                row.append(np.array(getattr(data, name)))
        return self._mirrored([np.array(row) for row in rows])

    def _mirrored(self, results: list[Array]) -> list[Array]:
        """Pinocchio's results, the upper triangles of symmetric ones mirrored."""
        return [
            np.triu(result) + np.swapaxes(np.triu(result, 1), -1, -2)
            if name in ("M", "Minv")
            else result
            for name, result in zip(self.function.results, results, strict=True)
        ]

    def check(self, lone: int, headers: Mapping[str, HeadersRobot]) -> None:
        """Compare fresh and given arrays, and the first states alone, with Pinocchio's results.

        And compare what Pinocchio's headers, by the compiler, give at the first states. Raises
        ValueError where the package refuses the robot (joints without inertia).
        """
        want = self.expected()
        out = self.function.buffers(self.robot, self.count)
        self.call(*self.ours, out=out, threads=1)
        alone = [self.call(*state) for state in _one_by_one(self.ours, lone)]
        for what, got in (
            ("a batch with out=", together(out)),
            ("a batch", self.call(*self.ours, threads=1)),
            ("one state", [np.array(r) for r in zip(*alone, strict=True)]),
        ):
            ours = [self.robot.peer_order(result, self.function.axes) for result in got]
            self._compare(what, ours, want)
        for compiler, robot in headers.items():
            shapes = self.function.shapes(self.robot)
            got = robot.results(self.function.name, self._first(lone), shapes)
            self._compare(f"Pinocchio's headers by {compiler}", self._mirrored(got), want)

    def _tolerance(self) -> float:
        """What results may differ by, of their largest element."""
        if self.function.results[-1] not in ("ddq", "Minv"):
            return TOLERANCE
        mass_matrices = dtau.mass_matrix(self.robot.model, self.ours[0])
        return float(TOLERANCE + CONDITION * np.linalg.cond(mass_matrices).max())

    def _compare(self, what: str, got: list[Array], want: list[Array]) -> None:
        tolerance = self._tolerance()
        for name, ours, theirs in zip(self.function.results, got, want, strict=True):
            theirs = theirs[: len(ours)]
            scale = max(np.abs(theirs).max(), 1e-3)  # what vanishes comes out as rounding errors
            error = np.abs(ours - theirs).max()  # NaN if an element was not written
            if not error <= tolerance * scale:
                raise WrongResultError(
                    f"{self.robot.label}, {self.function.name}, {what}: {name} differs from "
                    f"Pinocchio's by {error / scale:.1e} of its largest element, "
                    f"allowed {tolerance:.0e}"
                )

    def operations(self) -> tuple[int, int, int]:
        """Multiplications, additions and divisions of one state."""
        _testing.counting.take()
        state = [argument[0] for argument in self.ours]
        getattr(_testing.counting, self.function.name)(self.robot.model, *state)
        multiplications, additions, divisions = _testing.counting.take()
        return int(multiplications), int(additions), int(divisions)


def together(results: Any) -> tuple[Array, ...]:
    """The arrays of a result, one or several, as a tuple."""
    return arrays_of(results)


def _one_by_one(arguments: tuple[Array, ...], count: int) -> list[tuple[Array, ...]]:
    """The first states as tuples of arrays of their own."""
    columns = ([row.copy() for row in argument[:count]] for argument in arguments)
    return list(zip(*columns, strict=True))
