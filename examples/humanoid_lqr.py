"""A humanoid stands on two feet by an LQR, with the forces of the ground in the derivatives or not.

Unitree's G1 stands with bent knees; both soles are held, six rows each. Constrained dynamics is
linearized about that posture, over one step of the controller. In twelve of the 35 directions the
robot cannot move, and no torque reaches them: Riccati's equation is solved on the others, a basis
of the null space of the rows' Jacobian, for q and v alike. What begins there stays there.

    exact      A and B as they are
    left out   the derivative by q without the forces of the ground, 327 N in all: that of the free
               robot, projected

Without them the linear model does not know how fast the robot tips over. A regulator that may
spend torque stands all the same. One that shall spare torque does what its model says is needed,
which is not enough, and the robot falls at the slightest push. Forces that are there but constant
are no third way: as no torque changes the momentum of a robot whose forces are constant, there is
no regulator at all. Projected, they give the exact A, for the soles do not turn.

The robot is pushed at its torso for 0.1 s, in eight directions, and simulated with the limits of
its motors. Its soles are held whatever it takes; up to which push a ground would do that, which
only pushes, is printed too.

    python examples/humanoid_lqr.py                       # numbers
    python examples/humanoid_lqr.py --plot humanoid.png   # and a picture (matplotlib)

The robot's file comes with the package example-robot-data.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from pathlib import Path

import numpy as np
import program
from ddp_convergence import progress

import dtau

FILE = "g1_description/urdf/g1_29dof_rev_1_0.urdf"
STEP, SECONDS, PUSHED = 0.005, 3.0, 0.1  # s: of the controller, of a simulation, of a push
WEIGHTS = 10.0 ** np.arange(-4.0, 1.0, 0.5)  # of squared torques, (N m)^-2
SHOWN = 0.1  # the one that is looked at closely
SIZES = (1.0, 1.5, 2.0, 3.0, 5.0, 10.0, 15.0, 20.0, 25.0, 30.0, 40.0)  # N s
STANDS = 0.01  # m: the pelvis is back
SOLE = np.array([[-0.05, 0.12], [-0.025, 0.025]])  # m: corners of the soles, in their frames
FRICTION = 0.6
MODELS = {True: "exact", False: "left out"}


@dataclass(frozen=True)
class Standing:
    """A posture on two feet, what holds it, and the directions in which it can move."""

    model: dtau.Model
    contacts: dtau.Contacts
    q: np.ndarray
    tau: np.ndarray
    basis: np.ndarray  # (2 nv, 2 (nv - 12)): of perturbations of (q, v)


@dataclass(frozen=True)
class Motion:
    """What became of many pushes; the first axis is time, the second the push."""

    time: np.ndarray
    distance: np.ndarray  # of the pelvis from where it stood, m
    possible: np.ndarray  # whether a ground can give the forces at the feet


def standing() -> Standing:
    """Bent knees, both soles on the ground."""
    path = program.robot_file(FILE)
    if path is None:
        raise SystemExit("the robot's file: python -m pip install example-robot-data")
    model = dtau.load(path, root="free")
    angles, feet = {}, []
    for side in ("left", "right"):
        angles |= {f"{side}_hip_pitch_joint": -0.4, f"{side}_knee_joint": 0.8}
        angles |= {f"{side}_ankle_pitch_joint": -0.4, f"{side}_elbow_joint": 0.6}
        feet.append(f"{side}_sole")
        below = dtau.Pose(translation=(0.0, 0.0, -0.035))
        model = model.add_frame(feet[-1], f"{side}_ankle_roll_link", below)
    q = dtau.configuration(model, angles)
    q[2] -= dtau.frame_placements(model, q, feet[0]).translation[2]
    soles = [dtau.FrameContact(foot, axes="mixed", kp=100.0, kd=20.0) for foot in feet]
    contacts = dtau.Contacts(model, soles, at=q)
    still = np.zeros(model.nv)
    hold = dtau.constrained_inverse_dynamics(model, q, still, still, contacts)

    rows = dtau.frame_jacobians(model, q, feet).reshape(-1, model.nv)
    free = np.linalg.svd(rows)[2][len(rows) :].T
    return Standing(model, contacts, q, hold.tau, np.kron(np.eye(2), free))


def linear(at: Standing, with_forces: bool) -> tuple[np.ndarray, np.ndarray]:
    """A and B of one step, in the basis."""
    model, n, still = at.model, at.model.nv, np.zeros(at.model.nv)
    lin = dtau.linearize_discrete(
        model, at.q, still, at.tau, STEP, "semi_implicit", contacts=at.contacts
    )
    a = lin.A.copy()
    if not with_forces:
        d = dtau.constrained_dynamics_derivatives(model, at.q, still, at.tau, at.contacts)
        free = dtau.inverse_dynamics_derivatives(model, at.q, still, still).dtau_dq
        change = STEP * (-d.da_dtau @ free - d.da_dq)  # of v after the step, by q
        a[n:, :n] += change
        a[:n, :n] += STEP * change
    return at.basis.T @ a @ at.basis, at.basis.T @ lin.B


def regulator(a: np.ndarray, b: np.ndarray, weight: float) -> np.ndarray:
    """Gains of the linear-quadratic regulator: Riccati's equation, by doubling."""
    one = np.eye(len(a))
    state_cost = STEP * np.diag(np.repeat([100.0, 1.0], len(a) // 2))
    input_cost = STEP * weight * np.eye(b.shape[1])
    over, reach, cost = a, b @ np.linalg.solve(input_cost, b.T), state_cost
    for _ in range(50):  # steps are as many as 2 to this power
        inverse = np.linalg.inv(one + reach @ cost)
        change = over.T @ cost @ inverse @ over
        reach = reach + over @ inverse @ reach @ over.T
        over, cost = over @ inverse @ over, cost + change
        if np.abs(change).max() < 1e-13 * np.abs(cost).max():
            return np.linalg.solve(input_cost + b.T @ cost @ b, b.T @ cost @ a)
    raise RuntimeError("Riccati's equation: no solution found; can the inputs stabilise it?")


def growth(matrix: np.ndarray) -> float:
    """By what factor the slowest mode grows, as a rate in 1/s; stable below 0."""
    return float(np.log(np.abs(np.linalg.eigvals(matrix)).max()) / STEP)


def supported(forces: np.ndarray) -> np.ndarray:
    """Whether a ground can give forces (..., 12): it pushes inside of the soles, with friction."""
    force, moment = np.moveaxis(forces.reshape(*forces.shape[:-1], 2, 2, 3), -2, 0)
    pressure = np.stack([-moment[..., 1], moment[..., 0]], axis=-1) / force[..., 2:]
    inside = ((pressure > SOLE[:, 0]) & (pressure < SOLE[:, 1])).all(axis=-1)
    holds = np.linalg.norm(force[..., :2], axis=-1) < FRICTION * force[..., 2]
    return np.asarray((inside & holds).all(axis=-1))


def simulate(at: Standing, gains: np.ndarray, pushes: np.ndarray) -> Motion:
    """Push at the torso, with impulses (m, 3) in N s along the world's axes."""
    model, limits = at.model, at.model.effort_limits[6:]
    feedback = gains @ at.basis.T
    torso = model.bodies.index("torso_link")
    q, v = np.tile(at.q, (len(pushes), 1)), np.zeros((len(pushes), model.nv))
    tau, f_ext = np.zeros_like(v), np.zeros((len(pushes), model.nbodies, 6))
    f_ext[:, torso, :3] = pushes / PUSHED
    rows = []
    for k in range(round(SECONDS / STEP)):
        error = np.concatenate([dtau.difference(model, at.q, q), v], axis=-1)
        tau[:, 6:] = np.clip(at.tau[6:] - error @ feedback.T, -limits, limits)
        if k == round(PUSHED / STEP):
            f_ext[:] = 0.0
        now = dtau.constrained_dynamics(model, q, v, tau, at.contacts, f_ext, f_ext_axes="mixed")
        q, v = dtau.step(
            model, q, v, tau, STEP, "semi_implicit", f_ext, f_ext_axes="mixed", contacts=at.contacts
        )
        rows.append((np.linalg.norm(q[:, :3] - at.q[:3], axis=-1), supported(now.forces)))
    distance, possible = map(np.array, zip(*rows, strict=True))
    return Motion(STEP * np.arange(1, len(rows) + 1), distance, possible)


def directions(count: int = 8) -> np.ndarray:
    """Unit vectors in the horizontal plane."""
    angle = 2.0 * np.pi * np.arange(count) / count
    return np.stack([np.cos(angle), np.sin(angle), np.zeros(count)], axis=-1)


def largest(passed: np.ndarray) -> float:
    """Up to which size a test (sizes, directions) is passed in every direction."""
    sizes = int(np.append(passed.all(axis=1), False).argmin())
    return ([0.0, *SIZES])[sizes]


@dataclass(frozen=True)
class Result:
    """Of one regulator on the true robot: growth in 1/s, largest pushes in N s."""

    rate: float
    recovered: float
    possible: float


def compare(at: Standing, weights: Sequence[float]) -> dict[bool, list[Result]]:
    """Both regulators for each weight of the torques, on the robot as it is."""
    pushes = np.concatenate([size * directions() for size in SIZES])
    systems = {forces: linear(at, forces) for forces in MODELS}
    a, b = systems[True]
    found: dict[bool, list[Result]] = {forces: [] for forces in MODELS}
    for i in progress(len(weights), "pushes"):
        for forces, system in systems.items():
            gains = regulator(*system, weights[i])
            with np.errstate(all="ignore"):  # what falls goes out of all bounds
                motion = simulate(at, gains, pushes)
            back = (motion.distance[-1] < STANDS).reshape(len(SIZES), -1)
            possible = motion.possible.all(axis=0).reshape(len(SIZES), -1)
            result = Result(growth(a - b @ gains), largest(back), largest(back & possible))
            found[forces].append(result)
    return found


def report(weights: Sequence[float], found: dict[bool, list[Result]]) -> None:
    print(
        "slowest mode of the true robot (1/s; above 0 it falls), largest push that it stands (N s),"
    )
    print("largest one for which a ground could give the forces\n")
    print(f"{'weight':>8}", *(f"{name:>30}" for name in MODELS.values()))
    for i, weight in enumerate(weights):
        cells = []
        for forces in MODELS:
            r = found[forces][i]
            cells.append(f"{r.rate:>14.2f} {r.recovered:>7g} {r.possible:>7g}")
        print(f"{weight:>8.1e}", *cells)


def plot(
    at: Standing, weights: Sequence[float], found: dict[bool, list[Result]], path: Path
) -> None:
    """Draw the slowest modes over the weight, and pushes in all directions."""
    plt = program.pyplot()
    figure, (left, right) = plt.subplots(1, 2, figsize=(9, 3.6))
    for forces, name in MODELS.items():
        color = "C0" if forces else "C3"
        rates = [result.rate for result in found[forces]]
        left.semilogx(weights, rates, color=color, marker=".", label=f"forces {name}")
        motion = simulate(at, regulator(*linear(at, forces), SHOWN), 2.0 * directions())
        right.semilogy(motion.time, motion.distance, color=color, linewidth=0.9)
    left.axhline(0.0, color="black", linewidth=0.8, linestyle=":")
    left.text(weights[0], 0.2, "falls")
    left.text(weights[0], -0.3, "stands", verticalalignment="top")
    left.set(title="slowest mode of the true robot (1/s)", xlabel="weight of squared torques")
    left.legend()
    right.set(ylim=(1e-4, 3.0), title=f"2 N s at weight {SHOWN:g}: the pelvis is off by (m)")
    right.set_xlabel("time (s)")
    program.save(figure, path)


def main(arguments: Sequence[str] | None = None) -> None:
    parser = program.options(__doc__)
    parser.add_argument("--short", action="store_true", help="three weights instead of ten")
    args = parser.parse_args(arguments)
    at = standing()
    weights = WEIGHTS[1::3] if args.short else WEIGHTS
    found = compare(at, weights)
    report(weights, found)
    if args.plot:
        plot(at, weights, found, args.plot)


if __name__ == "__main__":
    main()
