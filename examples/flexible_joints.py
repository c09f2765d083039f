"""Motors of an arm with elastic joints: torques from second time derivatives of inverse dynamics.

In a series elastic joint a spring of stiffness k connects motor angle theta and joint angle q:

    inverse dynamics(q, v, a) = tau = k (theta - q)        the arm
    inertia theta'' + tau = u                              the motors

So the motion of the arm determines everything, without any differential equation:

    theta = q + tau / k      theta' = v + tau' / k      u = tau + inertia (a + tau'' / k)

One call, `dtau.inverse_dynamics_time_derivatives`, gives tau, tau' and tau'' from the joints'
velocity, acceleration, jerk and snap. An arm moves a payload within a second, and stops. Its motors
follow theta with feed-forward u and a stiff feedback of their own angle and velocity; no sensor
sees the arm. Four ways to compute theta and u are simulated at once, as a batch:

    rigid model          theta = q, u = tau + inertia a
    springs, no rates    theta = q + tau / k, but without tau' and tau''
    tau' and tau''       as above
    stiffness off by 5%  as above, with 1.05 k in place of k

    python examples/flexible_joints.py                      # errors of the tip
    python examples/flexible_joints.py --plot flexible.png  # torques and errors (matplotlib)
"""

from __future__ import annotations

from collections.abc import Sequence
from pathlib import Path

import numpy as np
import payload_identification as payload
import program

import dtau

START = np.array([-0.9, 0.3, 0.9, 0.0, 0.6, 0.0])
END = np.array([0.9, 0.9, 0.5, 0.8, -0.4, 0.0])
MOVE, WAIT, STEP = 1.0, 1.0, 5e-4  # s: to the end, from then on, and of the simulation
STIFFNESS = np.array([3000.0, 3000.0, 2000.0, 800.0, 800.0, 500.0])  # N m/rad
INERTIA = np.array([0.8, 0.8, 0.5, 0.1, 0.1, 0.05])  # kg m², of motors, as joints feel them
BANDWIDTH = 2 * np.pi * 10.0  # rad/s, of the motors' feedback
WAYS = ("rigid model", "springs, no rates", "tau' and tau''", "stiffness off by 5%")


def motion(t: np.ndarray) -> tuple[np.ndarray, np.ndarray]:
    """Angles (times, 6), and velocity, acceleration, jerk and snap (times, 4, 6).

    The polynomial of degree 9 that begins and ends with all four of them zero.
    """
    part = np.polynomial.Polynomial([0, 0, 0, 0, 0, 126, -420, 540, -315, 70])
    x = np.minimum(t / MOVE, 1.0)
    rows = np.stack([part.deriv(k)(x) / MOVE**k if k else part(x) for k in range(5)], axis=1)
    stack = rows[:, :, None] * (END - START)
    return START + stack[:, 0], stack[:, 1:]


def commands(model: dtau.Model, t: np.ndarray) -> tuple[np.ndarray, np.ndarray, np.ndarray]:
    """Angles, velocities and torques of the motors, (ways, times, joints)."""
    q, rates = motion(t)
    tau = dtau.inverse_dynamics_time_derivatives(model, q, rates)
    bends = []  # of the springs, with their first and second time derivatives
    for k, orders in ((np.inf, 3), (STIFFNESS, 1), (STIFFNESS, 3), (1.05 * STIFFNESS, 3)):
        bends.append(tau / k * (np.arange(3) < orders)[:, None])
    bend = np.array(bends)
    u = tau[:, 0] + INERTIA * (rates[:, 1] + bend[:, :, 2])
    return q + bend[:, :, 0], rates[:, 0] + bend[:, :, 1], u


