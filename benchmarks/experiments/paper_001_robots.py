"""[IDSVA-SO] figure 4: inverse dynamics and its first and second derivatives on five robots.

    python -m benchmarks paper_001_robots

The paper's robots of example-robot-data: UR3 and Baxter on a fixed base, HyQ and Talos on a free
one. ATLAS is not among them; G1 is the humanoid nearest to it (35 degrees of freedom, ATLAS 36).

Checked before anything is timed: torques by M a + bias, first derivatives by central differences of
torques and second ones by those of first, each along one direction; packed tensors by dense ones.
"""

from __future__ import annotations

from dataclasses import dataclass
from itertools import pairwise
from time import thread_time
from typing import Any

import numpy as np

import dtau
from benchmarks.calls import fitting
from benchmarks.checks import require_close, require_packed
from benchmarks.experiment import Claim, Curve, Experiment, Findings, Plot, Table, Watch
from benchmarks.experiments.second_cases import require_differences
from benchmarks.harness import Timings, number, one_core, timed
from benchmarks.robots import depth, known
from dtau.cli.timing import Call, Effort, random_inputs

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
EFFORT = {False: Effort(rounds=21, block=4e-3), True: Effort(rounds=5, block=1e-3)}  # by quick
EXACT = 1e-12  # of the largest torque
FEW = 2  # robots, which tell nothing of growth
NOT_EACH = "not with every step: a free root has six columns on every path"


@dataclass(frozen=True)
class Row:
    """One robot, and times by function and way."""

    label: str
    dofs: int
    bodies: int
    depth: int
    found: Timings

    def cells(self) -> list[str]:
        """As the table shows it."""
        cells = [self.label, str(self.dofs), str(self.bodies), str(self.depth)]
        for way in ("alone", "batch"):
            cells += [number(self.found.micro(f"{name} {way}")) for name in FUNCTIONS]
            ratio = self.found.ratio(f"second {way}", f"first {way}")
            cells.append(f"{ratio.median:.2f}x ({ratio.lower:.2f} to {ratio.upper:.2f})")
        return cells


def run(quick: bool, watch: Watch) -> Findings:
    """Load, check and time the robots."""
    labels = QUICK if quick else tuple(ROBOTS)
    watch.expect(len(labels))
    rows = []
    with one_core():
        for label in labels:
            rows.append(_measure(label, known(ROBOTS[label]).model, EFFORT[quick]))
            watch.step(label)
    header = ["robot", "dofs", "bodies", "depth"]
    header += ["torques", "first", "second", "packed", "second/first"] * 2
    title = (
        "Inverse dynamics, first derivatives, tensors of second ones (dense, packed), microseconds "
        f"a state, alone and in batches of up to {BATCH}; ratio of second (dense) to first ones"
    )
    return Findings(
        tables=[Table(title, header, [row.cells() for row in rows])],
        plots=[_plot(rows)],
        claims=_claims(rows),
        notes=["The paper's times are quoted from another machine, not measured here."],
        data={row.label: row.found.medians() for row in rows},
    )


def _measure(label: str, model: dtau.Model, effort: Effort) -> Row:
    """Check and time one robot."""
    at = random_inputs(model, ["inverse_dynamics"], BATCH)
    calls = {x: Call(name, model, at, options) for x, (name, options) in FUNCTIONS.items()}
    _check(label, {name: call.part(slice(2)) for name, call in calls.items()})
    contenders = {}
    for name, call in calls.items():
        contenders[f"{name} alone"] = call.alone(LONE_STATES, into=True)
        contenders[f"{name} batch"] = fitting(call, BATCH, BATCH_BYTES).batch()
    found = timed(contenders, effort, clock=thread_time)
    return Row(label, model.nv, model.nbodies, depth(model), found)


def _check(label: str, calls: dict[str, Call]) -> None:
    """Refuse to time what is wrong."""
    (tau,), first, second, packed = (call() for call in calls.values())
    model, (q, v, a) = calls["first"].model, calls["first"].arrays.values()
    sums = np.einsum("zij,zj->zi", dtau.mass_matrix(model, q), a) + dtau.bias_torque(model, q, v)
    require_close(tau, sums, EXACT, f"{label}: torques")
    require_differences(calls["torques"], first[:2], f"{label}: first derivatives and differences")
    require_differences(calls["first"], second, f"{label}: second derivatives and differences")
    require_packed(model, packed, second, label)


def _claims(rows: list[Row]) -> list[Claim]:
    claims = []
    for t in rows:
        if t.label == "HyQ":
            for name, words in (("second", "dense"), ("packed", "packed")):
                times = [t.found.micro(f"{name} {way}") for way in ("alone", "batch")]
                claims.append(
                    Claim(
                        f"HyQ, second derivatives, {words}: less time than the paper's C++",
                        f"{HYQ:g} us, another machine",
                        f"{number(times[0])} us one state, {number(times[1])} us in a batch",
                        times[0] < HYQ,
                    )
                )
    for size, unit in (("bodies", "N"), ("depth", "d")) if len(rows) > 1 else ():
        ordered = sorted(rows, key=lambda t: (getattr(t, size), t.dofs))
        ratios = [t.found.ratio("packed alone", "first alone").median for t in ordered]
        words = ", ".join(
            f"{t.label} ({unit} = {getattr(t, size)}) {r:.2f}x"
            for t, r in zip(ordered, ratios, strict=True)
        )
        rises = all(a < b for a, b in pairwise(ratios))
        larger = ratios[-1] > ratios[0] if len(rows) > FEW else None
        text = f"The ratio of second to first derivatives grows with {unit}, packed, one state"
        asked = f"larger for the largest {unit} than for the least"
        claims.append(Claim(text, asked, words, larger, "" if rises else NOT_EACH))
    return claims


def _plot(rows: list[Row]) -> Plot:
    x = list(range(len(rows)))
    curves = [
        Curve(
            f"{name}, {way}",
            x,
            [t.found.micro(f"{name} {way}") for t in rows],
            dashed=way == "batch",
        )
        for name in FUNCTIONS
        for way in ("alone", "batch")
    ]
    title = "Inverse dynamics (torques), first derivatives, tensors of second ones"
    ticks = [f"{t.label}, {t.dofs}" for t in rows]
    units = ("robot, degrees of freedom", "microseconds a state")
    return Plot("paper_001_robots", title, *units, curves, ticks=ticks)


EXPERIMENT = Experiment(
    "paper_001_robots", "Second derivatives on five robots", "[IDSVA-SO] figure 4", run
)
