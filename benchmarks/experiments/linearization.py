"""What linearizations cost: multiples of forward dynamics' derivatives, and MuJoCo beside them.

    python -m benchmarks linearization

`linearize` and `linearize_discrete` with rk4 are timed in turns with
`forward_dynamics_derivatives` at the same states, one state a call and in batches. Every A is
checked against complex step of the package's own step before it is timed.

Where MuJoCo is installed, its finite differences `mjd_transitionFD` of one step are timed beside
`linearize_discrete` with the integrator of the same order, semi-implicit; the error of each is that
against the exact derivative of its own step.
"""

from __future__ import annotations

from collections.abc import Iterator

import numpy as np
from tests.support.replay import Replays

import dtau
from benchmarks import declare
from benchmarks.checks import Array, WrongResultError, same_bits
from benchmarks.declare import Asked, Bench, Layout, Row, at_least, at_most, efforts, ratio
from benchmarks.experiment import Claim, Curve, Plot
from benchmarks.harness import curve
from benchmarks.peers import mujoco_peer
from benchmarks.robots import KNOWN, Robot, states
from dtau.cli.timing import DT, LONE_STATES, Call, Contender, loop

BATCH = 256
LINEARIZE_AT_MOST = 1.3
# Degrees of freedom, and what a step of rk4 may cost at most.
RK4_AT_MOST = ((9, 6.0), (18, 9.0), (35, 14.0), (50, 18.0))
MUJOCO_AT_LEAST = 10.0
NO_MUJOCO = "MuJoCo is not installed: python -m pip install mujoco"
CHECKED = 3  # states that are compared with complex step
TOLERANCE = 1e-9  # of the largest element


def rk4_at_most(nv: int) -> float:
    """What is asked for at this size: between the given ones, in proportion."""
    sizes, limits = zip(*RK4_AT_MOST, strict=True)
    return float(np.interp(nv, sizes, limits))


def by_complex_step(robot: Robot, state: tuple[Array, Array, Array], integrator: str) -> Array:
    """A of one step by complex step of the step itself."""
    model, step, (q, v, tau) = robot.model, 1e-30, state
    n = model.nv
    qs = np.tile(q.astype(complex), (2 * n, 1))
    vs = np.tile(v.astype(complex), (2 * n, 1))
    core = Replays()
    qs[:n] = core.integrate(model, q=qs[:n], dq=1j * step * np.eye(n))
    vs[n:] += 1j * step * np.eye(n)
    q_after, v_after = core.step(model, q=qs, v=vs, tau=tau, dt=DT, integrator=integrator)
    xi = dtau.tangent_map(model, q_after[0].real).to_tangent @ q_after.imag.T
    return np.vstack([xi, v_after.imag.T]) / step


def checked(robot: Robot, at: dict[str, Array], integrator: str) -> float:
    """The largest error of A, of its largest element; an error if it is no rounding error."""
    call = step_of(robot, at, integrator).part(slice(CHECKED))
    found = same_bits(call, f"{robot.label}, {integrator}", CHECKED)[0]
    given = zip(*call.arrays.values(), strict=True)
    wanted = [by_complex_step(robot, (q, v, tau), integrator) for q, v, tau in given]
    worst = max(mujoco_peer.largest(x, want) for x, want in zip(found, wanted, strict=True))
    if not worst <= TOLERANCE:
        raise WrongResultError(f"{robot.label}: A of {integrator} is off by {worst:.1e}")
    return worst


def step_of(robot: Robot, at: dict[str, Array], integrator: str) -> Call:
    """Linearizations of a time step."""
    return Call("linearize_discrete", robot.model, at, {"dt": DT, "integrator": integrator})


def measure(bench: Bench, robot: Robot) -> Iterator[Row]:
    at, words = states(robot, BATCH), {"robot": robot.label, "nv": robot.model.nv}
    calls = {
        "derivatives": Call("forward_dynamics_derivatives", robot.model, at),
        "linearize": Call("linearize", robot.model, at),
        "rk4": step_of(robot, at, "rk4"),
    }
    error = f"{checked(robot, at, 'rk4'):.0e}"
    found = bench.both(calls)
    for way in ("alone", "batch"):
        row = words | {"way": way, "error": error, "most": rk4_at_most(robot.model.nv)}
        row |= {f"{name} us": found.micro((way, name)) for name in calls}
        for name in ("linearize", "rk4"):
            row[name] = found.ratio((way, name), (way, "derivatives"))
        yield row
    peer = mujoco_peer.buildable(robot, DT) if mujoco_peer.available() else NO_MUJOCO
    if isinstance(peer, str):
        bench.note(f"{robot.label}: not in MuJoCo: {peer}")
    else:
        yield words | {"way": "MuJoCo"} | beside_mujoco(bench, robot, peer, at)


