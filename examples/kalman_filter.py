"""An extended Kalman filter on the manifold: the state of a flying robot, from noisy sensors.

The aerial manipulator flies to a hover from any attitude, in gusts, and all that its regulator
knows is what the filter estimates. The error of an estimate is a vector of the tangent space,

    q = q_estimated (+) xi        v = v_estimated + dv

so no attitude is singular, no quaternion has a covariance of 4 by 4, and the matrices of the
prediction are those of `dtau.linearize_discrete`. The gusts w, white noise on the base and the
joints, are estimated along with it: an accelerometer measures the acceleration that they cause, by
the matrices of `dtau.forward_dynamics_derivatives`.

    gyroscope, accelerometer and encoders at 200 Hz, position and attitude at 20 Hz

Flights start with errors as large as the filter believes. Whether it knows how good it is after
that, says the normalized squared error e' P^-1 e of the state: 24 on average if it does, as many as
e has numbers.

    python examples/kalman_filter.py                 # errors, and whether they are as expected
    python examples/kalman_filter.py --plot ekf.png  # over time (matplotlib)
"""

from __future__ import annotations

from dataclasses import dataclass
from pathlib import Path

import hover_lqr
import numpy as np
import program
import propellers

import dtau

STEP, SECONDS, EVERY = 0.005, 4.0, 10  # a pose is measured every tenth step
# Standard deviations: of the sensors,
GYROSCOPE, ACCELEROMETER, ENCODER = 0.02, 0.3, 0.002  # rad/s, m/s², rad
POSE = np.repeat([0.05, 0.1], 3)  # m, rad
# of the gusts, over a step, and of what is not known at the start, in the order of velocities.
GUST = np.repeat([4.0, 0.1, 0.01], [3, 3, 6])  # N, N m, N m
START = np.repeat([0.3, 0.2, 0.05, 0.3, 0.3, 0.3], [3, 3, 6, 3, 3, 6])


@dataclass(frozen=True)
class Flights:
    """What became of many flights; the first axis is time, the second the flight."""

    time: np.ndarray
    error: np.ndarray  # (..., 24), of the estimate: in the tangent space, and of the velocity
    deviation: np.ndarray  # (..., 24), that the filter expects
    squared: np.ndarray  # normalized squared error
    attitude: np.ndarray  # angle between the base's attitude and the hover's, rad


def skew(x: np.ndarray) -> np.ndarray:
    """Return the matrices of x cross."""
    return np.cross(np.eye(3), x[..., np.newaxis, :])


def accelerometer(
    model: dtau.Model, q: np.ndarray, v: np.ndarray, a: np.ndarray
) -> tuple[np.ndarray, np.ndarray]:
    """Return what one at the base's origin measures, and gravity, both along the base's axes."""
    rotation = dtau.forward_kinematics(model, q).rotation[..., 0, :, :]
    gravity = model.gravity @ rotation
    return a[..., :3] + np.cross(v[..., 3:6], v[..., :3]) - gravity, gravity


def measured(model: dtau.Model, q: np.ndarray, v: np.ndarray, a: np.ndarray) -> np.ndarray:
    """Return the rows of the sensors that measure at every step."""
    force, _ = accelerometer(model, q, v, a)
    return np.concatenate([v[..., 3:6], force, q[..., 7:]], axis=-1)


def sensitivity(
    model: dtau.Model, q: np.ndarray, v: np.ndarray, tau: np.ndarray
) -> tuple[np.ndarray, np.ndarray]:
    """Return these rows as expected, and their derivatives by [xi, dv, w]."""
    n = model.nv
    a = dtau.forward_dynamics(model, q, v, tau)
    d = dtau.forward_dynamics_derivatives(model, q, v, tau)
    _, gravity = accelerometer(model, q, v, a)
    rows = np.zeros((len(q), n, 3 * n))
    rows[:, :3, n + 3 : n + 6] = np.eye(3)
    rows[:, 3:6] = np.concatenate([d.da_dq, d.da_dv, d.da_dtau], axis=-1)[:, :3]
    rows[:, 3:6, 3:6] -= skew(gravity)  # R^T g turns the other way
    rows[:, 3:6, n : n + 3] += skew(v[:, 3:6])
    rows[:, 3:6, n + 3 : n + 6] -= skew(v[:, :3])
    rows[:, 6:, 6:n] = np.eye(n - 6)
    return measured(model, q, v, a), rows


