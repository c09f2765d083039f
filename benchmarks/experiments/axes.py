"""What world axes cost in time derivatives, and the columns of a frame's Jacobian.

    python -m benchmarks axes

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

import numpy as np

import dtau
from benchmarks.checks import Array, require_close
from benchmarks.experiment import Experiment, Findings, Table, Watch
from benchmarks.harness import Spread, at_most, number, one_core, timed, times, verdict
from dtau.cli.timing import Call, Effort, random_inputs

AXES = ("body", "mixed", "world")
MOST = {"wrenches": 2.0, "columns": 4.0}
TOLERANCE = 1e-10  # of the largest element that a row is made of
ORDER = 5
BATCH = 256
LONE_STATES = 16  # lone calls go round so many states
EFFORT = {False: Effort(rounds=101, block=1e-3), True: Effort(rounds=9, block=1e-3)}  # by quick
# By the name in the tables: the function, and its option that says the axes
FUNCTIONS = {
    "inverse": ("inverse_dynamics_time_derivatives", "f_ext_axes"),
    "forward": ("forward_dynamics_time_derivatives", "f_ext_axes"),
    "bias": ("bias_torque_time_derivatives", "f_ext_axes"),
    "twist": ("frame_kinematics_time_derivatives", "axes"),
    "columns": ("frame_jacobians_time_derivatives", "axes"),
}
Calls = dict[tuple[str, str], Call]  # by the function's name here, and the axes


def cases(model: dtau.Model, order: int, states: int) -> Calls:
    """The functions at random states, in all axes; the frame is the last body's."""
    names = [name for name, _ in FUNCTIONS.values()]
    at = random_inputs(model, names, states, order=order, also=["f_ext_derivatives"])
    found = {}
    for kind, (name, option) in FUNCTIONS.items():
        frame = {"frames": model.bodies[-1]} if option == "axes" else {}
        upto = {} if kind == "forward" else {"order": order}  # of which stacks have more rows
        for axes in AXES:
            found[kind, axes] = Call(name, model, at, {**frame, **upto, option: axes})
    return found


def check(label: str, case: Calls) -> None:
    """Compare the functions with each other, at every order and in all axes."""
    forward = case["forward", "body"]
    model, given = forward.model, forward.arrays
    heaviest = float(np.abs(dtau.mass_matrix(model, given["q"])).max())
    for axes in AXES:
        (a,) = case["forward", axes]()
        stack = {"v_derivatives": np.concatenate([given["v"][:, None], a], axis=1)}
        again = Call(FUNCTIONS["inverse"][0], model, given | stack, {"f_ext_axes": axes})()[0]
        for k in range(a.shape[1]):
            size = heaviest * float(np.abs(a[:, k]).max())
            require(again[:, k], given["tau_derivatives"][:, k], size, f"{label}, {axes}")
        (jacobian,), (*_, twist) = case["columns", axes](), case["twist", axes]()
        v = case["twist", axes].arrays["v_derivatives"][..., None]
        for k in range(twist.shape[1]):
            terms = [comb(k, m) * (jacobian[:, m] @ v[:, k - m])[..., 0] for m in range(k + 1)]
            size = max(float(np.abs(term).max()) for term in terms)
            require(twist[:, k], sum(terms), size, f"{label}, {axes}")


def require(got: Array, want: Array, size: float, what: str) -> None:
    """Raise where results differ by more than rounding errors of terms of this size."""
    require_close(got, want, TOLERANCE * size / max(np.abs(want).max(), 1e-300), what)


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
        numbers = number(self.base), number(self.microseconds)
        met = verdict(self.ratio.median <= most)
        return [*words, *numbers, *times(self.ratio), f"{most:g}x", met]


def measure(label: str, case: Calls, effort: Effort, tick: Callable[[], None]) -> Iterator[Row]:
    """Rows of both claims."""
    pairs = [
        ("wrenches", name, axes, (name, axes), (name, "body"))
        for name in ("inverse", "forward", "bias")
        for axes in AXES[1:]
    ]
    pairs += [("columns", "Jacobian", x, ("columns", x), ("twist", x)) for x in AXES]
    for way in ("alone", "batch"):
        lone = way == "alone"
        contenders = {x: y.alone(LONE_STATES) if lone else y.batch() for x, y in case.items()}
        found = timed(contenders, effort, tick)
        for claim, name, axes, ours, base in pairs:
            micro = found.micro(base), found.micro(ours)
            yield Row(claim, label, name, axes, way, *micro, found.ratio(ours, base))


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
        claims.append(at_most(text, MOST[claim], [row.ratio.median for row in mine]))
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
