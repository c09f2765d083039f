"""crocoddyl with dtau's dynamics beside crocoddyl's own: a jump of ANYmal, and the Riccati sweep.

    python -m pip install crocoddyl==3.2.1 pin==4.0.0 libpinocchio==4.0.0 example-robot-data
    python -m benchmarks crocoddyl

A jump of 101 knots with costs of states and controls, and the jump of crocoddyl's own examples with
its friction cones, are solved by SolverFDDP: with crocoddyl's action models and with those of
`dtau.crocoddyl`. The iterates are compared before times are taken. A loop of one's own
(`jump_loop`) solves the first jump too. Then `dtau.lqr` is timed beside `SolverFDDP.backwardPass`,
on random linear-quadratic problems of the sizes of ANYmal and Talos. Everything runs on one thread.
crocoddyl asks for a version of Pinocchio of its own, so it has its own environment.
"""

from __future__ import annotations

import importlib
from dataclasses import dataclass
from functools import partial
from typing import Any

import numpy as np

import dtau
from benchmarks.checks import Array, UnavailableError, WrongResultError
from benchmarks.experiment import Claim, Experiment, Findings, Table, Watch
from benchmarks.experiments import jump_knots
from benchmarks.harness import Timings, at_least, at_most, number, one_core, timed, times, verdict
from benchmarks.optional import optional
from dtau.cli.timing import Contender, Effort, loop

crocoddyl = optional("crocoddyl")
adapter = crocoddyl and importlib.import_module("dtau.crocoddyl")

ITERATIONS = 100
SAME = 1e-6  # iterates, of the largest element
SOLVE_AT_MOST, LOOP_AT_MOST = 0.75, 0.35
SWEEP_AT_LEAST, SWEEPS_AT_LEAST = 2.0, 5.0
KNOTS = 100
SIZES = (("ANYmal", 36, 12, 64), ("Talos", 76, 32, 16))  # states, controls, problems of a batch
EFFORT = {False: Effort(rounds=15, block=0.0), True: Effort(rounds=3, block=0.0)}  # by quick


# The jumps


def solver(problem: Any) -> Any:
    """A solver of crocoddyl with a record of its costs."""
    made = crocoddyl.SolverFDDP(problem)
    made.setCallbacks([crocoddyl.CallbackLogger()])
    return made


def solved(theirs: Any, ours: Any, xs: Any, us: Any, label: str) -> int:
    """Solve both problems once; how many iterations the same iterates took."""
    solvers = [solver(problem) for problem in (theirs, ours)]
    for one in solvers:
        one.solve(xs, us, ITERATIONS, False)
    costs = [np.array(one.getCallbacks()[0].costs) for one in solvers]
    paths = [np.array([*one.xs]) for one in solvers]
    same = costs[0].shape == costs[1].shape and all(
        np.abs(b - a).max() <= SAME * np.abs(a).max() for a, b in (costs, paths)
    )
    if not same:
        raise WrongResultError(f"{label}: the iterates are not crocoddyl's")
    return len(costs[0])


@dataclass(frozen=True)
class Solve:
    """Milliseconds a solve."""

    label: str
    knots: int
    iterations: int
    found: Timings
    limits: dict[str, float]  # of the ratio to crocoddyl's, by the name of a contender

    def rows(self) -> list[list[str]]:
        """As the table shows it: crocoddyl itself, then each contender."""
        head = [self.label, str(self.knots), str(self.iterations)]
        rows = [[*head, "crocoddyl", number(self.found.micro("crocoddyl") / 1e3), "", "", "", ""]]
        for name, most in self.limits.items():
            ratio = self.found.ratio(name, "crocoddyl")
            met = verdict(ratio.median <= most)
            time = number(self.found.micro(name) / 1e3)
            rows.append([*head, name, time, *times(ratio), f"{most:g}", met])
        return rows


