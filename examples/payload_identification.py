"""What does the arm hold? Its mass, center of mass and inertia, from torques with noise.

Torques are linear in the inertial parameters, tau = Y pi, and `dtau.inverse_dynamics_regressor` is
Y. An arm of six joints swings a payload about, and its torques are measured. The parameters of all
links are known but those of the last one, which holds the payload, and so is the friction of the
joints not known any more: 10 + 6 numbers, found by least squares, with standard errors from what
the fit leaves over. What the payload adds to the last link is a difference of parameters.

Not every motion tells the numbers apart. Of 64 random Fourier series the one with the smallest
standard errors is driven (their geometric mean, D-optimality); all of them are rated in one call.

    python examples/payload_identification.py                     # what is found, how surely
    python examples/payload_identification.py --plot payload.png  # and torques (matplotlib)
"""

from __future__ import annotations

from dataclasses import dataclass
from pathlib import Path

import numpy as np
import program

import dtau

PERIOD, HARMONICS, SWING = 6.0, 5, 0.8  # of the motion: s, number, rad of each harmonic at most
RATE, NOISE = 200.0, 0.1  # of the measurements: Hz, standard deviation in N m
PAYLOAD = dtau.Inertia(2.4, (0.03, -0.02, 0.12), np.diag([0.012, 0.010, 0.004]))
FLANGE = dtau.Inertia(0.4, (0.0, 0.0, 0.02), np.diag([4e-4, 4e-4, 3e-4]))  # the last link itself
FRICTION = np.array([2.1, 1.8, 1.2, 0.5, 0.4, 0.3])  # N m s/rad; the model says 1 for all joints
NUMBERS = (
    *("mass (kg)", "com x (m)", "com y (m)", "com z (m)"),
    *("I_xx (kg m²)", "I_xy (kg m²)", "I_yy (kg m²)", "I_xz (kg m²)", "I_yz (kg m²)"),
    "I_zz (kg m²)",
)
SURE = 4.5  # standard errors: as far off as no number of a good fit is


@dataclass(frozen=True)
class Motion:
    """Samples along a trajectory; with an axis for trajectories before the one for samples."""

    q: np.ndarray
    v: np.ndarray
    a: np.ndarray


@dataclass(frozen=True)
class Fit:
    """What was found, from one measurement or from several: leading axes."""

    parameters: np.ndarray  # the last link's ten, and the dampings
    noise: np.ndarray  # as the residual has it
    normal: np.ndarray  # the inverse of the normal matrix: the covariance for a noise of one


def arm(last_link: dtau.Inertia, damping: np.ndarray) -> dtau.Model:
    """An arm of six joints, as factories have them."""
    builder = dtau.ModelBuilder("arm")
    joints = (  # axis, where it sits on the link before, and what it moves: mass and half length
        ((0, 0, 1), (0, 0, 0.1), 6.0, 0.05),
        ((0, 1, 0), (0, 0, 0.15), 9.0, 0.2),
        ((0, 1, 0), (0, 0, 0.4), 6.0, 0.15),
        ((0, 0, 1), (0, 0, 0.3), 2.5, 0.05),
        ((0, 1, 0), (0, 0, 0.1), 1.8, 0.03),
        ((0, 0, 1), (0, 0, 0.08), 0.0, 0.0),
    )
    parent = None
    for k, (axis, place, mass, half) in enumerate(joints):
        size = np.diag([half**2 / 3, half**2 / 3, 0.0]) + 1e-3 * np.eye(3)
        parent = builder.add(
            dtau.Revolute(axis),
            name=f"link{k + 1}",
            parent=parent,
            placement=dtau.Pose(translation=place),
            inertia=dtau.Inertia(mass, (0, 0, half), mass * size) if mass else last_link,
            damping=damping[k],
        )
    return builder.build()


