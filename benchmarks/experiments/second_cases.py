"""Second derivatives at states of a robot: what is checked, and what is timed."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import Any

import numpy as np

import dtau
from benchmarks.experiment import Array, WrongResultError
from benchmarks.functions import CONDITION, together
from benchmarks.harness import Contender, loop
from benchmarks.peers.headers import HeadersRobot
from benchmarks.robots import Robot, states
from dtau import _testing

TENSORS = "inverse_dynamics_second_derivatives"
TOLERANCE = 1e-9  # of the largest element, against Pinocchio
CONTRACTION = 1e-11  # tensors times lam
DIFFERENCES = 1e-6  # central differences of first derivatives
BATCH_BYTES = 2**27  # of the results of a batch, at most

INVERSE, FORWARD = ("q", "v", "a"), ("q", "v", "tau")
# What is timed: name in the tables, function, arguments, options
CALLS: dict[str, tuple[str, tuple[str, ...], dict[str, bool]]] = {
    "first": ("inverse_dynamics_derivatives", INVERSE, {}),
    "packed": (TENSORS, INVERSE, {"packed": True}),
    "dense": (TENSORS, INVERSE, {}),
    "hessian": ("inverse_dynamics_hessian", (*INVERSE, "lam"), {}),
    "forward first": ("forward_dynamics_derivatives", FORWARD, {}),
    "forward dense": ("forward_dynamics_second_derivatives", FORWARD, {}),
    "forward hessian": ("forward_dynamics_hessian", (*FORWARD, "lam"), {}),
}
FILLED = ("packed", "dense", "forward dense")  # filled with a constant, too


@dataclass(frozen=True)
class Call:
    """A function of the package at states of a model."""

    model: dtau.Model
    name: str  # in `CALLS`
    at: Mapping[str, Array]

    @property
    def arrays(self) -> dict[str, Array]:
        """The arguments."""
        return {x: self.at[x] for x in CALLS[self.name][1]}

    def __call__(self, **options: Any) -> tuple[Array, ...]:
        """All states in one call."""
        function, _, fixed = CALLS[self.name]
        arrays = self.arrays.values()
        return together(getattr(dtau, function)(self.model, *arrays, **fixed, **options))

    def of(self, states: slice) -> Call:
        """The same at some of the states."""
        return Call(self.model, self.name, {x: y[states] for x, y in self.at.items()})

    def fits(self, batch: int) -> Call:
        """The same at so many states, or fewer: what BATCH_BYTES allows."""
        size = sum(result.nbytes for result in self.of(slice(1))())
        return self.of(slice(max(1, min(batch, BATCH_BYTES // size))))

    def batch(self) -> Contender:
        """All states in one call, into given arrays."""
        function, names, fixed = CALLS[self.name]
        options = {**fixed, "threads": 1, "out": self()}
        words = ", ".join(["model", *names, *(f"{option}={option}" for option in options)])
        names_here = dict(f=getattr(dtau, function), model=self.model, **self.arrays, **options)
        return Contender(loop(f"f({words})", **names_here), len(self.at["q"]))

    def alone(self) -> Contender:
        """All states, one call each, into given arrays."""
        function, names, fixed = CALLS[self.name]
        rows = ([row.copy() for row in array] for array in self.arrays.values())
        options = {**fixed, "out": tuple(result[0] for result in self.of(slice(1))())}
        words = ", ".join([*names, *(f"{option}={option}" for option in options)])
        run = loop(
            f"for {', '.join(names)} in states: f(model, {words})",
            f=getattr(dtau, function),
            model=self.model,
            states=list(zip(*rows, strict=True)),
            **options,
        )
        return Contender(run, len(self.at["q"]))

    def fill(self) -> Contender:
        """Fill the results of all states with a constant."""
        return Contender(loop("for x in out: x.fill(1.0)", out=self()), len(self.at["q"]))

    def operations(self) -> int:
        """Multiplications, additions and divisions of the first state."""
        function, _, fixed = CALLS[self.name]
        arrays = [array[0] for array in self.arrays.values()]
        _testing.counting.take()
        getattr(_testing.counting, function)(self.model, *arrays, **fixed)
        return int(sum(_testing.counting.take()))


def inputs(robot: Robot, count: int) -> dict[str, Array]:
    """Random states and weights by the name of the argument."""
    lam = np.random.default_rng(1).uniform(-1.0, 1.0, (count, robot.model.nv))
    return {**states(robot, count), "lam": lam}


# Checks


def check(robot: Robot, at: dict[str, Array], headers: Mapping[str, HeadersRobot]) -> None:
    """Compare all functions at a few states with each other, differences and Pinocchio."""
    model = robot.model
    results = {name: _same_bits(robot, Call(model, name, at)) for name in CALLS}
    dense, packed = results["dense"], results["packed"]
    i, j, k = dtau.packed_indices(model)
    for x, entries in zip(dense, packed, strict=True):
        scattered = np.zeros_like(x)
        scattered[:, i, j, k] = entries
        _compare(robot, "packed tensors", x, scattered, 0.0)

    conditions = np.linalg.cond(dtau.mass_matrix(model, at["q"]))
    solved = CONTRACTION + CONDITION * float(conditions.max())
    for tensors, hessian, tolerance in (
        ("dense", "hessian", CONTRACTION),
        ("forward dense", "forward hessian", solved),
    ):
        for x, y in zip(results[tensors], results[hessian], strict=True):
            product = np.einsum("zi,zijk->zjk", at["lam"], x)
            _compare(robot, f"{hessian} and tensors times lam", y, product, tolerance)
    for first, second, options in (("first", "dense", "a"), ("forward first", "forward dense", "")):
        _compare_with_differences(robot, at, first, results[second], inverse=bool(options))

    ours = [robot.peer_order(dense[m], 3) for m in (0, 2, 1, 3)]
    for compiler, peer in headers.items():
        got = peer.results(TENSORS, _peers(robot, at), [(model.nv,) * 3] * 4)
        for x, y in zip(ours, got, strict=True):
            _compare(robot, f"tensors and Pinocchio's headers by {compiler}", x, y, TOLERANCE)


def peers_loop(robot: Robot, at: dict[str, Array], peer: HeadersRobot) -> Contender:
    """Pinocchio's headers at all states, one after the other in one call."""
    return Contender(peer.loop(TENSORS, _peers(robot, at)), len(at["q"]))


