"""Derivatives by the numbers of q, beside those in the tangent space.

    python -m benchmarks coordinates

Calls with `coordinates="numbers"` in times of the same call without it, alone and in batches. First
derivatives agree with those by tangents times `tangent_map`, and Hessians are symmetric.
"""

from __future__ import annotations

from collections.abc import Iterator
from typing import Any

import numpy as np

import dtau
from benchmarks import declare
from benchmarks.checks import require_close
from benchmarks.declare import BOTH, Asked, Bench, Layout, Row, efforts
from dtau.cli.timing import Call, random_inputs

BATCH, QUICK_BATCH = 1024, 64
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


def check(model: dtau.Model, at: dict[str, Any]) -> None:
    """Compare a matrix with that by tangents, and a Hessian with its transpose."""
    state = [at[name] for name in ("q", "v", "a")]
    to_tangent = dtau.tangent_map(model, at["q"]).to_tangent
    by_tangents = dtau.inverse_dynamics_derivatives(model, *state).dtau_dq
    got = dtau.inverse_dynamics_derivatives(model, *state, coordinates="numbers").dtau_dq
    require_close(got, by_tangents @ to_tangent, 1e-12, "dtau_dq by numbers")
    twice = dtau.inverse_dynamics_hessian(model, *state, at["lam"], coordinates="numbers").dqdq
    require_close(twice, twice.swapaxes(-1, -2), 1e-11, "a Hessian by numbers, transposed")


def measure(bench: Bench, label: str, model: dtau.Model) -> Iterator[Row]:
    states = QUICK_BATCH if bench.quick else BATCH
    at = random_inputs(model, [name for name, _ in CASES], states)
    check(model, at)
    weighed = at | {"lam_q": np.random.default_rng(5).standard_normal((states, model.nq))}
    for name, options in CASES:
        by_numbers = Call(name, model, weighed, {**options, "coordinates": "numbers"})
        row = {"robot": label, "call": " ".join([name, *options.values()]), "states": states}
        yield row | bench.versus(by_numbers, Call(name, model, at, options), into=(False, False))


EXPERIMENT = declare.experiment(
    "coordinates",
    "Derivatives by the numbers of q",
    "the same calls in the tangent space",
    declare.models(("ur5", "hyq", "g1"), ("hyq",)),
    measure,
    effort=efforts((21, 5), (2e-2, 5e-3)),
    tables=[
        Layout(
            "Derivatives by the numbers of q: microseconds a state of the call by tangents in "
            "batches of {states}, and ratios of times to it",
            ["robot", "call", ("tangents", "microseconds"), *BOTH],
            left=2,
        )
    ],
    claims=[Asked("by numbers, by the call by tangents, batches", "batch", most=MOST)],
)
