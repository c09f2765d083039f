"""Derivatives of a step by its length and by wrenches, beside those without, and `step_jvp`.

    python -m benchmarks step_variables

`linearize_discrete`, `step_vjp` and `step_hessian` with `by=`, in times of the same call without
it; `step_jvp` in times of `step`, alone and in batches. Results of `by=` agree with `step_jvp` and
with differences, and those of a lone state have the bits of a batch.
"""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import asdict, dataclass, replace
from functools import partial
from typing import Any

import numpy as np

import dtau
from benchmarks.checks import WrongResultError, require_close
from benchmarks.experiment import Experiment, Findings, Table, Watch
from benchmarks.harness import Spread, at_most, number, one_core, timed, times
from benchmarks.robots import chosen
from dtau.cli.timing import LONE_STATES, Call, Effort, random_inputs
from dtau.registry import arrays_of

ROBOTS, QUICK_ROBOTS = ("ur5", "hyq", "g1"), ("hyq",)
BATCH, QUICK_BATCH = 1024, 64
INTEGRATORS = ("euler", "rk4")
EFFORT = {False: Effort(rounds=21, block=2e-2), True: Effort(rounds=5, block=5e-3)}  # by quick
# A call, what it is compared with, and the options of the call.
CASES: tuple[tuple[str, str, dict[str, Any]], ...] = (
    ("linearize_discrete", "linearize_discrete", {"by": "dt"}),
    ("linearize_discrete", "linearize_discrete", {"by": "f_ext"}),
    ("step_vjp", "step_vjp", {"by": "dt"}),
    ("step_hessian", "step_hessian", {"by": "dt"}),
    ("step_hessian", "step_hessian", {"by": "f_ext"}),
    ("step_jvp", "step", {}),
)
EPS = 1e-6  # s
# Times the other call, in batches; without "dt", Euler's gradient needs no acceleration.
MOST = {"dt": 1.75, "": 4.0}


@dataclass(frozen=True)
class Row:
    """A case of a robot: the other call in microseconds a state, and ratios to it."""

    robot: str
    case: str
    integrator: str
    other: float
    batch: Spread
    alone: Spread

    def cells(self) -> list[str]:
        """As the table shows it."""
        cells = [self.robot, self.case, self.integrator, number(self.other)]
        return [*cells, *times(self.batch), *times(self.alone)]


def check(model: dtau.Model, at: dict[str, Any], integrator: str) -> None:
    """Compare columns with a variation, a gradient with both, and a Hessian with differences."""
    q, v, tau, dt = (at[name] for name in ("q", "v", "tau", "dt"))
    rng = np.random.default_rng(4)
    df_ext = rng.standard_normal((model.nbodies, 6))
    lam_q, lam_v = rng.standard_normal((2, *v.shape))
    lin = dtau.linearize_discrete(model, q, v, tau, dt, integrator, by=("dt", "f_ext"))
    still = np.zeros(model.nv)
    varied = dtau.step_jvp(
        model, q, v, tau, dt, still, still, still, integrator, None, df_ext, ddt=0.5
    )
    for got, by_dt, by_f_ext, name in (
        (varied.dq, lin.dq_ddt, lin.dq_df_ext, "q"),
        (varied.dv, lin.dv_ddt, lin.dv_df_ext, "v"),
    ):
        want = 0.5 * by_dt + np.einsum("...ibk,bk->...i", by_f_ext, df_ext)
        require_close(got, want, 1e-9, f"step_jvp, {name} after the step")
    product = dtau.step_vjp(model, q, v, tau, dt, lam_q, lam_v, integrator, by="dt")
    want = (lam_q * lin.dq_ddt + lam_v * lin.dv_ddt).sum(axis=-1)
    require_close(product.by_dt, want, 1e-9, "step_vjp, by_dt")
    if integrator == "euler":  # linear in the length
        return
    before, after = (
        dtau.step_vjp(model, q, v, tau, dt + x, lam_q, lam_v, integrator, by="dt").by_dt
        for x in (-EPS, EPS)
    )
    hessian = dtau.step_hessian(model, q, v, tau, dt, lam_q, lam_v, integrator, by="dt")
    want = (after - before) / (2.0 * EPS)
    require_close(hessian[..., -1, -1], want, 1e-5, "step_hessian, twice by dt")


def measured(label: str, call: Call, other: Call, effort: Effort, tick: Callable[[], None]) -> Row:
    """Time a case."""
    lone, many = arrays_of(call.part(0)()), arrays_of(call())
    if not all(map(np.array_equal, lone, (x[0] for x in many))):
        raise WrongResultError(f"{label}, {call.name}: one state gives other bits than many")
    batch = timed({"call": call.batch(into=False), "other": other.batch(into=False)}, effort, tick)
    few = min(LONE_STATES, call.count)
    alone = timed({"call": call.alone(few), "other": other.alone(few)}, effort, tick)
    by = call.options.get("by")
    return Row(
        label,
        f"{call.name}, by={by!r}" if by else f"{call.name} by {other.name}",
        call.options["integrator"],
        batch.micro("other"),
        batch.ratio("call", "other"),
        alone.ratio("call", "other"),
    )


def run(quick: bool, watch: Watch) -> Findings:
    """Measure all cases."""
    notes: list[str] = []
    robots = chosen(QUICK_ROBOTS if quick else ROBOTS, notes.append)
    models = {robot.label: robot.model for robot in robots}
    models = models or {"quadruped": dtau.robots.quadruped()}
    states, effort = QUICK_BATCH if quick else BATCH, EFFORT[quick]
    watch.expect(2 * effort.rounds * len(models) * len(CASES) * len(INTEGRATORS))
    rows = []
    with one_core():
        for label, model in models.items():
            at = random_inputs(model, ["step_jvp", "step_vjp", "step_hessian"], states)
            for integrator in INTEGRATORS:
                check(model, at, integrator)
                for name, base, options in CASES:
                    other = Call(base, model, at, {"integrator": integrator})
                    call = replace(other, name=name, options=other.options | options)
                    rows.append(measured(label, call, other, effort, partial(watch.step, label)))
    header = ["robot", "call", "integrator", "other", "batch", "quartiles", "alone", "quartiles"]
    title = (
        f"Derivatives by further variables: microseconds a state of the call without them in "
        f"batches of {states}, and ratios of times to it"
    )
    batches = [(row.case, row.batch.median) for row in rows]
    return Findings(
        tables=[Table(title, header, [row.cells() for row in rows], left=3)],
        claims=[
            at_most("by='dt', by the call without it, batches", MOST["dt"],
                    [x for case, x in batches if "'dt'" in case]),
            at_most("step_jvp by step, batches", MOST[""],
                    [x for case, x in batches if case.startswith("step_jvp")]),
        ],
        notes=notes,
        data={"rows": [asdict(row) for row in rows]},
    )  # fmt: skip


EXPERIMENT = Experiment(
    "step_variables",
    "Derivatives of a step by its length and by wrenches",
    "the same calls without them, and steps",
    run,
)
