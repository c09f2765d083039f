"""Values and first derivatives of dynamics beside Pinocchio's Python calls and headers.

Every result is checked against Pinocchio's before it is timed: to 1e-9 of its largest element, and
a little more where the mass matrix is ill-conditioned. A ratio is Pinocchio's time by dtau's: 3.0
says that dtau takes a third of the time. Damping and armature are left out on both sides.

Where clang++ or g++ and Eigen's headers are at hand, Pinocchio's headers take part as well,
compiled for this processor. That takes minutes a compiler, once; quick runs go without.
"""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from dataclasses import asdict, dataclass
from functools import partial
from typing import Any

from benchmarks.experiment import (
    Claim,
    Experiment,
    Findings,
    Plot,
    Table,
    UnavailableError,
    Watch,
)
from benchmarks.experiments.first_timings import (
    CallRow,
    Row,
    ThreadsRow,
    Timing,
    against_pinocchio,
    lone_calls,
    two_threads,
)
from benchmarks.functions import FUNCTIONS, Case
from benchmarks.harness import Effort, cores, curve, number, one_core, span, times
from benchmarks.peers.headers import OPTIMISATION, compiled, headers_robots
from benchmarks.robots import KNOWN, chosen, pinocchio, states
from dtau import _core

BATCH = 256
THREADED_BATCH = 4096
EFFORT = {False: Effort(rounds=41, block=4e-3), True: Effort(rounds=7, block=2e-3)}  # by quick


# Goals


@dataclass(frozen=True)
class Goal:
    """A number to reach, and one to aim at."""

    least: float
    aim: float | None = None

    def cells(self, value: float) -> list[str]:
        """The goal, and one word on how a value stands."""
        if value < self.least:
            word = "NO"
        else:
            word = "aim" if self.aim is not None and value >= self.aim else "yes"
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
TWO_THREADS = Goal(1.8)  # where results are small
LONE_CALL = {1: 0.4, 3: 0.8}  # microseconds over the core, by the number of results


def goals(row: Row) -> tuple[Goal, Goal] | None:
    """What one state and a batch are to reach on the known robots."""
    if row.key not in KNOWN:
        return None
    at = list(KNOWN).index(row.key)
    alone, batch = (Goal(least[at], aim) for least, aim in _GOALS[row.function])
    return alone, batch


# Tables


def ratios(rows: Sequence[Row]) -> list[Table]:
    """The ratios to Pinocchio of one state and of a batch."""
    compilers = list(dict.fromkeys(h.compiler for row in rows for h in row.headers))

    def line(row: Row, timing: Timing, way: int) -> list[str]:
        headers = {h.compiler: (h.alone, h.batch)[way] for h in row.headers}
        asked = goals(row)
        return [
            row.robot,
            row.function,
            number(row.pinocchio),
            number(timing.microseconds),
            *times(timing.ratio),
            *(f"{headers[c].median:.2f}x" if c in headers else "" for c in compilers),
            *(asked[way].cells(timing.ratio.median) if asked else ["", ""]),
        ]

    header = ["robot", "function", "Pinocchio", "dtau", "ratio", "quartiles", *compilers]
    header += ["at least (aim)", ""]
    below = "".join(f"; {c}: the ratio to Pinocchio's headers, compiled by it" for c in compilers)
    lone = [line(row, row.alone, 0) for row in rows]
    batches = [
        [*line(row, row.batch, 1), number(row.fresh.microseconds), f"{row.fresh.ratio.median:.2f}x"]
        for row in rows
    ]
    title = f"Batches of {BATCH} states with out=, microseconds a state; fresh: without out="
    return [
        Table("One state a call, microseconds a state" + below, header, lone, left=2),
        Table(title + below, [*header, "fresh", "ratio"], batches, left=2),
    ]


def bounds(rows: Sequence[Row], peak: tuple[float, float]) -> Table:
    """The work of each function and how near the processor's bounds it runs."""
    lines = [
        [
            row.robot,
            row.function,
            *(str(n) for n in (row.multiplications, row.additions, row.divisions)),
            f"{row.share_of_peak(row.alone.microseconds, peak[0]):.0%}",
            f"{row.share_of_peak(row.batch.microseconds, peak[1]):.0%}",
            f"{row.bytes / 1000:.1f}",
            number(row.fill),
            f"{row.fill / row.batch.microseconds:.0%}",
        ]
        for row in rows
    ]
    header = ["robot", "function", "mul", "add", "div", "alone", "batch", "kB", "fill", "of batch"]
    title = (
        "Operations a state, and the share of the core's measured peak that calls reach alone (of "
        f"{peak[0] / 1e9:.1f} billion multiply-adds a second, scalar) and in a batch (of "
        f"{peak[1] / 1e9:.1f}, vector): (mul + add) / 2 a second; kB of the results of a state, "
        "microseconds to fill them with a constant, and that as a share of the batch's time"
    )
    return Table(title, header, lines, left=2)