def _peers(robot: Robot, at: Mapping[str, Array]) -> tuple[Array, ...]:
    """The states, as Pinocchio writes them."""
    q = np.ascontiguousarray(robot.peer_q(at["q"]))
    return q, robot.peer_v(at["v"]), robot.peer_v(at["a"])


def _same_bits(robot: Robot, call: Call) -> tuple[Array, ...]:
    """The results of a batch into arrays full of NaN; the states alone must give the same bits."""
    out = tuple(np.full(result.shape, np.nan) for result in call())
    call(out=out, threads=1)
    for state in range(len(call.at["q"])):
        alone = Call(call.model, call.name, {x: y[state] for x, y in call.at.items()})()
        for x, y in zip(alone, out, strict=True):
            _compare(robot, f"{call.name}: one state and a batch", x, y[state], 0.0)
    return out


def _compare_with_differences(
    robot: Robot, at: dict[str, Array], first: str, tensors: Sequence[Array], *, inverse: bool
) -> None:
    """Compare tensors with central differences of first derivatives along one direction."""
    model, step = robot.model, 1e-5
    direction = np.random.default_rng(2).uniform(-1.0, 1.0, model.nv)

    def difference(**moved: Array) -> tuple[Array, ...]:
        plus, minus = (
            Call(model, first, {**at, **{x: move(x, sign * dx) for x, dx in moved.items()}})()
            for sign in (1.0, -1.0)
        )
        return tuple((x - y) / (2.0 * step) for x, y in zip(plus, minus, strict=True))

    def move(name: str, dx: Array) -> Array:
        return dtau.integrate(model, at["q"], dx) if name == "q" else at[name] + dx

    by_q = difference(q=step * direction)
    by_v = difference(v=step * direction)
    names = "tensors" if inverse else "forward tensors"
    for tensor, want in (
        (tensors[0], by_q[0]),
        (tensors[1], by_v[0]),
        (tensors[2], by_v[1]),
        (tensors[3], by_q[2]),
    ):
        _compare(robot, f"{names} and differences", tensor @ direction, want, DIFFERENCES)


def _compare(robot: Robot, what: str, got: Array, want: Array, tolerance: float) -> None:
    scale = max(float(np.abs(want).max()), 1e-3)  # what vanishes comes out as rounding errors
    error = float(np.abs(got - want).max())  # NaN if an element was not written
    if not error <= tolerance * scale:
        raise WrongResultError(
            f"{robot.label}, {what}: they differ by {error / scale:.1e} of the largest element, "
            f"allowed {tolerance:.0e}"
        )
