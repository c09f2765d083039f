"""Time what world axes cost in time derivatives, and the columns of a frame's Jacobian.

Two claims, each a ratio within a round of calls that take turns on one core:

    wrenches   inverse, forward and bias with external wrenches along world axes ("mixed", "world")
               by those with wrenches along body axes: at most 2
    columns    the time derivatives of a frame's whole Jacobian by those of its twist: at most 4

Checked before anything is timed: forward dynamics' accelerations give the torques back through
inverse dynamics, with wrenches in the same axes; Jacobians times velocities give the twist at every
order, by Leibniz' rule.

    python benchmarks/axes.py                 # order 5, half a minute
    python benchmarks/axes.py --quick
    python benchmarks/axes.py --order 2 --batch 1000
"""

from __future__ import annotations

import argparse
from collections.abc import Callable, Iterator
from dataclasses import dataclass
from math import comb
from typing import Any

import numpy as np
from harness import (
    Array,
    Contender,
    Effort,
    Progress,
    Spread,
    environment,
    interleaved,
    loop,
    number,
    one_core,
    table,
)

import dtau

AXES = ("body", "mixed", "world")
MOST = {"wrenches": 2.0, "columns": 4.0}
TOLERANCE = 1e-10  # of the largest element that a row is made of
LONE_STATES = 16  # lone calls go round so many states
EFFORT = {False: Effort(rounds=101, block=1e-3), True: Effort(rounds=21, block=1e-3)}  # by --quick


@dataclass(frozen=True)
class Case:
    """A function of time derivatives, and arguments for a batch of states."""

    name: str
    model: dtau.Model
    arrays: dict[str, Array]
    option: str  # the one that says the axes
    options: dict[str, Any]

    def __call__(self, axes: str, **more: Any) -> Any:
        """All states in one call."""
        return getattr(dtau, f"{self.name}_time_derivatives")(
            self.model, **self.arrays, **self.options, **{self.option: axes}, **more
        )

    def batch(self, axes: str) -> Contender:
        """All states in one call, into given arrays."""
        out = self(axes)
        call: Callable[[], Any] = lambda: self(axes, out=out, threads=1)  # noqa: E731
        return Contender(loop("call()", call=call), len(self.arrays["q"]))

    def alone(self, axes: str) -> Contender:
        """The first states, one call each."""
        count = min(LONE_STATES, len(self.arrays["q"]))
        function = getattr(dtau, f"{self.name}_time_derivatives")
        calls = [
            {name: x[i].copy() for name, x in self.arrays.items()}
            | self.options
            | {self.option: axes}
            for i in range(count)
        ]
        run = loop(
            "for c in calls: function(model, **c)",
            calls=calls,
            function=function,
            model=self.model,
        )
        return Contender(run, count)


def cases(model: dtau.Model, order: int, states: int) -> dict[str, Case]:
    """The functions at random states; the frame is the last body's."""
    rng = np.random.default_rng(0)
    q, v, _ = dtau.random_state(model, rng, shape=(states,))
    stack = rng.uniform(-1.0, 1.0, (states, order + 2, model.nv))
    tau = rng.uniform(-1.0, 1.0, (states, order + 1, model.nv))
    f_ext = rng.uniform(-1.0, 1.0, (states, order + 1, model.nbodies, 6))
    wrenches = {"f_ext_derivatives": f_ext}
    motion = {"q": q, "v_derivatives": stack}
    forward = {"q": q, "v": v, "tau_derivatives": tau} | wrenches
    last, upto = {"frames": model.bodies[-1], "order": order}, {"order": order}
    return {
        "inverse": Case("inverse_dynamics", model, motion | wrenches, "f_ext_axes", upto),
        "forward": Case("forward_dynamics", model, forward, "f_ext_axes", upto),
        "bias": Case("bias_torque", model, motion | wrenches, "f_ext_axes", upto),
        "twist": Case("frame_kinematics", model, motion, "axes", last),
        "columns": Case("frame_jacobians", model, motion, "axes", last),
    }


def require_close(got: Array, want: Array, size: float, what: str) -> None:
    error = float(np.abs(got - want).max()) / size
    if not error <= TOLERANCE:
        raise SystemExit(f"{what}: results differ by {error:.1e} of the largest element")


