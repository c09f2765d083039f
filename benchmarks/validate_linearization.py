"""Validate the geometric linearization as the authors of [Bos] do, section 5.

A hundred random cases of their 10-body tree (a free base; revolute, prismatic and helical joints
along x, y and z): placements, inertias, pitches and states are drawn anew for each, uniformly in
(0, 1). The four blocks of the state matrix that are derivatives of forward dynamics, by the base's
pose H, the joint positions s, the base's twist v and the joint rates r, are compared with geometric
finite differences (eqs 82 to 85), a step of delta along each direction of the tangent space:

    e = |D FD - finite difference| / average |D FD|          (eqs 86, 87)

The finite differences' own error is what is left: it falls with delta until rounding takes over,
which is the V that --plot draws (Figure 5). An error in the analytical derivatives would show as a
floor that no delta goes below. Exit status 1 says that an error is larger than the paper's.

    python benchmarks/validate_linearization.py                  # a few seconds
    python benchmarks/validate_linearization.py --seed 1         # another hundred cases
    python benchmarks/validate_linearization.py --plot v.png     # and the figure (matplotlib)
"""

from __future__ import annotations

import argparse
from collections.abc import Sequence
from dataclasses import dataclass
from pathlib import Path

import numpy as np
from chart import require_matplotlib
from harness import Progress, table
from numpy.typing import NDArray

import dtau

Array = NDArray[np.float64]

BLOCKS = ("pose H", "positions s", "twist v", "rates r")
DELTA = 1e-6
PAPER = {  # eqs 88 to 91, at delta = 1e-6: the largest and the average error
    "pose H": (4.1023e-5, 2.3560e-6),
    "positions s": (4.6853e-3, 1.3604e-4),
    "twist v": (1.8230e-5, 1.3021e-6),
    "rates r": (1.5693e-4, 1.3766e-6),
}
STUDY = tuple(10.0 ** np.arange(-12, -1.9, 0.5))


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


def report(errors: Errors, delta: float, count: int) -> bool:
    """Print the errors beside the paper's; return whether none is larger."""
    rows, good = [], True
    for i, name in enumerate(BLOCKS):
        row = [f"e{i + 1}", name]
        for ours, paper in zip((errors.largest[i], errors.average[i]), PAPER[name], strict=True):
            good = good and ours <= paper
            row += [f"{ours:.2e}", f"{paper:.2e}", "ok" if ours <= paper else "LARGER"]
        rows.append(row)
    header = ["", "derivative by", "largest", "paper's", "", "average", "paper's", ""]
    table(f"{count} random cases of the 10-body tree, delta = {delta:.0e}", header, rows, left=2)
    return good


def plot(study: dict[float, Errors], path: Path) -> None:
    """Draw the errors over delta, after Figure 5 of the paper."""
    import matplotlib.pyplot as plt

    figure, panels = plt.subplots(1, 2, figsize=(11, 4.5), sharey=True, layout="constrained")
    for axes, kind in zip(panels, ("largest", "average"), strict=True):
        for i, name in enumerate(BLOCKS):
            colour = f"C{i}"
            values = [getattr(errors, kind)[i] for errors in study.values()]
            axes.loglog(list(study), values, "o-", markersize=3, color=colour, label=f"by {name}")
            paper = PAPER[name][kind == "average"]
            axes.plot(DELTA, paper, "x", markersize=8, markeredgewidth=2, color=colour)
        axes.set_title(f"{kind} error", loc="left")
        axes.set_xlabel("step of the finite differences, delta")
        axes.grid(alpha=0.3)
        axes.spines[["top", "right"]].set_visible(False)
    panels[0].set_ylabel("|analytical - finite difference| / average")
    panels[0].plot([], [], "x", color="black", label="the paper's, at 1e-6")
    panels[0].legend(frameon=False)
    figure.savefig(path, dpi=110)
    plt.close(figure)


def arguments() -> argparse.Namespace:
    """The command line."""
    parser = argparse.ArgumentParser(
        description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter
    )
    parser.add_argument("--cases", type=int, default=100, metavar="N", help="default: 100")
    parser.add_argument("--seed", type=int, default=0, metavar="N", help="which cases (default: 0)")
    parser.add_argument("--plot", type=Path, metavar="FILE", help="draw the errors over delta")
    args = parser.parse_args()
    for name, least in (("cases", 1), ("seed", 0)):
        if getattr(args, name) < least:
            parser.error(f"--{name}: expected at least {least}, got {getattr(args, name)}")
    return args


def main() -> None:
    args = arguments()
    if args.plot:
        require_matplotlib()
    rng = np.random.default_rng(args.seed)
    progress = Progress(args.cases + len(STUDY))
    cases = []
    for i in range(args.cases):
        progress.label = f"case {i + 1} of {args.cases}"
        cases.append(Case.draw(rng))
        progress.step()
    study = {}
    for delta in STUDY:
        progress.label = f"delta = {delta:.1e}"
        study[delta] = Errors.of(cases, delta)
        progress.step()
    progress.clear()

    good = report(Errors.of(cases, DELTA), DELTA, args.cases)
    rows = [[f"{delta:.1e}", *(f"{e:.1e}" for e in study[delta].largest)] for delta in STUDY]
    header = ["delta", *(f"by {name}" for name in BLOCKS)]
    table("The largest error over delta", header, rows, left=0)
    if args.plot:
        plot(study, args.plot)
        print(f"\nwritten: {args.plot}")
    raise SystemExit(0 if good else 1)


if __name__ == "__main__":
    main()
