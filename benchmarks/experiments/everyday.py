"""The functions of every working day beside Pinocchio's Python calls: alone, and in batches.

Frames, whole body, energies, regressors and the manifold: the rows of `benchmarks.peers.cases` that
have these words in their names, as far as Pinocchio has them.
"""

from __future__ import annotations

from benchmarks.checks import UnavailableError
from benchmarks.experiment import Claim, Experiment, Findings, Table, Watch
from benchmarks.harness import Spread, number
from benchmarks.peers import cases
from benchmarks.peers.cases import FUNCTIONS, Case
from benchmarks.peers.pinocchio_peer import Python
from benchmarks.peers.rows import LONE, Mode, Row, measured
from benchmarks.robots import pinocchio

WORDS = (
    *("frame_", "center_of_mass", "momentum", "energy", "regressor"),
    *("integrate", "difference", "tangent"),
)
ROBOTS = ("panda", "hyq", "talos")
QUICK_ROBOTS = ("hyq",)
BATCH: Mode = (256, 1)
ASKED = {LONE: 1.0, BATCH: 6.0}  # times of Pinocchio's by the package's
SAID = {LONE: "alone, one state a call", BATCH: "in batches of 256, one thread, a state"}


def run(quick: bool, watch: Watch) -> Findings:
    """All of these functions of all robots."""
    if pinocchio is None:
        raise UnavailableError("Pinocchio is not installed: python -m pip install pin")
    keys = QUICK_ROBOTS if quick else ROBOTS
    functions = [f for f in FUNCTIONS if any(word in f for word in WORDS)]
    watch.expect(len(keys) * len(functions))
    rows = []
    for key in keys:
        robot = cases.robot(key)
        at, peer = cases.states(robot, BATCH[0]), Python(robot)
        for function in functions:
            rows.append(measured(Case(function, robot, at), [peer], tuple(ASKED), quick))
            watch.step(f"{robot.label}, {function}")
    return Findings(
        tables=tables(rows),
        claims=[claim for mode in ASKED for claim in claims(rows, mode)],
        notes=["Pinocchio has no function of its own for: " + ", ".join(without(rows)) + "."]
        if without(rows)
        else [],
        data={"rows": [row.to_json() for row in rows]},
    )


def found(row: Row, mode: Mode) -> Spread | None:
    """Pinocchio's time by the package's."""
    return row.ratios.get(mode, {}).get(Python.name)


def without(rows: list[Row]) -> list[str]:
    """Functions that Pinocchio has not."""
    there = {row.function for row in rows if found(row, LONE)}
    return [name for name in dict.fromkeys(row.function for row in rows) if name not in there]


def tables(rows: list[Row]) -> list[Table]:
    """One a robot."""
    out = []
    for robot in dict.fromkeys(row.robot for row in rows):
        mine = [row for row in rows if row.robot == robot and found(row, LONE)]
        title = f"{robot}: microseconds a state, and Pinocchio's time by the package's (quartiles)"
        head = ["function", "alone", "ratio", "batch of 256", "ratio", "agree to"]
        cells = [
            [row.function, *(cell for mode in ASKED for cell in _cells(row, mode)), _error(row)]
            for row in mine
        ]
        out.append(Table(title, head, cells))
    return out


def _cells(row: Row, mode: Mode) -> list[str]:
    spread = found(row, mode)
    if spread is None:
        return ["-", "-"]
    quartiles = f"({spread.lower:.2f} - {spread.upper:.2f})"
    return [number(row.micro[mode]), f"{spread.median:.2f}x {quartiles}"]


def _error(row: Row) -> str:
    return f"{row.errors[Python.name]:.0e}"


def claims(rows: list[Row], mode: Mode) -> list[Claim]:
    """One a function that Pinocchio has."""
    out = []
    for function in dict.fromkeys(row.function for row in rows):
        ratios = {
            row.robot: spread.median
            for row in rows
            if row.function == function and (spread := found(row, mode))
        }
        if ratios:
            words = ", ".join(f"{robot} {ratio:.2f}x" for robot, ratio in ratios.items())
            out.append(
                Claim(
                    f"{function} beside Pinocchio's Python call, {SAID[mode]}",
                    f"at least {ASKED[mode]:g}x",
                    words,
                    min(ratios.values()) >= ASKED[mode],
                )
            )
    return out


EXPERIMENT = Experiment(
    name="everyday",
    title="Functions of every working day",
    source="Pinocchio's Python package, for frames, whole body, regressors and the manifold",
    run=run,
)
