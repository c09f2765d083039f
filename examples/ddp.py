"""iLQR against exact DDP: what second derivatives of dynamics are good for.

Both improve a row of inputs u by the same steps: simulate, expand costs and dynamics about the
trajectory, solve the quadratic problem by a backward sweep for u + k + K (x - x_old), search along
k. iLQR drops the second derivatives of the dynamics; exact DDP keeps them. Near a solution, iLQR's
gradient shrinks by about the same factor every iteration, exact DDP's digits double.

Each iteration takes three calls for all steps together:

    dtau.linearize_discrete(model, q, v, tau, h, "semi_implicit", inputs=B)      first derivatives
    dtau.step_hessian(model, q, v, tau, h, lam_q, lam_v, "semi_implicit", inputs=B)   exact DDP only
    dtau.lqr(A, B, Q, R, Q_final, ...)                                           the backward sweep

The weights lam are the costates of the trajectory, which one sweep with first derivatives gives.
(Textbooks' DDP takes the gradients of the value function from inside the backward sweep; with
costates it is Newton's method on the inputs. Both converge quadratically.)

Nothing is dropped: for a free base the cost's difference(goal, q) has second derivatives too,
`dtau.poses.log_jacobian_derivative`. Far from a solution the exact quadratic problem may have no
minimum. That iteration then leaves out the second derivatives of the dynamics, as iLQR does.

    python examples/ddp.py                  # an arm that swings up, and a quadruped in free fall
    python examples/ddp.py --robot arm      # one of them
    python examples/ddp.py --plot ddp.png   # cost over iterations and over time (matplotlib)
"""

from __future__ import annotations

from collections.abc import Callable, Iterable, Sequence
from dataclasses import dataclass
from time import perf_counter

import ddp_convergence as convergence
import ddp_tasks as tasks
import numpy as np
import program

import dtau

TRIALS = 0.5 ** np.arange(8)  # step lengths, simulated all at once
CONVERGED = 1e-10  # largest entry of the gradient by the inputs
ROUNDING = 1e-13  # a cost cannot tell improvements below this part of it


@dataclass(frozen=True)
class Trajectory:
    """States at 0, 1, ..., steps, inputs between them, and the cost; leading axes are a batch."""

    q: np.ndarray
    v: np.ndarray
    u: np.ndarray
    cost: np.ndarray


@dataclass(frozen=True)
class Expansion:
    """Cost and dynamics about a trajectory, in z = (q, v, u) at each step.

    The Hessians are of the cost without the curvature of its x = errors(q, v): Gauss and Newton's.
    """

    jacobians: np.ndarray  # of (q, v) at the next step
    slopes: np.ndarray
    hessians: np.ndarray
    costates: np.ndarray
    gradient: np.ndarray  # of the total cost by the inputs


@dataclass(frozen=True)
class Bends(Expansion):
    """Also what exact Hessians ask for."""

    pull: np.ndarray  # the cost by x


def transposed(x: np.ndarray) -> np.ndarray:
    return np.swapaxes(x, -1, -2)


def tau(task: tasks.Task, at: Trajectory) -> np.ndarray:
    return at.u @ task.drive.T


def errors(task: tasks.Task, q: np.ndarray, v: np.ndarray) -> np.ndarray:
    """What the task weighs at each state: [difference(goal, q), v]."""
    return np.concatenate([dtau.difference(task.model, task.goal, q), v], axis=-1)


def advance(
    task: tasks.Task, k: int, q: np.ndarray, v: np.ndarray, tau: np.ndarray
) -> tuple[np.ndarray, np.ndarray]:
    """The state after step k."""
    v = v + task.step * dtau.forward_dynamics(task.model, q, v, tau)
    return dtau.integrate(task.model, q, task.step * v), v


def cost(task: tasks.Task, q: np.ndarray, v: np.ndarray, u: np.ndarray) -> np.ndarray:
    """Of trajectories, leading axes are a batch."""
    squares = errors(task, q, v) ** 2
    on_the_way = task.input_cost * (u**2).sum(-1) + squares[..., :-1, :] @ task.way_cost
    return np.asarray(0.5 * (task.step * on_the_way.sum(-1) + squares[..., -1, :] @ task.end_cost))


