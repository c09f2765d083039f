"""What peers are compared in: functions of the package, states of a robot, and ways to a result."""

from __future__ import annotations

import tempfile
from collections.abc import Callable, Iterable, Mapping
from dataclasses import dataclass, field, replace
from functools import cached_property
from pathlib import Path
from typing import Any, Protocol

import numpy as np

from benchmarks.checks import Array, solved
from benchmarks.robots import Robot, from_urdf, known
from dtau.cli.timing import DT, Call, Contender, random_inputs
from dtau.registry import FUNCTIONS as FUNCTION_ROWS

LONE_STATES = 32  # that are done one a call
CHECKED = 8  # states whose results are compared, where all peers are
FRAMES = {"panda": "panda_link7", "hyq": "rh_lowerleg", "talos": "arm_right_7_link"}

TOLERANCE = 1e-9  # of the largest element of the result
DIFFERENCES = 1e-3  # of a peer that takes finite differences


# The functions that peers may have too: their arguments and results are those of the registry.
FUNCTIONS = (
    *("inverse_dynamics", "forward_dynamics", "mass_matrix", "mass_matrix_inverse"),
    *("bias_torque", "gravity_torque", "coriolis_matrix"),
    *("inverse_dynamics_derivatives", "forward_dynamics_derivatives"),
    *("inverse_dynamics_jvp", "inverse_dynamics_vjp", "forward_dynamics_vjp"),
    *("inverse_dynamics_regressor", "inverse_dynamics_hessian"),
    "inverse_dynamics_second_derivatives",
    *("frame_placements", "frame_jacobians", "frame_velocities", "frame_accelerations"),
    *("frame_velocities_derivatives", "frame_accelerations_derivatives", "frame_errors"),
    *("center_of_mass", "center_of_mass_velocity", "center_of_mass_acceleration"),
    *("center_of_mass_jacobian", "centroidal_momentum", "centroidal_momentum_matrix"),
    *("centroidal_momentum_rate", "centroidal_momentum_derivatives"),
    *("centroidal_momentum_rate_derivatives", "kinetic_energy", "potential_energy"),
    *("integrate", "difference", "integrate_jacobians", "difference_jacobians"),
    *("step", "linearize_discrete"),
)
_MIXED = {"axes": "mixed"}
_STEP = {"dt": DT, "integrator": "semi_implicit"}
OPTIONS: dict[str, dict[str, Any]] = {
    "frame_jacobians": _MIXED,
    "frame_velocities": _MIXED,
    "frame_accelerations": _MIXED,
    "step": _STEP,
    "linearize_discrete": _STEP,
}
DERIVATIVES = ("derivatives", "vjp", "jvp", "hessian", "regressor", "_jacobians", "_discrete")


def is_derivative(function: str) -> bool:
    """Whether a peer has to differentiate for it, which takes some of them seconds."""
    return function.endswith(DERIVATIVES) and not function.startswith("frame_jacobians")


@dataclass(frozen=True)
class Case:
    """A function at random states of a robot."""

    function: str
    robot: Robot
    at: Mapping[str, Array]  # by the argument, rows of states
    checked: int = CHECKED  # states whose results are compared

    @property
    def frame(self) -> str:
        """The link whose frame the functions of frames take: a moving one, as all peers have."""
        return FRAMES.get(self.robot.key, self.robot.model.bodies[-1])

    @cached_property
    def call(self) -> Call:
        """The package's function at all states."""
        options = dict(OPTIONS.get(self.function, {}))
        if "frames" in FUNCTION_ROWS[self.function].options:
            options["frames"] = self.frame
        return Call(self.function, self.robot.model, self.at, options)

    @property
    def arguments(self) -> dict[str, Array]:
        """The function's arguments at all states, in the package's convention."""
        return self.call.arrays

    @property
    def axes(self) -> list[tuple[str | int, ...]]:
        """The axes of each result of one state; one frame has no axis of frames."""
        results = FUNCTION_ROWS[self.function].results
        return [tuple(axis for axis in x.axes if axis != "nframes") for x in results][
            : len(self.wanted)
        ]

    def shapes(self) -> list[tuple[int, ...]]:
        """Of the results of one state."""
        return [x.shape[1:] for x in self.wanted]

    def bytes(self) -> int:
        """The size of all results of one state."""
        return sum(x[0].nbytes for x in self.wanted)

    @cached_property
    def wanted(self) -> list[Array]:
        """The package's results at the states that are checked."""
        return list(self.call.part(slice(self.checked))())

    def check_alone(self) -> float:
        """The largest difference of lone calls from the same states in a batch: none."""
        rows = [self.call.part(i)() for i in range(len(self.wanted[0]))]
        return largest([np.array(x) for x in zip(*rows, strict=True)], self.wanted)

    def tolerance(self) -> float:
        """What a peer's results may differ by, of their largest element."""
        if not FUNCTION_ROWS[self.function].solves:
            return TOLERANCE
        return solved(TOLERANCE, self.robot.model, self.at["q"][: self.checked])

    def lone(self) -> Contender:
        """The first states, one call of the package each."""
        return self.call.alone(LONE_STATES)

    def batch(self, count: int, threads: int) -> Contender:
        """So many states in one call of the package, their results into given arrays."""
        return self.call.part(slice(count)).batch(threads)


def rows(arguments: Iterable[Array], count: int = LONE_STATES) -> list[tuple[Array, ...]]:
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
    at = random_inputs(robot.model, FUNCTIONS, count)
    return at | {"q0": at["q"]}
