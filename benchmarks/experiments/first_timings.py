"""What is timed of values and first derivatives of dynamics, each result checked before."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from dataclasses import dataclass
from typing import Any

import numpy as np

import dtau
from benchmarks.experiment import WrongResultError
from benchmarks.functions import Case, together
from benchmarks.harness import Contender, Effort, Spread, interleaved, loop
from benchmarks.peers.headers import HeadersRobot
from dtau import _core

LONE_STATES = 64  # lone calls go round so many states
SMALL_BYTES = 8000  # results of a state
CORE_STATES = 1000  # a call of so many hides what a call costs


@dataclass(frozen=True)
class Timing:
    """Microseconds a state, and how many times less that is than another contender's."""

    microseconds: float
    ratio: Spread


@dataclass(frozen=True)
class HeadersTiming:
    """Pinocchio's headers by one compiler, and how many times less dtau takes."""

    compiler: str
    microseconds: float  # a state
    alone: Spread
    batch: Spread


@dataclass(frozen=True)
class Row:
    """What was measured of one function on one robot."""

    robot: str
    key: str  # in `KNOWN`, or empty
    function: str
    bytes: int  # of the results of a state
    pinocchio: float  # microseconds a state of the Python calls
    headers: list[HeadersTiming]
    alone: Timing
    batch: Timing
    fresh: Timing  # the batch without out=
    fill: float  # microseconds a state to fill the results with a constant
    multiplications: int
    additions: int
    divisions: int

    def share_of_peak(self, microseconds: float, peak: float) -> float:
        """Pairs of a multiplication and an addition a second, by what the core can do."""
        return 0.5 * (self.multiplications + self.additions) / (1e-6 * microseconds * peak)


def against_pinocchio(
    case: Case, headers: Mapping[str, HeadersRobot], effort: Effort, tick: Callable[[], None]
) -> Row:
    """Check and time a function. Raises ValueError if the package refuses the robot."""
    function, robot = case.function, case.robot
    lone = min(LONE_STATES, case.count)
    case.check(lone, headers)
    out = function.buffers(robot, case.count)
    seconds = interleaved(
        {
            "pinocchio": Contender(case.peer_loop(lone), lone),
            "alone": Contender(case.lone_loop(lone), lone),
            "batch": Contender(case.batch_loop(out=out, threads=1), case.count),
            "fresh": Contender(case.batch_loop(threads=1), case.count),
            "fill": Contender(loop("for x in out: x.fill(1.0)", out=together(out)), case.count),
        }
        | {
            compiler: Contender(case.headers_loop(peer, lone), lone)
            for compiler, peer in headers.items()
        },
        effort,
        tick,
    )
    micro = {name: 1e6 * float(np.median(s)) for name, s in seconds.items()}

    def ratio(name: str, peer: str = "pinocchio") -> Spread:
        return Spread.of(seconds[peer] / seconds[name])

    def timing(name: str) -> Timing:
        return Timing(micro[name], ratio(name))

    multiplications, additions, divisions = case.operations()
    return Row(
        robot=robot.label,
        key=robot.key,
        function=function.name,
        bytes=function.bytes(robot),
        pinocchio=micro["pinocchio"],
        headers=[
            HeadersTiming(name, micro[name], ratio("alone", name), ratio("batch", name))
            for name in headers
        ],
        alone=timing("alone"),
        batch=timing("batch"),
        fresh=timing("fresh"),
        fill=micro["fill"],
        multiplications=multiplications,
        additions=additions,
        divisions=divisions,
    )


@dataclass(frozen=True)
class ThreadsRow:
    """Two threads against one."""

    robot: str
    function: str
    bytes: int
    one: float  # microseconds a state
    two: Timing

    @property
    def small(self) -> bool:
        """Whether memory leaves the threads alone."""
        return self.bytes <= SMALL_BYTES


def two_threads(case: Case, effort: Effort, tick: Callable[[], None]) -> ThreadsRow:
    """Time a large batch in one and in two threads."""
    function, robot = case.function, case.robot
    out = function.buffers(robot, case.count)
    case.call(*case.ours, out=out, threads=1)
    one = [result.copy() for result in together(out)]
    for result in together(out):
        result.fill(np.nan)
    case.call(*case.ours, out=out, threads=2)
    if not all(np.array_equal(x, y) for x, y in zip(one, together(out), strict=True)):
        raise WrongResultError(
            f"{robot.label}, {function.name}: two threads give other bits than one"
        )
    del one
    seconds = interleaved(
        {f"{n}": Contender(case.batch_loop(out=out, threads=n), case.count) for n in (1, 2)},
        effort,
        tick,
    )
    micro = {name: 1e6 * float(np.median(s)) for name, s in seconds.items()}
    ratio = Spread.of(seconds["1"] / seconds["2"])
    return ThreadsRow(
        robot.label, function.name, function.bytes(robot), micro["1"], Timing(micro["2"], ratio)
    )


@dataclass(frozen=True)
class CallRow:
    """A lone call on a robot that gives it next to nothing to compute."""

    function: str
    results: int
    call: float  # microseconds
    into: float  # microseconds with out=
    core: float  # microseconds of the core: a state of a batch whose states are computed one by one

    @property
    def over(self) -> float:
        """Microseconds over the arithmetic."""
        return self.call - self.core


def lone_calls(effort: Effort, tick: Callable[[], None]) -> list[CallRow]:
    """Time calls with one result and with three on a pendulum."""
    builder = dtau.ModelBuilder("pendulum")
    inertia = dtau.Inertia(mass=1.5, com=(0, 0, -0.5), tensor=0.02 * np.eye(3))
    builder.add(dtau.Revolute(axis=(0, 1, 0)), name="pivot", parent=None, inertia=inertia)
    model = builder.build()
    state = [x.copy() for x in dtau.random_state(model, np.random.default_rng(0))]
    names: dict[str, Any] = dict(model=model, **dict(zip("qva", state, strict=True)))
    rows = []
    for function, result in (("inverse_dynamics", (1,)), ("inverse_dynamics_derivatives", (1, 1))):
        f = getattr(dtau, function)
        results = 1 if len(result) == 1 else 3
        out = np.empty(result) if results == 1 else tuple(np.empty(result) for _ in range(3))
        many = dict(model=model, **{x: np.tile(names[x], (CORE_STATES, 1)) for x in "qva"})
        alone = getattr(_core.alone, function)
        seconds = interleaved(
            {
                "call": Contender(loop("f(model, q, v, a)", f=f, **names), 1),
                "into": Contender(loop("f(model, q, v, a, out=out)", f=f, out=out, **names), 1),
                "core": Contender(
                    loop("f(model, q, v, a, threads=1)", f=alone, **many), CORE_STATES
                ),
            },
            effort,
            tick,
        )
        call, into, core = (
            1e6 * float(np.median(seconds[name])) for name in ("call", "into", "core")
        )
        rows.append(CallRow(function, results, call, into, core))
    return rows
