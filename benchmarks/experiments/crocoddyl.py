"""crocoddyl with dtau's dynamics beside crocoddyl's own: jumps, trots, and the Riccati sweep.

    python -m pip install crocoddyl==3.2.1 pin==4.0.0 libpinocchio==4.0.0 example-robot-data
    python -m benchmarks crocoddyl

SolverFDDP solves a jump of ANYmal of 101 knots with costs of states and controls, the jump of
crocoddyl's own examples with its friction cones, and trots of Solo12 and Go1 (`trot_knots`), with
crocoddyl's action models and with those of `dtau.crocoddyl`. The iterates are compared before times
are taken. A loop of one's own (`jump_loop`) solves the first jump too. Then `dtau.lqr` is timed
beside `SolverFDDP.backwardPass`, on random linear-quadratic problems of the sizes of ANYmal and
Talos. Everything runs on one thread. crocoddyl asks for a version of Pinocchio of its own, so it
has its own environment.
"""

from __future__ import annotations

import importlib
from collections.abc import Callable, Iterator
from functools import partial
from typing import Any

import numpy as np

import dtau
from benchmarks import declare
from benchmarks.calls import peaks
from benchmarks.checks import Array, UnavailableError, WrongResultError
from benchmarks.declare import Asked, Bench, Layout, Row, at_least, at_most, efforts, ratio
from benchmarks.experiments import jump_knots, trot_knots
from benchmarks.optional import optional
from dtau.cli.timing import Contender, loop

crocoddyl = optional("crocoddyl")
adapter = crocoddyl and importlib.import_module("dtau.crocoddyl")

ITERATIONS = 100
SAME = 1e-6  # iterates, of the largest element
JUMP = {"dtau.crocoddyl": 0.75, "own loop": 0.35}  # at most, of crocoddyl's time
GAIT, TROT = {"dtau.crocoddyl": 1.0}, {"dtau.crocoddyl": 0.83}
CONVERGED = 1e-6  # of crocoddyl's criterion; below, trots take steps of rounding errors
SWEEP_AT_LEAST = {"one problem": 2.0, "a batch": 5.0}
KNOTS = 100
SIZES = (("ANYmal", 36, 12, 64), ("Talos", 76, 32, 16))  # states, controls, problems of a batch


# Jumps and trots


def solver(problem: Any) -> Any:
    """A solver of crocoddyl."""
    made = crocoddyl.SolverFDDP(problem)
    made.th_stop = CONVERGED
    return made


def solved(theirs: Any, ours: Any, xs: Any, us: Any, label: str) -> int:
    """Solve both problems once; how many iterations the same iterates took."""
    solvers = [solver(problem) for problem in (theirs, ours)]
    for one in solvers:
        one.setCallbacks([crocoddyl.CallbackLogger()])
        one.solve(xs, us, ITERATIONS, False)
    costs = [np.array(one.getCallbacks()[0].costs) for one in solvers]
    paths = [np.array([*one.xs]) for one in solvers]
    same = costs[0].shape == costs[1].shape and all(
        np.abs(b - a).max() <= SAME * np.abs(a).max() for a, b in (costs, paths)
    )
    if not same:
        raise WrongResultError(f"{label}: the iterates are not crocoddyl's")
    return len(costs[0])


def solves(theirs: Any, ours: Any, xs: Any, us: Any) -> dict[str, Contender]:
    """Solves of both problems."""
    statement = "solver.solve(xs, us, limit, False)"
    names = {"xs": xs, "us": us, "limit": ITERATIONS}
    solvers = {"crocoddyl": theirs, "dtau.crocoddyl": ours}
    return {
        name: Contender(loop(statement, solver=solver(problem), **names), 1)
        for name, problem in solvers.items()
    }


def jump() -> tuple[int, int, dict[str, Contender]]:
    """The jump with costs of states and controls: knots, iterations, contenders."""
    from benchmarks.experiments import jump_loop

    task = jump_knots.Jump()
    theirs = task.problem()
    ours = adapter.shooting_problem(task.model, theirs)
    xs = [*task.references]
    us = [*theirs.quasiStatic([task.start] * theirs.T)]
    iterations = solved(theirs, ours, xs, us, "ANYmal's jump, states and controls")
    own = jump_loop.Loop(task)
    guess = np.array([u if u.size else np.zeros(12) for u in us])
    run = partial(jump_loop.solve, own, own.goal_q, own.goal_v, guess)
    best, reference = run(), crocoddyl.SolverFDDP(theirs)
    reference.solve(xs, us, ITERATIONS, False)
    if abs(best.cost - reference.cost) > SAME * reference.cost:
        raise WrongResultError(f"the loop's cost is {best.cost}, crocoddyl's {reference.cost}")
    contenders = solves(theirs, ours, xs, us)
    return theirs.T, iterations, contenders | {"own loop": Contender(loop("f()", f=run), 1)}


