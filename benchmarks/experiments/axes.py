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

from collections.abc import Iterator
from math import comb

import numpy as np

import dtau
from benchmarks import declare
from benchmarks.checks import Array, require_close
from benchmarks.declare import Asked, Bench, Layout, Row, at_most, efforts, ratio
from dtau.cli.timing import Call, random_inputs

AXES = ("body", "mixed", "world")
MOST = {"wrenches": 2.0, "columns": 4.0}
TOLERANCE = 1e-10  # of the largest element that a row is made of
ORDER = 5
BATCH = 256
LONE_STATES = 16  # lone calls go round so many states
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


def measure(bench: Bench, label: str, model: dtau.Model) -> Iterator[Row]:
    case = cases(model, ORDER, BATCH)
    check(label, case)
    found = bench.both(case, lone=LONE_STATES)
    pairs = [
        ("wrenches", name, axes, (name, axes), (name, "body"))
        for name in ("inverse", "forward", "bias")
        for axes in AXES[1:]
    ]
    pairs += [("columns", "Jacobian", x, ("columns", x), ("twist", x)) for x in AXES]
    for way in ("alone", "batch"):
        for claim, name, axes, ours, base in pairs:
            row = {"claim": claim, "robot": label, "function": name, "axes": axes, "states": way}
            row |= {"base": found.micro((way, base)), "this": found.micro((way, ours))}
            yield row | {"ratio": found.ratio((way, ours), (way, base))}


def subjects(bench: Bench) -> list[tuple[str, dtau.Model]]:
    large = [] if bench.quick else [("101 bodies", dtau.robots.aerial_manipulator(5, 20))]
    small = ("aerial manipulator", dtau.robots.aerial_manipulator())
    return [small, ("quadruped", dtau.robots.quadruped()), *large]


TABLES = {
    "wrenches": "Wrenches along world axes by those along body axes, microseconds a state",
    "columns": "A frame's Jacobian by its twist, microseconds a state",
}
CLAIMS = {
    "wrenches": "wrenches along world axes in time derivatives, by those along body axes",
    "columns": "time derivatives of a frame's Jacobian, by those of its twist",
}
EXPERIMENT = declare.experiment(
    "axes",
    f"World axes in time derivatives, to order {ORDER}",
    "in calls with body axes, and of a twist",
    subjects,
    measure,
    effort=efforts((101, 9), (1e-3, 1e-3)),
    tables=[
        Layout(
            title,
            ["robot", "function", "axes", "states", "base", "this", ratio(), at_most(MOST[claim])],
            left=4,
            where={"claim": claim},
        )
        for claim, title in TABLES.items()
    ],
    claims=[Asked(x, most=MOST[claim], where={"claim": claim}) for claim, x in CLAIMS.items()],
)
