"""An LQR that holds the aerial manipulator in hover, from any attitude.

The robot hovers with bent arms on six tilted propellers, which push both ways. One linearization
at the hover, in the tangent space of its configurations, gives one matrix of gains K. The thrusts
and torques are then

    u = u_hover - K [difference(q_hover, q); v]

wherever the robot is: `dtau.difference` is the way back on the manifold, so the feedback has no
singular attitude and needs no angles. Hundreds of flights start at random attitudes, uniform over
all rotations, a tenth of them upside down and a tenth at a pitch of 90 degrees, where a controller
in Euler angles would divide by zero; off by up to 2 m along each axis and 0.5 rad in each joint,
and moving.

    python examples/hover_lqr.py                 # how the flights end
    python examples/hover_lqr.py --plot lqr.png  # and how they got there (matplotlib)
"""

from __future__ import annotations

from dataclasses import dataclass
from pathlib import Path

import numpy as np
import program
import propellers

import dtau

STEP, SECONDS = 0.002, 8.0
# What a squared error costs: positions, attitude, joints, then their velocities; thrusts, torques.
STATE_COST = np.repeat([10.0, 20.0, 50.0, 10.0, 4.0, 1.0], [3, 3, 6, 3, 3, 6])
INPUT_COST = np.repeat([0.1, 10.0], [6, 6])
HELD = 0.05  # rad: flights within this of the hover's attitude, and within as many meters, are held


@dataclass(frozen=True)
class Flights:
    """What became of many flights; the first axis is time, the second the flight."""

    time: np.ndarray
    distance: np.ndarray  # of the base from the hover, m
    attitude: np.ndarray  # angle between the base's attitude and the hover's, rad
    tilt: np.ndarray  # angle between the base's axis z and the vertical, rad
    pitch: np.ndarray  # rad
    thrust: np.ndarray  # of six propellers, N


def gains(state: np.ndarray, drive: np.ndarray) -> np.ndarray:
    """Gains of the linear-quadratic regulator, from the Hamiltonian matrix's stable subspace."""
    n = len(state)
    hamiltonian = np.block(
        [[state, -(drive / INPUT_COST) @ drive.T], [-np.diag(STATE_COST), -state.T]]
    )
    values, vectors = np.linalg.eig(hamiltonian)
    stable = vectors[:, values.real < 0]
    assert stable.shape == (2 * n, n)
    cost = np.real(stable[n:] @ np.linalg.inv(stable[:n]))  # solves Riccati's equation
    return (drive / INPUT_COST).T @ cost


def starts(
    model: dtau.Model, hover: np.ndarray, count: int, rng: np.random.Generator
) -> tuple[np.ndarray, np.ndarray]:
    """Configurations and velocities far from the hover."""
    q = np.tile(hover, (count, 1))
    q[:, :3] += rng.uniform(-2.0, 2.0, (count, 3))
    q[:, 3:7] = rng.standard_normal((count, 4))
    q[::10, 3:7] = [1.0, 0.0, 0.0, 0.0] + 0.02 * rng.standard_normal((len(q[::10]), 4))
    q[1::10, 3:7] = [0.0, 1.0, 0.0, 1.0]  # nose down, exactly
    q[:, 7:] += rng.uniform(-0.5, 0.5, q[:, 7:].shape)
    v = np.zeros((count, model.nv))
    v[:, :6] = rng.uniform(-1.0, 1.0, (count, 6))
    return dtau.normalize(model, q), v