def simulate(model: dtau.Model, steps: int) -> tuple[np.ndarray, np.ndarray, np.ndarray]:
    """Times, the arm's angles and the motors' torques; (ways, times, joints)."""
    times = 0.5 * STEP * np.arange(2 * steps + 1)  # with the middles of steps, for Runge and Kutta
    angle, velocity, feed_forward = commands(model, times)

    def torque(k: int, x: np.ndarray) -> np.ndarray:
        away, slip = angle[:, k] - x[1], velocity[:, k] - x[3]
        return feed_forward[:, k] + INERTIA * (BANDWIDTH**2 * away + 2 * BANDWIDTH * slip)

    def rate(k: int, x: np.ndarray) -> np.ndarray:
        q, theta, v, dtheta = x
        spring = STIFFNESS * (theta - q)
        a = dtau.forward_dynamics(model, q, v, spring)
        return np.stack([v, dtheta, a, (torque(k, x) - spring) / INERTIA])

    sag = dtau.gravity_torque(model, START) / STIFFNESS
    x = np.tile(np.stack([START, START + sag, 0 * sag, 0 * sag])[:, None], (1, len(WAYS), 1))
    angles, torques = [x[0]], [torque(0, x)]
    for k in range(0, 2 * steps, 2):
        k1 = rate(k, x)
        k2 = rate(k + 1, x + 0.5 * STEP * k1)
        k3 = rate(k + 1, x + 0.5 * STEP * k2)
        k4 = rate(k + 2, x + STEP * k3)
        x = x + STEP / 6.0 * (k1 + 2 * k2 + 2 * k3 + k4)
        angles.append(x[0])
        torques.append(torque(k + 2, x))
    return times[::2], np.stack(angles, axis=1), np.stack(torques, axis=1)


def errors(model: dtau.Model, times: np.ndarray, q: np.ndarray) -> np.ndarray:
    """Distances (ways, times) of the flange from where it shall be, in meters."""
    aim, found = (dtau.frame_placements(model, x, "link6") for x in (motion(times)[0], q))
    return np.linalg.norm(found.translation - aim.translation, axis=-1)


def report(times: np.ndarray, distances: np.ndarray, torques: np.ndarray) -> None:
    """Print how far the flange is off, on the way and after it, and torques."""
    print(
        f"{'largest error of':20}  {'the flange, moving':>20}  {'after it':>12}  torque of motor 2"
    )
    off = np.abs(torques - torques[2]).max(axis=1)[:, 1]
    for way, distance, torque in zip(WAYS, 1e3 * distances, off, strict=True):
        moving, after = distance[times <= MOVE].max(), distance[times > MOVE].max()
        print(f"{way:20}  {moving:17.2g} mm  {after:9.2g} mm  {torque:13.2g} N m")


def plot(times: np.ndarray, distances: np.ndarray, torques: np.ndarray, path: Path) -> None:
    """Draw the torque of a motor, and the errors of the flange."""
    plt = program.pyplot()
    figure, (left, right) = plt.subplots(1, 2, figsize=(10, 4))
    styles = {
        WAYS[0]: ("C1", "-"),
        WAYS[1]: ("0.5", "-"),
        WAYS[2]: ("C0", "-"),
        WAYS[3]: ("C0", ":"),
    }
    for way, distance, torque in zip(WAYS, distances, torques, strict=True):
        color, line = styles[way]
        right.semilogy(times, 1e3 * np.maximum(distance, 1e-13), line, color=color, label=way)
        if way in WAYS[:3]:
            left.plot(times, torque[:, 1], line, color=color, label=way)
    for axes, title in ((left, "torque of motor 2 (N m)"), (right, "error of the flange (mm)")):
        axes.set(title=title, xlabel="time (s)")
        axes.axvspan(MOVE, times[-1], color="0.94", linewidth=0)
    right.legend()
    program.save(figure, path)


def main(arguments: Sequence[str] | None = None) -> None:
    parser = program.options(__doc__)
    args = parser.parse_args(arguments)
    model = payload.arm(payload.FLANGE + payload.PAYLOAD, payload.FRICTION)
    times, q, torques = simulate(model, round((MOVE + WAIT) / STEP))
    distances = errors(model, times, q)
    report(times, distances, torques)
    if args.plot:
        plot(times, distances, torques, args.plot)


if __name__ == "__main__":
    main()
