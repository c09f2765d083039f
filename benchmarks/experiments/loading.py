"""Models from a URDF's text and from Python code: `dtau.load` beside Pinocchio, and `ModelBuilder`.

    python -m benchmarks loading

`dtau.load` reads the text of each robot, and so does `pinocchio.buildModelFromXML`; the mass
matrices and the gravity torques of the two models agree. `ModelBuilder.add` gets the parts of a
link, each made anew: an axis, a pose, an inertia and limits.
"""

from __future__ import annotations

import warnings
from collections.abc import Callable
from dataclasses import asdict, dataclass
from typing import Any

import numpy as np

import dtau
from benchmarks.checks import Array, UnavailableError, require_close
from benchmarks.experiment import Claim, Experiment, Findings, Table, Watch
from benchmarks.harness import Timings, at_most, number, one_core, timed
from benchmarks.robots import Robot, chosen, pinocchio, states
from dtau.cli.timing import Contender, Effort

ROBOTS = ("ur5", "panda", "hyq", "anymal", "g1", "talos")
LINKS = 100  # of the model that is built joint by joint
MOST, MOST_MICRO = 2.0, 50.0  # times of Pinocchio's; microseconds a link
EFFORT = {False: Effort(rounds=41, block=2e-2), True: Effort(rounds=5, block=1e-2)}  # by quick
OURS, THEIRS = "dtau", "Pinocchio"


@dataclass(frozen=True)
class Row:
    """A robot's numbers."""

    robot: str
    links: int
    milli: float
    peer_milli: float
    ratio: float
    lower: float
    upper: float


def run(quick: bool, watch: Watch) -> Findings:
    """All robots, then the builder."""
    if pinocchio is None:
        raise UnavailableError("Pinocchio is not installed: python -m pip install pin")
    notes: list[str] = []
    robots = chosen(ROBOTS, notes.append)
    watch.expect(len(robots) + 1)
    rows = []
    with one_core(), warnings.catch_warnings():
        warnings.simplefilter("ignore", dtau.ModelWarning)
        for robot in robots:
            check(robot)
            rows.append(measured(robot, EFFORT[quick]))
            watch.step(robot.label)
        micro = build(EFFORT[quick])
        watch.step("ModelBuilder")
    return Findings(
        tables=[table(rows)],
        claims=claims(rows, micro),
        notes=notes,
        data={"rows": [asdict(row) for row in rows], "add": micro},
    )


def check(robot: Robot) -> None:
    """Compare the two models of a robot by what they compute at one state."""
    at = states(robot, 1)
    peer, data = robot.peer, robot.peer.createData()
    q = robot.peer_q(at["q"])[0]
    mass = np.triu(pinocchio.crba(peer, data, q))
    mass += np.triu(mass, 1).T
    gravity: Array = pinocchio.computeGeneralizedGravity(peer, data, q)
    got = robot.peer_order(dtau.mass_matrix(robot.model, at["q"])[0], 2)
    require_close(got, mass, 1e-12, f"{robot.label}: mass matrix")
    got = robot.peer_order(dtau.gravity_torque(robot.model, at["q"])[0], 1)
    require_close(got, gravity, 1e-12, f"{robot.label}: gravity torque")


def measured(robot: Robot, effort: Effort) -> Row:
    """Load one robot in turns."""
    free = (pinocchio.JointModelFreeFlyer(),) if robot.root == "free" else ()
    timings: Timings = timed(
        {
            OURS: repeated(lambda: dtau.load(robot.urdf, root=robot.root)),
            THEIRS: repeated(lambda: pinocchio.buildModelFromXML(robot.urdf, *free)),
        },
        effort,
    )
    ratio = timings.ratio(OURS, THEIRS)
    ours, theirs = (1e-3 * timings.micro(name) for name in (OURS, THEIRS))
    links = len(robot.model.links)
    return Row(robot.label, links, ours, theirs, ratio.median, ratio.lower, ratio.upper)


def build(effort: Effort) -> float:
    """Microseconds a link of `ModelBuilder.add`."""

    def add() -> None:
        builder, link = dtau.ModelBuilder("chain"), None
        for i in range(LINKS):
            link = builder.add(
                dtau.Revolute(axis=(0, 3, 1)),
                name=f"link{i}",
                parent=link,
                placement=dtau.Pose.from_rpy((0.1, 0.2, 0.3), (0, 0, 0.1)),
                inertia=dtau.Inertia(
                    1.0, (0, 0, 0.05), [[0.1, 0.01, 0], [0.01, 0.1, 0], [0, 0, 0.06]]
                ),
                limits=dtau.Limits(lower=-1.0, upper=1.0, velocity=1.0, effort=2.0),
                damping=0.1,
            )

    return timed({OURS: repeated(add, LINKS)}, effort).micro(OURS)


def repeated(call: Callable[[], Any], states: int = 1) -> Contender:
    """One call a pass."""

    def passes(count: int) -> None:
        for _ in range(count):
            call()

    return Contender(passes, states)


def table(rows: list[Row]) -> Table:
    """All robots."""
    cells = []
    for row in rows:
        spread = f"{row.lower:.2f} - {row.upper:.2f}"
        cells.append(
            [
                *(row.robot, str(row.links), number(row.milli), number(row.peer_milli)),
                *(f"{row.ratio:.2f}x", spread),
            ]
        )
    title = "Milliseconds to load a URDF's text, and the package's time by Pinocchio's (quartiles)"
    return Table(title, ["robot", "links", "dtau", "Pinocchio", "ratio", "quartiles"], cells)


def claims(rows: list[Row], micro: float) -> list[Claim]:
    """The goals for loading and building."""
    return [
        *(
            at_most(f"{row.robot}: dtau.load by Pinocchio's buildModelFromXML", MOST, [row.ratio])
            for row in rows
        ),
        Claim(
            "ModelBuilder.add, with the parts of the link",
            f"at most {MOST_MICRO:g} microseconds a link",
            f"{micro:.0f} microseconds",
            micro <= MOST_MICRO,
        ),
    ]


EXPERIMENT = Experiment(
    name="loading",
    title="Load a URDF",
    source="pinocchio.buildModelFromXML, for the robots of example-robot-data",
    run=run,
)
