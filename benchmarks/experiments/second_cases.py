"""Second derivatives of dynamics on a robot: what is timed (`calls`), and its checks."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import Any

import numpy as np

import dtau
from benchmarks.checks import Array, require_close, require_packed, same_bits, solved
from benchmarks.peers.headers import HeadersRobot
from benchmarks.robots import Robot
from dtau.cli.timing import Call, random_inputs

TENSORS = "inverse_dynamics_second_derivatives"
TOLERANCE = 1e-9  # of the largest element, against Pinocchio
CONTRACTION = 1e-11  # tensors times lam
DIFFERENCES = 1e-6  # central differences of first derivatives
STEP = 1e-5  # of these
TINY = 1e-3  # results that vanish come out as rounding errors
CHECKED = 2  # states

# The timed calls: name in the tables, function, options
CALLS: dict[str, tuple[str, dict[str, Any]]] = {
    "first": ("inverse_dynamics_derivatives", {}),
    "packed": (TENSORS, {"layout": "pattern"}),
    "dense": (TENSORS, {}),
    "hessian": ("inverse_dynamics_hessian", {}),
    "forward first": ("forward_dynamics_derivatives", {}),
    "forward dense": ("forward_dynamics_second_derivatives", {}),
    "forward hessian": ("forward_dynamics_hessian", {}),
}


def calls(model: dtau.Model, count: int) -> dict[str, Call]:
    """All that is timed, at random states."""
    at = random_inputs(model, [name for name, _ in CALLS.values()], count)
    return {name: Call(function, model, at, options) for name, (function, options) in CALLS.items()}


def check(robot: Robot, headers: Mapping[str, HeadersRobot]) -> None:
    """Compare all functions at a few states with each other, differences and Pinocchio."""
    model, given = robot.model, calls(robot.model, CHECKED)
    results = {x: same_bits(call, f"{robot.label}, {x}", CHECKED) for x, call in given.items()}
    dense = results["dense"]
    require_packed(model, results["packed"], dense, robot.label)
    lam = given["hessian"].arrays["lam"]
    looser = solved(CONTRACTION, model, given["hessian"].arrays["q"])
    for kind, tolerance in (("", CONTRACTION), ("forward ", looser)):
        tensors, hessian = results[f"{kind}dense"], results[f"{kind}hessian"]
        for x, y in zip(tensors, hessian, strict=True):
            product = np.einsum("zi,zijk->zjk", lam, x)
            what = f"{robot.label}, {kind}hessian and tensors times lam"
            require_close(y, product, tolerance, what, floor=TINY)
        what = f"{robot.label}, {kind}tensors and differences"
        require_differences(given[f"{kind}first"], tensors, what)

    ours = [robot.peer_order(dense[m], 3) for m in (0, 2, 1, 3)]
    for compiler, peer in headers.items():
        what = f"{robot.label}, tensors and Pinocchio's headers by {compiler}"
        got = peer.results(TENSORS, peer_states(robot, given["dense"]), [(model.nv,) * 3] * 4)
        for x, y in zip(ours, got, strict=True):
            require_close(x, y, TOLERANCE, what, floor=TINY)


def require_differences(first: Call, derivatives: Sequence[Array], what: str) -> None:
    """Compare derivatives of a function with its central differences along one direction.

    A value is differentiated by q and v; first derivatives by q and v give the tensors.
    """
    model, arrays = first.model, first.arrays
    along = np.random.default_rng(2).uniform(-1.0, 1.0, model.nv)

    def difference(by: str) -> list[Array]:
        sides = []
        for step in (STEP * along, -STEP * along):
            x = arrays[by]
            moved = dtau.integrate(model, x, step) if by == "q" else x + step
            sides.append(Call(first.name, model, {**arrays, by: moved}, first.options)())
        return [(x - y) / (2.0 * STEP) for x, y in zip(*sides, strict=True)]

    by_q, by_v = difference("q"), difference("v")
    wanted = (by_q[0], by_v[0], by_v[1], by_q[2]) if len(by_q) > 1 else (by_q[0], by_v[0])
    for derivative, want in zip(derivatives, wanted, strict=True):
        require_close(derivative @ along, want, DIFFERENCES, what, floor=TINY)


def peer_states(robot: Robot, call: Call) -> tuple[Array, ...]:
    """The states, as Pinocchio writes them."""
    q, *others = call.arrays.values()
    return np.ascontiguousarray(robot.peer_q(q)), *map(robot.peer_v, others)
