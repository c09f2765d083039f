"""Batches of a few states beside as many lone calls: at most as long.

    python -m benchmarks small_batches

Batches of 2, 3, one more than the lanes and two more, of functions with small and with large
results. Results of all of them have the bits of lone calls.
"""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import asdict, dataclass
from functools import partial
from time import thread_time

from benchmarks.checks import same_bits
from benchmarks.experiment import Experiment, Findings, Table, Watch
from benchmarks.harness import Spread, at_most, number, one_core, timed
from benchmarks.robots import chosen
from dtau import _core
from dtau.cli.timing import Call, Effort, random_inputs

ROBOTS, QUICK_ROBOTS = ("ur5", "panda", "hyq", "g1", "talos"), ("hyq",)
FUNCTIONS = (
    *("integrate", "inverse_dynamics", "forward_dynamics", "mass_matrix", "mass_matrix_inverse"),
    *("inverse_dynamics_derivatives", "forward_dynamics_derivatives", "linearize"),
    *("inverse_dynamics_wrench_derivatives", "inverse_dynamics_regressor"),
)
LANES = _core.lanes()
COUNTS = (2, 3, LANES + 1, LANES + 2)
EFFORT = {False: Effort(rounds=41, block=2e-3), True: Effort(rounds=7, block=1e-3)}  # by quick


@dataclass(frozen=True)
class Row:
    """A function of one robot: a lone call, and batches in as many lone calls."""

    robot: str
    function: str
    numbers: int  # of results a state
    alone: float  # microseconds
    ratios: dict[int, Spread]  # by the states of the batch

    def cells(self) -> list[str]:
        """As the table shows it."""
        found = [f"{self.ratios[count].median:.2f}x" for count in COUNTS]
        return [self.robot, self.function, str(self.numbers), number(self.alone), *found]


def measured(robot: str, call: Call, effort: Effort, tick: Callable[[], None]) -> Row:
    """Check and time a function."""
    same_bits(call, f"{robot}, {call.name}", call.count)
    lone = call.alone(call.count)
    batches = {count: call.part(slice(count)).batch(into=False) for count in COUNTS}
    found = timed({"alone": lone} | batches, effort, tick, thread_time)
    numbers = sum(x[0].size for x in call())
    ratios = {count: found.ratio(count, "alone") for count in COUNTS}
    return Row(robot, call.name, numbers, found.micro("alone"), ratios)


def run(quick: bool, watch: Watch) -> Findings:
    """Measure these functions of all robots."""
    notes: list[str] = []
    robots, effort = chosen(QUICK_ROBOTS if quick else ROBOTS, notes.append), EFFORT[quick]
    watch.expect(effort.rounds * len(robots) * len(FUNCTIONS))
    rows = []
    with one_core():
        for robot in robots:
            for name in FUNCTIONS:
                at = random_inputs(robot.model, [name], max(COUNTS))
                call = Call(name, robot.model, at)
                rows.append(measured(robot.label, call, effort, partial(watch.step, robot.label)))
    header = ["robot", "function", "numbers", "alone", *(f"{count} states" for count in COUNTS)]
    title = "Microseconds of a lone call, and batches in as many lone calls"
    return Findings(
        tables=[Table(title, header, [row.cells() for row in rows], left=2)],
        claims=[
            at_most(
                f"a batch of {count} states, in {count} lone calls",
                1.0,
                [row.ratios[count].median for row in rows],
            )
            for count in COUNTS
        ],
        notes=notes,
        data={"rows": [asdict(row) for row in rows]},
    )


EXPERIMENT = Experiment(
    "small_batches",
    "Batches of a few states",
    "lone calls of the same states",
    run,
)