def jump(effort: Effort, watch: Watch) -> Solve:
    """The jump with costs of states and controls."""
    from benchmarks.experiments import jump_loop

    task = jump_knots.Jump()
    theirs = task.problem()
    ours = adapter.shooting_problem(task.model, theirs)
    xs = [*task.references]
    us = [*theirs.quasiStatic([task.start] * theirs.T)]
    label = "states and controls"
    iterations = solved(theirs, ours, xs, us, label)
    own = jump_loop.Loop(task)
    guess = np.array([u if u.size else np.zeros(12) for u in us])
    q, v = own.goal_q, own.goal_v
    best = jump_loop.solve(own, q, v, guess)
    reference = crocoddyl.SolverFDDP(theirs)
    reference.solve(xs, us, ITERATIONS, False)
    if abs(best.cost - reference.cost) > SAME * reference.cost:
        raise WrongResultError(f"the loop's cost is {best.cost}, crocoddyl's {reference.cost}")
    contenders = {
        name: Contender(
            loop("solver.solve(xs, us, limit, False)", solver=s, xs=xs, us=us, limit=ITERATIONS), 1
        )
        for name, s in (
            ("crocoddyl", crocoddyl.SolverFDDP(theirs)),
            ("dtau.crocoddyl", crocoddyl.SolverFDDP(ours)),
        )
    }
    run = partial(jump_loop.solve, own, q, v, guess)
    contenders["own loop"] = Contender(loop("f()", f=run), 1)
    found = timed(contenders, effort, partial(watch.step, label))
    limits = {"dtau.crocoddyl": SOLVE_AT_MOST, "own loop": LOOP_AT_MOST}
    return Solve(label, theirs.T, iterations, found, limits)


def gait(effort: Effort, watch: Watch) -> Solve:
    """The jump of crocoddyl's own examples: centers of mass, feet, friction cones and bounds."""
    model, theirs, start = jump_knots.gait()
    ours = adapter.shooting_problem(model, theirs)
    xs, us = [start] * (theirs.T + 1), [*theirs.quasiStatic([start] * theirs.T)]
    label = "crocoddyl's example, friction cones"
    iterations = solved(theirs, ours, xs, us, label)
    contenders = {
        name: Contender(
            loop("solver.solve(xs, us, limit, False)", solver=s, xs=xs, us=us, limit=ITERATIONS), 1
        )
        for name, s in (
            ("crocoddyl", crocoddyl.SolverFDDP(theirs)),
            ("dtau.crocoddyl", crocoddyl.SolverFDDP(ours)),
        )
    }
    found = timed(contenders, effort, partial(watch.step, label))
    return Solve(label, theirs.T, iterations, found, {"dtau.crocoddyl": 1.0})


# The Riccati sweep


@dataclass(frozen=True)
class Sweep:
    """Microseconds a knot."""

    robot: str
    nx: int
    nu: int
    problems: int
    found: Timings
    at_least: float

    def cells(self) -> list[str]:
        """As the table shows it."""
        ratio = self.found.ratio("crocoddyl", "dtau")
        micro = [number(self.found.micro(name)) for name in ("crocoddyl", "dtau")]
        met = verdict(ratio.median >= self.at_least)
        sizes = [str(x) for x in (self.nx, self.nu, self.problems)]
        return [self.robot, *sizes, *micro, *times(ratio), f"{self.at_least:g}", met]


def random_problems(nx: int, nu: int, count: int) -> dict[str, Array]:
    """Linear-quadratic problems near the identity, with all terms."""
    rng = np.random.default_rng(0)

    def positive(n: int) -> Array:
        x = rng.normal(size=(count, KNOTS, n, n))
        return np.eye(n) + x @ np.swapaxes(x, -1, -2) / n

    size = (count, KNOTS)
    near = 0.02 * rng.normal(size=(*size, nx, nx)) / np.sqrt(nx)
    return {
        "A": np.eye(nx) + near,
        "B": 0.1 * rng.normal(size=(*size, nx, nu)),
        "Q": positive(nx),
        "R": positive(nu),
        "S": 0.01 * rng.normal(size=(*size, nu, nx)),
        "c": 0.1 * rng.normal(size=(*size, nx)),
        "q": rng.normal(size=(*size, nx)),
        "r": rng.normal(size=(*size, nu)),
    }


def their_solvers(x: dict[str, Array]) -> list[Any]:
    """Solvers of crocoddyl for the same problems, ready for the backward pass."""
    solvers = []
    for j in range(len(x["A"])):
        stages = [
            crocoddyl.ActionModelLQR(*(np.asfortranarray(x[name][j, k]) for name in "ABQR"), *more)
            for k in range(KNOTS)
            for more in [(x["S"][j, k].T.copy(), x["c"][j, k], x["q"][j, k], x["r"][j, k])]
        ]
        last = [np.asfortranarray(x[name][j, 0]) for name in "ABQR"]
        rest = (x["S"][j, 0].T.copy(), 0.0 * x["c"][j, 0], x["q"][j, 0], x["r"][j, 0])
        terminal = crocoddyl.ActionModelLQR(*last, *rest)
        nx, nu = x["B"].shape[-2:]
        problem = crocoddyl.ShootingProblem(np.zeros(nx), stages, terminal)
        problem.nthreads = 1
        made = crocoddyl.SolverFDDP(problem)
        made.setCandidate([np.zeros(nx)] * (KNOTS + 1), [np.zeros(nu)] * KNOTS, False)
        made.computeDirection(True)
        solvers.append(made)
    return solvers


