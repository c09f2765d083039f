"""Inverse kinematics of an arm within its limits: Gauss-Newton, a thousand targets at once.

The tool of a 7-axis arm is to reach poses. One call of `dtau.frame_errors` gives, for all arms,

    e = log(target^-1 tool)    6 numbers, zero where the tool is at its target
    J = de/dq

Steps are damped (Levenberg and Marquardt) and kept within the joints' limits: an axis at a limit
that would go beyond it stays there, and the other axes take the step. An arm that gets stuck starts
again elsewhere. Then the same targets out of reach, where the arm is to come as near as it can.
There the Jacobian of the tool in place of J, as is often written, is silently wrong: its steps end
where no gradient vanishes, short of the nearest pose.

    python examples/inverse_kinematics.py                # how many targets are reached, how fast
    python examples/inverse_kinematics.py --plot ik.png  # and how the errors fell (matplotlib)
"""

from __future__ import annotations

import time
from dataclasses import dataclass
from pathlib import Path

import numpy as np
import program

import dtau

TOOL = "tool"
WEIGHT = np.repeat([1.0, 0.3], 3)  # of errors in meters and radians
REACHED = 1e-10  # weighted error
LENGTHS = (0.34, 0.2, 0.2, 0.2, 0.2, 0.1, 0.1)
PATIENCE = 16  # steps of an arm before it starts again elsewhere
FAR = 1.6  # m from the arm's foot: further than it reaches


@dataclass(frozen=True)
class Search:
    """What became of many targets; the first axis of `errors` is the step, then the target."""

    q: np.ndarray
    errors: np.ndarray  # weighted
    starts: np.ndarray  # of each arm
    seconds: float

    @property
    def reached(self) -> np.ndarray:
        """Whether each target is reached."""
        return self.errors[-1] < REACHED

    @property
    def steps(self) -> np.ndarray:
        """How many steps each arm took."""
        return (self.errors >= REACHED).sum(axis=0)


def arm() -> dtau.Model:
    """A 7-axis arm with a reach of 1.3 m; the tool sits beside the last axis, and is tilted."""
    builder = dtau.ModelBuilder("arm")
    parent, end = None, 0.0
    for i, length in enumerate(LENGTHS):
        parent = builder.add(
            dtau.Revolute(axis=(0, 1, 0) if i % 2 else (0, 0, 1)),
            name=f"axis{i + 1}",
            parent=parent,
            placement=dtau.Pose(translation=(0, 0, end)),
            inertia=dtau.Inertia(2.0, (0, 0, 0.5 * length), 0.01 * np.eye(3)),
            limits=dtau.Limits(lower=-2.9, upper=2.9),
        )
        end = length
    placement = dtau.Pose.from_rpy((0.0, 0.4, 0.0), xyz=(0.05, 0.0, end))
    builder.add(dtau.Fixed(), name=TOOL, parent=parent, placement=placement)
    return builder.build()


def reach(
    model: dtau.Model,
    targets: np.ndarray,
    *,
    exact: bool = True,
    restarts: bool = True,
    steps: int = 1000,
    seed: int = 0,
    progress: bool = False,
) -> Search:
    """Step all arms towards their targets (n, 7) at once; each line takes all that are on the way.

    Without `exact` the Jacobian of the tool takes the place of the error's.
    """
    rng = np.random.default_rng(seed)
    lower, upper = model.lower_limits, model.upper_limits
    began = time.perf_counter()

    def errors(q: np.ndarray, targets: np.ndarray) -> tuple[np.ndarray, np.ndarray]:
        error, by_q = dtau.frame_errors(model, q, TOOL, targets)
        if not exact:
            by_q = dtau.frame_jacobians(model, q, TOOL)
        return WEIGHT * error, WEIGHT[:, np.newaxis] * by_q

    q = np.zeros((len(targets), model.nv)) + 0.3
    error, by_q = errors(q, targets)
    damping, age = np.full(len(q), 1e-3), np.zeros(len(q), dtype=int)
    starts = np.ones(len(q), dtype=int)
    history = [np.linalg.norm(error, axis=-1)]
    for step in range(steps):
        way = np.flatnonzero(history[-1] >= REACHED)
        if progress and step % 40 == 0:
            print(f"step {step:3}: {len(q) - len(way)} of {len(q)} reached", flush=True)
        if not len(way):
            break
        change = damped_steps(by_q[way], error[way], damping[way], q[way] <= lower, q[way] >= upper)
        tried = np.clip(q[way] + change, lower, upper)
        left, left_by_q = errors(tried, targets[way])
        better = np.linalg.norm(left, axis=-1) < history[-1][way]
        taken, refused = way[better], way[~better]
        q[taken], error[taken], by_q[taken] = tried[better], left[better], left_by_q[better]
        damping[taken] = np.maximum(0.1 * damping[taken], 1e-12)
        damping[refused] = np.minimum(10.0 * damping[refused], 1e3)
        age[way] += 1

        again = way[(age[way] >= PATIENCE) & (np.linalg.norm(error[way], axis=-1) >= REACHED)]
        if restarts and len(again):
            q[again] = dtau.random_state(model, rng, (len(again),)).q
            error[again], by_q[again] = errors(q[again], targets[again])
            damping[again], age[again] = 1e-3, 0
            starts[again] += 1
        history.append(np.linalg.norm(error, axis=-1))
    return Search(q, np.array(history), starts, time.perf_counter() - began)


