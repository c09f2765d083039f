"""Derivatives of a step by its length and by wrenches, beside those without, and `step_jvp`.

    python -m benchmarks step_variables

`linearize_discrete`, `step_vjp` and `step_hessian` with `by=`, in times of the same call without
it; `step_jvp` in times of `step`, alone and in batches. Results of `by=` agree with `step_jvp` and
with differences, and those of a lone state have the bits of a batch.
"""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import replace
from typing import Any

import numpy as np

import dtau
from benchmarks import declare
from benchmarks.checks import WrongResultError, require_close
from benchmarks.declare import BOTH, Asked, Bench, Layout, Row, efforts
from dtau.cli.timing import Call, random_inputs

BATCH, QUICK_BATCH = 1024, 64
INTEGRATORS = ("euler", "rk4")
# A call, what it is compared with, and the option of the call.
CASES = (
    ("linearize_discrete", "linearize_discrete", "dt"),
    ("linearize_discrete", "linearize_discrete", "f_ext"),
    ("step_vjp", "step_vjp", "dt"),
    ("step_hessian", "step_hessian", "dt"),
    ("step_hessian", "step_hessian", "f_ext"),
    ("step_jvp", "step", ""),
)
EPS = 1e-6  # s


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


def measure(bench: Bench, label: str, model: dtau.Model) -> Iterator[Row]:
    states = QUICK_BATCH if bench.quick else BATCH
    at = random_inputs(model, ["step_jvp", "step_vjp", "step_hessian"], states)
    for integrator in INTEGRATORS:
        check(model, at, integrator)
        for name, base, by in CASES:
            other = Call(base, model, at, {"integrator": integrator})
            call = replace(other, name=name, options=other.options | ({"by": by} if by else {}))
            if not all(map(np.array_equal, call.part(0)(), (x[0] for x in call()))):
                raise WrongResultError(f"{label}, {name}: one state gives other bits than many")
            words = f"{name}, by={by!r}" if by else f"{name} by {base}"
            row = {"robot": label, "call": words, "by": by, "integrator": integrator}
            yield row | {"states": states} | bench.versus(call, other, into=(False, False))


EXPERIMENT = declare.experiment(
    "step_variables",
    "Derivatives of a step by its length and by wrenches",
    "the same calls without them, and steps",
    declare.models(("ur5", "hyq", "g1"), ("hyq",)),
    measure,
    effort=efforts((21, 5), (2e-2, 5e-3)),
    tables=[
        Layout(
            "Derivatives by further variables: microseconds a state of the call without them in "
            "batches of {states}, and ratios of times to it",
            ["robot", "call", "integrator", ("other", "microseconds"), *BOTH],
            left=3,
        )
    ],
    claims=[
        # Without "dt", Euler's gradient needs no acceleration.
        Asked("by='dt', by the call without it, batches", "batch", most=1.75, where={"by": "dt"}),
        Asked("step_jvp by step, batches", "batch", most=4.0, where={"by": ""}),
    ],
)