def simulate(
    task: tasks.Task,
    u: np.ndarray,
    old: Trajectory | None = None,
    gains: Sequence[np.ndarray] | np.ndarray | None = None,
    advance: Callable[..., tuple[np.ndarray, np.ndarray]] = advance,
    cost: Callable[..., np.ndarray] = cost,
) -> Trajectory:
    """Apply inputs (..., steps, nu), plus gains times the distance from an old trajectory."""
    model, steps = task.model, u.shape[-2]
    q = np.broadcast_to(task.start, (*u.shape[:-2], model.nq))
    states, inputs = [(q, np.zeros((*u.shape[:-2], model.nv)))], []
    for k in range(steps):
        q, v = states[-1]
        uk = u[..., k, :]
        if old is not None and gains is not None:
            away = [dtau.difference(model, old.q[k], q), v - old.v[k]]
            uk = uk + np.concatenate(away, axis=-1) @ gains[k].T
        states.append(advance(task, k, q, v, uk @ task.drive.T))
        inputs.append(uk)
    q, v = (np.stack(x, axis=-2) for x in zip(*states, strict=True))
    u = np.stack(inputs, axis=-2)
    return Trajectory(q, v, u, cost(task, q, v, u))


def expand(task: tasks.Task, at: Trajectory) -> Bends:
    """Expand with first derivatives of the dynamics: all that iLQR asks for."""
    model, h, n = task.model, task.step, task.model.nv
    steps, nu = at.u.shape

    # The cost: half of weights . x² with x = errors(q, v)
    weights = np.vstack([np.tile(h * task.way_cost, (steps, 1)), task.end_cost])
    pull = weights * errors(task, at.q, at.v)
    to_x = dtau.difference_jacobians(model, task.goal, at.q)[1]
    slopes = np.zeros((steps + 1, 2 * n + nu))
    slopes[:, : 2 * n] = pull
    slopes[:, :n] = np.einsum("ki,kij->kj", pull[:, :n], to_x)
    slopes[:-1, 2 * n :] = h * task.input_cost * at.u
    diagonals = np.hstack([weights, np.full((steps + 1, nu), h * task.input_cost)])
    hessians = diagonals[:, :, None] * np.eye(2 * n + nu)
    hessians[:, :n, :n] = transposed(to_x) @ hessians[:, :n, :n] @ to_x

    step = dtau.linearize_discrete(
        model, at.q[:-1], at.v[:-1], tau(task, at), h, "semi_implicit", inputs=task.drive
    )
    jacobians = np.concatenate([step.A, step.B], axis=-1)
    costates, gradient = carried_back(jacobians, slopes)
    return Bends(jacobians, slopes, hessians, costates, gradient, pull)


def carried_back(jacobians: np.ndarray, slopes: np.ndarray) -> tuple[np.ndarray, np.ndarray]:
    """Costates, and the gradient of the total cost by the inputs."""
    steps, nx, nz = jacobians.shape
    costates, gradient = np.zeros((steps + 1, nx)), np.zeros((steps, nz - nx))
    costates[-1] = slopes[-1, :nx]
    for k in reversed(range(steps)):
        slope = slopes[k] + costates[k + 1] @ jacobians[k]
        costates[k], gradient[k] = slope[:nx], slope[nx:]
    return costates, gradient


def exact_hessians(task: tasks.Task, at: Trajectory, e: Bends) -> np.ndarray:
    """Hessians of the cost plus costates times the next state: nothing is dropped."""
    model, n = task.model, task.model.nv
    lam_q, lam_v = e.costates[1:, :n], e.costates[1:, n:]
    state = (model, at.q[:-1], at.v[:-1], tau(task, at), task.step)
    total = e.hessians.copy()
    total[:-1] += dtau.step_hessian(*state, lam_q, lam_v, "semi_implicit", inputs=task.drive)
    if isinstance(model.joints[0].type, dtau.Free):
        total[:, :6, :6] += logarithm_bends(errors(task, at.q, at.v), e.pull)
    return total


