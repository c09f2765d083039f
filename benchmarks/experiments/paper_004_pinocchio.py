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

from collections.abc import Iterator, Sequence
from dataclasses import asdict, dataclass, replace
from time import thread_time

from benchmarks.checks import UnavailableError
from benchmarks.experiment import Claim, Experiment, Findings, Plot, Table, Watch
from benchmarks.harness import Spread, at_least, curve, number, one_core, timed, times
from benchmarks.peers.cases import Case
from benchmarks.peers.pinocchio_peer import Python
from benchmarks.peers.rows import Row as Told
from benchmarks.peers.rows import ways_of
from benchmarks.robots import Robot, chosen, grown, pinocchio, states
from dtau.cli.timing import Effort

FUNCTIONS = {
    "inverse": "inverse_dynamics_derivatives",
    "forward": "forward_dynamics_derivatives",
}
SIZES = {False: (4, 8, 15, 30, 60, 125), True: (8, 30)}  # bodies, by quick
BRANCHINGS = {False: (1, 2, 5), True: (1, 2)}
ROBOTS = {False: ("hyq", "anymal", "g1", "talos"), True: ("talos",)}
TALOS = 1.4  # times, by the algorithm alone, in Pinocchio 2.6 compiled by g++
FACTORS = "the factors of the mass matrix cost most on long unbranched chains, where AZA is faster"
STATES = 16
EFFORT = {False: Effort(rounds=15, block=4e-3), True: Effort(rounds=5, block=1e-3)}


@dataclass(frozen=True)
class Row:
    """Microseconds of both programs on one robot."""

    robot: str
    branching: int  # 0: no chain of figures 4 and 6
    bodies: int
    dynamics: str
    ours: float
    theirs: float
    ratio: Spread

    def cells(self) -> list[str]:
        """As the table shows it."""
        micro = number(self.theirs), number(self.ours)
        return [self.robot, self.dynamics, *micro, *times(self.ratio)]


def run(quick: bool, watch: Watch) -> Findings:
    """Time chains, trees and robots."""
    if pinocchio is None:
        raise UnavailableError("it compares with Pinocchio: python -m pip install pin")
    notes = [f"Pinocchio {pinocchio.__version__}, its package for Python."]
    robots = [(0, robot) for robot in chosen(ROBOTS[quick], notes.append)]
    trees = [(b, grown(n, b)) for b in BRANCHINGS[quick] for n in SIZES[quick]]
    watch.expect(len(trees) + len(robots))
    rows: list[Row] = []
    with one_core():
        for branching, robot in trees + robots:
            rows += _measure(robot, branching, EFFORT[quick])
            watch.step(robot.label)
    header = ["robot", "dynamics", "Pinocchio", "dtau", "ratio", "quartiles"]
    title = "First derivatives, microseconds a call of one state, from Python"
    return Findings(
        tables=[Table(title, header, [row.cells() for row in rows], left=2)],
        plots=[_plot(rows, name) for name in FUNCTIONS],
        claims=list(_claims(rows)),
        notes=notes,
        data={"rows": [asdict(row) for row in rows]},
    )


def _measure(robot: Robot, branching: int, effort: Effort) -> Iterator[Row]:
    """Check and time both functions."""
    at = states(robot, STATES)
    for dynamics, function in FUNCTIONS.items():
        case = Case(function, robot, at, STATES)
        peers = [Python(robot)]
        ways = ways_of(case, peers, Told(robot.label, robot.model.nv, function))
        contenders = {"dtau": case.call.alone(), "Pinocchio": ways[Python.name].each}
        found = timed(contenders, effort, clock=thread_time)
        micro, ratio = found.medians(), found.ratio("Pinocchio", "dtau")
        bodies = robot.model.nbodies
        both = micro["dtau"], micro["Pinocchio"]
        yield Row(robot.label, branching, bodies, dynamics, *both, ratio)


def _claims(rows: Sequence[Row]) -> Iterator[Claim]:
    """The figures' claims, of programs in place of algorithms."""
    for dynamics, figure in (("inverse", 4), ("forward", 6)):
        for branching in dict.fromkeys(row.branching for row in rows if row.branching):
            of = [r for r in rows if (r.dynamics, r.branching) == (dynamics, branching)]
            text = (
                f"derivatives of {dynamics} dynamics, branching {branching}: less time than "
                f"Pinocchio (figure {figure})"
            )
            claim = at_least(text, 1.0, [row.ratio.median for row in of], "more than 1x, all N")
            lags = dynamics == "forward" and branching == 1 and not claim.holds
            yield replace(claim, why=FACTORS) if lags else claim
    for row in rows:
        if row.robot == "Talos" and row.dynamics == "inverse":
            text = "derivatives of inverse dynamics, Talos: less time than Pinocchio (figure 5)"
            yield at_least(text, TALOS, [row.ratio.median], f"{TALOS:g}x, by the algorithm alone")


def _plot(rows: Sequence[Row], dynamics: str) -> Plot:
    curves = []
    for branching in dict.fromkeys(row.branching for row in rows if row.branching):
        of = [r for r in rows if (r.dynamics, r.branching) == (dynamics, branching)]
        ratios = [row.ratio for row in of]
        curves.append(curve(f"branching {branching}", [row.bodies for row in of], ratios))
    title = f"Derivatives of {dynamics} dynamics: Pinocchio's time by dtau's, from Python"
    return Plot(f"paper_004_pinocchio_{dynamics}", title, "bodies", "ratio", curves)


EXPERIMENT = Experiment(
    "paper_004_pinocchio",
    "First derivatives beside Pinocchio on chains, trees and robots",
    "[IDSVA] figures 4, 5, 6",
    run,
)