def motions(count: int, samples: int, rng: np.random.Generator) -> Motion:
    """Periodic motions of six joints, and their rates: random Fourier series."""
    time = PERIOD * np.arange(samples) / samples
    rate = 2 * np.pi / PERIOD * np.arange(1, HARMONICS + 1)
    phase = rate[:, None] * time  # (harmonics, samples)
    size = rng.uniform(0.0, SWING, (count, 6, HARMONICS)) / np.arange(1, HARMONICS + 1)
    shift = rng.uniform(0.0, 2 * np.pi, (count, 6, HARMONICS))[..., None]
    wave = np.exp(1j * (phase + shift))

    def series(scale: np.ndarray) -> np.ndarray:
        return np.einsum("cjh,h,cjhs->csj", size, scale, wave).imag

    return Motion(series(np.ones(HARMONICS)), series(1j * rate), series(-(rate**2)))


def unknown_columns(model: dtau.Model, motion: Motion) -> np.ndarray:
    """The regressor's columns of the last link's parameters and of the dampings."""
    columns = np.r_[50:60, 66:72]  # after ten of each link come six of armature, six of damping
    return dtau.inverse_dynamics_regressor(
        model, motion.q, motion.v, motion.a, joint_parameters=True
    )[..., columns]


def excitation(model: dtau.Model, rng: np.random.Generator) -> Motion:
    """Of many motions the one that tells the unknown numbers apart best, with all its samples."""
    seed = int(rng.integers(2**31))
    rough = motions(64, 100, np.random.default_rng(seed))
    columns = unknown_columns(model, rough)
    columns = columns.reshape(len(columns), -1, columns.shape[-1])
    _, logarithm = np.linalg.slogdet(columns.swapaxes(-1, -2) @ columns)
    error = np.exp(-0.5 * logarithm / columns.shape[-1])
    fine = motions(64, round(PERIOD * RATE), np.random.default_rng(seed))
    best = int(error.argmin())
    ratio = error.max() / error[best]
    print(
        f"{len(error)} motions: the worst has standard errors {ratio:.1f} times those of the best"
    )
    return Motion(fine.q[best], fine.v[best], fine.a[best])


def fit(model: dtau.Model, motion: Motion, measured: np.ndarray) -> Fit:
    """Least squares for what is not known of the model; of its last link and damping nothing is."""
    parameters = np.array(model.parameters)
    parameters[-1] = 0.0
    known = dtau.inverse_dynamics_parameter_jvp(
        model, motion.q, motion.v, motion.a, parameters.ravel()
    )
    columns = unknown_columns(model, motion)
    columns = columns.reshape(-1, columns.shape[-1])
    rest = (measured - known).reshape(*measured.shape[:-2], -1)
    found = rest @ np.linalg.pinv(columns).T
    squares = ((rest - found @ columns.T) ** 2).sum(axis=-1)
    noise = (squares / (len(columns) - columns.shape[1])) ** 0.5
    return Fit(found, noise, np.linalg.inv(columns.T @ columns))


def as_body(parameters: np.ndarray) -> np.ndarray:
    """Mass, center of mass, and tensor about it, of ten parameters; complex numbers too."""
    mass, first, tensor = parameters[..., :1], parameters[..., 1:4], parameters[..., 4:]
    com = first / mass
    x, y, z = np.moveaxis(com, -1, 0)
    parallel = [y * y + z * z, -x * y, x * x + z * z, -x * z, -y * z, x * x + y * y]
    return np.concatenate([mass, com, tensor - mass * np.stack(parallel, axis=-1)], axis=-1)


def payload(found: Fit) -> tuple[np.ndarray, np.ndarray]:
    """The payload as a body, in the flange's frame, and standard errors of these ten numbers."""
    parameters = found.parameters[..., :10] - FLANGE.parameters
    step = 1e-30  # complex step: exact derivatives, rows by the parameter
    moved = as_body(parameters[..., None, :] + 1j * step * np.eye(10)).imag / step
    variances = np.einsum("...ki,kl,...li->...i", moved, found.normal[:10, :10], moved)
    return as_body(parameters), found.noise[..., None] * variances**0.5


