"""Time values and first derivatives of dynamics against Pinocchio's Python calls and headers.

Every result is checked against Pinocchio's before it is timed: to 1e-9 of its largest element, and
a little more where the mass matrix is ill-conditioned. The contenders take turns on one core, a
block of a few milliseconds each a round; a ratio is Pinocchio's time by dtau's in the same round,
its median over the rounds, and its quartiles: 3.0 says that dtau takes a third of the time. Damping
and armature are left out on both sides.

Where clang++ or g++ and Eigen's headers are at hand, Pinocchio's headers take part as well,
compiled for this processor. That takes minutes a compiler, once; --quick goes without.

    python benchmarks/first_order.py                                # five robots, about a minute
    python benchmarks/first_order.py --quick --robot g1             # a rough answer for one
    python benchmarks/first_order.py --urdf mine.urdf --root free   # your own robot
    python benchmarks/first_order.py --json new.json --plot new.png # to keep and to show
"""

from __future__ import annotations

import argparse
import json
from collections.abc import Callable, Mapping, Sequence
from dataclasses import asdict, dataclass
from pathlib import Path

import numpy as np
from chart import bar_chart, require_matplotlib
from functions import FUNCTIONS, Case, Function, together
from harness import (
    Contender,
    Effort,
    Progress,
    Spread,
    cores,
    environment,
    interleaved,
    loop,
    number,
    one_core,
    table,
)
from headers import OPTIMISATION, HeadersRobot, compiled, headers_robots
from robots import KNOWN, Robot, from_urdf, known, pinocchio, states

import dtau
from dtau import _core

LONE_STATES = 64  # lone calls go round so many states
CORE_STATES = 1000  # a call of so many hides what a call costs
THREADED_BATCH = 4096
EFFORT = {False: Effort(rounds=41, block=4e-3), True: Effort(rounds=9, block=2e-3)}  # by --quick


# Goals


@dataclass(frozen=True)
class Goal:
    """A number to reach, and one to aim at."""

    least: float
    aim: float | None = None

    def cells(self, value: float) -> list[str]:
        """The goal, and one word on how a value stands."""
        if value < self.least:
            word = "MISSED"
        else:
            word = "aim" if self.aim is not None and value >= self.aim else "ok"
        return [f"{self.least:g}" + (f" ({self.aim:g})" if self.aim else ""), word]


# At least, for Panda, HyQ, ANYmal B, G1 and Talos; and the aim. One state, then a batch.
_GOALS = {
    "inverse_dynamics": (((1.8, 2.0, 2.0, 2.5, 2.5), 3.0), ((10.0,) * 5, 14.0)),
    "forward_dynamics": (((1.8, 2.0, 2.0, 2.5, 2.5), 3.0), ((10.0,) * 5, 14.0)),
    "mass_matrix": (((1.5,) * 5, 2.5), ((6.0,) * 5, 10.0)),
    "mass_matrix_inverse": (((1.5,) * 5, 2.5), ((6.0,) * 5, 10.0)),
    "inverse_dynamics_derivatives": (
        ((2.5, 2.5, 2.5, 3.5, 3.5), 4.0),
        ((10.0, 10.0, 10.0, 7.0, 7.0), 12.0),
    ),
    "forward_dynamics_derivatives": (
        ((2.5,) * 5, 3.5),
        ((8.0, 8.0, 8.0, 5.0, 5.0), 10.0),
    ),
}
TWO_THREADS, TWO_THREADS_BYTES = Goal(1.8), 8000  # for results of at most so many bytes a state
LONE_CALL = {1: 0.4, 3: 0.8}  # microseconds over the core, by the number of results


def goals(robot: Robot, function: Function) -> tuple[Goal, Goal] | None:
    """What one state and a batch are to reach on the known robots."""
    if robot.key not in KNOWN:
        return None
    at = list(KNOWN).index(robot.key)
    alone, batch = (Goal(least[at], aim) for least, aim in _GOALS[function.name])
    return alone, batch


# Measurements


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
    goals: tuple[Goal, Goal] | None

    def share_of_peak(self, microseconds: float, peak: float) -> float:
        """Pairs of a multiplication and an addition a second, by what the core can do."""
        return 0.5 * (self.multiplications + self.additions) / (1e-6 * microseconds * peak)


def against_pinocchio(
    case: Case, headers: Mapping[str, HeadersRobot], effort: Effort, tick: Callable[[], None]
) -> Row | None:
    """Check and time a function; None if the package refuses the robot."""
    function, robot = case.function, case.robot
    lone = min(LONE_STATES, case.count)
    try:
        case.check(lone, headers)
    except ValueError as error:
        print(f"{robot.label}, {function.name}: left out: {error}")
        return None
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
        goals=goals(robot, function),
    )


@dataclass(frozen=True)
class ThreadsRow:
    """Two threads against one."""

    robot: str
    function: str
    bytes: int
    one: float  # microseconds a state
    two: Timing


