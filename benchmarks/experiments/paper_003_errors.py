"""Validate the geometric linearization as the authors of [Bos] do, section 5.

    python -m benchmarks paper_003_errors

A hundred random cases of their 10-body tree (a free base; revolute, prismatic and helical joints
along x, y and z): placements, inertias, pitches and states are drawn anew for each, uniformly in
(0, 1). The four blocks of the state matrix that are derivatives of forward dynamics, by the base's
pose H, the joint positions s, the base's twist v and the joint rates r, are compared with geometric
finite differences (eqs 82 to 85), a step of delta along each direction of the tangent space:

    e = |D FD - finite difference| / average |D FD|          (eqs 86, 87)

The finite differences' own error is what is left: it falls with delta until rounding takes over,
which is the V of Figure 5. An error in the analytical derivatives would show as a floor that no
delta goes below, and as a result that is wrong: errors are to be no larger than the paper's.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import asdict, dataclass

import numpy as np

import dtau
from benchmarks.checks import Array, WrongResultError
from benchmarks.experiment import Claim, Curve, Experiment, Findings, Plot, Table, Watch

COUNT = 100  # cases
BLOCKS = ("pose H", "positions s", "twist v", "rates r")
DELTA = 1e-6
PAPER = {  # eqs 88 to 91, at delta = 1e-6: the largest and the average error
    "pose H": (4.1023e-5, 2.3560e-6),
    "positions s": (4.6853e-3, 1.3604e-4),
    "twist v": (1.8230e-5, 1.3021e-6),
    "rates r": (1.5693e-4, 1.3766e-6),
}
STUDY = tuple(float(f"{10.0**x:.1e}") for x in np.arange(-12, -1.9, 0.5))


@dataclass(frozen=True)
class Case:
    """A robot, its state, and the analytical derivatives there."""

    model: dtau.Model
    q: Array
    v: Array
    tau: Array
    derivatives: list[Array]  # by H, s, v, r: 15 rows

    @staticmethod
    def draw(rng: np.random.Generator) -> Case:
        """Draw a case: joint accelerations are given, the base's is what leaves it no wrench."""
        model = dtau.robots.moving_base_tree(rng)
        base = model.joint("base")
        turn = np.zeros(model.nv)
        turn[base.v][3:] = rng.uniform(size=3)  # a rotation vector
        q = dtau.integrate(model, dtau.neutral(model), turn)
        q[:3], q[7:] = rng.uniform(size=3), rng.uniform(size=model.nq - 7)
        v, a = rng.uniform(size=model.nv), rng.uniform(size=model.nv)
        a[:6] = 0.0
        wrench = dtau.inverse_dynamics(model, q, v, a)[:6]
        a[:6] = -np.linalg.solve(dtau.mass_matrix(model, q)[:6, :6], wrench)
        tau = dtau.inverse_dynamics(model, q, v, a)
        lower = dtau.linearize(model, q, v, tau).A[model.nv :]
        return Case(model, q, v, tau, np.split(lower, [6, model.nv, model.nv + 6], axis=1))

    def differences(self, delta: float) -> list[Array]:
        """The same four blocks by geometric finite differences."""
        steps = delta * np.eye(self.model.nv)
        here = dtau.forward_dynamics(self.model, self.q, self.v, self.tau)
        moved = dtau.integrate(self.model, self.q, steps)
        by_q = dtau.forward_dynamics(self.model, moved, self.v, self.tau) - here
        by_v = dtau.forward_dynamics(self.model, self.q, self.v + steps, self.tau) - here
        by_q, by_v = by_q.T / delta, by_v.T / delta
        return [by_q[:, :6], by_q[:, 6:], by_v[:, :6], by_v[:, 6:]]


@dataclass(frozen=True)
class Errors:
    """The largest and the average error of each block, in the order of `BLOCKS`."""

    largest: list[float]
    average: list[float]

    @staticmethod
    def of(cases: Sequence[Case], delta: float) -> Errors:
        """Errors of all cases at one delta, eqs 86 and 87."""
        largest, average = [], []
        differences = [case.differences(delta) for case in cases]
        for i in range(len(BLOCKS)):
            exact = np.array([case.derivatives[i] for case in cases])
            error = np.abs(exact - [rows[i] for rows in differences]) / np.abs(exact).mean()
            largest.append(float(error.max()))
            average.append(float(error.mean()))
        return Errors(largest, average)


def require_no_larger(errors: Errors) -> None:
    """Raise `WrongResultError` where an error is larger than the paper's."""
    for i, name in enumerate(BLOCKS):
        for ours, paper in zip((errors.largest[i], errors.average[i]), PAPER[name], strict=True):
            if not ours <= paper:
                raise WrongResultError(
                    f"derivatives by {name}: an error of {ours:.1e}, the paper's is {paper:.1e}"
                )


def findings(study: dict[float, Errors]) -> Findings:
    """The errors beside the paper's, and over delta."""
    at = study[DELTA]
    rows, claims = [], []
    for i, name in enumerate(BLOCKS):
        pairs = list(zip((at.largest[i], at.average[i]), PAPER[name], strict=True))
        rows.append([f"e{i + 1}", name, *(f"{x:.2e}" for pair in pairs for x in pair)])
        for kind, (ours, paper) in zip(("largest", "average"), pairs, strict=True):
            text = f"derivatives by {name} against finite differences, {kind} error"
            claims.append(Claim(text, f"at most {paper:.1e}", f"{ours:.1e}", ours <= paper))
    header = ["", "derivative by", "largest", "the paper's", "average", "the paper's"]
    title = f"{COUNT} random cases of the 10-body tree, delta = {DELTA:.0e}"
    over = [[f"{x:.1e}", *(f"{e:.1e}" for e in study[x].largest)] for x in study]
    tables = [
        Table(title, header, rows, left=2),
        Table("The largest error over delta", ["delta", *(f"by {x}" for x in BLOCKS)], over, 0),
    ]
    plots = []
    for kind in ("largest", "average"):
        curves = []
        for i, name in enumerate(BLOCKS):
            values = [getattr(errors, kind)[i] for errors in study.values()]
            curves.append(Curve(f"by {name}", list(study), values))
        plots.append(
            Plot(
                f"paper_003_{kind}",
                f"The {kind} error of the linearization's blocks, after Figure 5 of [Bos]",
                "step of the finite differences, delta",
                "|analytical - difference| / average",
                curves,
            )
        )
    data = {f"{delta:.1e}": asdict(errors) for delta, errors in study.items()}
    return Findings(tables, plots, claims, data=data)


def run(_: bool, watch: Watch) -> Findings:
    """Draw the cases, and compare them at all deltas; quick enough as it is."""
    rng = np.random.default_rng(0)
    watch.expect(COUNT + len(STUDY))
    cases = []
    for i in range(COUNT):
        cases.append(Case.draw(rng))
        watch.step(f"case {i + 1} of {COUNT}")
    study = {}
    for delta in STUDY:
        study[delta] = Errors.of(cases, delta)
        watch.step(f"delta = {delta:.1e}")
    require_no_larger(study[DELTA])
    return findings(study)


EXPERIMENT = Experiment(
    "paper_003_errors",
    "The geometric linearization against finite differences",
    "[Bos] section 5: errors e1 to e4 (equations 86 to 91), Figure 5",
    run,
)
