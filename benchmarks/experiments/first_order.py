"""Values and first derivatives of dynamics beside Pinocchio's Python calls and headers.

    python -m benchmarks first_order

Inverse and forward dynamics, the mass matrix and its inverse, and first derivatives of dynamics, on
robots from Panda to Talos: one state a call and in batches; how near the processor's peak they run;
what a call costs over its arithmetic; what a second thread brings. Every result is checked against
Pinocchio's: to 1e-9 of its largest element, and a little more where the mass matrix is
ill-conditioned. A ratio is Pinocchio's time by dtau's: 3.0 says that dtau takes a third of it.
Damping and armature are left out on both sides.

Where clang++ or g++ and Eigen's headers are at hand, Pinocchio's headers take part as well,
compiled for this processor. That takes minutes a compiler, once; quick runs go without.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator, Sequence
from dataclasses import asdict, dataclass
from functools import partial
from typing import Any

import numpy as np

import dtau
from benchmarks.calls import fill, operations
from benchmarks.checks import UnavailableError, WrongResultError, same_bits
from benchmarks.experiment import Claim, Experiment, Findings, Plot, Table, Watch
from benchmarks.harness import Spread, Timings, curve, number, one_core, span, timed, times, verdict
from benchmarks.peers.cases import Case, Peer
from benchmarks.peers.headers import OPTIMISATION, compiled
from benchmarks.peers.pinocchio_peer import Compiled, Python
from benchmarks.peers.rows import Row as Told
from benchmarks.peers.rows import ways_of
from benchmarks.robots import KNOWN, Robot, chosen, pinocchio, states
from dtau import _core
from dtau.cli.timing import LONE_STATES, Call, Contender, Effort, given, loop
from dtau.support.machine import cores

BATCH = 256
THREADED_BATCH = 4096
SMALL_BYTES = 8000  # results of a state, which leave memory alone
CORE_STATES = 1000  # a call of so many hides what a call costs
EFFORT = {False: Effort(rounds=41, block=4e-3), True: Effort(rounds=7, block=2e-3)}  # by quick
PINOCCHIO = Python.name


# Goals


@dataclass(frozen=True)
class Goal:
    """A number to reach, and one to aim at."""

    least: float
    aim: float | None = None

    def cells(self, value: float) -> list[str]:
        """The goal, and one word on how a value stands."""
        word = verdict(value >= self.least, self.aim is not None and value >= self.aim)
        return [f"{self.least:g}" + (f" ({self.aim:g})" if self.aim else ""), word]


# At least, for Panda, HyQ, ANYmal B, G1 and Talos; and the aim. One state, then a batch.
_GOALS = {
    "inverse_dynamics": (((1.8, 2.0, 2.0, 2.5, 2.5), 3.0), ((10.0,) * 5, 14.0)),
    "forward_dynamics": (((1.8, 2.0, 2.0, 2.5, 2.5), 3.0), ((10.0,) * 5, 14.0)),
    "mass_matrix": (((1.5,) * 5, 2.5), ((6.0,) * 5, 10.0)),
    "mass_matrix_inverse": (((1.5,) * 5, 2.5), ((6.0,) * 5, 10.0)),
    "inverse_dynamics_derivatives": (
        ((2.5, 2.5, 2.5, 3.5, 3.5), 4.0),
        ((10.0, 10.0, 10.0, 8.0, 8.0), 12.0),
    ),
    "forward_dynamics_derivatives": (
        ((2.5,) * 5, 3.5),
        ((8.0, 8.0, 8.0, 7.0, 7.0), 10.0),
    ),
}
FUNCTIONS = tuple(_GOALS)
WAYS = ("alone", "batch")
TWO_THREADS = Goal(1.8)  # where results are small
LONE_CALL = {1: 0.4, 3: 0.8}  # microseconds over the core, by the number of results


# Measurements


@dataclass(frozen=True)
class Row:
    """What was measured of one function on one robot."""

    robot: str
    key: str  # in `KNOWN`, or empty
    function: str
    bytes: int  # of the results of a state
    compilers: list[str]  # whose headers of Pinocchio's took part
    found: Timings
    operations: tuple[int, int, int]

    def ratio(self, way: str, peer: str = PINOCCHIO) -> Spread:
        """A peer's time by dtau's."""
        return self.found.ratio(peer, way)

    def goal(self, way: str) -> Goal | None:
        """The targets on the known robots."""
        if self.key not in KNOWN:
            return None
        least, aim = _GOALS[self.function][WAYS.index(way)]
        return Goal(least[list(KNOWN).index(self.key)], aim)

    def share_of_peak(self, way: str, peak: float) -> float:
        """Pairs of a multiplication and an addition a second, by what the core can do."""
        return 0.5 * sum(self.operations[:2]) / (1e-6 * self.found.micro(way) * peak)

    def cells(self, way: str, compilers: Sequence[str]) -> list[str]:
        """As the tables of ratios show it."""
        ratio, goal = self.ratio(way), self.goal(way)
        return [
            self.robot,
            self.function,
            number(self.found.micro(PINOCCHIO)),
            number(self.found.micro(way)),
            *times(ratio),
            *(
                f"{self.ratio(way, c).median:.2f}x" if c in self.compilers else ""
                for c in compilers
            ),
            *(goal.cells(ratio.median) if goal else ["", ""]),
        ]

    def to_json(self) -> dict[str, Any]:
        """Microseconds and ratios."""
        words = {"robot": self.robot, "function": self.function, "bytes": self.bytes}
        ratios = {way: asdict(self.ratio(way)) for way in (*WAYS, "fresh")}
        return words | {"microseconds": self.found.medians(), "ratios": ratios}


def beside(case: Case, peers: Sequence[Peer], effort: Effort, tick: Callable[[], None]) -> Row:
    """Check and time a function. Raises ValueError if the package refuses the robot."""
    call, robot = case.call, case.robot
    same_bits(call, f"{robot.label}, {case.function}", LONE_STATES)
    ways = ways_of(case, peers, Told(robot.label, robot.model.nv, case.function))
    contenders = {"alone": call.alone(), "batch": call.batch(), "fresh": call.batch(into=False)}
    contenders |= {"fill": fill(call), **{name: way.each for name, way in ways.items()}}
    found = timed(contenders, effort, tick)
    compilers = [name for name in ways if name != PINOCCHIO]
    return Row(
        robot.label, robot.key, case.function, case.bytes(), compilers, found, operations(call)
    )


def two_threads(
    robot: str, call: Call, effort: Effort, tick: Callable[[], None]
) -> tuple[list[str], float | None]:
    """Time a large batch in one and in two threads: cells, and the ratio of small results."""
    one, two = (call(threads=n) for n in (1, 2))
    if not all(map(np.array_equal, one, two)):
        raise WrongResultError(f"{robot}, {call.name}: two threads give other bits than one")
    size = sum(x[0].nbytes for x in one)
    del one, two
    found = timed({n: call.batch(threads=n) for n in (1, 2)}, effort, tick)
    ratio = found.ratio(1, 2)
    small = size <= SMALL_BYTES
    cells = [robot, call.name, f"{size / 1000:.1f}", number(found.micro(1)), number(found.micro(2))]
    cells += [*times(ratio), *(TWO_THREADS.cells(ratio.median) if small else ["", ""])]
    return cells, ratio.median if small else None


@dataclass(frozen=True)
class LoneCall:
    """A call on a robot that gives it next to nothing to compute: microseconds."""

    function: str
    results: int
    call: float
    into: float  # with out=
    core: float  # a state of a batch whose states are computed one by one

    @property
    def over(self) -> float:
        """Microseconds over the arithmetic."""
        return self.call - self.core


def lone_calls(effort: Effort, tick: Callable[[], None]) -> list[LoneCall]:
    """Time calls with one result and with three on a pendulum."""
    builder = dtau.ModelBuilder("pendulum")
    inertia = dtau.Inertia(mass=1.5, com=(0, 0, -0.5), tensor=0.02 * np.eye(3))
    builder.add(dtau.Revolute(axis=(0, 1, 0)), name="pivot", parent=None, inertia=inertia)
    model = builder.build()
    state = [x.copy() for x in dtau.random_state(model, np.random.default_rng(0))]
    at = {name: np.tile(x, (CORE_STATES, 1)) for name, x in zip("qva", state, strict=True)}
    rows = []
    for function in ("inverse_dynamics", "inverse_dynamics_derivatives"):
        call = Call(function, model, at)
        core = loop(
            "f(model, q, v, a, threads=1)",
            **(call.names | {"f": getattr(_core.alone, function)}),
            **call.arrays,
        )
        one = call.part(0)
        names, out = {**one.arrays, **one.names}, given(one())
        contenders = {
            "call": Contender(loop(f"f({one.words})", **names), 1),
            "into": Contender(loop(f"f({one.words}, out=out)", **names, out=out), 1),
            "core": Contender(core, CORE_STATES),
        }
        rows.append(LoneCall(function, len(one()), **timed(contenders, effort, tick).medians()))
    return rows


# Report


def tables(rows: Sequence[Row], peak: dict[str, float], calls: Sequence[LoneCall]) -> list[Table]:
    """Ratios of one state and of a batch, the processor's bounds, and the cost of a call."""
    compilers = list(dict.fromkeys(c for row in rows for c in row.compilers))
    header = ["robot", "function", "Pinocchio", "dtau", "ratio", "quartiles", *compilers]
    header += ["at least (aim)", ""]
    each = f"Batches of {BATCH} states with out=, microseconds a state; fresh: without out="
    below = "".join(f"; {c}: the ratio to Pinocchio's headers, compiled by it" for c in compilers)
    batches = [
        [
            *row.cells("batch", compilers),
            number(row.found.micro("fresh")),
            f"{row.ratio('fresh').median:.2f}x",
        ]
        for row in rows
    ]
    shares = [
        [
            *(row.robot, row.function, *map(str, row.operations)),
            *(f"{row.share_of_peak(way, peak[way]):.0%}" for way in WAYS),
            f"{row.bytes / 1000:.1f}",
            number(row.found.micro("fill")),
            f"{row.found.micro('fill') / row.found.micro('batch'):.0%}",
        ]
        for row in rows
    ]
    bounds = (
        "Operations a state, and the share of the core's measured peak that calls reach alone (of "
        f"{peak['alone'] / 1e9:.1f} billion multiply-adds a second, scalar) and in a batch (of "
        f"{peak['batch'] / 1e9:.1f}, vector): (mul + add) / 2 a second; kB of the results of a "
        "state, microseconds to fill them with a constant, and that as a share of the batch's time"
    )
    costs = []
    for call in calls:
        most = LONE_CALL[call.results]
        micro = (f"{x:.3f}" for x in (call.call, call.into, call.core, call.over))
        met = verdict(call.over <= most)
        costs.append([call.function, str(call.results), *micro, f"{most:g}", met])
    return [
        Table(
            "One state a call, microseconds a state" + below,
            header,
            [row.cells("alone", compilers) for row in rows],
            left=2,
        ),
        Table(
            each + below,
            [*header, "fresh", "ratio"],
            batches,
            left=2,
        ),
        Table(
            bounds,
            [*header[:2], "mul", "add", "div", "alone", "batch", "kB", "fill", "of batch"],
            shares,
            left=2,
        ),
        Table(
            "The cost of a call: a pendulum, one state, microseconds",
            ["function", "results", "call", "with out=", "core", "over it", "at most", ""],
            costs,
        ),
    ]


