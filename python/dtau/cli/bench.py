"""`dtau bench`: time the functions for a robot on this machine."""

from __future__ import annotations

import platform
from collections.abc import Sequence
from typing import Any

import click
import numpy as np

import dtau
from dtau import _core
from dtau.cli.beside import WrongResultError
from dtau.cli.measurements import EFFORT, FUNCTIONS, Measurements
from dtau.cli.output import FAINT, Column, plural, print_json, print_table, progress, say
from dtau.cli.robot import RefusedError, RobotFile, takes_robot
from dtau.registry import FUNCTIONS as REGISTRY
from dtau.support.machine import busy, cores, processor

_EPILOG = f"""\b
Functions:
  {chr(10).join(f"  {name}" for name in FUNCTIONS).strip()}

\b
Examples:
  dtau bench panda.urdf
  dtau bench anymal.urdf --root free --states 4096 --threads 8
  dtau bench panda.urdf -f inverse_dynamics -f mass_matrix
  dtau bench panda.urdf --json > here.json
"""


@click.command(epilog=_EPILOG, short_help="Time the functions for a robot on this machine.")
@takes_robot
@click.option(
    "-f",
    "--function",
    "functions",
    multiple=True,
    type=click.Choice(list(FUNCTIONS)),
    metavar="NAME",
    help="A function to time; repeat for several. Default: all.",
)
@click.option(
    "--states",
    type=click.IntRange(1, 10**6),
    default=256,
    show_default=True,
    help="Number of states in a batch.",
)
@click.option("--threads", type=click.IntRange(1, 1024), help="Default: one per processor.")
@click.option("--json", "as_json", is_flag=True, help="Print JSON: seconds per state.")
def bench(
    robot: RobotFile, functions: tuple[str, ...], states: int, threads: int | None, as_json: bool
) -> None:
    """Time the functions for a robot on this machine.

    The table compares one state per call, as in a control loop; a batch in one call, on one thread
    and on several; and Pinocchio, if it is installed, called from Python with one state per call.
    Contenders take turns, so that a disturbance affects all of them. Results are compared first.
    The command takes about ten seconds.
    """
    model = robot.load().model
    count = threads or cores()
    measured = Measurements(model, states, count)
    chosen = list(dict.fromkeys(functions)) or list(FUNCTIONS)
    if model.massless_joints:
        chosen = [name for name in chosen if not REGISTRY[name].solves]
        remark = "Left out functions that solve for accelerations: some joints move no mass."
        measured.remarks.append(remark)
    with progress("Timing", len(chosen)) as ticks:
        try:
            rows = list(measured.rows(chosen, ticks))
        except WrongResultError as error:
            raise RefusedError(f"{robot.label}: {error}") from None
    if busy():
        measured.remarks.append("Other work kept the processors busy: expect shorter times.")
    machine = {
        "processor": processor(),
        "processors": str(cores()),
        "instruction_set": _core.instruction_set(),
        "dtau": dtau.__version__,
        "python": platform.python_version(),
        "numpy": np.__version__,
    }
    if as_json:
        print_json(
            {
                "file": robot.label,
                "name": model.name,
                "nv": model.nv,
                "machine": machine,
                "pinocchio": measured.peer and measured.peer.version,
                "threads": count,
                "remarks": measured.remarks,
                "functions": rows,
            }
        )
        return
    bodies = plural(model.nbodies, "body", "bodies")
    say(f"{model.name or robot.label}: nv {model.nv}, {bodies}", "bold")
    say(f"{machine['processor']}, {machine['instruction_set']}, dtau {dtau.__version__}", FAINT)
    say()
    print_table(_columns(rows, count))
    say(
        f"Microseconds per state, fastest of at most {EFFORT.rounds} rounds. Lone: one state per "
        f"call; batch: {states} states per call.",
        FAINT,
    )
    for remark in measured.remarks:
        say(remark, FAINT)


def _columns(rows: Sequence[dict[str, Any]], threads: int) -> list[Column]:
    def cells(name: str) -> list[str]:
        return [_micro(row[name]["fastest"]) if name in row else "" for row in rows]

    def ratio(row: dict[str, Any]) -> str:
        if "pinocchio" not in row:
            return ""
        return f"{row['pinocchio']['fastest'] / row['lone']['fastest']:.2f}x"

    return [
        Column("function", [row["function"] for row in rows]),
        Column("lone", cells("lone"), numbers=True),
        Column("Pinocchio", cells("pinocchio"), numbers=True),
        Column("", [ratio(row) for row in rows], numbers=True),
        Column("batch", cells("batch"), numbers=True),
        Column(f"{threads} threads", cells("threads"), numbers=True),
    ]


def _micro(seconds: float) -> str:
    micro = 1e6 * seconds
    return f"{micro:.0f}" if micro >= 100 else f"{micro:#.3g}"
