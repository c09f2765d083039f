"""The functions of every working day beside Pinocchio's Python calls: alone, and in batches.

    python -m benchmarks everyday

Frames, whole body, energies, regressors and the manifold: the functions of `peers.cases` that have
these words in their names, as far as Pinocchio has them.
"""

from __future__ import annotations

from benchmarks.checks import UnavailableError
from benchmarks.experiment import Claim, Experiment, Findings, Table, Watch
from benchmarks.harness import number
from benchmarks.peers import cases
from benchmarks.peers.cases import FUNCTIONS, Case
from benchmarks.peers.pinocchio_peer import CALLS, Python
from benchmarks.peers.rows import LONE, Mode, Row, measured
from benchmarks.robots import pinocchio

WORDS = (
    *("frame_", "center_of_mass", "momentum", "energy", "regressor"),
    *("integrate", "difference", "tangent"),
)
ROBOTS, QUICK_ROBOTS = ("panda", "hyq", "talos"), ("hyq",)
BATCH: Mode = (256, 1)
ASKED = {LONE: 1.0, BATCH: 6.0}  # times of Pinocchio's by the package's
SAID = {LONE: "alone, one state a call", BATCH: "in batches of 256, one thread, a state"}


def run(quick: bool, watch: Watch) -> Findings:
    """All of these functions of all robots."""
    if pinocchio is None:
        raise UnavailableError("Pinocchio is not installed: python -m pip install pin")
    keys = QUICK_ROBOTS if quick else ROBOTS
    named = [f for f in FUNCTIONS if any(word in f for word in WORDS)]
    functions = [f for f in named if f in CALLS]
    watch.expect(len(keys) * len(functions))
    rows = []
    for key in keys:
        robot = cases.robot(key)
        at, peer = cases.states(robot, BATCH[0]), Python(robot)
        for function in functions:
            rows.append(measured(Case(function, robot, at), [peer], tuple(ASKED), quick))
            watch.step(f"{robot.label}, {function}")
    lacking = [f for f in named if f not in CALLS]
    return Findings(
        tables=[table(robot, rows) for robot in dict.fromkeys(row.robot for row in rows)],
        claims=[claim(f, mode, rows) for mode in ASKED for f in functions],
        notes=["Pinocchio has no function of its own for: " + ", ".join(lacking) + "."]
        if lacking
        else [],
        data={"rows": [row.to_json() for row in rows]},
    )


def table(robot: str, rows: list[Row]) -> Table:
    """All functions of one robot."""
    lines = []
    for row in (row for row in rows if row.robot == robot):
        cells = [row.function]
        for mode in ASKED:
            x = row.ratios[mode][Python.name]
            cells.append(number(row.micro[mode]))
            cells.append(f"{x.median:.2f}x ({x.lower:.2f} - {x.upper:.2f})")
        lines.append([*cells, f"{row.errors[Python.name]:.0e}"])
    title = f"{robot}: microseconds a state, and Pinocchio's time by the package's (quartiles)"
    return Table(title, ["function", "alone", "ratio", "batch of 256", "ratio", "agree to"], lines)


def claim(function: str, mode: Mode, rows: list[Row]) -> Claim:
    """The claims about one function on all robots."""
    mine = [row for row in rows if row.function == function]
    ratios = {row.robot: row.ratios[mode][Python.name].median for row in mine}
    return Claim(
        f"{function} beside Pinocchio's Python call, {SAID[mode]}",
        f"at least {ASKED[mode]:g}x",
        ", ".join(f"{robot} {ratio:.2f}x" for robot, ratio in ratios.items()),
        min(ratios.values()) >= ASKED[mode],
    )


EXPERIMENT = Experiment(
    name="everyday",
    title="Functions of every working day",
    source="Pinocchio's Python package, for frames, whole body, regressors and the manifold",
    run=run,
)
