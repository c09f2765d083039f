"""Move an arm from one posture to another in the least time that its motors allow.

The states at all knots, the torques between them and the whole time are variables of SciPy's SLSQP.
Each step is exact (`dtau.step`, rk4), and `dtau.linearize_discrete` gives its derivatives by the
state and the torques and, with by="dt", by its length:

    x+ = step(x, u, h)        dx+ = A dx + B du + (dq_ddt, dv_ddt) dh

The solution is bang-bang: at almost any instant a motor gives all its torque, or turns as fast as
it can.

    python examples/minimum_time.py                       # the time, and what it took
    python examples/minimum_time.py --plot motion.png     # and a picture of it (matplotlib)
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from pathlib import Path

import numpy as np
import program
from scipy.optimize import minimize

import dtau

START, END = np.array([0.0, 0.4, 1.8]), np.array([2.2, 0.9, 0.3])
TORQUE, SPEED = np.array([25.0, 70.0, 30.0]), 6.0  # N m and rad/s, at most
STEPS = 20
GUESS, LONGEST = 1.0, 3.0  # s
AT_LIMIT = 0.999


@dataclass
class Motion:
    """States x (steps + 1, 2 nv), torques u (steps, nv), and the length h of a step in s."""

    x: np.ndarray
    u: np.ndarray
    h: float

    @property
    def time(self) -> float:
        """The whole time in s."""
        return len(self.u) * self.h

    def at_limits(self) -> float:
        """The share of the steps in which a motor is at a limit of torque or speed."""
        torque = np.abs(self.u) > AT_LIMIT * TORQUE
        speed = np.abs(self.x[:, len(TORQUE) :]) > AT_LIMIT * SPEED
        return float((torque | speed[1:] | speed[:-1]).any(axis=1).mean())


def arm() -> dtau.Model:
    """A base that turns, a shoulder and an elbow; 3 kg in the hand."""
    builder, link = dtau.ModelBuilder("arm"), None
    load = dtau.Inertia(3.0).transformed(dtau.Pose(translation=(0.4, 0, 0)))
    for name, axis, at, mass in (
        ("base", (0, 0, 1), (0, 0, 0), 4.0),
        ("upper arm", (0, 1, 0), (0, 0, 0.3), 5.0),
        ("forearm", (0, 1, 0), (0.4, 0, 0), 3.0),
    ):
        rod = dtau.Inertia(mass, (0.2, 0, 0), mass / 12 * 0.4**2 * np.diag([0.05, 1.0, 1.0]))
        link = builder.add(
            dtau.Revolute(axis=axis),
            name=name,
            parent=link,
            placement=dtau.Pose(translation=at),
            inertia=rod + load if name == "forearm" else rod,
        )
    return builder.build()


def motion(z: np.ndarray, steps: int) -> Motion:
    """Read the variables: the states between both ends, torques by their limits, and the time."""
    states, torques, time = np.split(z, [2 * START.size * (steps - 1), z.size - 1])
    rest = np.zeros_like(START)
    x = np.vstack((np.r_[START, rest], states.reshape(steps - 1, -1), np.r_[END, rest]))
    return Motion(x, torques.reshape(steps, -1) * TORQUE, float(time[0]) / steps)


def gaps(model: dtau.Model, m: Motion) -> np.ndarray:
    """What each step misses the next knot by."""
    q, v = np.split(m.x[:-1], 2, axis=-1)
    after = dtau.step(model, q, v, m.u, m.h, "rk4")
    return (np.hstack(after) - m.x[1:]).ravel()


def jacobian(model: dtau.Model, m: Motion) -> np.ndarray:
    """The derivative of the gaps by the variables of `motion`."""
    steps, n = m.u.shape
    q, v = np.split(m.x[:-1], 2, axis=-1)
    lin = dtau.linearize_discrete(model, q, v, m.u, m.h, "rk4", by="dt")
    by_states = np.zeros((steps, 2 * n, steps + 1, 2 * n))
    by_torques = np.zeros((steps, 2 * n, steps, n))
    every = np.arange(steps)
    by_states[every, :, every] = lin.A
    by_states[every, :, every + 1] = -np.eye(2 * n)
    by_torques[every, :, every] = lin.B * TORQUE
    by_time = np.hstack((lin.dq_ddt, lin.dv_ddt)) / steps
    rows = 2 * n * steps
    inner = by_states[:, :, 1:-1].reshape(rows, -1)  # both ends are given
    return np.hstack((inner, by_torques.reshape(rows, -1), by_time.reshape(rows, 1)))


def solve(model: dtau.Model, steps: int = STEPS) -> tuple[Motion, int]:
    """Find the fastest motion, from a smooth slow one; return it and the iterations it took."""
    s = np.linspace(0.0, 1.0, steps + 1)[1:-1, None]
    q = START + (3 * s**2 - 2 * s**3) * (END - START)
    v = 6 * (s - s**2) / GUESS * (END - START)
    guess = np.r_[np.hstack((q, v)).ravel(), np.zeros(steps * model.nv), GUESS]
    states = ([(None, None)] * model.nv + [(-SPEED, SPEED)] * model.nv) * (steps - 1)
    found = minimize(
        lambda z: z[-1],
        guess,
        jac=lambda z: np.eye(1, z.size, z.size - 1)[0],
        bounds=[*states, *[(-1.0, 1.0)] * (steps * model.nv), (0.1, LONGEST)],
        constraints={
            "type": "eq",
            "fun": lambda z: gaps(model, motion(z, steps)),
            "jac": lambda z: jacobian(model, motion(z, steps)),
        },
        method="SLSQP",
        options={"maxiter": 300, "ftol": 1e-6},
    )
    if not found.success:
        raise SystemExit(f"no solution: {found.message}")
    return motion(found.x, steps), found.nit


def plot(model: dtau.Model, m: Motion, path: Path) -> None:
    """Draw torques and speeds beside their limits, and the arm at ten instants."""
    plt = program.pyplot()
    figure = plt.figure(figsize=(10, 4.4))
    panels = figure.subplot_mosaic([["torque", "arm"], ["speed", "arm"]], width_ratios=[1.2, 1])
    at = m.h * np.arange(len(m.u) + 1)
    for k, joint in enumerate(model.joints):
        panels["torque"].stairs(m.u[:, k] / TORQUE[k], at, label=joint.name, linewidth=1.6)
        panels["speed"].plot(at, m.x[:, model.nq + k] / SPEED, label=joint.name)
    for name in ("torque", "speed"):
        panels[name].set(ylabel=f"{name} / limit", ylim=(-1.15, 1.15))
        panels[name].axhspan(-1.0, 1.0, color="0.94", zorder=0)
    panels["torque"].set_title(f"{m.time:.3f} s, motors at their limits")
    panels["speed"].set_xlabel("time (s)")
    panels["speed"].legend(fontsize=8, loc="lower center", ncols=3)
    shown = np.unique(np.linspace(0, len(m.u), 10).astype(int))
    rotation, place = dtau.frame_placements(model, m.x[shown, : model.nq], list(model.frames))
    colors = plt.colormaps["viridis"](np.linspace(0.0, 0.9, len(shown)))
    for k, color in enumerate(colors):
        hand = place[k, -1] + rotation[k, -1] @ [0.4, 0, 0]
        points = np.vstack((place[k], hand))
        panels["arm"].plot(points[:, 0], points[:, 1], color=color, marker=".")
    panels["arm"].set(xlabel="x (m)", ylabel="y (m)", aspect="equal", title="The arm from above")
    program.save(figure, path, 110)


def main(arguments: Sequence[str] | None = None) -> None:
    """Solve the problem, and print what was found."""
    parser = program.options(__doc__)
    program.number(parser, "--steps", STEPS, "steps of the motion")
    given = parser.parse_args(arguments)
    model = arm()
    m, iterations = solve(model, given.steps)
    print(f"{GUESS:.3f} s became {m.time:.4f} s in {iterations} iterations")
    print(f"largest gap: {np.abs(gaps(model, m)).max():.1e}")
    print(f"steps with a motor at a limit: {m.at_limits():.0%}")
    if given.plot:
        plot(model, m, given.plot)


if __name__ == "__main__":
    main()