def claims(
    rows: Sequence[Row], calls: Sequence[LoneCall], threads: Sequence[float]
) -> Iterator[Claim]:
    """What is asked for, on the known robots."""
    for way, of in zip(WAYS, ("one state", "batches"), strict=True):
        for function in dict.fromkeys(row.function for row in rows if row.key in KNOWN):
            mine = [row for row in rows if row.function == function and row.key in KNOWN]
            found = [row.ratio(way).median for row in mine]
            least = [goal.least for row in mine if (goal := row.goal(way))]
            text = f"{function} is faster than Pinocchio's Python call, {of}"
            low, high = min(least), max(least)
            by = f"at least {low:g}x" + (f" to {high:g}x, by robot" if high > low else "")
            met = all(x >= goal for x, goal in zip(found, least, strict=True))
            yield Claim(text, by, span(found), met)
    for call in calls:
        most = LONE_CALL[call.results]
        text = f"what a call of {call.function} costs over its arithmetic"
        yield Claim(text, f"at most {most:g} µs", f"{call.over:.2f} µs", call.over <= most)
    text = "two threads are faster than one, where the results of a state are small"
    by = f"at least {TWO_THREADS.least:g}x"
    if threads:
        yield Claim(text, by, span(threads), min(threads) >= TWO_THREADS.least)
    else:
        yield Claim(text, by, "this process may use one core only", None)


