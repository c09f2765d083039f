"""Minimum time within limits on torques and torque rates: UR5 with IPOPT and exact gradients.

UR5 carries 3 kg from one posture to another and stops there, as fast as limits on speeds, torques
and rates of torques allow. Jerks are constant over each interval, so motion between nodes is a
polynomial:

    a+ = a + h j    v+ = v + h a + h²/2 j    q+ = q + h v + h²/2 a + h³/6 j

One call gives torques and their rates at both ends of all intervals, and IPOPT gets the derivatives
of both:

    dtau.casadi.inverse_dynamics_time_derivatives(model, q, [v, a, j])

Its limited-memory mode approximates Hessians. For comparison IPOPT takes its own finite differences
in place of these derivatives. A third way limits differences of torques between nodes, which have
exact Hessians too: it takes few iterations, but limits mean rates only.

    python examples/torque_rates.py                   # iterations and times
    python examples/torque_rates.py --plot rates.png  # and torques and rates (matplotlib)

UR5's file is that of example-robot-data (python -m pip install example-robot-data).
"""

from __future__ import annotations

import time
from collections.abc import Sequence
from dataclasses import dataclass
from pathlib import Path

import casadi as ca
import numpy as np
import program

import dtau
import dtau.casadi

START = np.array([-1.2, -1.0, 1.4, -1.6, -1.2, 0.0])
END = np.array([1.2, -1.8, 1.8, -1.2, -1.6, 1.0])
RATES = np.array([400.0, 400.0, 400.0, 80.0, 80.0, 80.0])  # N m/s
SHORTEST, GUESS, LONGEST = 0.2, 2.0, 4.0  # s
EFFORT, CHANGE = 1e-2, 1e-3  # what torques and rates at their limits cost beside time
LIMITED_MEMORY = {"hessian_approximation": "limited-memory"}
NUMERICAL = {f"{x}_approximation": "finite-difference-values" for x in ("jacobian", "gradient")}
WAYS: dict[str, tuple[str, dict[str, str]]] = {
    "rates, exact gradients": ("rates", LIMITED_MEMORY),
    "rates, finite differences": ("rates", LIMITED_MEMORY | NUMERICAL),
    "torque differences, exact": ("differences", {}),
    "no limit on rates, exact": ("nothing", {}),
}


@dataclass(frozen=True)
class Solution:
    """What IPOPT found, and what it took."""

    duration: float
    q: np.ndarray  # (nodes, nv), and so on
    v: np.ndarray
    a: np.ndarray
    j: np.ndarray
    iterations: int
    seconds: float  # of the processor


def ur5() -> dtau.Model | None:
    """UR5 with a load in its hand, if its file is installed."""
    path = program.robot_file("ur_description/urdf/ur5_robot.urdf")
    return path and dtau.load(path).add_load("wrist_3_link", 3.0)


def torques_and_rates(model: dtau.Model, q: ca.MX, v: ca.MX, a: ca.MX, j: ca.MX) -> list[ca.MX]:
    """Both of states in columns."""
    stack = ca.vertcat(*(ca.vec(x).T for x in (v, a, j)))
    both = dtau.casadi.inverse_dynamics_time_derivatives(model, q, stack)
    return [ca.reshape(both[k, :], q.shape) for k in range(2)]


def solve(model: dtau.Model, way: str, nodes: int = 31) -> Solution:
    """Write the problem with `casadi.Opti`, and let IPOPT solve it."""
    limited, choice = WAYS[way]
    opti, n, steps = ca.Opti(), model.nv, nodes - 1
    q, v, a = (opti.variable(n, nodes) for _ in range(3))
    j, duration = opti.variable(n, steps), opti.variable()
    h = duration / steps
    q0, v0, a0, q1, v1, a1 = (x[:, k : steps + k] for k in range(2) for x in (q, v, a))
    opti.subject_to(ca.vec(q0 + h * v0 + h**2 / 2 * a0 + h**3 / 6 * j - q1) == 0)
    opti.subject_to(ca.vec(v0 + h * a0 + h**2 / 2 * j - v1) == 0)
    opti.subject_to(ca.vec(a0 + h * j - a1) == 0)
    for column, posture in ((0, START), (-1, END)):
        opti.subject_to(q[:, column] == posture)
        opti.subject_to(v[:, column] == 0)
        opti.subject_to(a[:, column] == 0)

    if limited == "rates":
        tau, first = torques_and_rates(model, q0, v0, a0, j)
        rates = ca.horzcat(first, torques_and_rates(model, q1, v1, a1, j)[1])
    else:
        tau = dtau.casadi.inverse_dynamics(model, q, v, a)
        rates = (tau[:, 1:] - tau[:, :-1]) / h
    tau = tau / model.effort_limits
    opti.subject_to(opti.bounded(-1, ca.vec(tau), 1))
    if limited != "nothing":
        opti.subject_to(opti.bounded(-1, ca.vec(rates / RATES), 1))
    opti.subject_to(opti.bounded(-1, ca.vec(v / model.velocity_limits), 1))
    opti.subject_to(opti.bounded(SHORTEST, duration, LONGEST))
    opti.minimize(duration + h * (EFFORT * ca.sumsqr(tau) + CHANGE * ca.sumsqr(rates / RATES)))

    part = np.linspace(0.0, 1.0, nodes)
    way_there = 10 * part**3 - 15 * part**4 + 6 * part**5
    opti.set_initial(q, START[:, None] + np.outer(END - START, way_there))
    opti.set_initial(duration, GUESS)
    options = {"print_level": 0, "sb": "yes", "max_iter": 1000, "tol": 1e-6, **choice}
    opti.solver("ipopt", {"print_time": False}, options)
    began = time.process_time()
    found = opti.solve()
    seconds = time.process_time() - began
    rows = (np.array(found.value(x)).T for x in (q, v, a, j))
    return Solution(found.value(duration), *rows, opti.stats()["iter_count"], seconds)


