"""[IDSVA-SO] figure 4: inverse dynamics and its first and second derivatives on five robots.

The paper's robots of example-robot-data: UR3 and Baxter on a fixed base, HyQ and Talos on a free
one. ATLAS is not among them; G1 is the humanoid nearest to it (35 degrees of freedom, ATLAS 36).

Checked before anything is timed: torques by M a + bias, first derivatives by central differences of
torques and second ones by those of first, each along one direction; packed tensors by dense ones.
"""

from __future__ import annotations

import importlib.metadata
import warnings
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import numpy as np

import dtau
from benchmarks.calls import alone, batch, together
from benchmarks.experiment import (
    Array,
    Claim,
    Curve,
    Experiment,
    Findings,
    Plot,
    Table,
    UnavailableError,
    Watch,
    require_close,
)
from benchmarks.experiments.second_contenders import depth
from benchmarks.harness import Effort, Spread, interleaved, number, one_core
from dtau.options import Root

ROBOTS: dict[str, tuple[str, Root]] = {
    "UR3": ("ur_description/urdf/ur3_robot.urdf", "fixed"),
    "Baxter": ("baxter_description/urdf/baxter.urdf", "fixed"),
    "HyQ": ("hyq_description/robots/hyq_no_sensors.urdf", "free"),
    "G1 (for ATLAS)": ("g1_description/urdf/g1_29dof_rev_1_0.urdf", "free"),
    "Talos": ("talos_data/robots/talos_full_v2.urdf", "free"),
}
QUICK = ("UR3", "HyQ")
FUNCTIONS: dict[str, tuple[Any, dict[str, Any]]] = {
    "torques": (dtau.inverse_dynamics, {}),
    "first": (dtau.inverse_dynamics_derivatives, {}),
    "second": (dtau.inverse_dynamics_second_derivatives, {}),
    "packed": (dtau.inverse_dynamics_second_derivatives, {"packed": True}),
}
HYQ = 51.0  # us: the paper's second derivatives, in Pinocchio's framework on an Intel i5-12400
BATCH = 256
BATCH_BYTES = 2**26  # of the results of a batch, at most
LONE_STATES = 16
EFFORT = {False: Effort(rounds=21, block=4e-3), True: Effort(rounds=5, block=1e-3)}  # by quick
EXACT, STEP, DIFFERENCES = 1e-12, 1e-5, 1e-6


@dataclass(frozen=True)
class Timed:
    """Seconds a state on one robot, a number a round, by function and way."""

    label: str
    dofs: int
    depth: int
    seconds: dict[str, Array]

    def micro(self, name: str) -> float:
        """Microseconds a state."""
        return 1e6 * float(np.median(self.seconds[name]))

    def ratio(self, name: str, by: str) -> Spread:
        """How many times as long."""
        return Spread.of(self.seconds[name] / self.seconds[by])

    def cells(self) -> list[str]:
        """As the table shows it."""
        cells = [self.label, str(self.dofs), str(self.depth)]
        for way in ("alone", "batch"):
            cells += [number(self.micro(f"{name} {way}")) for name in FUNCTIONS]
            ratio = self.ratio(f"second {way}", f"first {way}")
            cells.append(f"{ratio.median:.2f}x ({ratio.lower:.2f} to {ratio.upper:.2f})")
        return cells


def run(quick: bool, watch: Watch) -> Findings:
    """Load, check and time the robots."""
    labels = QUICK if quick else tuple(ROBOTS)
    watch.expect(len(labels))
    timed = []
    with one_core():
        for label in labels:
            timed.append(_measure(label, _path(ROBOTS[label][0]), EFFORT[quick]))
            watch.step(label)
    header = ["robot", "dofs", "depth"]
    header += ["torques", "first", "second", "packed", "second/first"] * 2
    title = (
        "Inverse dynamics, first derivatives, tensors of second ones (dense, packed), microseconds "
        f"a state, alone and in batches of up to {BATCH}; ratio of second (dense) to first ones"
    )
    return Findings(
        tables=[Table(title, header, [t.cells() for t in timed])],
        plots=[_plot(timed)],
        claims=_claims(timed),
        notes=["The paper's times are quoted from another machine, not measured here."],
        data={t.label: {name: t.micro(name) for name in t.seconds} for t in timed},
    )


def _path(file: str) -> Path:
    """Where a file of example-robot-data is."""
    try:
        listed = importlib.metadata.files("example-robot-data") or []
    except importlib.metadata.PackageNotFoundError:
        listed = []
    for path in listed:
        if str(path).replace("\\", "/").endswith(file):
            return Path(str(path.locate()))
    raise UnavailableError(f"there is no {file}: python -m pip install example-robot-data")


