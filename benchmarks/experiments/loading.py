"""Models from a URDF's text and from Python code: `dtau.load` beside Pinocchio, and `ModelBuilder`.

    python -m benchmarks loading

`dtau.load` reads the text of each robot, and so does `pinocchio.buildModelFromXML`; the mass
matrices and the gravity torques of the two models agree. `ModelBuilder.add` gets the parts of a
link, each made anew: an axis, a pose, an inertia and limits.
"""

from __future__ import annotations

import warnings
from collections.abc import Iterator

import numpy as np

import dtau
from benchmarks import declare
from benchmarks.checks import Array, require_close
from benchmarks.declare import Asked, Bench, Layout, Row, efforts, ratio
from benchmarks.experiment import Claim
from benchmarks.robots import Robot, pinocchio, states
from dtau.cli.timing import Contender, loop

ROBOTS = ("ur5", "panda", "hyq", "anymal", "g1", "talos")
LINKS = 100  # of the model that is built joint by joint
MOST, MOST_MICRO = 2.0, 50.0  # times of Pinocchio's; microseconds a link


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


def build() -> None:
    builder, link = dtau.ModelBuilder("chain"), None
    for i in range(LINKS):
        link = builder.add(
            dtau.Revolute(axis=(0, 3, 1)),
            name=f"link{i}",
            parent=link,
            placement=dtau.Pose.from_rpy((0.1, 0.2, 0.3), (0, 0, 0.1)),
            inertia=dtau.Inertia(1.0, (0, 0, 0.05), [[0.1, 0.01, 0], [0.01, 0.1, 0], [0, 0, 0.06]]),
            limits=dtau.Limits(lower=-1.0, upper=1.0, velocity=1.0, effort=2.0),
            damping=0.1,
        )


def measure(bench: Bench, robot: Robot | None) -> Iterator[Row]:
    """Load a robot in turns, or build a model."""
    if robot is None:
        found = bench.timed({"build": Contender(loop("f()", f=build), LINKS)})
        yield {"add": found.micro("build")}
        return
    with warnings.catch_warnings():
        warnings.simplefilter("ignore", dtau.ModelWarning)
        check(robot)
        free = (pinocchio.JointModelFreeFlyer(),) if robot.root == "free" else ()
        names = {"ours": dtau.load, "theirs": pinocchio.buildModelFromXML, "text": robot.urdf}
        ours = loop("ours(text, root=root)", root=robot.root, **names)
        theirs = loop("theirs(text, *free)", free=free, **names)
        found = bench.timed({"dtau": Contender(ours, 1), "Pinocchio": Contender(theirs, 1)})
    row = {"robot": robot.label, "links": len(robot.model.links)}
    row |= {name: 1e-3 * x for name, x in found.medians().items()}
    yield row | {"ratio": found.ratio("dtau", "Pinocchio")}


def claims(rows: list[Row]) -> Iterator[Claim]:
    micro = rows[-1]["add"]
    asked = f"at most {MOST_MICRO:g} microseconds a link"
    text = "ModelBuilder.add, with the parts of the link"
    yield Claim(text, asked, f"{micro:.0f} microseconds", micro <= MOST_MICRO)


LOADED = Asked("{robot}: dtau.load by Pinocchio's buildModelFromXML", most=MOST, each="robot")
EXPERIMENT = declare.experiment(
    "loading",
    "Load a URDF",
    "pinocchio.buildModelFromXML, for the robots of example-robot-data",
    lambda bench: [*declare.robots(ROBOTS, ROBOTS)(bench), None],
    measure,
    effort=efforts((41, 5), (2e-2, 1e-2)),
    needs={"pinocchio": "pin"},
    tables=[
        lambda rows: Layout(
            "Milliseconds to load a URDF's text, and the package's time by Pinocchio's (quartiles)",
            ["robot", "links", "dtau", "Pinocchio", ratio()],
        ).tables(rows[:-1])
    ],
    claims=[lambda rows: LOADED.claims(rows[:-1]), claims],
)