def two_threads(case: Case, effort: Effort, tick: Callable[[], None]) -> ThreadsRow | None:
    """Time a large batch in one and in two threads; None if the package refuses the robot."""
    function, robot = case.function, case.robot
    out = function.buffers(robot, case.count)
    try:
        case.call(*case.ours, out=out, threads=1)
    except ValueError:
        return None
    one = [result.copy() for result in together(out)]
    for result in together(out):
        result.fill(np.nan)
    case.call(*case.ours, out=out, threads=2)
    if not all(np.array_equal(x, y) for x, y in zip(one, together(out), strict=True)):
        raise SystemExit(f"{robot.label}, {function.name}: two threads give other bits than one")
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


def lone_calls(effort: Effort, tick: Callable[[], None]) -> list[CallRow]:
    """Time calls with one result and with three on a pendulum."""
    builder = dtau.ModelBuilder("pendulum")
    inertia = dtau.Inertia(mass=1.5, com=(0, 0, -0.5), tensor=0.02 * np.eye(3))
    builder.add(dtau.Revolute(axis=(0, 1, 0)), name="pivot", parent=None, inertia=inertia)
    model = builder.build()
    state = [x.copy() for x in dtau.random_state(model, np.random.default_rng(0))]
    names = dict(model=model, **dict(zip("qva", state, strict=True)))
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
                    loop("f(model, q, v, a, None, None, 1)", f=alone, **many), CORE_STATES
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


# Tables


def print_ratios(rows: Sequence[Row], batch: int) -> None:
    """Print the ratios to Pinocchio of one state and of a batch."""
    compilers = list(dict.fromkeys(h.compiler for row in rows for h in row.headers))

    def line(row: Row, timing: Timing, goal: int) -> list[str]:
        ratio = timing.ratio
        headers = {h.compiler: (h.alone, h.batch)[goal] for h in row.headers}
        return [
            row.robot,
            row.function,
            number(row.pinocchio),
            number(timing.microseconds),
            f"{ratio.median:.2f}x",
            f"{ratio.lower:.2f} - {ratio.upper:.2f}",
            *(f"{headers[c].median:.2f}x" if c in headers else "" for c in compilers),
            *(row.goals[goal].cells(ratio.median) if row.goals else ["", ""]),
        ]

    header = ["robot", "function", "Pinocchio", "dtau", "ratio", "quartiles", *compilers]
    header += ["at least (aim)", ""]
    below = "".join(f"\n{c}: the ratio to Pinocchio's headers, compiled by it" for c in compilers)
    lone = [line(row, row.alone, 0) for row in rows]
    table("One state a call, microseconds a state" + below, header, lone, left=2)
    batches = [
        [*line(row, row.batch, 1), number(row.fresh.microseconds), f"{row.fresh.ratio.median:.2f}x"]
        for row in rows
    ]
    title = f"Batches of {batch} states with out=, microseconds a state; fresh: without out="
    table(title + below, [*header, "fresh", "ratio"], batches, left=2)


def print_bounds(rows: Sequence[Row], peak: tuple[float, float]) -> None:
    """Print the work of each function and how near the processor's bounds it runs."""
    lines = [
        [
            row.robot,
            row.function,
            *(str(n) for n in (row.multiplications, row.additions, row.divisions)),
            f"{100 * row.share_of_peak(row.alone.microseconds, peak[0]):.0f} %",
            f"{100 * row.share_of_peak(row.batch.microseconds, peak[1]):.0f} %",
            f"{row.bytes / 1000:.1f}",
            number(row.fill),
            f"{100 * row.fill / row.batch.microseconds:.0f} %",
        ]
        for row in rows
    ]
    header = ["robot", "function", "mul", "add", "div", "alone", "batch", "kB", "fill", "of batch"]
    title = (
        "Operations a state, and the share of the core's peak that calls reach alone and in a\n"
        "batch; kB of the results of a state, microseconds to fill them with a constant, and that\n"
        "as a share of the batch's time"
    )
    table(title, header, lines, left=2)
    print(
        f"\n  Peak, measured: {peak[0] / 1e9:.1f} (scalar, alone) and {peak[1] / 1e9:.1f} (vector, "
        "batch) billion multiply-adds a second.\n  Share: (mul + add) / 2 a second over the peak; "
        "a fused multiply-add counts as one of each."
    )


def print_threads(rows: Sequence[ThreadsRow]) -> None:
    """Print the speed-up of two threads."""
    lines = [
        [
            row.robot,
            row.function,
            f"{row.bytes / 1000:.1f}",
            number(row.one),
            number(row.two.microseconds),
            f"{row.two.ratio.median:.2f}x",
            f"{row.two.ratio.lower:.2f} - {row.two.ratio.upper:.2f}",
            *(
                TWO_THREADS.cells(row.two.ratio.median)
                if row.bytes <= TWO_THREADS_BYTES
                else ["", ""]
            ),
        ]
        for row in rows
    ]
    header = ["robot", "function", "kB", "threads=1", "threads=2", "ratio", "quartiles"]
    title = f"Two threads: batches of {THREADED_BATCH} with out=, microseconds a state"
    table(title, [*header, "at least", ""], lines, left=2)