def _measure(label: str, path: Path, effort: Effort) -> Timed:
    """Check and time one robot."""
    with warnings.catch_warnings():
        warnings.simplefilter("ignore", dtau.ModelWarning)
        model = dtau.load(path, root=ROBOTS[label][1])
    states = dtau.random_state(model, np.random.default_rng(0), shape=(BATCH,))
    _check(label, model, tuple(x[:2] for x in states))
    contenders = {}
    for name, (f, options) in FUNCTIONS.items():
        one = together(f(model, *(x[0] for x in states), **options))
        size = sum(result.nbytes for result in one)
        out = one if len(one) > 1 else one[0]
        few = tuple(x[: max(1, BATCH_BYTES // size)] for x in states)
        contenders[f"{name} alone"] = alone(f, model, states, LONE_STATES, **options, out=out)
        contenders[f"{name} batch"] = batch(f, model, few, **options)
    seconds = interleaved(contenders, effort, lambda: None)
    return Timed(label, model.nv, depth(model), seconds)


def _check(label: str, model: dtau.Model, states: tuple[Array, ...]) -> None:
    """Refuse to time what is wrong."""
    q, v, a = states
    tau, first, second, packed = (
        together(f(model, q, v, a, **options)) for f, options in FUNCTIONS.values()
    )
    sums = np.einsum("zij,zj->zi", dtau.mass_matrix(model, q), a) + dtau.bias_torque(model, q, v)
    require_close(tau[0], sums, EXACT, f"{label}: torques")
    along = np.random.default_rng(1).uniform(-1.0, 1.0, model.nv)

    def difference(f: Any, by: str) -> list[Array]:
        """Central differences of results by q or v along the direction."""
        sides = []
        for step in (STEP * along, -STEP * along):
            moved = dtau.integrate(model, q, step) if by == "q" else q
            sides.append(together(f(model, moved, v + step if by == "v" else v, a)))
        return [(x - y) / (2.0 * STEP) for x, y in zip(*sides, strict=True)]

    torques, firsts = FUNCTIONS["torques"][0], FUNCTIONS["first"][0]
    by_q, by_v = difference(firsts, "q"), difference(firsts, "v")
    for what, got, want in (
        ("dtau/dq", first[0], difference(torques, "q")[0]),
        ("dtau/dv", first[1], difference(torques, "v")[0]),
        ("d2tau/dqdq", second[0], by_q[0]),
        ("d2tau/dqdv", second[1], by_v[0]),
        ("d2tau/dvdv", second[2], by_v[1]),
        ("dM/dq", second[3], by_q[2]),
    ):
        require_close(
            got @ along, want, DIFFERENCES, f"{label}: {what} and differences", floor=1e-3
        )
    i, j, k = dtau.packed_indices(model)
    for x, y in zip(packed, second, strict=True):
        scattered = np.zeros_like(y)
        scattered[:, i, j, k] = x
        require_close(scattered, y, 0.0, f"{label}: packed tensors")


def _claims(timed: list[Timed]) -> list[Claim]:
    claims = []
    for t in timed:
        if t.label == "HyQ":
            for name, words in (("second", "dense"), ("packed", "packed")):
                times = [t.micro(f"{name} {way}") for way in ("alone", "batch")]
                claims.append(
                    Claim(
                        f"HyQ, second derivatives, {words}: less time than the paper's C++",
                        f"{HYQ:g} us, another machine",
                        f"{number(times[0])} us one state, {number(times[1])} us in a batch",
                        times[0] < HYQ,
                    )
                )
    if len(timed) > 1:
        by_depth = sorted(timed, key=lambda t: t.depth)
        ratios = [t.ratio("packed alone", "first alone").median for t in by_depth]
        words = ", ".join(
            f"{t.label} (d = {t.depth}) {r:.2f}x" for t, r in zip(by_depth, ratios, strict=True)
        )
        text = "The ratio of second to first derivatives grows with the depth d, packed, one state"
        asked = "larger on the deepest robot than on the shallowest"
        claims.append(Claim(text, asked, words, ratios[-1] > ratios[0]))
    return claims


def _plot(timed: list[Timed]) -> Plot:
    x = list(range(len(timed)))
    curves = [
        Curve(f"{name}, {way}", x, [t.micro(f"{name} {way}") for t in timed], dashed=way == "batch")
        for name in FUNCTIONS
        for way in ("alone", "batch")
    ]
    title = "Inverse dynamics (torques), first derivatives, tensors of second ones"
    ticks = [f"{t.label}, {t.dofs}" for t in timed]
    units = ("robot, degrees of freedom", "microseconds a state")
    return Plot("paper_001_robots", title, *units, curves, ticks=ticks)


EXPERIMENT = Experiment(
    "paper_001_robots", "Second derivatives on five robots", "[IDSVA-SO] figure 4", run
)
