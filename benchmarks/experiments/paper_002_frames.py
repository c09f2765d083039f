"""[HO-FBS], future work: body, spatial and hybrid axes for inverse dynamics of higher order.

    python -m benchmarks paper_002_frames

Operations of the recursions of `frames_of_time`, and of this package's core beside them, on the
tree of table 4 with 101 bodies; their errors where the base is far from the world's origin. Counts
and errors, no times: other work on the machine does not change them.

Checked before anything is counted: all recursions against `inverse_dynamics_time_derivatives`, at
every order, in their own axes by `dtau.conventions`.
"""

from __future__ import annotations

from typing import get_args

import numpy as np

import dtau
from benchmarks.calls import operations
from benchmarks.checks import Array, require_close
from benchmarks.experiment import Claim, Curve, Experiment, Findings, Plot, Table, Watch
from benchmarks.experiments.frames_of_time import Frame, Tally, inverse_dynamics
from benchmarks.experiments.time_cases import FUNCTIONS, tree
from benchmarks.harness import exponent
from dtau.cli.timing import Call

FRAMES: tuple[Frame, ...] = get_args(Frame)
BODIES = {False: 101, True: 21}  # by quick
ORDERS = {False: tuple(range(11)), True: (0, 1, 2, 5)}
DISTANCES = (0.0, 1e2, 1e4, 1e6)  # of the base from the origin, m
FAR_ORDER = 2
AGREEMENT = 1e-12  # of the largest entry of an order
RATES = (
    "screws, inertias and momenta of every body have rates along the world's axes; turning a "
    "vector about a joint takes four products a term"
)


def run(quick: bool, watch: Watch) -> Findings:
    """Check and count at all orders, then move the base away."""
    model, orders = tree(BODIES[quick]), ORDERS[quick]
    watch.expect(len(orders) + len(DISTANCES))
    counts: dict[str, list[int]] = {name: [] for name in (*FRAMES, "core")}
    rng = np.random.default_rng(0)
    q, v, _ = dtau.random_state(model, rng)
    stack = np.concatenate([v[np.newaxis], rng.uniform(-1.0, 1.0, (orders[-1] + 1, model.nv))])
    for order in orders:
        given = stack[: order + 2]
        for frame in FRAMES:
            tally = Tally()
            got, want = both(model, frame, q, given, tally)
            for k in range(order + 1):
                what = f"{frame} axes, order {order}, row {k}"
                require_close(got[k], want[k], AGREEMENT, what)
            counts[frame].append(tally.products + tally.sums)
        at = {"q": q[np.newaxis], "v_derivatives": given[np.newaxis]}
        counts["core"].append(sum(operations(Call(FUNCTIONS["inverse"], model, at))))
        watch.step(f"order {order}")
    far = []
    for distance in DISTANCES:
        moved = q.copy()
        moved[0] += distance
        far.append([_error(model, frame, moved, stack[: FAR_ORDER + 2]) for frame in FRAMES])
        watch.step(f"{distance:g} m")
    return _findings(model.nbodies, orders, counts, far)


def both(model: dtau.Model, frame: Frame, q: Array, v: Array, tally: Tally) -> tuple[Array, Array]:
    """Wrench and torques by the recursion and by the package, in the recursion's axes."""
    want = dtau.inverse_dynamics_time_derivatives(model, q, v)
    if frame != "body":
        make = {"spatial": dtau.conventions.spatial_twist, "hybrid": dtau.conventions.mixed_twist}
        convention = make[frame](model)
        want = convention.convert(want, of="tau_derivatives", at={"q": q, "v_derivatives": v[:-1]})
        v = convention.convert(v, of="v_derivatives", at={"q": q})
    return np.hstack(inverse_dynamics(model, frame, q, v, tally)), want


def _error(model: dtau.Model, frame: Frame, q: Array, v: Array) -> float:
    """The largest error of the joints' torques, which no axes change, of the largest torque."""
    got, want = (x[:, 6:] for x in both(model, frame, q, v, Tally()))
    return float(np.max(np.abs(got - want).max(axis=1) / np.abs(want).max(axis=1)))


def _findings(
    bodies: int, orders: tuple[int, ...], counts: dict[str, list[int]], far: list[list[float]]
) -> Findings:
    rows = [
        [str(k), *(f"{counts[name][i] / bodies:.0f}" for name in counts)]
        for i, k in enumerate(orders)
    ]
    over = {
        frame: [x / y for x, y in zip(counts[frame], counts["body"], strict=True)]
        for frame in FRAMES
    }
    powers = {name: exponent([k + 1 for k in orders], found) for name, found in counts.items()}
    spatial, hybrid = over["spatial"], over["hybrid"]
    last = dict(zip(FRAMES, far[-1], strict=True))
    errors = [
        [f"{distance:g}", *(f"{x:.0e}" for x in found)]
        for distance, found in zip(DISTANCES, far, strict=True)
    ]
    return Findings(
        tables=[
            Table(
                f"Multiplications and additions a body, {bodies} bodies; core: the package's "
                "function, in body axes",
                ["order", *counts],
                rows,
                left=0,
            ),
            Table(
                "Errors of torques, where the base is so many meters from the world's origin "
                f"(orders to {FAR_ORDER}), against the package's",
                ["meters", *FRAMES],
                errors,
                left=0,
            ),
        ],
        plots=[
            Plot(
                "paper_002_frames",
                f"Inverse dynamics of higher order, {bodies} bodies",
                "order",
                "operations a body",
                [Curve(name, orders, [x / bodies for x in y]) for name, y in counts.items()],
                (False, True),
            )
        ],
        claims=[
            Claim(
                "spatial axes are the compact ones, without turning twists and wrenches",
                "fewer operations than in body axes; future work in the paper",
                f"{min(spatial):.2f} to {max(spatial):.2f} times as many, hybrid axes "
                f"{min(hybrid):.2f} to {max(hybrid):.2f} times",
                max(spatial) < 1.0,
                "" if max(spatial) < 1.0 else RATES,
            ),
            Claim(
                "operations grow at most as the square of the order, in all axes",
                "a power of 2 of (order + 1)",
                ", ".join(f"{name} {power:.2f}" for name, power in powers.items()),
                max(powers.values()) <= 2.0,
            ),
            Claim(
                "torques keep their digits far from the world's origin in body and hybrid axes, "
                "and lose them in spatial ones (not in the paper)",
                f"the base {DISTANCES[-1]:.0e} m away, errors of at most {AGREEMENT:.0e}, and more",
                ", ".join(f"{f} {x:.0e}" for f, x in last.items()),
                max(last["body"], last["hybrid"]) <= AGREEMENT < last["spatial"],
            ),
        ],
        data={"orders": orders, "operations": counts, "distances": DISTANCES, "errors": far},
    )


EXPERIMENT = Experiment(
    "paper_002_frames",
    "Body, spatial and hybrid axes for time derivatives",
    "[HO-FBS] section 8, future work",
    run,
)
