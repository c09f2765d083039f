"""Results on their pattern beside dense ones: times in batches and alone, shares of the numbers.

    python -m benchmarks patterns

Both ways write into arrays that are given (`out=`). Values on the pattern have the bits of the
dense results, and the dense results are zero elsewhere.
"""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import replace
from typing import Any

import numpy as np

import dtau
from benchmarks import declare
from benchmarks.checks import WrongResultError
from benchmarks.declare import BOTH, Asked, Bench, Layout, Row, efforts
from dtau.cli.timing import Call, random_inputs
from dtau.registry import FUNCTIONS

BATCH, QUICK_BATCH = 1024, 64
RESULTS = {  # the results that have a pattern
    "mass_matrix": ("M",),
    "coriolis_matrix": ("C",),
    "inverse_dynamics_derivatives": ("dtau_dq", "dtau_dv", "dtau_da"),
    "frame_jacobians": ("J",),
    "linearize": ("A", "B"),
}


def options_of(name: str, model: dtau.Model) -> dict[str, Any]:
    """The frames: the ends of all branches."""
    carriers = {joint.parent for joint in model.joints}
    ends = [model.bodies[joint.body] for joint in model.joints if joint.body not in carriers]
    return {"frames": ends} if name == "frame_jacobians" else {}


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


def measure(bench: Bench, label: str, model: dtau.Model) -> Iterator[Row]:
    states = QUICK_BATCH if bench.quick else BATCH
    for name in RESULTS:
        at = random_inputs(model, [name], states, nframes=1)
        dense = Call(name, model, at, options_of(name, model))
        sparse = replace(dense, options={**dense.options, "layout": "pattern"})
        share = f"{check(dense, sparse, f'{label}, {name}'):.0%}"
        row = {"robot": label, "function": name, "states": states, "numbers": share}
        yield row | bench.versus(sparse, dense, into=(True, True))


EXPERIMENT = declare.experiment(
    "patterns",
    "Results on their pattern beside dense ones",
    "batches of robots with many branches, which write zeros",
    declare.models(("hyq", "g1", "talos"), ("hyq",)),
    measure,
    effort=efforts((41, 7), (2e-2, 5e-3)),
    tables=[
        Layout(
            "Results on their pattern by dense ones: share of the numbers, microseconds a state of "
            "dense results in batches of {states}, and ratios of times",
            ["robot", "function", "numbers", ("dense", "microseconds"), *BOTH],
            left=2,
        )
    ],
    claims=[
        Asked(
            "{robot}: results on their pattern by dense ones, batches",
            "batch",
            most=1.0,
            each="robot",
        )
    ],
)