def threading(rows: Sequence[ThreadsRow]) -> Table:
    """The speed-up of two threads."""
    lines = [
        [
            row.robot,
            row.function,
            f"{row.bytes / 1000:.1f}",
            number(row.one),
            number(row.two.microseconds),
            *times(row.two.ratio),
            *(TWO_THREADS.cells(row.two.ratio.median) if row.small else ["", ""]),
        ]
        for row in rows
    ]
    header = ["robot", "function", "kB", "threads=1", "threads=2", "ratio", "quartiles"]
    title = f"Two threads: batches of {THREADED_BATCH} with out=, microseconds a state"
    return Table(title, [*header, "at least", ""], lines, left=2)


def costs_of_calls(rows: Sequence[CallRow]) -> Table:
    """What a call costs over its arithmetic."""
    lines = []
    for row in rows:
        most = LONE_CALL[row.results]
        micro = (f"{x:.3f}" for x in (row.call, row.into, row.core, row.over))
        word = "yes" if row.over <= most else "NO"
        lines.append([row.function, str(row.results), *micro, f"{most:g}", word])
    header = ["function", "results", "call", "with out=", "core", "over it", "at most", ""]
    return Table("The cost of a call: a pendulum, one state, microseconds", header, lines)


# Claims


def claims(
    rows: Sequence[Row], calls: Sequence[CallRow], threads: Sequence[ThreadsRow]
) -> Iterator[Claim]:
    """What is asked for, on the known robots."""
    asked = [(row, both) for row in rows if (both := goals(row))]
    for way, of in enumerate(("one state", "batches")):
        for function in dict.fromkeys(row.function for row, _ in asked):
            mine = [(row, both[way]) for row, both in asked if row.function == function]
            found = [(row.alone, row.batch)[way].ratio.median for row, _ in mine]
            least = [goal.least for _, goal in mine]
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
    found = [row.two.ratio.median for row in threads if row.small]
    if found:
        yield Claim(text, by, span(found), min(found) >= TWO_THREADS.least)
    else:
        yield Claim(text, by, "this process may use one core only", None)


def plots(rows: Sequence[Row]) -> list[Plot]:
    """The ratios, a place a robot."""
    robots = list(dict.fromkeys(row.robot for row in rows))
    found = []
    for way, what in enumerate(("one state a call", f"batches of {BATCH}")):
        curves = []
        for function in dict.fromkeys(row.function for row in rows):
            mine = [row for row in rows if row.function == function]
            places = [float(robots.index(row.robot)) for row in mine]
            of = [(row.alone, row.batch)[way].ratio for row in mine]
            curves.append(curve(function, places, of))
        name = f"first_order_{('alone', 'batch')[way]}"
        title = f"Times of dtau that Pinocchio's Python calls take, {what}"
        found.append(Plot(name, title, "", "Pinocchio's time / dtau's", curves, ticks=robots))
    return found


def run(quick: bool, watch: Watch) -> Findings:
    """Measure on the known robots."""
    if pinocchio is None:
        raise UnavailableError("it compares with Pinocchio: python -m pip install pin")
    notes: list[str] = []
    robots = chosen(["panda", "g1"] if quick else list(KNOWN), notes.append)
    if not robots:
        raise UnavailableError("; ".join(notes))
    effort, threaded = EFFORT[quick], cores() > 1
    headers = [] if quick else compiled(1, notes.append)
    for compiler in headers:
        flags = " ".join(OPTIMISATION)
        notes.append(f"Pinocchio's headers by {compiler.name} ({compiler.version}), {flags}.")
    pairs = robots[: 1 if quick else None] if threaded else []  # for two threads
    watch.expect(effort.rounds * ((len(robots) + len(pairs)) * len(FUNCTIONS) + 2))

    rows, threads = [], []
    with one_core():
        lone_peaks, lane_peaks = zip(*(_core.peak_rate() for _ in range(3)), strict=True)
        peak = max(lone_peaks), max(lane_peaks)
        for robot in robots:
            at = states(robot, BATCH)
            peers = headers_robots(headers, robot)
            for function in FUNCTIONS:
                tick = partial(watch.step, f"{robot.label}, {function.name}")
                case = Case.of(function, robot, at)
                try:
                    rows.append(against_pinocchio(case, peers, effort, tick))
                except ValueError as error:
                    if not robot.model.massless_joints:  # of a robot of --urdf
                        raise
                    notes.append(f"{robot.label}, {function.name}: left out: {error}")
        calls = lone_calls(effort, partial(watch.step, "the cost of a call"))
    measured = {(row.robot, row.function) for row in rows}
    for robot in pairs:
        at = states(robot, THREADED_BATCH)
        for function in FUNCTIONS:
            if (robot.label, function.name) in measured:
                tick = partial(watch.step, f"{robot.label}, {function.name}, two threads")
                threads.append(two_threads(Case.of(function, robot, at), effort, tick))

    tables = [*ratios(rows), bounds(rows, peak), costs_of_calls(calls)]
    if threads:
        tables.append(threading(threads))
    else:
        notes.append("Two threads: not measured, this process may use one core only.")
    parts: dict[str, list[Any]] = {"ratios": rows, "calls": calls, "threads": threads}
    data = {name: [asdict(row) for row in part] for name, part in parts.items()}
    found = list(claims(rows, calls, threads))
    return Findings(tables, plots(rows), found, notes, data | {"peak": list(peak)})


EXPERIMENT = Experiment(
    "first_order",
    "Values and first derivatives of dynamics",
    "beside Pinocchio's Python calls and headers",
    run,
)
