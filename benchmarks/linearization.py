"""What linearizations cost: multiples of forward dynamics' derivatives, and MuJoCo beside them.

`linearize` and `linearize_discrete` with rk4 are timed in turns with
`forward_dynamics_derivatives` at the same states, one state a call and in batches; a multiple is
the ratio of the times in the same round, its median and its quartiles. Every A is checked against
complex step of the package's own step before it is timed.

Where MuJoCo is installed, its finite differences `mjd_transitionFD` of one step are timed beside
`linearize_discrete` with the integrator of the same order, semi-implicit; the error of each is that
against the exact derivative of its own step.

    python benchmarks/linearization.py                                # five robots
    python benchmarks/linearization.py --quick --robot hyq            # a rough answer for one
    python benchmarks/linearization.py --urdf mine.urdf --root free   # your own robot
    python benchmarks/linearization.py --json new.json                # to keep
"""

from __future__ import annotations

import argparse
import json
from collections.abc import Callable
from dataclasses import asdict, dataclass
from pathlib import Path

import mujoco_peer
import numpy as np
from harness import (
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
from robots import KNOWN, Array, Robot, from_urdf, known, states

import dtau
from dtau import _testing

DT = 0.01
LONE_STATES = 64
CHECKED = 3  # states that are compared with complex step
EFFORT = {False: Effort(rounds=41, block=4e-3), True: Effort(rounds=9, block=2e-3)}  # by --quick
TOLERANCE = 1e-9  # of the largest element
LINEARIZE_AT_MOST = 1.3
# Degrees of freedom, and what a step of rk4 may cost at most.
RK4_AT_MOST = ((9, 6.0), (18, 9.0), (35, 14.0), (50, 18.0))
MUJOCO_AT_LEAST = 10.0


@dataclass(frozen=True)
class Row:
    """Microseconds a state, and multiples of forward dynamics' derivatives."""

    robot: str
    nv: int
    batch: int
    derivatives: float
    linearize: float
    rk4: float
    linearize_multiple: Spread
    rk4_multiple: Spread
    error: float  # of A over a step of rk4


@dataclass(frozen=True)
class PeerRow:
    """MuJoCo's differences of a step, and the package's derivatives of one."""

    robot: str
    nv: int
    mujoco: float  # microseconds a state
    alone: float
    batch: float
    alone_ratio: Spread
    batch_ratio: Spread
    mujoco_error: float
    error: float


def rk4_at_most(nv: int) -> float:
    """What is asked for at this size: between the given ones, in proportion."""
    sizes, limits = zip(*RK4_AT_MOST, strict=True)
    return float(np.interp(nv, sizes, limits))


# Checks


def by_complex_step(robot: Robot, q: Array, v: Array, tau: Array, integrator: str) -> Array:
    """A of one step by complex step of the step itself."""
    model, step = robot.model, 1e-30
    n = model.nv
    qs = np.tile(q.astype(complex), (2 * n, 1))
    vs = np.tile(v.astype(complex), (2 * n, 1))
    core = _testing.complex128
    qs[:n] = core.integrate(model, qs[:n], 1j * step * np.eye(n))
    vs[n:] += 1j * step * np.eye(n)
    h = np.array(DT, dtype=complex)
    q_after, v_after = core.step(model, integrator, qs, vs, tau.astype(complex), h, None)
    after, rates = q_after[0].real, q_after.imag / step
    xi = np.empty((n, 2 * n))
    for joint in model.joints:
        if joint.mimic is not None:
            continue
        x, dx = after[joint.q], rates[:, joint.q]
        if isinstance(joint.type, dtau.Free):
            u, w = x[3:6], x[6]
            cross = np.cross(np.eye(3), u)  # x -> x cross u, as rows
            rotation = np.eye(3) - 2.0 * w * cross + 2.0 * cross @ cross
            spin = 2.0 * (w * dx[:, 3:6] - dx[:, 6:] * u - np.cross(u, dx[:, 3:6]))
            xi[joint.v] = np.hstack([dx[:, :3] @ rotation.T, spin]).T
        else:
            xi[joint.v] = dx.T
    return np.vstack([xi, v_after.imag.T / step])


def checked(robot: Robot, at: dict[str, Array], integrator: str) -> float:
    """The largest error of A, of its largest element; an error if it is no rounding error."""
    worst = 0.0
    lin = dtau.linearize_discrete(robot.model, at["q"], at["v"], at["tau"], DT, integrator)
    for i in range(min(CHECKED, len(at["q"]))):
        state = at["q"][i], at["v"][i], at["tau"][i]
        want = by_complex_step(robot, *state, integrator)
        alone = dtau.linearize_discrete(robot.model, *state, DT, integrator)
        worst = max(worst, mujoco_peer.largest(lin.A[i], want))
        worst = max(worst, mujoco_peer.largest(alone.A, want))
    if not worst <= TOLERANCE:
        raise SystemExit(f"{robot.label}: A of {integrator} is off by {worst:.1e}")
    return worst


# Measurements


def lone(call: str, at: dict[str, Array], **names: object) -> Contender:
    """One state a call."""
    count = min(LONE_STATES, len(at["q"]))
    rows = [tuple(at[x][i].copy() for x in ("q", "v", "tau")) for i in range(count)]
    return Contender(loop(f"for q, v, tau in states: {call}", states=rows, **names), count)


def together(call: str, at: dict[str, Array], **names: object) -> Contender:
    """All states in one call."""
    return Contender(loop(call, q=at["q"], v=at["v"], tau=at["tau"], **names), len(at["q"]))


def buffers(robot: Robot, count: int, *, discrete: bool) -> tuple[Array, ...]:
    """What `out=` takes."""
    model = robot.model
    n, nu = model.nv, dtau.linearize(model, *_any_state(model)).B.shape[-1]
    rest = [(model.nq,), (n,)] if discrete else [(n,)]
    return tuple(np.empty((count, *x)) for x in [(2 * n, 2 * n), (2 * n, nu), *rest])


def _any_state(model: dtau.Model) -> tuple[Array, Array, Array]:
    return dtau.neutral(model), np.zeros(model.nv), np.zeros(model.nv)


def multiples(
    robot: Robot, at: dict[str, Array], alone: bool, effort: Effort, tick: Callable[[], None]
) -> Row:
    """Time both linearizations beside the derivatives."""
    error = checked(robot, at, "rk4")
    names = dict(
        model=robot.model,
        d=dtau.forward_dynamics_derivatives,
        linearize=dtau.linearize,
        discrete=dtau.linearize_discrete,
        h=DT,
    )
    count = len(at["q"])
    if alone:
        contenders = {
            "derivatives": lone("d(model, q, v, tau)", at, **names),
            "linearize": lone("linearize(model, q, v, tau)", at, **names),
            "rk4": lone("discrete(model, q, v, tau, h, 'rk4')", at, **names),
        }
    else:
        n = robot.model.nv
        names |= dict(
            out=tuple(np.empty((count, n, n)) for _ in range(3)),
            out1=buffers(robot, count, discrete=False),
            out4=buffers(robot, count, discrete=True),
        )
        contenders = {
            "derivatives": together("d(model, q, v, tau, out=out, threads=1)", at, **names),
            "linearize": together("linearize(model, q, v, tau, out=out1, threads=1)", at, **names),
            "rk4": together(
                "discrete(model, q, v, tau, h, 'rk4', out=out4, threads=1)", at, **names
            ),
        }
    seconds = interleaved(contenders, effort, tick)
    micro = {name: 1e6 * float(np.median(x)) for name, x in seconds.items()}
    return Row(
        robot=robot.label,
        nv=robot.model.nv,
        batch=1 if alone else count,
        linearize_multiple=Spread.of(seconds["linearize"] / seconds["derivatives"]),
        rk4_multiple=Spread.of(seconds["rk4"] / seconds["derivatives"]),
        error=error,
        **micro,
    )


def beside_mujoco(
    robot: Robot, at: dict[str, Array], effort: Effort, tick: Callable[[], None]
) -> PeerRow | None:
    """Time MuJoCo's differences; None where it does not take the robot."""
    peer = mujoco_peer.buildable(robot, DT)
    if isinstance(peer, str):
        print(f"{robot.label}: not in MuJoCo: {peer}")
        return None
    exact, by_z = peer.exact(at), peer.buffer()
    theirs = peer.states(at)[:LONE_STATES]
    errors = []
    for i, state in enumerate(theirs):
        peer.transition(*state, by_z)
        errors.append(mujoco_peer.largest(by_z, exact[i]))
    names = dict(model=robot.model, discrete=dtau.linearize_discrete, h=DT)
    out = buffers(robot, len(at["q"]), discrete=True)
    call = "discrete(model, q, v, tau, h, 'semi_implicit'"
    seconds = interleaved(
        {
            "mujoco": Contender(
                loop(
                    "for q, v, tau in states: f(q, v, tau, by_z)",
                    f=peer.transition,
                    by_z=by_z,
                    states=theirs,
                ),
                len(theirs),
            ),
            "alone": lone(call + ")", at, **names),
            "batch": together(call + ", out=out, threads=1)", at, out=out, **names),
        },
        effort,
        tick,
    )
    micro = {name: 1e6 * float(np.median(x)) for name, x in seconds.items()}
    return PeerRow(
        robot=robot.label,
        nv=robot.model.nv,
        alone_ratio=Spread.of(seconds["mujoco"] / seconds["alone"]),
        batch_ratio=Spread.of(seconds["mujoco"] / seconds["batch"]),
        mujoco_error=max(errors),
        error=checked(robot, at, "semi_implicit"),
        **micro,
    )


# Tables


def print_multiples(rows: list[Row], title: str) -> None:
    """Print what linearizations cost."""

    def cells(multiple: Spread, most: float) -> list[str]:
        word = "MISSED" if multiple.median > most else "ok"
        quartiles = f"{multiple.lower:.2f} - {multiple.upper:.2f}"
        return [f"{multiple.median:.2f}x", quartiles, f"{most:.3g}", word]

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
    table(title, header, lines, left=1)


def print_mujoco(rows: list[PeerRow], batch: int) -> None:
    """Print MuJoCo's differences beside the derivatives."""
    lines = [
        [
            row.robot,
            str(row.nv),
            number(row.mujoco),
            number(row.alone),
            f"{row.alone_ratio.median:.1f}x",
            number(row.batch),
            f"{row.batch_ratio.median:.1f}x",
            f"{MUJOCO_AT_LEAST:g}",
            "ok" if row.batch_ratio.median >= MUJOCO_AT_LEAST else "MISSED",
            f"{row.mujoco_error:.0e}",
            f"{row.error:.0e}",
        ]
        for row in rows
    ]
    header = ["robot", "nv", "MuJoCo", "alone", "ratio", "batch", "ratio", "at least", ""]
    title = (
        "mjd_transitionFD (central, A alone) and linearize_discrete (semi-implicit, A and B),\n"
        f"microseconds a state, batches of {batch}; largest errors, of the largest element"
    )
    table(title, [*header, "MuJoCo's", "dtau's"], lines, left=1)


# Command


def arguments() -> argparse.Namespace:
    """The command line."""
    parser = argparse.ArgumentParser(
        description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter
    )
    robot = parser.add_mutually_exclusive_group()
    robot.add_argument("--robot", action="append", choices=KNOWN, help="one of these; repeatable")
    robot.add_argument("--urdf", type=Path, metavar="FILE", help="a robot of your own")
    parser.add_argument("--root", choices=("fixed", "free"), help="of --urdf (default: fixed)")
    parser.add_argument("--batch", type=int, default=256, metavar="N", help="states (default: 256)")
    parser.add_argument("--quick", action="store_true", help="fewer and shorter rounds")
    parser.add_argument("--json", type=Path, metavar="FILE", help="write all numbers to a file")
    args = parser.parse_args()
    if args.batch < 2:
        parser.error(f"--batch: expected at least 2, got {args.batch}")
    if args.root and not args.urdf:
        parser.error("--root: only with --urdf")
    return args


def main() -> None:
    args = arguments()
    if args.urdf:
        robots = [from_urdf(args.urdf, args.root or "fixed")]
    else:
        robots = [known(name) for name in args.robot or KNOWN]
    effort, peers = EFFORT[args.quick], mujoco_peer.available()
    machine = environment(*([f"mujoco {mujoco_peer.version()}"] if peers else []))
    for key, value in machine.items():
        print(f"{key:>16}: {value}")
    progress = Progress(effort.rounds * len(robots) * (2 + peers))
    alone, batches, beside = [], [], []
    with one_core():
        for robot in robots:
            progress.label, at = robot.label, states(robot, args.batch)
            alone.append(multiples(robot, at, True, effort, progress.step))
            batches.append(multiples(robot, at, False, effort, progress.step))
            row = beside_mujoco(robot, at, effort, progress.step) if peers else None
            beside += [row] if row else []
    progress.clear()
    print_multiples(alone, "One state a call, microseconds a state")
    print_multiples(batches, f"Batches of {args.batch} states with out=, microseconds a state")
    if beside:
        print_mujoco(beside, args.batch)
    else:
        print("\nMuJoCo: not installed (python -m pip install mujoco), or it takes no robot.")
    if args.json:
        numbers = {
            "machine": machine,
            "alone": [asdict(row) for row in alone],
            "batch": [asdict(row) for row in batches],
            "mujoco": [asdict(row) for row in beside],
        }
        args.json.write_text(json.dumps(numbers, indent=1) + "\n", encoding="utf-8")


if __name__ == "__main__":
    main()