def sweep(
    robot: str, nx: int, nu: int, count: int, least: float, effort: Effort, watch: Watch
) -> Sweep:
    """Time the backward passes of problems, one after the other there and in a batch here."""
    x = random_problems(nx, nu, count)
    solvers = their_solvers(x)
    weights: dict[str, Any] = {name: x[name] for name in "Scqr"}
    first = (x["A"], x["B"], x["Q"], x["R"], x["Q"][:, 0])
    ours = partial(dtau.lqr, *first, **weights, q_final=x["q"][:, 0], threads=1)
    plan = ours()
    gains = np.array(solvers[-1].K.tolist())
    if np.abs(gains - plan.gains[-1]).max() > 1e-8 * np.abs(gains).max():
        raise WrongResultError(f"{robot}: the gains are not crocoddyl's")
    states = count * KNOTS
    theirs = loop("for one in solvers: one.backwardPass()", solvers=solvers)
    contenders = {
        "crocoddyl": Contender(theirs, states),
        "dtau": Contender(loop("f()", f=ours), states),
    }
    found = timed(contenders, effort, partial(watch.step, robot))
    return Sweep(robot, nx, nu, count, found, least)


# Report


def claims(jumps: list[Solve], sweeps: list[Sweep]) -> list[Claim]:
    """What the jump and the sweep may take."""
    found = []
    for one in jumps:
        for name, most in one.limits.items():
            ratio = one.found.ratio(name, "crocoddyl").median
            found.append(at_most(f"a jump of ANYmal ({one.label}), {name}", most, [ratio]))
    for count, least in (("one problem", SWEEP_AT_LEAST), ("a batch", SWEEPS_AT_LEAST)):
        ratios = [
            x.found.ratio("crocoddyl", "dtau").median
            for x in sweeps
            if (x.problems > 1) == (count == "a batch")
        ]
        found.append(at_least(f"dtau.lqr beside the backward pass, {count}", least, ratios))
    return found


def run(quick: bool, watch: Watch) -> Findings:
    """Measure, where crocoddyl is installed."""
    if crocoddyl is None or jump_knots.data is None:
        raise UnavailableError(
            "crocoddyl is not installed: python -m pip install crocoddyl==3.2.1 pin==4.0.0 "
            "libpinocchio==4.0.0 example-robot-data, in an environment of its own"
        )
    effort = EFFORT[quick]
    watch.expect(effort.rounds * (2 + 2 * len(SIZES)))
    with one_core():
        jumps = [jump(effort, watch), gait(effort, watch)]
        sweeps = [
            sweep(robot, nx, nu, count, least, effort, watch)
            for robot, nx, nu, many in SIZES
            for count, least in ((1, SWEEP_AT_LEAST), (4 if quick else many, SWEEPS_AT_LEAST))
        ]
    header = ["costs", "knots", "iterations", "by", "ms", "ratio", "quartiles", "at most", ""]
    solves = Table(
        "A jump of ANYmal by SolverFDDP, milliseconds a solve; ratios to crocoddyl's time",
        header,
        [row for one in jumps for row in one.rows()],
        left=1,
    )
    header = ["size of", "nx", "nu", "problems", "crocoddyl", "dtau", "ratio", "quartiles"]
    header += ["at least", ""]
    riccati = Table(
        f"Backward pass and dtau.lqr, {KNOTS} knots, microseconds a knot, one thread",
        header,
        [one.cells() for one in sweeps],
    )
    data = {
        "jumps": {one.label: one.found.medians() for one in jumps},
        "sweeps": {f"{x.robot}, {x.problems}": x.found.medians() for x in sweeps},
    }
    return Findings([solves, riccati], [], claims(jumps, sweeps), [], data)


EXPERIMENT = Experiment(
    "crocoddyl",
    "A jump of ANYmal in crocoddyl, with its action models and with dtau's",
    "crocoddyl 3.2.1 and dtau.crocoddyl; SolverFDDP.backwardPass and dtau.lqr",
    run,
)
