"""[IDSVA-SO] figure 4: inverse dynamics and its first and second derivatives on five robots.

    python -m benchmarks paper_001_robots

The paper's robots of example-robot-data: UR3 and Baxter on a fixed base, HyQ and Talos on a free
one. ATLAS is not among them; G1 is the humanoid nearest to it (35 degrees of freedom, ATLAS 36).

Checked before anything is timed: torques by M a + bias, first derivatives by central differences of
torques and second ones by those of first, each along one direction; packed tensors by dense ones.
"""

from __future__ import annotations

from collections.abc import Iterator
from itertools import pairwise
from time import thread_time
from typing import Any

import numpy as np

import dtau
from benchmarks import declare
from benchmarks.calls import fitting
from benchmarks.checks import require_close, require_packed
from benchmarks.declare import Bench, Layout, Row, efforts
from benchmarks.experiment import Claim, Curve, Plot
from benchmarks.experiments.second_cases import require_differences
from benchmarks.harness import number
from benchmarks.robots import depth, known
from dtau.cli.timing import Call, random_inputs

ROBOTS = {"UR3": "ur3", "Baxter": "baxter", "HyQ": "hyq", "G1 (for ATLAS)": "g1", "Talos": "talos"}
QUICK = ("UR3", "HyQ")
FUNCTIONS: dict[str, tuple[str, dict[str, Any]]] = {
    "torques": ("inverse_dynamics", {}),
    "first": ("inverse_dynamics_derivatives", {}),
    "second": ("inverse_dynamics_second_derivatives", {}),
    "packed": ("inverse_dynamics_second_derivatives", {"layout": "pattern"}),
}
HYQ = 51.0  # us: the paper's second derivatives, in Pinocchio's framework on an Intel i5-12400
BATCH = 256
BATCH_BYTES = 2**26  # of the results of a batch, at most
LONE_STATES = 16
WAYS = ("alone", "batch")
EXACT = 1e-12  # of the largest torque
FEW = 2  # robots, which tell nothing of growth
NOT_EACH = "not with every step: a free root has six columns on every path"


def measure(bench: Bench, label: str) -> Iterator[Row]:
    model = known(ROBOTS[label]).model
    at = random_inputs(model, ["inverse_dynamics"], BATCH)
    calls = {x: Call(name, model, at, options) for x, (name, options) in FUNCTIONS.items()}
    _check(label, {name: call.part(slice(2)) for name, call in calls.items()})
    contenders = {}
    for name, call in calls.items():
        contenders[f"{name} alone"] = call.alone(LONE_STATES, into=True)
        contenders[f"{name} batch"] = fitting(call, BATCH, BATCH_BYTES).batch()
    found = bench.timed(contenders)
    row = {"robot": label, "dofs": model.nv, "bodies": model.nbodies, "depth": depth(model)}
    row |= found.medians()
    for way in WAYS:
        x = row[f"ratio {way}"] = found.ratio(f"second {way}", f"first {way}")
        row[f"said {way}"] = f"{x.median:.2f}x ({x.lower:.2f} to {x.upper:.2f})"
    yield row | {"packed by first": found.ratio("packed alone", "first alone").median}


def _check(label: str, calls: dict[str, Call]) -> None:
    """Refuse to time what is wrong."""
    (tau,), first, second, packed = (call() for call in calls.values())
    model, (q, v, a) = calls["first"].model, calls["first"].arrays.values()
    sums = np.einsum("zij,zj->zi", dtau.mass_matrix(model, q), a) + dtau.bias_torque(model, q, v)
    require_close(tau, sums, EXACT, f"{label}: torques")
    require_differences(calls["torques"], first[:2], f"{label}: first derivatives and differences")
    require_differences(calls["first"], second, f"{label}: second derivatives and differences")
    require_packed(model, packed, second, label)


def _claims(rows: list[Row]) -> Iterator[Claim]:
    for row in rows:
        for name, words in (("second", "dense"), ("packed", "packed")):
            if row["robot"] == "HyQ":
                alone, batch = (row[f"{name} {way}"] for way in WAYS)
                yield Claim(
                    f"HyQ, second derivatives, {words}: less time than the paper's C++",
                    f"{HYQ:g} us, another machine",
                    f"{number(alone)} us one state, {number(batch)} us in a batch",
                    alone < HYQ,
                )
    for size, unit in (("bodies", "N"), ("depth", "d")) if len(rows) > 1 else ():
        ordered = sorted(rows, key=lambda row: (row[size], row["dofs"]))
        ratios = [row["packed by first"] for row in ordered]
        words = ", ".join(
            f"{row['robot']} ({unit} = {row[size]}) {r:.2f}x"
            for row, r in zip(ordered, ratios, strict=True)
        )
        rises = all(a < b for a, b in pairwise(ratios))
        larger = ratios[-1] > ratios[0] if len(rows) > FEW else None
        text = f"The ratio of second to first derivatives grows with {unit}, packed, one state"
        asked = f"larger for the largest {unit} than for the least"
        yield Claim(text, asked, words, larger, "" if rises else NOT_EACH)


def _plot(rows: list[Row]) -> Plot:
    x = list(range(len(rows)))
    curves = [
        Curve(f"{f}, {way}", x, [row[f"{f} {way}"] for row in rows], dashed=way == "batch")
        for f in FUNCTIONS
        for way in WAYS
    ]
    title = "Inverse dynamics (torques), first derivatives, tensors of second ones"
    ticks = [f"{row['robot']}, {row['dofs']}" for row in rows]
    units = ("robot, degrees of freedom", "microseconds a state")
    return Plot("paper_001_robots", title, *units, curves, ticks=ticks)


COLUMNS = [
    x
    for way in WAYS
    for x in (*((f, f"{f} {way}") for f in FUNCTIONS), ("second/first", f"said {way}"))
]
EXPERIMENT = declare.experiment(
    "paper_001_robots",
    "Second derivatives on five robots",
    "[IDSVA-SO] figure 4",
    lambda bench: QUICK if bench.quick else tuple(ROBOTS),
    measure,
    effort=efforts((21, 5), (4e-3, 1e-3)),
    tables=[
        Layout(
            "Inverse dynamics, first derivatives, tensors of second ones (dense, packed), "
            f"microseconds a state, alone and in batches of up to {BATCH}; ratio of second (dense) "
            "to first ones",
            ["robot", "dofs", "bodies", "depth", *COLUMNS],
        )
    ],
    plots=lambda rows: [_plot(rows)],
    claims=[_claims],
    notes=["The paper's times are quoted from another machine, not measured here."],
    clock=thread_time,
)