@dataclass
class Filter:
    """Estimates of many flights before they measure, and their covariances of [xi, dv]."""

    model: dtau.Model
    q: np.ndarray
    v: np.ndarray
    covariance: np.ndarray

    def advance(self, tau: np.ndarray, sensors: np.ndarray, pose: np.ndarray | None) -> None:
        """Correct by what was measured under these torques, and predict the next step.

        `pose` is a configuration whose first seven numbers were measured, at some of the steps.
        """
        model, n = self.model, self.model.nv
        expected, rows = sensitivity(model, self.q, self.v, tau)
        residual = sensors - expected
        noise = np.repeat([GYROSCOPE, ACCELEROMETER, ENCODER], [3, 3, n - 6])
        if pose is not None:
            residual = np.hstack([residual, dtau.difference(model, self.q, pose)[:, :6]])
            rows = np.concatenate([rows, np.tile(np.eye(6, 3 * n), (len(rows), 1, 1))], axis=1)
            noise = np.hstack([noise, POSE])

        whole = np.zeros((len(rows), 3 * n, 3 * n))  # of [xi, dv, w]
        whole[:, : 2 * n, : 2 * n] = self.covariance
        whole[:, 2 * n :, 2 * n :] = np.diag(GUST**2)
        across = rows @ whole
        gain = np.swapaxes(
            np.linalg.solve(across @ np.swapaxes(rows, 1, 2) + np.diag(noise**2), across), 1, 2
        )
        change = (gain @ residual[..., np.newaxis])[..., 0]
        kept = np.eye(3 * n) - gain @ rows
        whole = kept @ whole @ np.swapaxes(kept, 1, 2)
        whole += (gain * noise**2) @ np.swapaxes(gain, 1, 2)  # Joseph's form: stays positive

        q = dtau.integrate(model, self.q, change[:, :n])
        v, tau = self.v + change[:, n : 2 * n], tau + change[:, 2 * n :]
        lin = dtau.linearize_discrete(model, q, v, tau, STEP, "semi_implicit", inputs=np.eye(n))
        moved = np.concatenate([lin.A, lin.B], axis=-1)
        self.covariance = moved @ whole @ np.swapaxes(moved, 1, 2)
        self.q, self.v = dtau.step(model, q, v, tau, STEP, "semi_implicit")


def fly(count: int, seed: int = 0) -> Flights:
    """Simulate so many flights at once, with a filter each."""
    model = dtau.robots.aerial_manipulator()
    n, rng = model.nv, np.random.default_rng(seed)
    inputs, hover = propellers.inputs(model), propellers.hover(model)
    hold = dtau.equilibrium(model, hover, inputs=inputs)
    lin = dtau.linearize(model, hover, np.zeros(n), hold.tau, inputs=inputs)
    feedback = hover_lqr.gains(lin.A, lin.B)

    q, v = hover_lqr.starts(model, hover, count, rng)
    wrong = START * rng.standard_normal((count, 2 * n))
    start = np.tile(np.diag(START**2), (count, 1, 1))
    known = Filter(model, dtau.integrate(model, q, wrong[:, :n]), v + wrong[:, n:], start)
    noise = np.repeat([GYROSCOPE, ACCELEROMETER, ENCODER], [3, 3, n - 6])
    rows = []
    for k in range(round(SECONDS / STEP)):
        error = np.hstack([dtau.difference(model, known.q, q), v - known.v])
        solved = np.linalg.solve(known.covariance, error[..., np.newaxis])[..., 0]
        away = np.linalg.norm(dtau.difference(model, hover, q)[:, 3:6], axis=-1)
        spread = np.sqrt(np.diagonal(known.covariance, axis1=1, axis2=2))
        rows.append((error, spread, (error * solved).sum(axis=-1), away))

        held = np.hstack([dtau.difference(model, hover, known.q), known.v])
        tau = (hold.u - held @ feedback.T) @ inputs.T
        blown = tau + GUST * rng.standard_normal((count, n))
        a = dtau.forward_dynamics(model, q, v, blown)
        sensors = measured(model, q, v, a) + noise * rng.standard_normal((count, n))
        pose = None
        if k % EVERY == 0:
            off = np.zeros((count, n))
            off[:, :6] = POSE * rng.standard_normal((count, 6))
            pose = dtau.integrate(model, q, off)
        known.advance(tau, sensors, pose)
        q, v = dtau.step(model, q, v, blown, STEP, "semi_implicit")
    return Flights(STEP * np.arange(len(rows)), *map(np.array, zip(*rows, strict=True)))


