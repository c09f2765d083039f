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

import contextlib
from collections.abc import Iterator
from itertools import product
from typing import Any

import numpy as np

import dtau
from benchmarks import declare
from benchmarks.calls import fill, operations, peaks
from benchmarks.checks import WrongResultError, same_bits
from benchmarks.declare import Asked, Bench, Layout, Row, at_least, at_most, efforts, ratio
from benchmarks.experiment import Claim, Plot, Table
from benchmarks.harness import on_cores
from benchmarks.peers.cases import Case, Peer
from benchmarks.peers.headers import compiled
from benchmarks.peers.pinocchio_peer import Compiled, Python
from benchmarks.peers.rows import checked
from benchmarks.robots import KNOWN, Robot, states
from dtau import _core
from dtau.cli.timing import LONE_STATES, Call, Contender, given, loop

BATCH = 256
THREADED = (16, 64, 256, 4096)  # states; the last is where two threads are to pay
SMALL_BYTES = 8000  # results of a state, which leave memory alone
CORE_STATES = 1000  # a call of so many hides what a call costs
PINOCCHIO = Python.name
EFFORT = efforts((41, 7), (4e-3, 2e-3))

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
    "forward_dynamics_derivatives": (((2.5,) * 5, 3.5), ((8.0, 8.0, 8.0, 7.0, 7.0), 10.0)),
}
FUNCTIONS = tuple(_GOALS)
WAYS = ("alone", "batch")
TWO_THREADS = 1.8  # at least, where results are small
LONE_CALL = {1: 0.4, 3: 0.8}  # microseconds over the core, by the number of results
LONE_CALLS, THREADS = "lone calls", "two threads"  # parts beside the robots


def goal(robot: str, function: str, way: str) -> Row:
    """The targets on the known robots."""
    if robot not in KNOWN:
        return {"least": None, "aim": None}
    least, aim = _GOALS[function][WAYS.index(way)]
    return {"least": least[list(KNOWN).index(robot)], "aim": aim}


@contextlib.contextmanager
def or_left_out(bench: Bench, robot: Robot, function: str) -> Iterator[None]:
    """Note that the package refuses a robot of --urdf."""
    try:
        yield
    except ValueError as error:
        if not robot.model.massless_joints:
            raise
        bench.note(f"{robot.label}, {function}: left out: {error}")


def beside(bench: Bench, case: Case, peers: list[Peer], peak: dict[str, float]) -> Iterator[Row]:
    """Check and time a function."""
    call, robot = case.call, case.robot
    same_bits(call, f"{robot.label}, {case.function}", LONE_STATES)
    ways = checked(case, peers)
    contenders = {"alone": call.alone(), "batch": call.batch(), "fresh": call.batch(into=False)}
    contenders |= {"fill": fill(call), **{name: way.each for name, way in ways.items()}}
    found = bench.timed(contenders)
    words = {"robot": robot.label, "function": case.function, "known": robot.key in KNOWN}
    words |= {x: found.micro(x) for x in (PINOCCHIO, "fresh", "fill")}
    words["compilers"] = [name for name in ways if name != PINOCCHIO]
    for way in WAYS:
        row = words | {"way": way, "dtau": found.micro(way)}
        row |= {name: found.ratio(name, way) for name in words["compilers"]}
        row |= goal(robot.key, case.function, way)
        row["fresh ratio"] = found.ratio(PINOCCHIO, "fresh")
        yield row | {"ratio": found.ratio(PINOCCHIO, way)}
    counts = dict(zip(("mul", "add", "div"), operations(call), strict=True))
    work = 0.5 * (counts["mul"] + counts["add"])
    shares = {way: f"{work / (1e-6 * found.micro(way) * peak[way]):.0%}" for way in WAYS}
    size = {"kB": f"{case.bytes() / 1000:.1f}"}
    size["of batch"] = f"{found.micro('fill') / found.micro('batch'):.0%}"
    yield words | counts | shares | size | {"way": "bounds", "peak": peak}


def two_threads(bench: Bench, robot: Robot) -> Iterator[Row]:
    """Time batches in one and in two threads, one call after the other."""
    at = states(robot, THREADED[-1])
    for function, count in product(FUNCTIONS, THREADED):
        with or_left_out(bench, robot, function):
            call = Call(function, robot.model, at).part(slice(count))
            one, two = (call(threads=n) for n in (1, 2))
            if not all(map(np.array_equal, one, two)):
                raise WrongResultError(f"{robot.label}, {function}: two threads give other bits")
            size = sum(x[0].nbytes for x in one)
            del one, two
            found = bench.timed({f"threads={n}": call.batch(threads=n) for n in (1, 2)})
            row = {"robot": robot.label, "function": function, "way": THREADS, "states": count}
            row |= {"kB": f"{size / 1000:.1f}", "ratio": found.ratio("threads=1", "threads=2")}
            pays = count == THREADED[-1] and size <= SMALL_BYTES
            yield row | found.medians() | {"least": TWO_THREADS if pays else None}


def lone_calls(bench: Bench) -> Iterator[Row]:
    """Time calls with one result and with three on a pendulum, which has little to compute."""
    builder = dtau.ModelBuilder("pendulum")
    inertia = dtau.Inertia(mass=1.5, com=(0, 0, -0.5), tensor=0.02 * np.eye(3))
    builder.add(dtau.Revolute(axis=(0, 1, 0)), name="pivot", parent=None, inertia=inertia)
    model = builder.build()
    state = [x.copy() for x in dtau.random_state(model, np.random.default_rng(0))]
    at = {name: np.tile(x, (CORE_STATES, 1)) for name, x in zip("qva", state, strict=True)}
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
            "with out=": Contender(loop(f"f({one.words}, out=out)", **names, out=out), 1),
            "core": Contender(core, CORE_STATES),  # states one by one
        }
        micro = bench.timed(contenders).medians()
        row = {"function": function, "results": len(one()), "way": LONE_CALLS}
        row["over"] = micro["call"] - micro["core"]
        row |= {"over it": f"{row['over']:.3f}"} | {x: f"{y:.3f}" for x, y in micro.items()}
        yield row | {"most": LONE_CALL[len(one())]}


