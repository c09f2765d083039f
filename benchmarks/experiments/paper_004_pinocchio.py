"""[IDSVA], figures 4 to 6: derivatives of dynamics beside Pinocchio, on chains, trees and robots.

    python -m benchmarks paper_004_pinocchio

First derivatives of inverse dynamics (figures 4 and 5) and of forward dynamics (figure 6) by dtau's
Python call and by Pinocchio's, one state a call, in turns. The paper compares two algorithms in one
program, Pinocchio 2.6. Later versions have the paper's algorithm themselves, so that this compares
two programs; `paper_004_inverse` and `paper_004_forward` compare the algorithms.

The trees are revolute joints on a fixed base, about x, y and z by turns. Every result is compared
with Pinocchio's before it is timed.
"""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import replace
from time import thread_time

from benchmarks import declare
from benchmarks.declare import Asked, Bench, Layout, Row, efforts, ratio
from benchmarks.experiment import Claim, Plot
from benchmarks.harness import curve
from benchmarks.peers.cases import Case
from benchmarks.peers.pinocchio_peer import Python
from benchmarks.peers.rows import checked
from benchmarks.robots import Robot, grown, pinocchio, states

FUNCTIONS = {"inverse": "inverse_dynamics_derivatives", "forward": "forward_dynamics_derivatives"}
SIZES = {False: (4, 8, 15, 30, 60, 125), True: (8, 30)}  # bodies, by quick
BRANCHINGS = {False: (1, 2, 5), True: (1, 2)}
TALOS = 1.4  # times, by the algorithm alone, in Pinocchio 2.6 compiled by g++
FACTORS = "the factors of the mass matrix cost most on long unbranched chains, where AZA is faster"
STATES = 16


def subjects(bench: Bench) -> list[tuple[Robot, int]]:
    """Robots with their branching; 0: no tree of figures 4 and 6."""
    trees = [(grown(n, b), b) for b in BRANCHINGS[bench.quick] for n in SIZES[bench.quick]]
    robots = declare.robots(("hyq", "anymal", "g1", "talos"), ("talos",))(bench)
    bench.note(f"Pinocchio {pinocchio.__version__}, its package for Python.")
    return trees + [(robot, 0) for robot in robots]


def measure(bench: Bench, robot: Robot, branching: int) -> Iterator[Row]:
    at = states(robot, STATES)
    for dynamics, function in FUNCTIONS.items():
        case = Case(function, robot, at, STATES)
        theirs = checked(case, [Python(robot)])[Python.name].each
        found = bench.timed({"dtau": case.call.alone(), "Pinocchio": theirs})
        row = {"robot": robot.label, "branching": branching, "bodies": robot.model.nbodies}
        row |= {"dynamics": dynamics, "tree": branching > 0} | found.medians()
        yield row | {"ratio": found.ratio("Pinocchio", "dtau")}


def claims(rows: list[Row]) -> Iterator[Claim]:
    """The figures' claims, of programs in place of algorithms."""
    for dynamics, figure in (("inverse", 4), ("forward", 6)):
        asked = Asked(
            f"derivatives of {dynamics} dynamics, branching {{branching}}: less time than "
            f"Pinocchio (figure {figure})",
            least=1.0,
            where={"dynamics": dynamics, "tree": True},
            each="branching",
            asked="more than 1x, all N",
        )
        for claim in asked.claims(rows):
            lags = dynamics == "forward" and "branching 1:" in claim.text and not claim.holds
            yield replace(claim, why=FACTORS) if lags else claim
    yield from Asked(
        "derivatives of inverse dynamics, Talos: less time than Pinocchio (figure 5)",
        least=TALOS,
        where={"robot": "Talos", "dynamics": "inverse"},
        asked=f"{TALOS:g}x, by the algorithm alone",
    ).claims(rows)


def _plot(rows: list[Row], dynamics: str) -> Plot:
    curves = []
    for of in declare.selected(rows, {"dynamics": dynamics, "tree": True}, "branching"):
        bodies, ratios = [row["bodies"] for row in of], [row["ratio"] for row in of]
        curves.append(curve(f"branching {of[0]['branching']}", bodies, ratios))
    title = f"Derivatives of {dynamics} dynamics: Pinocchio's time by dtau's, from Python"
    return Plot(f"paper_004_pinocchio_{dynamics}", title, "bodies", "ratio", curves)


EXPERIMENT = declare.experiment(
    "paper_004_pinocchio",
    "First derivatives beside Pinocchio on chains, trees and robots",
    "[IDSVA] figures 4, 5, 6",
    subjects,
    measure,
    effort=efforts((15, 5), (4e-3, 1e-3)),
    needs={"pinocchio": "pin"},
    tables=[
        Layout(
            "First derivatives, microseconds a call of one state, from Python",
            ["robot", "dynamics", "Pinocchio", "dtau", ratio()],
            left=2,
        )
    ],
    plots=lambda rows: [_plot(rows, name) for name in FUNCTIONS],
    claims=[claims],
    clock=thread_time,
)