def print_calls(rows: Sequence[CallRow]) -> None:
    """Print what a call costs over its arithmetic."""
    lines = []
    for row in rows:
        over, most = row.call - row.core, LONE_CALL[row.results]
        word = "MISSED" if over > most else "ok"
        cells = [
            f"{row.call:.3f}",
            f"{row.into:.3f}",
            f"{row.core:.3f}",
            f"{over:.3f}",
            f"{most:g}",
            word,
        ]
        lines.append([row.function, str(row.results), *cells])
    header = ["function", "results", "call", "with out=", "core", "over it", "at most", ""]
    table("The cost of a call: a pendulum, one state, microseconds", header, lines, left=1)


# Command


def arguments() -> argparse.Namespace:
    """The command line."""
    parser = argparse.ArgumentParser(
        description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter
    )
    robot = parser.add_mutually_exclusive_group()
    robot.add_argument(
        "--robot", action="append", choices=KNOWN, help="one of these; may be given several times"
    )
    robot.add_argument("--urdf", type=Path, metavar="FILE", help="a robot of your own")
    parser.add_argument(
        "--root", choices=("fixed", "free"), help="how the robot of --urdf hangs (default: fixed)"
    )
    parser.add_argument(
        "--function",
        action="append",
        choices=[function.name for function in FUNCTIONS],
        metavar="NAME",
        help="only this function, such as %(choices)s; may be given several times",
    )
    parser.add_argument(
        "--batch", type=int, default=256, metavar="N", help="states in a batch (default: 256)"
    )
    parser.add_argument("--quick", action="store_true", help="fewer and shorter rounds")
    parser.add_argument(
        "--headers",
        action=argparse.BooleanOptionalAction,
        help="compare with Pinocchio's headers too, compiled here (default: unless --quick)",
    )
    parser.add_argument("--json", type=Path, metavar="FILE", help="write all numbers to a file")
    parser.add_argument("--plot", type=Path, metavar="FILE", help="draw the ratios (matplotlib)")
    args = parser.parse_args()
    if args.batch < 1:
        parser.error(f"--batch: expected a positive number, got {args.batch}")
    if args.root and not args.urdf:
        parser.error("--root: only with --urdf")
    if args.headers is None:
        args.headers = not args.quick
    return args


def main() -> None:
    args = arguments()
    if args.plot:
        require_matplotlib()
    if args.urdf:
        robots = [from_urdf(args.urdf, args.root or "fixed")]
    else:
        robots = [known(name) for name in args.robot or KNOWN]
    functions = [f for f in FUNCTIONS if not args.function or f.name in args.function]
    effort = EFFORT[args.quick]
    headers = compiled(order=1) if args.headers else []
    machine = environment(f"pinocchio {pinocchio.__version__}")
    if headers:
        compilers = ", ".join(f"{compiler.name} ({compiler.version})" for compiler in headers)
        machine["headers by"] = f"{compilers}, {' '.join(OPTIMISATION)}"
    for key, value in machine.items():
        print(f"{key:>16}: {value}")

    threaded = cores() > 1
    cases = len(robots) * len(functions)
    progress = Progress(effort.rounds * (cases * (1 + threaded) + 2))

    rows, threads = [], []
    with one_core():
        lone_peaks, lane_peaks = zip(*(_core.peak_rate() for _ in range(3)), strict=True)
        peak = max(lone_peaks), max(lane_peaks)
        for robot in robots:
            at = states(robot, args.batch)
            peers = headers_robots(headers, robot)
            for function in functions:
                progress.label = f"{robot.label}, {function.name}"
                row = against_pinocchio(Case.of(function, robot, at), peers, effort, progress.step)
                rows += [row] if row else []
        progress.label = "the cost of a call"
        calls = lone_calls(effort, progress.step)
    if threaded:
        for robot in robots:
            at = states(robot, THREADED_BATCH)
            for function in functions:
                progress.label = f"{robot.label}, {function.name}, two threads"
                pair = two_threads(Case.of(function, robot, at), effort, progress.step)
                threads += [pair] if pair else []
    progress.clear()

    print_ratios(rows, args.batch)
    print_bounds(rows, peak)
    print_calls(calls)
    if threaded:
        print_threads(threads)
    else:
        print("\nTwo threads: not measured, this process may use one core only.")
    if args.json:
        numbers = {
            "machine": machine,
            "batch": args.batch,
            "peak": peak,
            "ratios": [asdict(row) for row in rows],
            "calls": [asdict(row) for row in calls],
            "threads": [asdict(row) for row in threads],
        }
        args.json.write_text(json.dumps(numbers, indent=1) + "\n", encoding="utf-8")
    if args.plot:
        bar_chart(rows, args.batch, args.plot)


if __name__ == "__main__":
    main()
