"""What world axes cost in time derivatives, and the columns of a frame's Jacobian.

    wrenches   inverse, forward and bias with external wrenches along world axes ("mixed", "world")
               by those with wrenches along body axes: at most 2
    columns    the time derivatives of a frame's whole Jacobian by those of its twist: at most 4

Checked before anything is timed: forward dynamics' accelerations give the torques back through
inverse dynamics, with wrenches in the same axes; Jacobians times velocities give the twist at every
order, by Leibniz' rule.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator, Sequence
from dataclasses import asdict, dataclass
from functools import partial
from math import comb
from typing import Any

import numpy as np

import dtau
from benchmarks.experiment import (
    Array,
    Claim,
    Experiment,
    Findings,
    Table,
    Watch,
    WrongResultError,
)
from benchmarks.harness import (
    Contender,
    Effort,
    Spread,
    interleaved,
    loop,
    number,
    one_core,
    span,
    times,
)

AXES = ("body", "mixed", "world")
MOST = {"wrenches": 2.0, "columns": 4.0}
TOLERANCE = 1e-10  # of the largest element that a row is made of
ORDER = 5
BATCH = 256
LONE_STATES = 16  # lone calls go round so many states
EFFORT = {False: Effort(rounds=101, block=1e-3), True: Effort(rounds=9, block=1e-3)}  # by quick


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
        raise WrongResultError(f"{what}: results differ by {error:.1e} of the largest element")


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


@dataclass(frozen=True)
class Row:
    """Microseconds a state of a call and of what it is measured by."""

    claim: str  # in `MOST`
    robot: str
    function: str
    axes: str
    way: str  # alone or batch
    base: float
    microseconds: float
    ratio: Spread

    def cells(self) -> list[str]:
        """As the table shows it."""
        most = MOST[self.claim]
        words = [self.robot, self.function, self.axes, self.way]
        verdict = "yes" if self.ratio.median <= most else "NO"
        numbers = number(self.base), number(self.microseconds)
        return [*words, *numbers, *times(self.ratio), f"{most:g}x", verdict]


def measure(
    label: str, case: dict[str, Case], effort: Effort, tick: Callable[[], None]
) -> Iterator[Row]:
    """Rows of both claims."""
    pairs = [
        ("wrenches", name, axes, f"{name} {axes}", f"{name} body")
        for name in ("inverse", "forward", "bias")
        for axes in AXES[1:]
    ]
    pairs += [("columns", "Jacobian", x, f"columns {x}", f"twist {x}") for x in AXES]
    for way in ("alone", "batch"):
        contenders = {
            f"{name} {axes}": getattr(case[name], way)(axes) for name in case for axes in AXES
        }
        seconds = interleaved(contenders, effort, tick)
        for claim, name, axes, ours, base in pairs:
            yield Row(
                claim=claim,
                robot=label,
                function=name,
                axes=axes,
                way=way,
                base=1e6 * float(np.median(seconds[base])),
                microseconds=1e6 * float(np.median(seconds[ours])),
                ratio=Spread.of(seconds[ours] / seconds[base]),
            )


def findings(rows: Sequence[Row]) -> Findings:
    """The two tables and claims."""
    header = ["robot", "function", "axes", "states", "base", "this", "ratio", "quartiles"]
    header += ["at most", ""]
    tables, claims = [], []
    for claim, title, text in (
        (
            "wrenches",
            "Wrenches along world axes by those along body axes, microseconds a state",
            "wrenches along world axes in time derivatives, by those along body axes",
        ),
        (
            "columns",
            "A frame's Jacobian by its twist, microseconds a state",
            "time derivatives of a frame's Jacobian, by those of its twist",
        ),
    ):
        mine = [row for row in rows if row.claim == claim]
        tables.append(Table(title, header, [row.cells() for row in mine], left=4))
        ratios = [row.ratio.median for row in mine]
        asked = f"at most {MOST[claim]:g}x"
        claims.append(Claim(text, asked, span(ratios), max(ratios) <= MOST[claim]))
    return Findings(tables, claims=claims, data={"rows": [asdict(row) for row in rows]})


def run(quick: bool, watch: Watch) -> Findings:
    """Measure on three robots of growing size."""
    models = {
        "aerial manipulator": dtau.robots.aerial_manipulator(),
        "quadruped": dtau.robots.quadruped(),
        "101 bodies": dtau.robots.aerial_manipulator(5, 20),
    }
    if quick:
        del models["101 bodies"]
    watch.expect(2 * EFFORT[quick].rounds * len(models))
    rows: list[Row] = []
    with one_core():
        for label, model in models.items():
            case = cases(model, ORDER, BATCH)
            check(label, case)
            rows += measure(label, case, EFFORT[quick], partial(watch.step, label))
    return findings(rows)


EXPERIMENT = Experiment(
    "axes",
    f"World axes in time derivatives, to order {ORDER}",
    "in calls with body axes, and of a twist",
    run,
)