def report(flights: Flights) -> bool:
    """Print how well the state is known; return whether the filter knows that, too."""
    steps, count, size = flights.error.shape
    late = flights.time > 0.25 * SECONDS
    rms = np.sqrt((flights.error[late] ** 2).mean(axis=(0, 1)))
    expected = np.sqrt((flights.deviation[late] ** 2).mean(axis=(0, 1)))
    print(f"{count} flights of {SECONDS:g} s in {steps} steps, any attitude at the start")
    print("errors of the last three quarters    found    expected   measured with")
    half = size // 2
    for name, part, unit, sensor in (
        ("position", slice(0, 3), "mm", POSE[0]),
        ("attitude", slice(3, 6), "mrad", POSE[3]),
        ("joints", slice(6, half), "mrad", ENCODER),
        ("linear velocity", slice(half, half + 3), "mm/s", None),
        ("angular velocity", slice(half + 3, half + 6), "mrad/s", GYROSCOPE),
        ("joints' velocity", slice(half + 6, size), "mrad/s", None),
    ):
        found, hoped = (1e3 * np.sqrt((x[part] ** 2).mean()) for x in (rms, expected))
        by = "-" if sensor is None else f"{1e3 * sensor:.3g}"
        print(f"  {name:17s} ({unit:6s})    {found:12.3f} {hoped:11.3f} {by:>12s}")
    squared = flights.squared[late].mean() / size
    band = 1.96 * np.sqrt(2.0 / (size * count))  # of the mean of so many squares of normal numbers
    inside = (np.abs(flights.squared[late].mean(axis=1) / size - 1.0) < band).mean()
    print(f"normalized squared error: {squared:.3f} of the {size} expected, at the start ", end="")
    print(f"{flights.squared[0].mean() / size:.3f}")
    print(f"within the band of 95 %:  {100 * inside:.0f} % of the time")
    far = np.rad2deg(flights.attitude.max(axis=1))
    print(f"farthest from hover:      {far[0]:.0f} degrees at the start, {far[-1]:.1f} at the end")
    return bool(0.9 < squared < 1.1)


def plot(flights: Flights, path: Path) -> None:
    """Draw the errors of attitude and position, and the normalized squared error."""
    plt = program.pyplot()
    size = flights.error.shape[-1]
    figure, panels = plt.subplots(3, 1, figsize=(9, 8), sharex=True)
    for axes, part, scale, title in (
        (panels[0], slice(0, 3), 1e3, "error of the position (mm)"),
        (panels[1], slice(3, 6), np.rad2deg(1.0), "error of the attitude (degrees)"),
    ):
        error = scale * np.linalg.norm(flights.error[..., part], axis=-1)
        expected = scale * np.sqrt((flights.deviation[..., part] ** 2).sum(axis=-1).mean(axis=1))
        axes.semilogy(flights.time, error, color="C0", alpha=0.1, linewidth=0.6)
        axes.semilogy(flights.time, np.sqrt((error**2).mean(axis=1)), color="C0", label="found")
        axes.semilogy(flights.time, expected, color="black", linestyle="--", label="expected")
        axes.set_title(title)
        axes.legend()
    band = 1.96 * np.sqrt(2.0 / (size * flights.error.shape[1]))
    panels[2].axhspan(1.0 - band, 1.0 + band, color="black", alpha=0.15)
    panels[2].plot(flights.time, flights.squared.mean(axis=1) / size)
    panels[2].set_title("normalized squared error, mean of the flights (expected: 1)")
    panels[2].set_xlabel("time (s)")
    program.save(figure, path, 70)


def main() -> None:
    parser = program.options(__doc__, "draw the errors")
    program.number(parser, "--flights", 100, "how many")
    args = parser.parse_args()
    flights = fly(args.flights)
    consistent = report(flights)
    if args.plot:
        plot(flights, args.plot)
    raise SystemExit(0 if consistent else 1)


if __name__ == "__main__":
    main()
