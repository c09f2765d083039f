"""The functions of every working day beside Pinocchio's Python calls: alone, and in batches.

    python -m benchmarks everyday

Frames, whole body, energies, regressors and the manifold: the functions of `peers.cases` that have
these words in their names, as far as Pinocchio has them.
"""

from __future__ import annotations

from collections.abc import Iterator
from functools import cache

from benchmarks import declare
from benchmarks.declare import Bench, Layout, Row, efforts
from benchmarks.experiment import Claim
from benchmarks.peers import cases
from benchmarks.peers.cases import FUNCTIONS, Case
from benchmarks.peers.pinocchio_peer import CALLS, Python
from benchmarks.peers.rows import LONE, Mode, measured

WORDS = (
    *("frame_", "center_of_mass", "momentum", "energy", "regressor"),
    *("integrate", "difference", "tangent"),
)
BATCH: Mode = (256, 1)
# A mode's name and words, and what is asked of it: times of Pinocchio's by the package's
MODES = {
    LONE: ("alone", "alone, one state a call", 1.0),
    BATCH: ("batch of 256", "in batches of 256, one thread, a state", 6.0),
}
robot_of = cache(cases.robot)


def subjects(bench: Bench) -> list[tuple[str, str]]:
    named = [f for f in FUNCTIONS if any(word in f for word in WORDS)]
    if lacking := [f for f in named if f not in CALLS]:
        bench.note("Pinocchio has no function of its own for: " + ", ".join(lacking) + ".")
    keys = ("hyq",) if bench.quick else ("panda", "hyq", "talos")
    return [(key, f) for key in keys for f in named if f in CALLS]


def measure(bench: Bench, key: str, function: str) -> Iterator[Row]:
    robot = robot_of(key)
    case = Case(function, robot, cases.states(robot, BATCH[0]))
    found = measured(case, [Python(robot)], tuple(MODES), bench.quick)
    row = {"robot": robot.label, "function": function}
    row["agree to"] = f"{found.errors[Python.name]:.0e}"
    for mode, (name, *_) in MODES.items():
        x = found.ratios[mode][Python.name]
        row |= {name: found.micro[mode], f"{name} ratio": x.median}
        row[f"{name} said"] = f"{x.median:.2f}x ({x.lower:.2f} - {x.upper:.2f})"
    yield row


def claims(rows: list[Row]) -> Iterator[Claim]:
    """Of each function on all robots."""
    for name, words, least in MODES.values():
        for found in declare.selected(rows, {}, "function"):
            text = f"{found[0]['function']} beside Pinocchio's Python call, {words}"
            said = ", ".join(f"{row['robot']} {row[f'{name} ratio']:.2f}x" for row in found)
            held = min(row[f"{name} ratio"] for row in found) >= least
            yield Claim(text, f"at least {least:g}x", said, held)


EXPERIMENT = declare.experiment(
    "everyday",
    "Functions of every working day",
    "Pinocchio's Python package, for frames, whole body, regressors and the manifold",
    subjects,
    measure,
    effort=efforts((9, 5), (2e-3, 1e-3)),
    needs={"pinocchio": "pin"},
    tables=[
        Layout(
            "{robot}: microseconds a state, and Pinocchio's time by the package's (quartiles)",
            [
                "function",
                *(x for name, *_ in MODES.values() for x in (name, ("ratio", f"{name} said"))),
                "agree to",
            ],
            each="robot",
        )
    ],
    claims=[claims],
)