def identify(seed: int = 0) -> tuple[dtau.Model, Motion, np.ndarray, Fit]:
    """Drive, measure and fit: the model that is believed, the motion, the torques and the fit."""
    rng = np.random.default_rng(seed)
    believed = arm(FLANGE, np.ones(6))
    motion = excitation(believed, rng)
    truth = dtau.inverse_dynamics(arm(FLANGE + PAYLOAD, FRICTION), motion.q, motion.v, motion.a)
    measured = truth + NOISE * rng.standard_normal(truth.shape)
    return believed, motion, measured, fit(believed, motion, measured)


def report(found: Fit) -> bool:
    """Print what was found beside the truth; return whether it agrees within its errors."""
    truth = as_body(PAYLOAD.parameters)
    body, errors = payload(found)
    print(f"\n{'payload':>14}  {'truth':>9}  {'found':>9}  standard error")
    for name, x, y, e in zip(NUMBERS, truth, body, errors, strict=True):
        print(f"{name:>14}  {x:9.5f}  {y:9.5f}  {e:9.5f}")
    friction = found.parameters[10:]
    spread = found.noise * found.normal.diagonal()[10:] ** 0.5
    print(f"\n{'damping':>14}  {'truth':>9}  {'found':>9}  standard error")
    for k, (x, y, e) in enumerate(zip(FRICTION, friction, spread, strict=True)):
        print(f"{f'joint {k + 1}':>14}  {x:9.4f}  {y:9.4f}  {e:9.4f}")
    off = np.concatenate([(body - truth) / errors, (friction - FRICTION) / spread])
    print(f"\nnoise of the torques:  {found.noise:.4f} N m, in truth {NOISE:g}")
    print(f"largest error:         {np.abs(off).max():.1f} standard errors")
    return bool(np.abs(off).max() < SURE)


def plot(model: dtau.Model, motion: Motion, measured: np.ndarray, found: Fit, path: Path) -> None:
    """Draw the torques of a joint, and what many repetitions find in standard errors."""
    plt = program.pyplot()
    figure, (left, right) = plt.subplots(1, 2, figsize=(11, 4))
    time, joint = np.arange(len(measured)) / RATE, 4
    empty = dtau.inverse_dynamics(model, motion.q, motion.v, motion.a)
    parameters = np.vstack([model.parameters[:-1], found.parameters[:10]])
    damping = dict(zip(model.bodies, found.parameters[10:], strict=True))
    corrected = model.replace(parameters=parameters, damping=damping)
    fitted = dtau.inverse_dynamics(corrected, motion.q, motion.v, motion.a)
    left.plot(time, measured[:, joint], color="0.75", linewidth=0.8, label="measured")
    left.plot(time, empty[:, joint], color="C3", label="model without payload")
    left.plot(time, fitted[:, joint], color="C0", label="fitted model")
    left.set(title=f"torque of joint {joint + 1} (N m)", xlabel="time (s)")
    left.legend()

    rng, truth = np.random.default_rng(1), as_body(PAYLOAD.parameters)
    clean = dtau.inverse_dynamics(arm(FLANGE + PAYLOAD, FRICTION), motion.q, motion.v, motion.a)
    again = fit(model, motion, clean + NOISE * rng.standard_normal((500, *clean.shape)))
    body, errors = payload(again)
    right.boxplot((body - truth) / errors, whis=(2.5, 97.5), showfliers=False)
    right.set_xticks(range(1, 11), [name.split(" (")[0] for name in NUMBERS], rotation=45)
    for edge in (-1.96, 1.96):
        right.axhline(edge, color="black", linewidth=0.8, linestyle=":")
    right.set_title("errors of 500 repetitions, in standard errors (95%)")
    program.save(figure, path)


def main() -> None:
    parser = program.options(__doc__, "draw torques and repetitions")
    program.number(parser, "--seed", 0, "of motion and noise", 0)
    args = parser.parse_args()
    model, motion, measured, found = identify(args.seed)
    agrees = report(found)
    if args.plot:
        plot(model, motion, measured, found, args.plot)
    raise SystemExit(0 if agrees else 1)


if __name__ == "__main__":
    main()