def whole(label: str, task: Callable[[], Any]) -> tuple[int, int, dict[str, Contender]]:
    """A problem of crocoddyl's with costs of all kinds, converted by `shooting_problem`."""
    model, theirs, start = task()
    ours = adapter.shooting_problem(model, theirs)
    xs, us = [start] * (theirs.T + 1), [*theirs.quasiStatic([start] * theirs.T)]
    iterations = solved(theirs, ours, xs, us, label)
    return theirs.T, iterations, solves(theirs, ours, xs, us)


MOTIONS = {
    "ANYmal's jump, states and controls": (jump, JUMP),
    "ANYmal's jump, crocoddyl's example with friction cones": (jump_knots.gait, GAIT),
    **{f"trot of {x}": (partial(trot_knots.trot, x), TROT) for x in trot_knots.ROBOTS},
}


def motion_rows(bench: Bench, label: str) -> Iterator[Row]:
    """Milliseconds a solve: crocoddyl itself, then the others."""
    make, limits = MOTIONS[label]
    knots, iterations, contenders = jump() if make is jump else whole(label, make)
    found = bench.timed(contenders)
    for name in contenders:
        row = {"motion": label, "knots": knots, "iterations": iterations, "by": name}
        row |= {"ms": 1e-3 * found.micro(name), "most": limits.get(name)}
        yield row | ({"ratio": found.ratio(name, "crocoddyl")} if name in limits else {})


# The Riccati sweep


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


def multiply_adds(nx: int, nu: int) -> float:
    """Multiply-adds of a knot: P F, the upper halves of F' P F and of H_ux' K, and H_uu."""
    n = nx + nu
    return nx * nx * n + 0.5 * nx * n * n + 0.5 * nu * nx * nx + nu * nu * (nx + nu / 6)


def sweep(bench: Bench, robot: str, nx: int, nu: int, count: int) -> Row:
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
    theirs = loop("for one in solvers: one.backwardPass()", solvers=solvers)
    contenders = {"crocoddyl": theirs, "dtau": loop("f()", f=ours)}  # microseconds a knot
    found = bench.timed({x: Contender(run, count * KNOTS) for x, run in contenders.items()})
    how = "a batch" if count > 1 else "one problem"
    row = {"size of": robot, "nx": nx, "nu": nu, "problems": count, "how": how}
    share = multiply_adds(nx, nu) / (1e-6 * found.micro("dtau") * peaks()["batch"])
    row |= {"least": SWEEP_AT_LEAST[how], "of the peak": f"{share:.0%}"} | found.medians()
    return row | {"ratio": found.ratio("crocoddyl", "dtau")}


# The experiment


def subjects(bench: Bench) -> list[tuple[Any, ...]]:
    if crocoddyl is None or jump_knots.data is None:
        raise UnavailableError(
            "crocoddyl is not installed: python -m pip install crocoddyl==3.2.1 pin==4.0.0 "
            "libpinocchio==4.0.0 example-robot-data, in an environment of its own"
        )
    sizes = [(*x, n) for *x, many in SIZES for n in (1, 4 if bench.quick else many)]
    return [(label,) for label in MOTIONS] + sizes


def measure(bench: Bench, label: str, *size: int) -> Iterator[Row]:
    yield from [sweep(bench, label, *size)] if size else motion_rows(bench, label)


EXPERIMENT = declare.experiment(
    "crocoddyl",
    "Jumps and trots in crocoddyl, with its action models and with dtau's",
    "crocoddyl 3.2.1 and dtau.crocoddyl; SolverFDDP.backwardPass and dtau.lqr",
    subjects,
    measure,
    effort=efforts((15, 3), (0.0, 0.0)),
    tables=[
        lambda rows: Layout(
            "Jumps and trots by SolverFDDP, milliseconds a solve; ratios to crocoddyl's time",
            ["motion", "knots", "iterations", "by", "ms", ratio(), at_most("most")],
        ).tables([row for row in rows if "motion" in row]),
        Layout(
            f"Backward pass and dtau.lqr, {KNOTS} knots, microseconds a knot, one thread, and the "
            "share of the core's peak of multiply-adds that dtau reaches",
            [
                *("size of", "nx", "nu", "problems", "crocoddyl", "dtau", "of the peak"),
                *(ratio(), at_least("least")),
            ],
            where={"motion": None},
        ),
    ],
    claims=[
        *(
            Asked(f"{label}, {name}", most=most, where={"motion": label, "by": name})
            for label, (_, limits) in MOTIONS.items()
            for name, most in limits.items()
        ),
        *(
            Asked(f"dtau.lqr beside the backward pass, {how}", least=least, where={"how": how})
            for how, least in SWEEP_AT_LEAST.items()
        ),
    ],
)