def fly(count: int, seed: int = 0, threads: int | None = None) -> Flights:
    """Simulate so many flights at once: every call below takes all of them."""
    model = dtau.robots.aerial_manipulator()
    inputs, hover = propellers.inputs(model), propellers.hover(model)
    hold = dtau.equilibrium(model, hover, inputs=inputs)
    assert hold.exists
    lin = dtau.linearize(model, hover, np.zeros(model.nv), hold.tau, inputs=inputs)
    feedback = gains(lin.A, lin.B)

    q, v = starts(model, hover, count, np.random.default_rng(seed))
    rows = []
    for _ in range(round(SECONDS / STEP)):
        error = dtau.difference(model, hover, q, threads=threads)
        u = hold.u - np.concatenate([error, v], axis=-1) @ feedback.T
        x, y, z, w = q[:, 3:7].T
        rows.append(
            (
                np.linalg.norm(q[:, :3] - hover[:3], axis=-1),
                np.linalg.norm(error[:, 3:6], axis=-1),
                np.arccos(np.clip(1.0 - 2.0 * (x * x + y * y), -1.0, 1.0)),
                np.arcsin(np.clip(2.0 * (w * y - z * x), -1.0, 1.0)),
                u[:, :6],
            )
        )
        q, v = dtau.step(model, q, v, u @ inputs.T, STEP, "semi_implicit", threads=threads)
    return Flights(STEP * np.arange(len(rows)), *map(np.array, zip(*rows, strict=True)))


def report(flights: Flights) -> bool:
    """Print how the flights began and ended; return whether all ended in hover."""
    count = flights.distance.shape[1]
    tilt = np.rad2deg(flights.tilt[0])
    steep = np.rad2deg(np.abs(flights.pitch).max(axis=0))
    held = (flights.attitude[-1] < HELD) & (flights.distance[-1] < HELD)
    print(f"{count} flights of {SECONDS:g} s in steps of {1e3 * STEP:g} ms")
    print(
        f"attitude at the start: off by up to {np.rad2deg(flights.attitude[0].max()):.2f} degrees"
    )
    print(f"distance at the start: up to {flights.distance[0].max():.2f} m")
    print(f"tilt at the start:     beyond 150 degrees in {int((tilt > 150).sum())} flights")
    print(f"pitch at some time:    beyond 89.9 degrees in {int((steep > 89.9).sum())} flights")
    print(f"largest thrust:        {np.abs(flights.thrust).max():.1f} N, either way")
    print(f"attitude at the end:   within {np.rad2deg(flights.attitude[-1].max()):.2g} degrees")
    print(f"distance at the end:   within {1e3 * flights.distance[-1].max():.2g} mm")
    print(f"held:                  {int(held.sum())} of {count}")
    return bool(held.all())


def plot(flights: Flights, path: Path) -> None:
    """Draw attitude, distance and pitch of all flights, and the thrusts of the first."""
    plt = program.pyplot()
    figure, panels = plt.subplots(2, 2, figsize=(11, 6.5), sharex=True)
    upside_down = flights.tilt[0] > np.deg2rad(150)
    curves = (
        (panels[0, 0], np.rad2deg(flights.attitude), "attitude's distance from hover (degrees)"),
        (panels[0, 1], flights.distance, "distance from hover (m)"),
        (panels[1, 0], np.rad2deg(flights.pitch), "pitch (degrees)"),
    )
    for axes, values, title in curves:
        axes.plot(flights.time, values[:, ~upside_down], color="C0", alpha=0.15, linewidth=0.7)
        axes.plot(flights.time, values[:, upside_down], color="C3", alpha=0.5, linewidth=0.9)
        axes.set_title(title)
    panels[0, 0].plot([], [], color="C3", label="began upside down")
    panels[0, 0].plot([], [], color="C0", label="began in any other attitude")
    panels[0, 0].legend()
    for pole in (-90, 90):
        panels[1, 0].axhline(pole, color="black", linewidth=0.8, linestyle=":")
    panels[1, 0].set_yticks(range(-90, 91, 45))
    panels[1, 1].plot(flights.time, flights.thrust[:, 0])
    panels[1, 1].set_title("thrusts of the first flight (N)")
    for axes in panels[1]:
        axes.set_xlabel("time (s)")
    program.save(figure, path)


def main() -> None:
    parser = program.options(__doc__, "draw the flights")
    program.number(parser, "--flights", 300, "how many")
    args = parser.parse_args()
    flights = fly(args.flights)
    held = report(flights)
    if args.plot:
        plot(flights, args.plot)
    raise SystemExit(0 if held else 1)


if __name__ == "__main__":
    main()
