"""Errors of forward derivatives of chains against 80-bit numbers: a third truth beside [IDSVA]'s.

    python -m benchmarks paper_004_truth

`paper_004_accuracy` compares with complex step in float64, as the paper does, whose own roundings
grow with the chain. Here the truth is complex step of another articulated-body algorithm in 80-bit
numbers (`benchmarks/wide_step.py`). Beside the ways to eq. 5 of [IDSVA] stand the change of the
truth if every q is rounded once more, which no algorithm can be asked to fall below; complex step
in float64; and `forward_dynamics_jvp`, whose columns the package computes by AZA.
"""

from __future__ import annotations

from collections.abc import Iterator

import numpy as np

import dtau
from benchmarks import declare
from benchmarks.baselines import curves
from benchmarks.baselines.curves import check, states
from benchmarks.baselines.library import FORWARD
from benchmarks.checks import Array
from benchmarks.declare import Bench, Row
from benchmarks.experiment import Claim, Table
from benchmarks.experiments.paper_004_accuracy import complex_step, condition, libraries, rms, worst
from benchmarks.wide_step import Wide, wide, wide_partials

SIZES = {False: (15, 30, 60, 125, 250), True: (15, 30)}  # bodies, by quick
COUNT = {False: 3, True: 2}  # states
LABELS = {
    "rounded": "q rounded once",
    "complex_step": "complex step",
    "jvp": "columns of forward_dynamics_jvp",
    **{f: curves.LABELS[f] for f in FORWARD},
}
INVERSES = ("rounded", "jvp", "fdsva_ltdl", "fdsva_aza")
PARTS = {"da/dq and da/dv": tuple(LABELS), "M^-1": INVERSES}
MEASURES = {"root mean square of relative errors": rms, "the largest": worst}


def measure(bench: Bench, bodies: int) -> Iterator[Row]:
    """Errors of the derivatives by q and v, and of M^-1, at the median state."""
    model = dtau.robots.chain(bodies)
    given = states(model, COUNT[bench.quick])
    fast, steps = (library.tree(model) for library in libraries())
    arrays = given["q"], given["v"], given["tau"]
    ways = {f: fast(f, *arrays) for f in FORWARD}
    for f, got in ways.items():
        check(f, model, given, got, f"{f}, {bodies} bodies")
    signs = np.random.default_rng(0).choice([-1.0, 1.0], model.nv)
    errors: dict[tuple[str, str, str], list[float]] = {}
    for k, state in enumerate(zip(*arrays, strict=True)):
        q, v, tau = state
        truth = wide_partials(model, q, v, tau)
        found: dict[str, Array | Wide] = {
            f: np.stack([matrix[k] for matrix in got]) for f, got in ways.items()
        }
        rounded = wide(q) * (1 + signs * wide(2.0) ** -53)
        found["rounded"] = wide_partials(model, rounded, v, tau)
        found["complex_step"] = complex_step(steps, "forward_dynamics", *state)
        found["jvp"] = by_columns(model, *state)
        for (part, names), rows in zip(PARTS.items(), (slice(2), slice(2, 3)), strict=True):
            for f in names:
                for words, error in MEASURES.items():
                    x = error(found[f][rows], truth[rows])
                    errors.setdefault((part, words, f), []).append(x)
    row: Row = {"bodies": bodies, "condition": condition(model, given["q"])}
    yield row | {key: float(np.median(x)) for key, x in errors.items()}


def by_columns(model: dtau.Model, q: Array, v: Array, tau: Array) -> Array:
    """All derivatives by `forward_dynamics_jvp`, a direction for each column: (3, n, n)."""
    n = model.nv
    directions = np.eye(3 * n).reshape(3, n, 3, n)
    dq, dv, dtau_ = np.moveaxis(directions, 2, 0)
    return np.swapaxes(dtau.forward_dynamics_jvp(model, q, v, tau, dq, dv, dtau_), 1, 2)


def tables(rows: list[Row]) -> Iterator[Table]:
    for part, names in PARTS.items():
        for words in MEASURES:
            cells = [
                [str(row["bodies"]), f"{row['condition']:.0e}"]
                + [f"{row[part, words, f]:.1e}" for f in names]
                for row in rows
            ]
            header = ["dofs", "condition of M", *(LABELS[f] for f in names)]
            yield Table(f"Errors of {part} against 80-bit numbers, {words}", header, cells)


def claims(rows: list[Row]) -> Iterator[Claim]:
    """How far the core's way is behind AZA."""
    bound = max(
        row[part, "the largest", f] / (curves.EPS * row["condition"])
        for row in rows
        for part in PARTS
        for f in ("fdsva_ltdl", "fdsva_aza")
    )
    yield Claim(
        "ways to eq. 5 err by no more than roundings times the condition of M, by the "
        "largest element",
        "less than 1x; the bound of a stable solve, not the paper's claim",
        f"at most {bound:.2g}x",
        bound < 1.0,
    )
    part, *_ = PARTS
    ltdl, aza = ((part, "the largest", f) for f in ("fdsva_ltdl", "fdsva_aza"))
    ratios = {row["bodies"]: row[ltdl] / row[aza] for row in rows}
    yield Claim(
        "the core's way, LTDL, errs as little as AZA against 80-bit numbers, by the "
        "largest element",
        "at most 3x; this package's choice, not the paper's claim",
        ", ".join(f"{r:.1f}x at {n}" for n, r in ratios.items()),
        all(r < 3.0 for r in ratios.values()),
    )


EXPERIMENT = declare.experiment(
    "paper_004_truth",
    "Errors of forward derivatives and of M^-1 against 80-bit numbers",
    "[IDSVA] section V-A",
    lambda bench: SIZES[bench.quick],
    measure,
    tables=[tables],
    claims=[claims],
    notes=[
        "The median of several states. What solves with M as such keeps digits by the largest "
        "element of a result; small elements of long chains keep none."
    ],
)
