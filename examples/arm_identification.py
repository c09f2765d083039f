"""Inertias and friction of an arm from torques with noise, of bodies that exist.

An arm with the kinematics of a Panda is known from its design, without friction. Its links were
built lighter, by up to a half. `dtau.identification` finds what torques determine, a motion within
the arm's limits that tells these parameters apart, and fits all of them with viscous and Coulomb
friction. Ordinary least squares that changes the design as little as possible predicts torques as
well, but the last link gets a negative mass, and other links inertias that no body has.

    python examples/arm_identification.py                 # base parameters, masses, errors
    python examples/arm_identification.py --plot arm.png  # and torques (matplotlib)
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from pathlib import Path

import numpy as np
import program

import dtau
from dtau import identification

PERIOD, RATE = 10.0, 100.0  # of the motion, s; of the measurements, Hz
COULOMB_SPEED = 0.02  # rad/s
NOISE = np.array([0.8, 0.8, 0.6, 0.6, 0.2, 0.2, 0.1])  # N m
DAMPING = np.array([0.9, 0.8, 0.7, 0.6, 0.4, 0.3, 0.2])  # N m s/rad
COULOMB = np.array([1.4, 1.2, 1.0, 1.0, 0.7, 0.6, 0.5])  # N m
JOINTS = (  # place on the link before (m) and roll (rad); range (rad) and largest torque (N m)
    ((0.0, 0.0, 0.333), 0.0, (-2.9, 2.9), 87.0),
    ((0.0, 0.0, 0.0), -np.pi / 2, (-1.76, 1.76), 87.0),
    ((0.0, -0.316, 0.0), np.pi / 2, (-2.9, 2.9), 87.0),
    ((0.0825, 0.0, 0.0), np.pi / 2, (-3.07, -0.07), 87.0),
    ((-0.0825, 0.384, 0.0), -np.pi / 2, (-2.9, 2.9), 12.0),
    ((0.0, 0.0, 0.0), np.pi / 2, (0.0, 3.75), 12.0),
    ((0.088, 0.0, 0.0), np.pi / 2, (-2.9, 2.9), 12.0),
)
LINKS = (  # as designed: mass (kg), center of mass and size of a box (m)
    (3.5, (0.0, -0.03, -0.08), (0.12, 0.12, 0.25)),
    (3.5, (0.0, -0.07, 0.03), (0.12, 0.25, 0.12)),
    (3.2, (0.04, 0.02, -0.07), (0.15, 0.12, 0.2)),
    (3.2, (-0.04, 0.07, 0.02), (0.15, 0.2, 0.12)),
    (3.3, (0.0, 0.04, -0.1), (0.1, 0.12, 0.3)),
    (1.5, (0.05, 0.0, 0.0), (0.15, 0.1, 0.1)),
    (0.1, (0.0, 0.0, 0.1), (0.08, 0.08, 0.02)),
)
SPEED = 2.2  # rad/s, of all joints


@dataclass(frozen=True)
class Measurement:
    """States and torques of one motion."""

    q: np.ndarray
    v: np.ndarray
    a: np.ndarray
    tau: np.ndarray


@dataclass(frozen=True)
class Result:
    """The two fits, and torques of a motion that no fit has seen."""

    base: identification.BaseParameters
    excitation: identification.Excitation
    ordinary: np.ndarray  # all parameters
    fit: identification.Fit
    check: Measurement


def designed() -> dtau.Model:
    """The arm as it was designed."""
    builder = dtau.ModelBuilder("arm")
    parent = None
    for k, ((place, roll, (lower, upper), effort), (mass, com, size)) in enumerate(
        zip(JOINTS, LINKS, strict=True)
    ):
        squares = np.square(size)
        parent = builder.add(
            dtau.Revolute((0, 0, 1)),
            name=f"link{k + 1}",
            parent=parent,
            placement=dtau.Pose.from_rpy((roll, 0, 0), place),
            inertia=dtau.Inertia(mass, com, mass / 12 * np.diag(squares.sum() - squares)),
            limits=dtau.Limits(lower, upper, velocity=SPEED, effort=effort),
        )
    return builder.build()


def built(design: dtau.Model, rng: np.random.Generator) -> dtau.Model:
    """The arm as it was built: lighter, with other centers and inertias."""
    theta = identification.log_cholesky_from_parameters(design.parameters)
    theta[:, 0] += 0.5 * np.log(rng.uniform(0.5, 1.0, len(theta)))  # of the mass
    theta[:, 1:4] += 0.1 * rng.standard_normal((len(theta), 3))
    theta[:, 4:] += 0.02 * rng.standard_normal((len(theta), 6))
    return design.replace(
        parameters=identification.parameters_from_log_cholesky(theta), damping=DAMPING
    )


def measure(
    robot: dtau.Model, motion: identification.FourierMotion, rng: np.random.Generator
) -> Measurement:
    """Drive the arm along two periods, and measure its torques."""
    q, v, a = motion.states(np.arange(0.0, 2 * PERIOD, 1 / RATE))
    tau = dtau.inverse_dynamics(robot, q, v, a) + COULOMB * np.tanh(v / COULOMB_SPEED)
    return Measurement(q, v, a, tau + NOISE * rng.standard_normal(tau.shape))


def identify(seed: int = 0, iterations: int = 100) -> Result:
    """Find the motion, drive it, and fit."""
    rng = np.random.default_rng(seed)
    design = designed()
    robot = built(design, rng)
    regressor = identification.Regressor(
        design, ["damping", "coulomb"], coulomb_speed=COULOMB_SPEED
    )
    base = identification.base_parameters(regressor)
    found = identification.excite(base, period=PERIOD, iterations=iterations, seed=seed)
    data = measure(robot, found.motion, rng)
    samples = data.q, data.v, data.a, data.tau
    values = identification.least_squares(base, *samples).values
    ordinary = base.nearest(values, regressor.model_parameters)
    other = identification.excite(base, period=PERIOD, iterations=1, seed=seed + 1)
    check = measure(robot, other.motion, rng)
    return Result(base, found, ordinary, identification.fit(base, *samples), check)


def errors(result: Result, parameters: np.ndarray) -> np.ndarray:
    """Root mean square errors of predicted torques, one a joint."""
    check = result.check
    predicted = result.base.regressor.torque(parameters, check.q, check.v, check.a)
    return np.sqrt(((predicted - check.tau) ** 2).mean(axis=0))


def report(result: Result, robot: dtau.Model) -> None:
    """Print what was found."""
    base, regressor = result.base, result.base.regressor
    print(
        f"{base.rank} base parameters of {len(regressor.names)}; condition number of the motion "
        f"{result.excitation.condition:.0f}, of the best random one "
        f"{result.excitation.start_condition:.0f}\n"
    )
    rows = {
        "as built": robot.parameters[:, 0],
        "as designed": regressor.model.parameters[:, 0],
        "ordinary least squares": result.ordinary[:70:10],
        "fit": result.fit.parameters[:70:10],
    }
    print(f"{'masses (kg)':24}" + "".join(f"{f'link {k + 1}':>9}" for k in range(7)))
    for name, masses in rows.items():
        print(f"{name:24}" + "".join(f"{mass:9.3f}" for mass in masses))
    print(f"\n{'errors of torques (N m)':24}" + "".join(f"{f'joint {k + 1}':>9}" for k in range(7)))
    for name, parameters in (
        ("as designed", regressor.model_parameters),
        ("ordinary least squares", result.ordinary),
        ("fit", result.fit.parameters),
    ):
        print(f"{name:24}" + "".join(f"{error:9.3f}" for error in errors(result, parameters)))
    print(f"{'noise':24}" + "".join(f"{sigma:9.3f}" for sigma in NOISE))
    for term, truth in (("damping", DAMPING), ("coulomb", COULOMB)):
        found = regressor.joint_values(result.fit.parameters, term).values()
        off = np.abs(np.array(list(found)) / truth - 1).max()
        print(f"\nlargest error of {term}: {100 * off:.1f} %", end="")
    print()


def plot(result: Result, robot: dtau.Model, path: Path) -> None:
    """Draw torques of a joint before and after, errors of all joints, and which bodies exist."""
    plt = program.pyplot()
    figure, (left, middle, right) = plt.subplots(1, 3, figsize=(13, 4), width_ratios=(4, 3, 4))
    check, regressor, joint = result.check, result.base.regressor, 5
    ways = {
        "as designed": ("C3", regressor.model_parameters),
        "ordinary least squares": ("C1", result.ordinary),
        "fit": ("C0", result.fit.parameters),
    }
    shown = slice(0, int(PERIOD * RATE))
    time = np.arange(shown.stop) / RATE
    left.plot(time, check.tau[shown, joint], color="0.75", linewidth=0.8, label="measured")
    for name in ("as designed", "fit"):
        color, parameters = ways[name]
        tau = regressor.torque(parameters, check.q[shown], check.v[shown], check.a[shown])
        left.plot(time, tau[:, joint], color=color, linewidth=1.2, label=name)
    left.set(title=f"torque of joint {joint + 1} (N m), another motion", xlabel="time (s)")
    place = np.arange(7)
    bodies = {name: parameters for name, (_, parameters) in ways.items() if name != "as designed"}
    bodies["as built"] = robot.parameters.ravel()
    for k, (name, (color, parameters)) in enumerate(ways.items()):
        middle.bar(
            place + 0.27 * (k - 1), errors(result, parameters), 0.25, color=color, label=name
        )
    for k, (name, parameters) in enumerate(bodies.items()):
        inertias = identification.pseudo_inertia(parameters[:70].reshape(7, 10))
        least = np.linalg.eigvalsh(inertias)[:, 0]
        color = ways[name][0] if name in ways else "0.3"
        right.bar(place + 0.27 * (k - 1), 1e3 * least, 0.25, color=color, label=name)
    middle.step(np.arange(-0.5, 7.5), [*NOISE, NOISE[-1]], "k:", where="post", label="noise")
    middle.set(title="errors of torques (N m)", yscale="log", ylim=(0.05, 100.0))
    middle.set_xticks(place, [f"{k + 1}" for k in place])
    middle.set_xlabel("joint")
    right.axhline(0.0, color="black", linewidth=0.8)
    right.set_yscale("symlog", linthresh=0.1)
    right.set(ylim=(-300.0, 3000.0), title="least eigenvalue of pseudo-inertias (10⁻³)")
    right.set_xticks(place, [f"{k + 1}" for k in place])
    right.set_xlabel("link; below zero no body exists")
    for axes in (left, middle, right):
        axes.legend(loc="lower right" if axes is left else "upper right")
    program.save(figure, path)


def main(arguments: Sequence[str] | None = None) -> None:
    parser = program.options(__doc__, "draw torques and bodies")
    program.number(parser, "--seed", 0, "of motion and noise", 0)
    args = parser.parse_args(arguments)
    result = identify(args.seed)
    robot = built(designed(), np.random.default_rng(args.seed))
    report(result, robot)
    if args.plot:
        plot(result, robot, args.plot)


if __name__ == "__main__":
    main()
