"""What is timed of linearizations, and the checks against complex step before."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass
from typing import Literal

import numpy as np

import dtau
from benchmarks.experiment import Array, WrongResultError
from benchmarks.harness import Contender, Effort, Spread, interleaved, loop
from benchmarks.peers import mujoco_peer
from benchmarks.robots import Robot
from dtau import _testing

DT = 0.01
Integrator = Literal["euler", "semi_implicit", "rk4"]
LONE_STATES = 64
CHECKED = 3  # states that are compared with complex step
TOLERANCE = 1e-9  # of the largest element


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


# Checks


def by_complex_step(robot: Robot, q: Array, v: Array, tau: Array, integrator: Integrator) -> Array:
    """A of one step by complex step of the step itself."""
    model, step = robot.model, 1e-30
    n = model.nv
    qs = np.tile(q.astype(complex), (2 * n, 1))
    vs = np.tile(v.astype(complex), (2 * n, 1))
    core = _testing.complex128
    qs[:n] = core.integrate(model, qs[:n], 1j * step * np.eye(n))
    vs[n:] += 1j * step * np.eye(n)
    h = np.array(DT, dtype=complex)
    q_after, v_after = core.step(model, qs, vs, tau.astype(complex), h, integrator)
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


def checked(robot: Robot, at: dict[str, Array], integrator: Integrator) -> float:
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
        raise WrongResultError(f"{robot.label}: A of {integrator} is off by {worst:.1e}")
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
    robot: Robot,
    peer: mujoco_peer.Peer,
    at: dict[str, Array],
    effort: Effort,
    tick: Callable[[], None],
) -> PeerRow:
    """Time MuJoCo's differences."""
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
