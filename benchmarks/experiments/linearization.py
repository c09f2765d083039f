"""What linearizations cost: multiples of forward dynamics' derivatives, and MuJoCo beside them.

`linearize` and `linearize_discrete` with rk4 are timed in turns with
`forward_dynamics_derivatives` at the same states, one state a call and in batches. Every A is
checked against complex step of the package's own step before it is timed.

Where MuJoCo is installed, its finite differences `mjd_transitionFD` of one step are timed beside
`linearize_discrete` with the integrator of the same order, semi-implicit; the error of each is that
against the exact derivative of its own step.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import asdict
from functools import partial
from typing import Any

import numpy as np

from benchmarks.experiment import (
    Claim,
    Curve,
    Experiment,
    Findings,
    Plot,
    Table,
    UnavailableError,
    Watch,
)
from benchmarks.experiments.linearization_timings import (
    DT,
    PeerRow,
    Row,
    beside_mujoco,
    multiples,
)
from benchmarks.harness import Effort, Spread, curve, number, one_core, span, times
from benchmarks.peers import mujoco_peer
from benchmarks.robots import KNOWN, chosen, states

BATCH = 256
EFFORT = {False: Effort(rounds=41, block=4e-3), True: Effort(rounds=9, block=2e-3)}  # by quick
LINEARIZE_AT_MOST = 1.3
# Degrees of freedom, and what a step of rk4 may cost at most.
RK4_AT_MOST = ((9, 6.0), (18, 9.0), (35, 14.0), (50, 18.0))
MUJOCO_AT_LEAST = 10.0


def rk4_at_most(nv: int) -> float:
    """What is asked for at this size: between the given ones, in proportion."""
    sizes, limits = zip(*RK4_AT_MOST, strict=True)
    return float(np.interp(nv, sizes, limits))


def multiples_table(rows: Sequence[Row], title: str) -> Table:
    """What linearizations cost."""

    def cells(multiple: Spread, most: float) -> list[str]:
        return [*times(multiple), f"{most:.3g}", "NO" if multiple.median > most else "yes"]

    lines = [
        [
            row.robot,
            str(row.nv),
            number(row.derivatives),
            number(row.linearize),
            *cells(row.linearize_multiple, LINEARIZE_AT_MOST),
            number(row.rk4),
            *cells(row.rk4_multiple, rk4_at_most(row.nv)),
            f"{row.error:.0e}",
        ]
        for row in rows
    ]
    columns = ["multiple", "quartiles", "at most", ""]
    header = ["robot", "nv", "derivatives", "linearize", *columns, "rk4", *columns, "error"]
    return Table(title, header, lines)


def mujoco_table(rows: Sequence[PeerRow]) -> Table:
    """MuJoCo's differences beside the derivatives."""
    lines = [
        [
            row.robot,
            str(row.nv),
            number(row.mujoco),
            number(row.alone),
            *times(row.alone_ratio),
            number(row.batch),
            *times(row.batch_ratio),
            f"{MUJOCO_AT_LEAST:g}",
            "yes" if row.batch_ratio.median >= MUJOCO_AT_LEAST else "NO",
            f"{row.mujoco_error:.0e}",
            f"{row.error:.0e}",
        ]
        for row in rows
    ]
    ratio = ["ratio", "quartiles"]
    header = ["robot", "nv", "MuJoCo", "alone", *ratio, "batch", *ratio, "at least", ""]
    title = (
        "mjd_transitionFD (central, A alone) and linearize_discrete (semi-implicit, A and B), "
        f"microseconds a state, batches of {BATCH}; largest errors, of the largest element"
    )
    return Table(title, [*header, "MuJoCo's", "dtau's"], lines)


def claims(alone: Sequence[Row], batches: Sequence[Row], beside: Sequence[PeerRow]) -> list[Claim]:
    """What linearizations may cost, and that they are faster than differences."""
    found = []
    for way, rows in (("one state", alone), ("batches", batches)):
        first = [row.linearize_multiple.median for row in rows]
        fourth = [row.rk4_multiple.median for row in rows]
        limits = [rk4_at_most(row.nv) for row in rows]
        by = f"in forward dynamics' derivatives, {way}"
        most = f"at most {LINEARIZE_AT_MOST:g}x"
        held = max(first) <= LINEARIZE_AT_MOST
        found.append(Claim(f"linearize, {by}", most, span(first), held))
        held = all(x <= most for x, most in zip(fourth, limits, strict=True))
        asked = f"at most {min(limits):.3g}x to {max(limits):.3g}x, by size"
        found.append(Claim(f"linearize_discrete with rk4, {by}", asked, span(fourth), held))
    ratios = [row.batch_ratio.median for row in beside]
    found.append(
        Claim(
            "linearize_discrete is faster than MuJoCo's mjd_transitionFD, batches",
            f"at least {MUJOCO_AT_LEAST:g}x",
            span(ratios) if ratios else "MuJoCo is not installed",
            min(ratios) >= MUJOCO_AT_LEAST if ratios else None,
        )
    )
    return found


def plot(rows: Sequence[Row]) -> Plot:
    """The multiples of batches, a place a robot."""
    places = [float(i) for i in range(len(rows))]
    curves = []
    for label, multiple in (
        ("linearize", [row.linearize_multiple for row in rows]),
        ("linearize_discrete, rk4", [row.rk4_multiple for row in rows]),
    ):
        curves.append(curve(label, places, multiple))
    limits = [rk4_at_most(row.nv) for row in rows]
    curves.append(Curve("rk4, at most", places, limits, dashed=True))
    return Plot(
        "linearization",
        "Linearizations in calls of forward dynamics' derivatives (batches)",
        "",
        "times of the derivatives",
        curves,
        ticks=[f"{row.robot}, nv = {row.nv}" for row in rows],
    )


def run(quick: bool, watch: Watch) -> Findings:
    """Measure on the known robots."""
    notes: list[str] = []
    robots = chosen(["panda", "g1"] if quick else list(KNOWN), notes.append)
    effort = EFFORT[quick]
    peers: dict[str, mujoco_peer.Peer] = {}
    if mujoco_peer.available():
        for robot in robots:
            peer = mujoco_peer.buildable(robot, DT)
            if isinstance(peer, str):
                notes.append(f"{robot.label}: not in MuJoCo: {peer}")
            else:
                peers[robot.label] = peer
    else:
        notes.append("MuJoCo is not installed: python -m pip install mujoco")
    if not robots:
        raise UnavailableError("; ".join(notes))
    watch.expect(effort.rounds * (2 * len(robots) + len(peers)))
    alone, batches, beside = [], [], []
    with one_core():
        for robot in robots:
            at = states(robot, BATCH)
            tick = partial(watch.step, robot.label)
            alone.append(multiples(robot, at, True, effort, tick))
            batches.append(multiples(robot, at, False, effort, tick))
            if robot.label in peers:
                beside.append(beside_mujoco(robot, peers[robot.label], at, effort, tick))
    tables = [
        multiples_table(alone, "One state a call, microseconds a state"),
        multiples_table(batches, f"Batches of {BATCH} states with out=, microseconds a state"),
        *([mujoco_table(beside)] if beside else []),
    ]
    rows: dict[str, list[Any]] = {"alone": alone, "batch": batches, "mujoco": beside}
    data = {name: [asdict(row) for row in found] for name, found in rows.items()}
    return Findings(tables, [plot(batches)], claims(alone, batches, beside), notes, data)


EXPERIMENT = Experiment(
    "linearization",
    "Linearizations, continuous and of a time step",
    "in calls of forward dynamics' derivatives; beside MuJoCo's finite differences",
    run,
)
