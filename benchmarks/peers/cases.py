"""What peers are compared in: functions of the package, states of a robot, and ways to a result."""

from __future__ import annotations

import tempfile
from collections.abc import Callable, Mapping
from dataclasses import dataclass, field, replace
from functools import cached_property
from pathlib import Path
from typing import Any, Protocol

import numpy as np

import dtau
from benchmarks.harness import Contender, loop
from benchmarks.robots import Array, Robot, from_urdf, known
from dtau.registry import arrays_of

LONE_STATES = 32  # that are done one a call
CHECKED = 8  # states whose results are compared
DT = 0.01
FRAMES = {"panda": "panda_link7", "hyq": "rh_lowerleg", "talos": "arm_right_7_link"}

TOLERANCE = 1e-9  # of the largest element of the result
CONDITION = 5e-16  # and so much for each unit of the mass matrix's condition, where it is solved
DIFFERENCES = 1e-3  # of a peer that takes finite differences


@dataclass(frozen=True)
class Function:
    """A function of the package: its arguments by their names in `Case.at`, and its results.

    A result is written as its axes: v (nv), q (nq), i (10 nbodies) or a number; a number alone
    has none.
    """

    name: str
    arguments: tuple[str, ...]
    results: tuple[str, ...]
    constants: str = ""  # further arguments, as they are called: names of `Case.constants`
    solves: bool = False
    order: int = 0  # of derivatives

    @property
    def words(self) -> str:
        """All arguments of a call."""
        return ", ".join(["model", *self.arguments, *([self.constants] if self.constants else [])])


_QVA, _QVT = ("q", "v", "a"), ("q", "v", "tau")
FUNCTIONS = (
    Function("inverse_dynamics", _QVA, ("v",)),
    Function("forward_dynamics", _QVT, ("v",), solves=True),
    Function("mass_matrix", ("q",), ("vv",)),
    Function("mass_matrix_inverse", ("q",), ("vv",), solves=True),
    Function("bias_torque", ("q", "v"), ("v",)),
    Function("gravity_torque", ("q",), ("v",)),
    Function("coriolis_matrix", ("q", "v"), ("vv",)),
    Function("inverse_dynamics_derivatives", _QVA, ("vv",) * 3, order=1),
    Function("forward_dynamics_derivatives", _QVT, ("vv",) * 3, solves=True, order=1),
    Function("inverse_dynamics_jvp", (*_QVA, "dq", "dv", "da"), ("v",), order=1),
    Function("inverse_dynamics_vjp", (*_QVA, "lam"), ("v",) * 3, order=1),
    Function("forward_dynamics_vjp", (*_QVT, "lam"), ("v",) * 3, solves=True, order=1),
    Function("inverse_dynamics_regressor", _QVA, ("vi",), order=1),
    Function("inverse_dynamics_hessian", (*_QVA, "lam"), ("vv",) * 4, order=2),
    Function("inverse_dynamics_second_derivatives", _QVA, ("vvv",) * 4, order=2),
    Function("frame_placements", ("q",), ("33", "3"), "frame"),
    Function("frame_jacobians", ("q",), ("6v",), "frame, 'mixed'"),
    Function("frame_velocities", ("q", "v"), ("6",), "frame, 'mixed'"),
    Function("frame_accelerations", _QVA, ("6",), "frame, 'mixed'"),
    Function("frame_velocities_derivatives", ("q", "v"), ("6v",) * 2, "frame, 'body'", order=1),
    Function("frame_accelerations_derivatives", _QVA, ("6v",) * 3, "frame, 'body'", order=1),
    Function("center_of_mass", ("q",), ("3",)),
    Function("center_of_mass_velocity", ("q", "v"), ("3",)),
    Function("center_of_mass_acceleration", _QVA, ("3",)),
    Function("center_of_mass_jacobian", ("q",), ("3v",)),
    Function("centroidal_momentum", ("q", "v"), ("6",)),
    Function("centroidal_momentum_matrix", ("q",), ("6v",)),
    Function("centroidal_momentum_rate", _QVA, ("6",)),
    Function("centroidal_momentum_derivatives", ("q", "v"), ("6v",) * 2, order=1),
    Function("centroidal_momentum_rate_derivatives", _QVA, ("6v",) * 3, order=1),
    Function("kinetic_energy", ("q", "v"), ("",)),
    Function("potential_energy", ("q",), ("",)),
    Function("integrate", ("q", "dq"), ("q",)),
    Function("difference", ("q", "q1"), ("v",)),
    Function("integrate_jacobians", ("q", "dq"), ("vv",) * 2, order=1),
    Function("difference_jacobians", ("q", "q1"), ("vv",) * 2, order=1),
    Function("step", _QVT, ("q", "v"), "dt, 'semi_implicit'", solves=True),
    Function(
        "linearize_discrete",
        _QVT,
        ("ww", "wv", "q", "v"),  # w: 2 nv, as the state's tangent
        "dt, 'semi_implicit'",
        solves=True,
        order=1,
    ),
)


