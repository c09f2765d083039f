"""Derivatives by the numbers of q, beside those in the tangent space.

    python -m benchmarks coordinates

Calls with `coordinates="numbers"` in times of the same call without it, alone and in batches. First
derivatives agree with those by tangents times `tangent_map`, and Hessians are symmetric.
"""

from __future__ import annotations

from dataclasses import asdict, dataclass
from functools import partial
from typing import Any

import numpy as np

import dtau
from benchmarks.checks import require_close
from benchmarks.experiment import Experiment, Findings, Table, Watch
from benchmarks.harness import Spread, at_most, number, one_core, timed, times
from benchmarks.robots import chosen
from dtau.cli.timing import LONE_STATES, Call, Effort, random_inputs

ROBOTS, QUICK_ROBOTS = ("ur5", "hyq", "g1"), ("hyq",)
BATCH, QUICK_BATCH = 1024, 64
EFFORT = {False: Effort(rounds=21, block=2e-2), True: Effort(rounds=5, block=5e-3)}  # by quick
CASES: tuple[tuple[str, dict[str, Any]], ...] = (
    ("inverse_dynamics_derivatives", {}),
    ("forward_dynamics_derivatives", {}),
    ("inverse_dynamics_vjp", {}),
    ("inverse_dynamics_hessian", {}),
    ("linearize_discrete", {"integrator": "euler"}),
    ("step_vjp", {"integrator": "rk4"}),
    ("step_hessian", {"integrator": "euler"}),
    ("step_hessian", {"integrator": "rk4"}),
)
MOST = 1.5  # times the call by tangents, in batches


@dataclass(frozen=True)
class Row:
    """A case of a robot: the call by tangents in microseconds a state, and ratios to it."""

    robot: str
    case: str
    tangents: float
    batch: Spread
    alone: Spread

    def cells(self) -> list[str]:
        """As the table shows it."""
        cells = [self.robot, self.case, number(self.tangents)]
        return [*cells, *times(self.batch), *times(self.alone)]


def check(model: dtau.Model, at: dict[str, Any]) -> None:
    """Compare a matrix with that by tangents, and a Hessian with its transpose."""
    state = [at[name] for name in ("q", "v", "a")]
    to_tangent = dtau.tangent_map(model, at["q"]).to_tangent
    by_tangents = dtau.inverse_dynamics_derivatives(model, *state).dtau_dq
    got = dtau.inverse_dynamics_derivatives(model, *state, coordinates="numbers").dtau_dq
    require_close(got, by_tangents @ to_tangent, 1e-12, "dtau_dq by numbers")
    twice = dtau.inverse_dynamics_hessian(model, *state, at["lam"], coordinates="numbers").dqdq
    require_close(twice, twice.swapaxes(-1, -2), 1e-11, "a Hessian by numbers, transposed")


def run(quick: bool, watch: Watch) -> Findings:
    """Measure all cases."""
    notes: list[str] = []
    robots = chosen(QUICK_ROBOTS if quick else ROBOTS, notes.append)
    models = {robot.label: robot.model for robot in robots}
    models = models or {"quadruped": dtau.robots.quadruped()}
    states, effort = QUICK_BATCH if quick else BATCH, EFFORT[quick]
    watch.expect(2 * effort.rounds * len(models) * len(CASES))
    rows = []
    with one_core():
        for label, model in models.items():
            at = random_inputs(model, [name for name, _ in CASES], states)
            weights = np.random.default_rng(5).standard_normal((states, model.nq))
            check(model, at)
            for name, options in CASES:
                by_numbers = Call(
                    name, model, {**at, "lam_q": weights}, {**options, "coordinates": "numbers"}
                )
                calls = {"numbers": by_numbers, "tangents": Call(name, model, at, options)}
                tick, few = partial(watch.step, label), min(LONE_STATES, states)
                batch = timed({k: x.batch(into=False) for k, x in calls.items()}, effort, tick)
                alone = timed({k: x.alone(few) for k, x in calls.items()}, effort, tick)
                rows.append(
                    Row(
                        label,
                        " ".join([name, *options.values()]),
                        batch.micro("tangents"),
                        batch.ratio("numbers", "tangents"),
                        alone.ratio("numbers", "tangents"),
                    )
                )
    header = ["robot", "call", "tangents", "batch", "quartiles", "alone", "quartiles"]
    title = (
        f"Derivatives by the numbers of q: microseconds a state of the call by tangents in batches "
        f"of {states}, and ratios of times to it"
    )
    return Findings(
        tables=[Table(title, header, [row.cells() for row in rows], left=2)],
        claims=[
            at_most("by numbers, by the call by tangents, batches", MOST,
                    [row.batch.median for row in rows]),
        ],
        notes=notes,
        data={"rows": [asdict(row) for row in rows]},
    )  # fmt: skip


EXPERIMENT = Experiment(
    "coordinates",
    "Derivatives by the numbers of q",
    "the same calls in the tangent space",
    run,
)