def damped_steps(
    by_q: np.ndarray,
    error: np.ndarray,
    damping: np.ndarray,
    at_lower: np.ndarray,
    at_upper: np.ndarray,
) -> np.ndarray:
    """Steps that minimize |J dq + error|^2 + damping |dq|^2, in which blocked axes stay."""
    gradient = np.einsum("nki,nk->ni", by_q, error)
    free = ~((at_lower & (gradient > 0)) | (at_upper & (gradient < 0)))
    by_q = by_q * free[:, np.newaxis]
    identity = np.eye(by_q.shape[-1])
    damped = np.swapaxes(by_q, -1, -2) @ by_q + damping[:, np.newaxis, np.newaxis] * identity
    return -np.linalg.solve(damped, (free * gradient)[..., np.newaxis])[..., 0]


def random_targets(model: dtau.Model, count: int, seed: int = 1) -> np.ndarray:
    """Poses that the arm can reach."""
    q = dtau.random_state(model, np.random.default_rng(seed), (count,)).q
    return dtau.poses.from_placements(dtau.frame_placements(model, q, TOOL))


def out_of_reach(targets: np.ndarray) -> np.ndarray:
    """The same attitudes, further away than the arm reaches."""
    position, quaternion = targets[:, :3], targets[:, 3:]
    distance = np.linalg.norm(position, axis=-1, keepdims=True)
    return np.concatenate([FAR / distance * position, quaternion], axis=-1)


def report(search: Search) -> None:
    """Print how many targets were reached, and how fast."""
    count, steps = len(search.q), search.steps[search.reached]
    print(f"reached: {int(search.reached.sum())} of {count}, to {REACHED:g} m and rad")
    if len(steps):
        print(f"steps:   {int(np.median(steps))} in the median, at most {int(steps.max())}")
    print(f"starts:  {search.starts.mean():.2f} of an arm in the mean")
    print(f"time:    {search.seconds:.2f} s, {1e3 * search.seconds / count:.2f} ms a target")


def report_nearest(exact: Search, without: Search) -> None:
    """Print how near the arms came to what they cannot reach."""
    ratio = without.errors[-1] / exact.errors[-1]
    print(f"\ntargets {FAR} m away, out of reach: the error that is left")
    print(f"with the Jacobian of the error:    {np.median(exact.errors[-1]):.3f} in the median")
    print(f"with the Jacobian of the tool:     {np.median(without.errors[-1]):.3f}")
    print(f"it is larger by more than 1 % for    {int((ratio > 1.01).sum())} of {len(ratio)},")
    print(f"smaller, in another fold, for        {int((ratio < 0.99).sum())}")


def plot(reached: Search, exact: Search, without: Search, path: Path) -> None:
    """Draw how errors fell, how many targets were reached, and what is left out of reach."""
    plt = program.pyplot()
    figure, panels = plt.subplots(1, 3, figsize=(13, 4))
    panels[0].semilogy(np.maximum(reached.errors[:60, :100], 1e-16), color="C0", alpha=0.3)
    panels[0].axhline(REACHED, color="black", linewidth=0.8, linestyle=":")
    panels[0].set_title("errors of 100 arms")
    panels[1].plot(100.0 * (reached.errors < REACHED).mean(axis=1))
    panels[1].set_title("targets reached (%)")
    panels[2].scatter(exact.errors[-1], without.errors[-1], s=4, color="C3", alpha=0.5)
    ends = [exact.errors[-1].min(), without.errors[-1].max()]
    panels[2].plot(ends, ends, color="black", linewidth=0.8, linestyle=":")
    panels[2].set(title="error left, targets out of reach", xlabel="with the Jacobian of the error")
    panels[2].set_ylabel("with the Jacobian of the tool")
    for axes in panels[:2]:
        axes.set_xlabel("step")
    program.save(figure, path)


def main() -> None:
    parser = program.options(__doc__, "draw how the errors fell")
    program.number(parser, "--targets", 1000, "how many")
    args = parser.parse_args()
    model = arm()
    targets = random_targets(model, args.targets)
    reached = reach(model, targets, progress=True)
    report(reached)
    far = out_of_reach(targets)
    exact, without = (
        reach(model, far, exact=exact, restarts=False, steps=200) for exact in (True, False)
    )
    report_nearest(exact, without)
    if args.plot:
        plot(reached, exact, without, args.plot)
    raise SystemExit(0 if reached.reached.all() else 1)


if __name__ == "__main__":
    main()