def beside_mujoco(bench: Bench, robot: Robot, peer: mujoco_peer.Peer, at: dict[str, Array]) -> Row:
    """Time MuJoCo's differences, by which the package is faster, alone and in a batch."""
    exact, by_z = peer.exact(at), peer.buffer()
    theirs = peer.states(at)[:LONE_STATES]
    errors = []
    for i, state in enumerate(theirs):
        peer.transition(*state, by_z)
        errors.append(mujoco_peer.largest(by_z, exact[i]))
    statement = "for q, v, tau in states: f(q, v, tau, by_z)"
    run = loop(statement, f=peer.transition, by_z=by_z, states=theirs)
    ours = step_of(robot, at, "semi_implicit")
    ways = {"alone": ours.alone(), "batch": ours.batch()}
    found = bench.timed(ways | {"MuJoCo": Contender(run, len(theirs))})
    row = {f"{name} us": x for name, x in found.medians().items()}
    row |= {way: found.ratio("MuJoCo", way) for way in ways}
    error = checked(robot, at, "semi_implicit")
    return row | {"MuJoCo's": f"{max(errors):.0e}", "dtau's": f"{error:.0e}"}


def plots(rows: list[Row]) -> Iterator[Plot]:
    """The multiples of batches, a place a robot."""
    (batches,) = declare.selected(rows, {"way": "batch"})
    places = [float(i) for i in range(len(batches))]
    yield Plot(
        "linearization",
        "Linearizations in calls of forward dynamics' derivatives (batches)",
        "",
        "times of the derivatives",
        [
            curve("linearize", places, [row["linearize"] for row in batches]),
            curve("linearize_discrete, rk4", places, [row["rk4"] for row in batches]),
            Curve("rk4, at most", places, [row["most"] for row in batches], dashed=True),
        ],
        ticks=[f"{row['robot']}, nv = {row['nv']}" for row in batches],
    )


MULTIPLES = [
    *("robot", "nv", ("derivatives", "derivatives us")),
    *(("linearize", "linearize us"), ratio("linearize", "multiple")),
    *(at_most(LINEARIZE_AT_MOST, "linearize"), ("rk4", "rk4 us"), ratio("rk4", "multiple")),
    *(at_most("most", "rk4"), "error"),
]
FASTER = Asked(
    "linearize_discrete is faster than MuJoCo's mjd_transitionFD, batches",
    "batch",
    least=MUJOCO_AT_LEAST,
    where={"way": "MuJoCo"},
)


def beside_differences(rows: list[Row]) -> list[Claim]:
    asked = f"at least {MUJOCO_AT_LEAST:g}x"
    return list(FASTER.claims(rows)) or [Claim(FASTER.text, asked, NO_MUJOCO, None)]


EXPERIMENT = declare.experiment(
    "linearization",
    "Linearizations, continuous and of a time step",
    "in calls of forward dynamics' derivatives; beside MuJoCo's finite differences",
    declare.robots(KNOWN, ("panda", "g1")),
    measure,
    effort=efforts((41, 9), (4e-3, 2e-3)),
    tables=[
        Layout("One state a call, microseconds a state", MULTIPLES, where={"way": "alone"}),
        Layout(
            f"Batches of {BATCH} states with out=, microseconds a state",
            MULTIPLES,
            where={"way": "batch"},
        ),
        Layout(
            "mjd_transitionFD (central, A alone) and linearize_discrete (semi-implicit, A and B), "
            f"microseconds a state, batches of {BATCH}; largest errors, of the largest element",
            [
                *("robot", "nv", ("MuJoCo", "MuJoCo us"), ("alone", "alone us"), ratio("alone")),
                *(("batch", "batch us"), ratio("batch"), at_least(MUJOCO_AT_LEAST, "batch")),
                *("MuJoCo's", "dtau's"),
            ],
            where={"way": "MuJoCo"},
        ),
    ],
    plots=plots,
    claims=[
        *(
            Asked(
                f"{text}, in forward dynamics' derivatives, {states}",
                name,
                most=most,
                where={"way": way},
                by="by size",
            )
            for way, states in (("alone", "one state"), ("batch", "batches"))
            for name, text, most in (
                ("linearize", "linearize", LINEARIZE_AT_MOST),
                ("rk4", "linearize_discrete with rk4", "most"),
            )
        ),
        beside_differences,
    ],
)