def check(label: str, case: dict[str, Case]) -> None:
    """Compare the functions with each other, at every order and in all axes."""
    forward = case["forward"]
    model, given = forward.model, forward.arrays
    heaviest = float(np.abs(dtau.mass_matrix(model, given["q"])).max())
    for axes in AXES:
        a = forward(axes)
        again = dtau.inverse_dynamics_time_derivatives(
            model,
            given["q"],
            np.concatenate([given["v"][:, None], a], axis=1),
            given["f_ext_derivatives"],
            f_ext_axes=axes,  # type: ignore[arg-type]
        )
        for k in range(a.shape[1]):
            size = heaviest * float(np.abs(a[:, k]).max())
            require_close(again[:, k], given["tau_derivatives"][:, k], size, f"{label}, {axes}")
        jacobian, twist = case["columns"](axes), case["twist"](axes).twist
        v = case["twist"].arrays["v_derivatives"][..., None]
        for k in range(twist.shape[1]):
            terms = [comb(k, m) * (jacobian[:, m] @ v[:, k - m])[..., 0] for m in range(k + 1)]
            size = max(float(np.abs(term).max()) for term in terms)
            require_close(twist[:, k], sum(terms), size, f"{label}, {axes}")


def rows(
    label: str, case: dict[str, Case], effort: Effort, tick: Callable[[], None]
) -> Iterator[tuple[str, list[str]]]:
    """Cells of the two tables."""
    for way in ("alone", "batch"):
        contender = {(name, axes): getattr(case[name], way)(axes) for name in case for axes in AXES}
        seconds = {
            tuple(key.split()): x
            for key, x in interleaved(
                {" ".join(key): x for key, x in contender.items()}, effort, tick
            ).items()
        }
        pairs = [
            ("wrenches", name, axes, (name, axes), (name, "body"))
            for name in ("inverse", "forward", "bias")
            for axes in AXES[1:]
        ]
        pairs += [("columns", "Jacobian", x, ("columns", x), ("twist", x)) for x in AXES]
        for claim, name, axes, ours, base in pairs:
            ratio = Spread.of(seconds[ours] / seconds[base])
            verdict = "reached" if ratio.median <= MOST[claim] else "missed"
            yield (
                claim,
                [
                    label,
                    name,
                    axes,
                    way,
                    number(1e6 * float(np.median(seconds[base]))),
                    number(1e6 * float(np.median(seconds[ours]))),
                    f"{ratio.median:.2f}x",
                    f"{ratio.lower:.2f}-{ratio.upper:.2f}",
                    f"{MOST[claim]:.0f}x",
                    verdict,
                ],
            )


def main() -> None:
    parser = argparse.ArgumentParser(
        description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter
    )
    parser.add_argument("--order", type=int, default=5, metavar="R", help="order (default: 5)")
    parser.add_argument(
        "--batch", type=int, default=256, metavar="N", help="states in a batch (default: 256)"
    )
    parser.add_argument("--quick", action="store_true", help="fewer rounds")
    args = parser.parse_args()
    if args.batch < 1:
        parser.error(f"--batch: expected a positive number, got {args.batch}")
    if not 1 <= args.order <= 20:
        parser.error(f"--order: expected a number from 1 to 20, got {args.order}")
    for key, value in environment().items():
        print(f"{key:>16}: {value}")

    models = {
        "aerial manipulator": dtau.robots.aerial_manipulator(),
        "quadruped": dtau.robots.quadruped(),
        "101 bodies": dtau.robots.aerial_manipulator(5, 20),
    }
    effort = EFFORT[args.quick]
    progress = Progress(2 * effort.rounds * len(models))
    found: dict[str, list[list[str]]] = {claim: [] for claim in MOST}
    with one_core():
        for label, model in models.items():
            progress.label = label
            progress.show()
            case = cases(model, args.order, args.batch)
            check(label, case)
            for claim, cells in rows(label, case, effort, progress.step):
                found[claim].append(cells)
    progress.clear()

    header = ["robot", "function", "axes", "states", "base", "this", "ratio", "quartiles"]
    header += ["at most", ""]
    table(
        "Wrenches along world axes by those along body axes, us", header, found["wrenches"], left=4
    )
    table("A frame's Jacobian by its twist, us a state", header, found["columns"], left=4)


if __name__ == "__main__":
    main()
