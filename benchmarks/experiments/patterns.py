"""Results on their pattern beside dense ones: times in batches and alone, shares of the numbers.

    python -m benchmarks patterns

Both ways write into arrays that are given (`out=`). Values on the pattern have the bits of the
dense results, and the dense results are zero elsewhere.
"""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import asdict, dataclass, replace
from functools import partial
from typing import Any

import numpy as np

import dtau
from benchmarks.checks import WrongResultError
from benchmarks.experiment import Experiment, Findings, Table, Watch
from benchmarks.harness import Spread, at_most, number, one_core, timed, times
from benchmarks.robots import chosen
from dtau.cli.timing import LONE_STATES, Call, Effort, random_inputs
from dtau.registry import FUNCTIONS

BATCH, QUICK_BATCH = 1024, 64
ROBOTS = ("hyq", "g1", "talos")
QUICK_ROBOTS = ("hyq",)
RESULTS = {  # the results that have a pattern
    "mass_matrix": ("M",),
    "coriolis_matrix": ("C",),
    "inverse_dynamics_derivatives": ("dtau_dq", "dtau_dv", "dtau_da"),
    "frame_jacobians": ("J",),
    "linearize": ("A", "B"),
}
EFFORT = {False: Effort(rounds=41, block=2e-2), True: Effort(rounds=7, block=5e-3)}  # by quick


def options_of(name: str, model: dtau.Model) -> dict[str, Any]:
    """The frames: the ends of all branches."""
    carriers = {joint.parent for joint in model.joints}
    ends = [model.bodies[joint.body] for joint in model.joints if joint.body not in carriers]
    return {"frames": ends} if name == "frame_jacobians" else {}


@dataclass(frozen=True)
class Row:
    """A function of a robot: its numbers and times, dense and on the pattern."""

    robot: str
    function: str
    share: float  # of the numbers of the dense results
    dense: float  # microseconds a state in a batch
    batch: Spread  # ratio to dense
    alone: Spread

    def cells(self) -> list[str]:
        """As the table shows it."""
        cells = [self.robot, self.function, f"{self.share:.0%}", number(self.dense)]
        return [*cells, *times(self.batch), *times(self.alone)]


def check(dense: Call, sparse: Call, what: str) -> float:
    """Compare the results; return the share of the dense results' numbers that is stored."""
    want, got = dense(), sparse()
    names = [x.name for x in FUNCTIONS[dense.name].results]
    for name, x, values in zip(names, want, got, strict=False):
        if name in RESULTS[dense.name]:
            pattern = dtau.pattern(dense.model, dense.name, name, **dense.options)
            if not np.array_equal(pattern.dense(values), x):
                raise WrongResultError(f"{what}: {name} on its pattern differs")
    return sum(x.size for x in got) / sum(x.size for x in want)


def measured(
    label: str, dense: Call, effort: Effort, lone_states: int, tick: Callable[[], None]
) -> Row:
    """Check and time a case."""
    sparse = replace(dense, options={**dense.options, "layout": "pattern"})
    share = check(dense, sparse, f"{label}, {dense.name}")
    ways = {"dense": dense, "pattern": sparse}
    batch = timed({name: x.batch() for name, x in ways.items()}, effort, tick)
    lone = {name: x.alone(lone_states, into=True) for name, x in ways.items()}
    alone = timed(lone, effort, tick)
    return Row(
        label,
        dense.name,
        share,
        batch.micro("dense"),
        batch.ratio("pattern", "dense"),
        alone.ratio("pattern", "dense"),
    )


def findings(rows: list[Row], states: int, notes: list[str]) -> Findings:
    """The table, and a claim for each robot."""
    header = ["robot", "function", "numbers", "dense", "batch", "quartiles", "alone", "quartiles"]
    title = (
        f"Results on their pattern by dense ones: share of the numbers, microseconds a state of "
        f"dense results in batches of {states}, and ratios of times"
    )
    claims = [
        at_most(
            f"{robot}: results on their pattern by dense ones, batches",
            1.0,
            [row.batch.median for row in rows if row.robot == robot],
        )
        for robot in dict.fromkeys(row.robot for row in rows)
    ]
    return Findings(
        tables=[Table(title, header, [row.cells() for row in rows], left=2)],
        claims=claims,
        notes=notes,
        data={"rows": [asdict(row) for row in rows]},
    )


def run(quick: bool, watch: Watch) -> Findings:
    """Measure the functions that have results on a pattern."""
    notes: list[str] = []
    robots = chosen(QUICK_ROBOTS if quick else ROBOTS, notes.append)
    models = {robot.label: robot.model for robot in robots}
    models = models or {"quadruped": dtau.robots.quadruped()}
    states, effort = QUICK_BATCH if quick else BATCH, EFFORT[quick]
    watch.expect(2 * effort.rounds * len(models) * len(RESULTS))
    rows = []
    with one_core():
        for label, model in models.items():
            for name in RESULTS:
                at = random_inputs(model, [name], states, nframes=1)
                call = Call(name, model, at, options_of(name, model))
                lone_states = min(states, LONE_STATES)
                rows.append(measured(label, call, effort, lone_states, partial(watch.step, label)))
    return findings(rows, states, notes)


EXPERIMENT = Experiment(
    "patterns",
    "Results on their pattern beside dense ones",
    "batches of robots with many branches, which write zeros",
    run,
)