def logarithm_bends(x: np.ndarray, pull: np.ndarray) -> np.ndarray:
    """Second derivatives by q of the errors x of a free root, contracted with their weights."""
    pose = dtau.poses.exp(x[:, None, :6])
    by_q = np.einsum(
        "ki,kjil->kjl", pull[:, :6], dtau.poses.log_jacobian_derivative(pose, np.eye(6))
    )
    return 0.5 * (by_q + transposed(by_q))


def backward(
    e: Expansion, hessians: np.ndarray, damping: float
) -> tuple[np.ndarray, np.ndarray, float]:
    """Changes and gains of the inputs, and the slope of the decrease; ValueError: no minimum."""
    nx = e.jacobians.shape[1]
    plan = dtau.lqr(
        e.jacobians[:, :, :nx],
        e.jacobians[:, :, nx:],
        hessians[:-1, :nx, :nx],
        hessians[:-1, nx:, nx:],
        hessians[-1, :nx, :nx],
        S=hessians[:-1, nx:, :nx],
        q=e.slopes[:-1, :nx],
        r=e.slopes[:-1, nx:],
        q_final=e.slopes[-1, :nx],
        regularization=damping,
    )
    return -plan.feedforward, -plan.gains, -2.0 * float(plan.s[0])


def minimum(
    e: Expansion, candidates: Iterable[np.ndarray], damping: float
) -> tuple[int, tuple[np.ndarray, np.ndarray, float]]:
    """The backward sweep with the first Hessians that have a minimum, and which these are."""
    error = ValueError("expected Hessians, got none")
    for i, hessians in enumerate(candidates):
        try:
            return i, backward(e, hessians, damping)
        except ValueError as no_minimum:  # lqr says at which step
            error = no_minimum
    raise error


def solve(
    task: tasks.Task,
    exact: bool,
    limit: int,
    simulate: Callable[..., Trajectory] = simulate,
    expand: Callable[..., Expansion] = expand,
    exact_hessians: Callable[..., np.ndarray] = exact_hessians,
    converged: float = CONVERGED,
) -> convergence.Record:
    """Improve the guess by iLQR or by exact DDP; other dynamics and costs bring their functions."""
    record, start = convergence.Record(), perf_counter()
    at, damping = simulate(task, task.guess), 0.0
    least = 0.01 * task.step * task.input_cost  # of damping, but for none
    for _ in convergence.progress(limit, f"{task.title}, {convergence.METHODS[exact]}"):
        e = expand(task, at)
        record.cost.append(float(at.cost))
        record.gradient.append(float(np.abs(e.gradient).max()))
        record.seconds.append(perf_counter() - start)
        if record.gradient[-1] < converged:
            break
        candidates = [exact_hessians(task, at, e), e.hessians] if exact else [e.hessians]
        while True:
            fallback, (changes, gains, decrease) = minimum(e, candidates, damping)
            with np.errstate(all="ignore"):  # long steps may diverge
                trials = simulate(task, at.u + TRIALS[:, None, None] * changes, at, gains)
            tellable = decrease > ROUNDING * at.cost
            best = int(np.argmin(np.nan_to_num(trials.cost, nan=np.inf))) if tellable else 0
            if trials.cost[best] < at.cost or not tellable:
                break
            damping = max(8.0 * damping, least)
        at = Trajectory(trials.q[best], trials.v[best], trials.u[best], trials.cost[best])
        record.exact += exact and not fallback
        if best > 2:
            damping = max(8.0 * damping, least)
        elif best < 2:
            damping = damping / 8.0 if damping > least else 0.0
    record.inputs = at.u
    return record


def main() -> None:
    parser = program.options(__doc__, "draw the costs (matplotlib)")
    parser.add_argument("--robot", choices=("arm", "quadruped"), help="default: both")
    program.number(parser, "--iterations", 150, "at most so many")
    args = parser.parse_args()
    runs = []
    for name in [args.robot] if args.robot else ["arm", "quadruped"]:
        task = getattr(tasks, name)()
        records = {exact: solve(task, exact, args.iterations) for exact in (False, True)}
        convergence.report(task, records)
        runs.append((task, records))
    if args.plot:
        convergence.plot(runs, args.plot)


if __name__ == "__main__":
    main()
