"""Jerk and snap with closed loops: a Delta robot looks ahead, an arm opens a door by its handle.

Loops and contacts allow some motions only, and their forces change as a robot moves. One call gives
time derivatives of accelerations and forces along the motion that they allow:

    dtau.constrained_dynamics_time_derivatives(model, q, v, tau_derivatives, contacts)

A Delta robot falls, its motors pull back. The Taylor polynomial of its platform, from one state, is
compared with a simulation: each order adds a power of time to the accuracy. Then an arm pulls a
door open. The hand cannot leave the handle, around which it turns; forces on the handle and their
rates come from single states, and the rates agree with differences along the simulation.

    python examples/jerk_of_loops.py                   # powers, and how far rates agree
    python examples/jerk_of_loops.py --plot loops.png  # and a picture (matplotlib)
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from math import factorial
from pathlib import Path

import numpy as np
import program

import dtau

ORDER = 4  # snap is order 2 of the acceleration
HORIZONS = np.geomspace(0.004, 0.064, 9)  # s
PULL, RATE = 6.0, 40.0  # N m, N m/s, of the Delta robot's motors
SWING, FREQUENCY = 20.0, 1.0  # N m, Hz, of the arm's shoulder
SECONDS, STEP = 1.0, 0.002  # s, of the arm's simulation
FORCE_NAMES = ("along x of the hand", "along y", "along z")


# ---------------------------------------------------------------- a Delta robot looks ahead


@dataclass(frozen=True)
class LookAhead:
    """How far polynomials miss the platform (horizons, orders), m."""

    errors: np.ndarray

    def powers(self) -> np.ndarray:
        """Powers of the horizon, of each order, over the last two horizons."""
        change = np.log(HORIZONS[-1] / HORIZONS[-3])
        return np.asarray(np.log(self.errors[-1] / self.errors[-3]) / change)


def look_ahead() -> LookAhead:
    model, contacts, q = dtau.robots.delta()
    motors = [model.joint(f"arm{k}").v.start for k in (1, 2, 3)]
    platform = model.joint("platform")
    tau = np.zeros((ORDER + 1, model.nv))
    tau[0, motors] = -PULL * np.array([1.0, 0.4, -0.2])
    tau[1, motors] = RATE * np.array([1.0, -1.0, 0.5])
    v = np.zeros(model.nv)
    for _ in range(40):  # into motion, so that every order has something to do
        q, v = dtau.step(model, q, v, tau[0], 0.001, "rk4", contacts=contacts)
    found = dtau.constrained_dynamics_time_derivatives(model, q, v, tau, contacts)
    stack = np.vstack([v, found.a])
    pose = dtau.frame_kinematics_time_derivatives(model, q, stack, ["platform"]).translation[:, 0]
    errors = []
    for horizon in HORIZONS:
        truth = simulated(model, contacts, q, v, tau, horizon)[platform.q][:3]
        terms = [x * horizon**k / factorial(k) for k, x in enumerate(pose)]
        paths = np.cumsum(terms, axis=0)[2:]  # from the acceleration on
        errors.append(np.linalg.norm(paths - truth, axis=1))
    return LookAhead(np.array(errors))


def simulated(
    model: dtau.Model,
    contacts: dtau.Contacts,
    q: np.ndarray,
    v: np.ndarray,
    tau: np.ndarray,
    seconds: float,
    steps: int = 1024,
) -> np.ndarray:
    """The configuration after some time, with torques that grow at a constant rate."""
    h = seconds / steps
    for k in range(steps):  # a step's torque is that of its middle
        q, v = dtau.step(model, q, v, tau[0] + (k + 0.5) * h * tau[1], h, "rk4", contacts=contacts)
    return q


# ---------------------------------------------------------------- an arm opens a door


@dataclass(frozen=True)
class Opening:
    """An arm's simulation: times, angle of the door, forces on the handle and their rates."""

    times: np.ndarray
    angle: np.ndarray
    forces: np.ndarray  # (times, 3), N
    rates: np.ndarray  # (times, 3), N/s

    def differences(self) -> np.ndarray:
        """Rates by central differences of the forces; without both ends."""
        return np.asarray((self.forces[2:] - self.forces[:-2]) / (2.0 * STEP))

    def apart(self) -> float:
        """The largest difference of both rates, in parts of the largest rate."""
        return float(abs(self.differences() - self.rates[1:-1]).max() / abs(self.rates).max())


def bar(mass: float, length: float, along: int, width: float = 0.08) -> dtau.Inertia:
    """A homogeneous bar that begins at the origin."""
    size = np.full(3, width)
    size[along] = length
    center = np.zeros(3)
    center[along] = length / 2.0
    return dtau.Inertia(mass, center, mass / 12.0 * np.diag(size @ size - size**2))