def plots(rows: Sequence[Row]) -> Iterator[Plot]:
    """The ratios, a place a robot."""
    robots = list(dict.fromkeys(row.robot for row in rows))
    for way, what in zip(WAYS, ("one state a call", f"batches of {BATCH}"), strict=True):
        curves = []
        for function in dict.fromkeys(row.function for row in rows):
            mine = [row for row in rows if row.function == function]
            places = [float(robots.index(row.robot)) for row in mine]
            curves.append(curve(function, places, [row.ratio(way) for row in mine]))
        title = f"Times of dtau that Pinocchio's Python calls take, {what}"
        yield Plot(
            f"first_order_{way}", title, "", "Pinocchio's time / dtau's", curves, ticks=robots
        )


def run(quick: bool, watch: Watch) -> Findings:
    """Measure on the known robots."""
    if pinocchio is None:
        raise UnavailableError("it compares with Pinocchio: python -m pip install pin")
    notes: list[str] = []
    robots = chosen(["panda", "g1"] if quick else list(KNOWN), notes.append)
    if not robots:
        raise UnavailableError("; ".join(notes))
    effort = EFFORT[quick]
    headers = [] if quick else compiled(1, notes.append)
    for compiler in headers:
        flags = " ".join(OPTIMISATION)
        notes.append(f"Pinocchio's headers by {compiler.name} ({compiler.version}), {flags}.")
    pairs: list[Robot] = robots[: 1 if quick else None] if cores() > 1 else []  # for two threads
    watch.expect(effort.rounds * ((len(robots) + len(pairs)) * len(FUNCTIONS) + 2))

    rows, threads = [], []
    with one_core():
        lone_peaks, lane_peaks = zip(*(_core.peak_rate() for _ in range(3)), strict=True)
        peak = {"alone": max(lone_peaks), "batch": max(lane_peaks)}
        for robot in robots:
            at = states(robot, BATCH)
            peers: list[Peer] = [Python(robot), *(Compiled(robot, [x], x.name) for x in headers)]
            for function in FUNCTIONS:
                tick = partial(watch.step, f"{robot.label}, {function}")
                try:
                    rows.append(beside(Case(function, robot, at, BATCH), peers, effort, tick))
                except ValueError as error:
                    if not robot.model.massless_joints:  # of a robot of --urdf
                        raise
                    notes.append(f"{robot.label}, {function}: left out: {error}")
        calls = lone_calls(effort, partial(watch.step, "the cost of a call"))
    measured = {(row.robot, row.function) for row in rows}
    for robot in pairs:
        at = states(robot, THREADED_BATCH)
        for function in FUNCTIONS:
            if (robot.label, function) in measured:
                tick = partial(watch.step, f"{robot.label}, {function}, two threads")
                threads.append(
                    two_threads(robot.label, Call(function, robot.model, at), effort, tick)
                )

    every = tables(rows, peak, calls)
    if threads:
        header = ["robot", "function", "kB", "threads=1", "threads=2", "ratio", "quartiles"]
        title = f"Two threads: batches of {THREADED_BATCH} with out=, microseconds a state"
        every.append(Table(title, [*header, "at least", ""], [x for x, _ in threads], left=2))
    else:
        notes.append("Two threads: not measured, this process may use one core only.")
    data = {"ratios": [row.to_json() for row in rows], "calls": [asdict(x) for x in calls]}
    found = list(claims(rows, calls, [x for _, x in threads if x is not None]))
    return Findings(every, list(plots(rows)), found, notes, data | {"peak": peak})


EXPERIMENT = Experiment(
    "first_order",
    "Values and first derivatives of dynamics",
    "beside Pinocchio's Python calls and headers",
    run,
)