@dataclass(frozen=True)
class Case:
    """A function at random states of a robot."""

    function: Function
    robot: Robot
    at: Mapping[str, Array]  # by the argument, rows of states

    @property
    def arguments(self) -> list[Array]:
        """The function's arguments at all states, in the package's convention."""
        return [self.at[name] for name in self.function.arguments]

    @property
    def frame(self) -> str:
        """The link whose frame the functions of frames take: a moving one, as all peers have."""
        return FRAMES[self.robot.key]

    @property
    def constants(self) -> dict[str, object]:
        """What the words of a call name beside the states."""
        return {"frame": self.frame, "dt": DT} if self.function.constants else {}

    def shapes(self) -> list[tuple[int, ...]]:
        """Of the results of one state."""
        model = self.robot.model
        moving = model.nv - 6 * (self.robot.root == "free")
        nu = {"wv": moving} if self.function.name == "linearize_discrete" else {}
        sizes = {"v": model.nv, "w": 2 * model.nv, "q": model.nq, "i": 10 * model.nbodies}
        return [
            tuple(
                nu[axes] if axes in nu and i == 1 else sizes.get(axis) or int(axis)
                for i, axis in enumerate(axes)
            )
            for axes in self.function.results
        ]

    def bytes(self) -> int:
        """The size of all results of one state."""
        return 8 * sum(int(np.prod(shape)) for shape in self.shapes())

    @cached_property
    def wanted(self) -> list[Array]:
        """The package's results at the states that are checked."""
        return self._call([x[:CHECKED] for x in self.arguments])

    def check_alone(self) -> float:
        """The largest difference of lone calls from the same states in a batch: none."""
        rows = [self._call([x[i] for x in self.arguments]) for i in range(CHECKED)]
        return largest([np.array(x) for x in zip(*rows, strict=True)], self.wanted)

    def _call(self, arguments: list[Array]) -> list[Array]:
        scope = dict(zip(self.function.arguments, arguments, strict=True)) | self.constants
        result = eval(
            f"f({self.function.words})",
            scope | {"f": getattr(dtau, self.function.name), "model": self.robot.model},
        )
        return list(arrays_of(result))

    def tolerance(self) -> float:
        """What a peer's results may differ by, of their largest element."""
        if not self.function.solves:
            return TOLERANCE
        mass_matrices = dtau.mass_matrix(self.robot.model, self.at["q"][:CHECKED])
        return float(TOLERANCE + CONDITION * np.linalg.cond(mass_matrices).max())

    # What is timed

    def lone(self) -> Contender:
        """The first states, one call of the package each."""
        names = ", ".join(self.function.arguments)
        statement = f"for {names}, in states: f({self.function.words})"
        return Contender(
            loop(statement, states=self.rows(self.arguments), **self._names()), LONE_STATES
        )

    def batch(self, count: int, threads: int) -> Contender:
        """So many states in one call of the package, their results into given arrays."""
        out = tuple(np.empty((count, *shape)) for shape in self.shapes())
        statement = f"f({self.function.words}, out=out, threads={threads})"
        arguments = {x: self.at[x][:count] for x in self.function.arguments}
        given = out if len(out) > 1 else out[0]
        return Contender(loop(statement, out=given, **arguments, **self._names()), count)

    def _names(self) -> dict[str, object]:
        f = getattr(dtau, self.function.name)
        return {"f": f, "model": self.robot.model, **self.constants}

    @staticmethod
    def rows(arguments: list[Array], count: int = LONE_STATES) -> list[tuple[Array, ...]]:
        """The first states as tuples of arrays of their own."""
        columns = ([row.copy() for row in argument[:count]] for argument in arguments)
        return list(zip(*columns, strict=True))


@dataclass
class Way:
    """How a peer computes a function: its results, what they ought to be, and what is timed."""

    got: list[Array]  # at the first `CHECKED` states, in the peer's convention
    wanted: list[Array]  # the package's, converted
    each: Contender  # one state after the other
    # so many states by so many threads, where it has a better way than one after the other
    batch: Callable[[int, int], Contender | None] = lambda count, threads: None
    differences: bool = False  # whether it takes finite differences
    facts: dict[str, Any] = field(default_factory=dict)

    @property
    def error(self) -> float:
        """The largest difference, of the largest element of what is expected."""
        return largest(self.got, self.wanted)


class Peer(Protocol):
    """A package, or a way to compile it, for one robot."""

    name: str  # the head of its column

    def way(self, case: Case) -> Way | str:
        """How it computes a function; "" if it has none; or why it does not do so here."""

    def close(self) -> None:
        """Let go of processes and libraries."""


def largest(got: list[Array], wanted: list[Array]) -> float:
    """The largest difference between results, each of its largest element; NaN where one is."""
    errors = [
        float(np.abs(x - y).max() / max(float(np.abs(y).max()), 1e-3))
        if x.shape == y.shape
        else np.nan
        for x, y in zip(got, wanted, strict=True)
    ]
    return float(np.max(errors))


def robot(key: str) -> Robot:
    """A robot that all peers read as the same.

    Links of 1e-6 kg get twice that, and a positive definite inertia: MuJoCo refuses singular ones.
    """
    found = known(key)
    text = found.urdf.replace('mass value="1e-6"', 'mass value="2e-6"')
    moments = 'ixx="1e-6" ixy="{0}" ixz="{0}" iyy="1e-6" iyz="{0}"'
    text = text.replace(moments.format("1e-6"), moments.format("0"))
    with tempfile.TemporaryDirectory() as folder:
        path = Path(folder) / "robot.urdf"
        path.write_text(text, encoding="utf-8")
        return replace(from_urdf(path, found.root), label=found.label, key=key)


def states(robot: Robot, count: int) -> dict[str, Array]:
    """Random states and directions by the name of the argument; `tau` gives `a`."""
    model, rng = robot.model, np.random.default_rng(0)
    q, v, a = dtau.random_state(model, rng, shape=(count,))
    q1, _, _ = dtau.random_state(model, rng, shape=(count,))
    at = {"q": q, "v": v, "a": a, "tau": dtau.inverse_dynamics(model, q, v, a), "q1": q1}
    names = ("dq", "dv", "da", "lam")
    return at | {name: rng.uniform(-1.0, 1.0, (count, model.nv)) for name in names}