def arm_and_door() -> dtau.Mechanism:
    """A six-axis arm whose hand holds the handle of a door, around which it can turn."""
    builder = dtau.ModelBuilder("arm and door")
    z, y, x = (0, 0, 1), (0, 1, 0), (1, 0, 0)
    links = [
        (z, 0.0, 8.0),
        (y, 0.3, 6.0),
        (y, 0.45, 5.0),
        (x, 0.2, 3.0),
        (y, 0.2, 2.0),
        (x, 0.1, 1.0),
    ]
    parent, height = None, 0.3
    for k, (axis, forward, mass) in enumerate(links):
        at = (0.0, 0.0, height) if k < 2 else (forward, 0.0, 0.0)
        parent = builder.add(
            dtau.Revolute(axis),
            name=f"arm{k + 1}",
            parent=parent,
            placement=dtau.Pose(translation=at),
            inertia=bar(mass, max(forward, 0.1), 2 if k == 0 else 0),
            damping=0.5,
        )
    tip = dtau.Pose(translation=(0.1, 0.0, 0.0))
    builder.add(dtau.Fixed(), name="hand", parent=parent, placement=tip)
    builder.add(
        dtau.Revolute(z),
        name="door",
        placement=dtau.Pose(translation=(0.85, -0.6, 0.5)),
        inertia=bar(15.0, 0.75, 1, 0.04),
        damping=2.0,
    )
    grip = dtau.Pose(translation=(-0.05, 0.65, 0.0))
    builder.add(dtau.Fixed(), name="handle", parent="door", placement=grip)
    model = builder.build()
    hold = dtau.Loop("hand", "handle", rows=5, hinge="z", kp=400.0, kd=40.0, name="grip")
    contacts = dtau.Contacts(model, [hold])
    guess = dtau.configuration(model, {"arm2": -0.3, "arm3": 1.2, "arm5": -0.9})
    return dtau.Mechanism(model, contacts, dtau.project(model, guess, contacts).q)


def open_door() -> Opening:
    """Hold the arm up, push at its first and third axis, and let the rest follow."""
    model, contacts, q = arm_and_door()
    count, w = round(SECONDS / STEP), 2.0 * np.pi * FREQUENCY
    arm = np.arange(6)
    v = np.zeros(model.nv)
    inputs = np.arange(model.nv) < 6
    rest = np.zeros(model.nv)
    held = dtau.constrained_inverse_dynamics(
        model, q, rest, rest, contacts, inputs=inputs, regularization=1e-9
    ).tau
    push = np.zeros(model.nv)
    push[arm[0]], push[arm[2]] = SWING, -SWING / 2.0

    def torques(t: float) -> np.ndarray:
        """And their rates."""
        swing = np.sin(w * t) + 0.5
        return np.stack([held + swing * push, w * np.cos(w * t) * push])

    rows = []
    for k in range(count):
        t = k * STEP
        found = dtau.constrained_dynamics_time_derivatives(model, q, v, torques(t), contacts)
        rows.append((t, q[model.joint("door").q], found.forces[0, :3], found.forces[1, :3]))
        middle = torques(t + STEP / 2.0)[0]
        q, v = dtau.step(model, q, v, middle, STEP, "rk4", contacts=contacts)
    return Opening(*(np.array(x) for x in zip(*rows, strict=True)))


# ---------------------------------------------------------------- output


def report(delta: LookAhead, door: Opening) -> None:
    print("Delta robot: how far a polynomial misses the platform (m), by the highest derivative")
    names = ("acceleration", "jerk", "snap", "crackle", "pop")
    print(f"{'ahead (ms)':>14}", *(f"{1e3 * h:>9.3g}" for h in HORIZONS[::2]), f"{'power':>7}")
    for name, errors, power in zip(names, delta.errors.T, delta.powers(), strict=True):
        print(f"{name:>14}", *(f"{x:>9.1e}" for x in errors[::2]), f"{power:>7.2f}")
    turned = np.degrees(np.ptp(door.angle))
    force, rate = abs(door.forces).max(), abs(door.rates).max()
    print(f"\nthe door turns by {turned:.1f} degrees; the hand's largest force is {force:.1f} N,")
    print(f"its rate {rate:.0f} N/s; rates agree with differences to {door.apart():.1e}")


def plot(delta: LookAhead, door: Opening, path: Path) -> None:
    """Draw errors over the horizon, forces on the handle, and their rates."""
    plt = program.pyplot()
    figure, panels = plt.subplots(1, 3, figsize=(11, 3.6))
    names = ("acceleration", "jerk", "snap", "crackle", "pop")
    for k, (name, errors) in enumerate(zip(names, delta.errors.T, strict=True)):
        panels[0].loglog(1e3 * HORIZONS, errors, color=f"C{k}", marker=".", label=name)
    panels[0].set(title="Delta robot: missed by (m)", xlabel="looked ahead by (ms)")
    panels[0].set_xticks([4, 8, 16, 32, 64], labels=["4", "8", "16", "32", "64"])
    panels[0].xaxis.set_minor_formatter("")
    panels[0].legend(title="polynomial to the", fontsize=8, title_fontsize=8)
    for k, name in enumerate(FORCE_NAMES):
        panels[1].plot(door.times, door.forces[:, k], color=f"C{k}", label=name)
        panels[2].plot(door.times, door.rates[:, k], color=f"C{k}")
        panels[2].plot(
            door.times[1:-1:25],
            door.differences()[::25, k],
            color=f"C{k}",
            marker="o",
            ms=3.5,
            ls="",
        )
    panels[1].set_title("handle: force of the hand (N)")
    panels[2].set_title("its rate (N/s); dots: differences")
    panels[1].legend(fontsize=8)
    for axes in panels[1:]:
        axes.set_xlabel("time (s)")
    program.save(figure, path)


def main(arguments: Sequence[str] | None = None) -> None:
    parser = program.options(__doc__)
    args = parser.parse_args(arguments)
    delta, door = look_ahead(), open_door()
    report(delta, door)
    if args.plot:
        plot(delta, door, args.plot)


if __name__ == "__main__":
    main()