def between(model: dtau.Model, s: Solution, each: int = 20) -> tuple[np.ndarray, np.ndarray]:
    """Times, and torques and rates in parts of their limits (times, 2, nv), between nodes too."""
    h = s.duration / len(s.j)
    t = (h * np.linspace(0.0, 1.0, each))[:, None, None]
    a = s.a[:-1] + t * s.j
    v = s.v[:-1] + t * s.a[:-1] + t**2 / 2 * s.j
    q = s.q[:-1] + t * s.v[:-1] + t**2 / 2 * s.a[:-1] + t**3 / 6 * s.j
    stack = np.stack(np.broadcast_arrays(v, a, s.j), axis=-2)
    found = dtau.inverse_dynamics_time_derivatives(model, q, stack)
    found /= np.stack([model.effort_limits, RATES])
    times = t[:, :, 0] + h * np.arange(len(s.j))
    return times.T.ravel(), np.swapaxes(found, 0, 1).reshape(-1, 2, model.nv)


def report(model: dtau.Model, solutions: dict[str, Solution]) -> None:
    """Print what each way took, and how far it keeps the limits."""
    print(f"{'':26} {'iterations':>10} {'CPU time':>9} {'motion':>9}  largest torque, rate / limit")
    for way, s in solutions.items():
        most = np.abs(between(model, s)[1]).max(axis=(0, 2))
        print(f"{way:26} {s.iterations:10d} {s.seconds:7.2f} s {s.duration:7.4f} s", end="")
        print(f"  {most[0]:14.3f} {most[1]:6.3f}")


def plot(model: dtau.Model, solutions: dict[str, Solution], path: Path) -> None:
    """Draw torques and their rates, with and without limits on rates."""
    plt = program.pyplot()
    figure, panels = plt.subplots(2, 2, figsize=(10, 5.6), sharex=True, sharey="row")
    colors = ("#0072B2", "#E69F00", "#009E73", "#CC79A7", "#56B4E9", "#000000")
    for column, way in zip(
        panels.T, ("no limit on rates, exact", "rates, exact gradients"), strict=True
    ):
        times, found = between(model, solutions[way])
        for axes, values in zip(column, np.moveaxis(found, 1, 0), strict=True):
            axes.axhspan(-1.0, 1.0, color="0.93", linewidth=0)
            for k, (color, line) in enumerate(zip(colors, values.T, strict=True)):
                axes.plot(times, line, color=color, linewidth=1.2, label=f"joint {k + 1}")
        limited = "without" if way[0] == "n" else "with"
        column[0].set_title(f"{limited} limits on rates: {times[-1]:.2f} s")
        column[1].set_xlabel("time (s)")
    panels[0, 0].set_ylabel("torque / limit")
    panels[1, 0].set(ylabel="rate of torque / limit", ylim=(-3.0, 3.0))
    figure.legend(*panels[0, 0].get_legend_handles_labels(), loc="outside right center")
    program.save(figure, path)


def main(arguments: Sequence[str] | None = None) -> None:
    parser = program.options(__doc__)
    parser.add_argument("--short", action="store_true", help="fewer nodes")
    args = parser.parse_args(arguments)
    model = ur5()
    if model is None:
        raise SystemExit("UR5's file: python -m pip install example-robot-data")
    solutions = {way: solve(model, way, 11 if args.short else 31) for way in WAYS}
    report(model, solutions)
    if args.plot:
        plot(model, solutions, args.plot)


if __name__ == "__main__":
    main()