def subjects(bench: Bench) -> list[tuple[Any, ...]]:
    robots = declare.robots(KNOWN, ("panda", "g1"))(bench)
    headers = [] if bench.quick else compiled(1, bench.note)
    for compiler in headers:
        bench.note(compiler.said())
    parts: list[tuple[Any, ...]] = [(robot, headers) for robot in robots]
    if len(bench.cores) > 1:
        parts += [(THREADS, robot) for robot in robots[: 1 if bench.quick else None]]
    else:
        bench.note("Two threads: not measured, this process may use one core only.")
    return [*parts, (LONE_CALLS,)] if parts else []


def measure(bench: Bench, part: Any, of: Any = None) -> Iterator[Row]:
    if part == LONE_CALLS:
        yield from lone_calls(bench)
        return
    if part == THREADS:
        with on_cores(bench.cores):
            yield from two_threads(bench, of)
        return
    at, peak = states(part, BATCH), peaks()
    peers: list[Peer] = [Python(part), *(Compiled(part, [x], x.name) for x in of)]
    for function in FUNCTIONS:
        with or_left_out(bench, part, function):
            yield from beside(bench, Case(function, part, at, BATCH), peers, peak)


def tables(rows: list[Row]) -> Iterator[Table]:
    """Ratios alone and in batches, the processor's bounds, the cost of a call, and threads."""
    compilers = rows[0]["compilers"]
    below = "".join(f"; {c}: the ratio to Pinocchio's headers, compiled by it" for c in compilers)
    columns = [
        *("robot", "function", ("Pinocchio", PINOCCHIO), "dtau", ratio(), *compilers),
        at_least("least", aim="aim"),
    ]
    title = "One state a call, microseconds a state"
    yield from Layout(title + below, columns, 2, {"way": "alone"}).tables(rows)
    title = f"Batches of {BATCH} states with out=, microseconds a state; fresh: without out="
    fresh = ["fresh", ("ratio", "fresh ratio")]
    yield from Layout(title + below, [*columns, *fresh], 2, {"way": "batch"}).tables(rows)
    (bounds,) = declare.selected(rows, {"way": "bounds"})
    peak = bounds[0]["peak"]
    title = (
        "Operations a state, and the share of the core's measured peak that calls reach alone (of "
        f"{peak['alone'] / 1e9:.1f} billion multiply-adds a second, scalar) and in a batch (of "
        f"{peak['batch'] / 1e9:.1f}, vector): (mul + add) / 2 a second; kB of the results of a "
        "state, microseconds to fill them with a constant, and that as a share of the batch's time"
    )
    columns = ["robot", "function", "mul", "add", "div", *WAYS, "kB", "fill", "of batch"]
    yield from Layout(title, columns, left=2).tables(bounds)
    title = "The cost of a call: a pendulum, one state, microseconds"
    columns = ["function", "results", "call", "with out=", "core", "over it"]
    columns.append(at_most("most", "over"))
    yield from Layout(title, columns, where={"way": LONE_CALLS}).tables(rows)
    title = "Two threads: batches with out=, one call after the other, microseconds a state"
    columns = ["robot", "function", "kB", "states", "threads=1", "threads=2", ratio()]
    columns.append(at_least("least"))
    yield from Layout(title, columns, 2, {"way": THREADS}).tables(rows)


def call_claims(rows: list[Row]) -> Iterator[Claim]:
    (calls,) = declare.selected(rows, {"way": LONE_CALLS})
    for row in calls:
        text = f"what a call of {row['function']} costs over its arithmetic"
        held = row["over"] <= row["most"]
        yield Claim(text, f"at most {row['most']:g} µs", f"{row['over']:.2f} µs", held)


TWO = Asked(
    "two threads are faster than one, where the results of a state are small",
    least="least",
    where={"way": THREADS},
)


def thread_claims(rows: list[Row]) -> list[Claim]:
    alone = "this process may use one core only"
    return list(TWO.claims(rows)) or [Claim(TWO.text, f"at least {TWO_THREADS:g}x", alone, None)]


def plots(rows: list[Row]) -> Iterator[Plot]:
    for way, what in zip(WAYS, ("one state a call", f"batches of {BATCH}"), strict=True):
        (mine,) = declare.selected(rows, {"way": way})
        title = f"Times of dtau that Pinocchio's Python calls take, {what}"
        y = "Pinocchio's time / dtau's"
        yield declare.over_robots(f"first_order_{way}", title, y, mine, "function")


EXPERIMENT = declare.experiment(
    "first_order",
    "Values and first derivatives of dynamics",
    "beside Pinocchio's Python calls and headers",
    subjects,
    measure,
    effort=EFFORT,
    needs={"pinocchio": "pin"},
    tables=[tables],
    plots=plots,
    claims=[
        *(
            Asked(
                f"{{function}} is faster than Pinocchio's Python call, {states_of}",
                least="least",
                where={"way": way, "known": True},
                each="function",
            )
            for way, states_of in zip(WAYS, ("one state", "batches"), strict=True)
        ),
        call_claims,
        thread_claims,
    ],
)
