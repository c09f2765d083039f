"""Trajectories of two robots by CasADi and IPOPT, with exact Hessians and without.

Panda carries 2 kg from one posture to another and stops there, as fast as its motors allow: free
final time, limits on positions, velocities and torques. A flying arm with four rotors does a roll:
the quaternion of its base goes from (0, 0, 0, 1) to (0, 0, 0, -1), the same attitude after a whole
turn, and it ends where it began, at rest; two arms hang below it and may swing.

Both are direct transcriptions of q and v at nodes. Accelerations are constant over each interval,
and torques are what inverse dynamics gives in its middle, so that IPOPT calls `dtau` for values,
Jacobians and Hessians, without Python:

    a = (v+ - v) / h    u = (v + v+) / 2    q+ = q (+) h u    tau = ID(q (+) h u / 2, u, a)

    python examples/trajectory_optimization.py                      # iterations and times
    python examples/trajectory_optimization.py --plot solution.png  # and the motions (matplotlib)

Panda's file is that of example-robot-data (python -m pip install example-robot-data).
"""

from __future__ import annotations

import time
from collections.abc import Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import casadi as ca
import numpy as np
import program

import dtau
import dtau.casadi

FILE = "panda_description/urdf/panda.urdf"
START = np.array([0.0, 0.6, 0.0, -1.6, 0.0, 2.2, 0.8])
END = np.array([2.0, -0.4, 0.5, -2.2, -0.6, 1.6, -0.9])
LONGEST = 3.0  # s
EFFORT = 1e-5  # what a squared torque costs beside a second

ARM = 0.17  # m: of the rotors, from the center of the base
THRUST, DRAG = 20.0, 0.02  # N, at most, and the moment about its axis that it takes, m
JOINT_TORQUE = 1.5  # N m
ROLL_TIME = 1.6  # s


@dataclass(frozen=True)
class Problem:
    """A nonlinear program, and where in its variables the motion is."""

    model: dtau.Model
    nlp: dict[str, Any]
    bounds: dict[str, Any]  # and the first guess
    motion: Any  # casadi.Function of the variables: times, q, v, tau; nodes are columns


@dataclass(frozen=True)
class Solution:
    """What IPOPT found, and what it took."""

    cost: float
    iterations: int
    seconds: float  # of the processor
    solved: bool
    times: np.ndarray  # s, of the nodes
    q: np.ndarray  # (nodes, nq)
    v: np.ndarray
    tau: np.ndarray  # (nodes - 1, nv)


def panda() -> dtau.Model:
    """The arm without its fingers, and with a load in its hand."""
    path = program.robot_file(FILE)
    if path is None:
        raise SystemExit("Panda's file: python -m pip install example-robot-data")
    model = dtau.load(path, mimic="exact")
    fingers = [j.name for j in model.joints if "finger" in j.name and not j.mimic]
    return model.lock(dict.fromkeys(fingers, 0.0)).add_load("panda_link7", 2.0)


def transcription(model: dtau.Model, nodes: int, h: Any) -> dict[str, Any]:
    """Variables of all nodes, and what ties them together."""
    q = ca.MX.sym("q", model.nq, nodes)
    v = ca.MX.sym("v", model.nv, nodes)
    u = (v[:, :-1] + v[:, 1:]) / 2.0
    between = dtau.casadi.integrate(model, q[:, :-1], h / 2.0 * u)
    return {
        "q": q,
        "v": v,
        "tau": dtau.casadi.inverse_dynamics(model, between, u, (v[:, 1:] - v[:, :-1]) / h),
        "defects": q[:, 1:] - dtau.casadi.integrate(model, q[:, :-1], h * u),
    }


def panda_problem(model: dtau.Model, nodes: int = 41) -> Problem:
    """As fast as possible from one posture to another."""
    duration = ca.MX.sym("duration")
    t = transcription(model, nodes, duration / (nodes - 1))
    variables = ca.veccat(t["q"], t["v"], duration)
    cost = duration * (1.0 + EFFORT * ca.sumsqr(t["tau"]) / nodes)
    speed = np.tile(model.velocity_limits, (nodes, 1))
    speed[[0, -1]] = 0.0
    lower, upper = (np.tile(x, (nodes, 1)) for x in (model.lower_limits, model.upper_limits))
    lower[0] = upper[0] = START
    lower[-1] = upper[-1] = END
    guess = START + np.linspace(0.0, 1.0, nodes)[:, None] * (END - START)
    torque = np.tile(model.effort_limits, nodes - 1)
    ties = np.zeros(t["defects"].numel())
    return Problem(
        model,
        {"x": variables, "f": cost, "g": ca.veccat(t["defects"], t["tau"])},
        {
            "x0": np.r_[guess.ravel(), np.zeros(speed.size), 2.0],
            "lbx": np.r_[lower.ravel(), -speed.ravel(), 0.1],
            "ubx": np.r_[upper.ravel(), speed.ravel(), LONGEST],
            "lbg": np.r_[ties, -torque],
            "ubg": np.r_[ties, torque],
        },
        motion(variables, ca.linspace(ca.MX(0), duration, nodes), t),
    )


def motion(variables: Any, times: Any, t: dict[str, Any]) -> Any:
    """Read times, positions, velocities and torques off the variables."""
    return ca.Function("motion", [variables], [times, t["q"], t["v"], t["tau"]])


def rotors() -> np.ndarray:
    """Force along z and three moments of the base (4), for the thrusts of four rotors."""
    angles = np.pi / 4.0 + np.pi / 2.0 * np.arange(4)
    turns = DRAG * np.array([1.0, -1.0, 1.0, -1.0])
    return np.array([np.ones(4), ARM * np.sin(angles), -ARM * np.cos(angles), turns])


def roll_problem(nodes: int = 57) -> Problem:
    """A whole roll of the flying arm, with the least effort."""
    model = dtau.robots.aerial_manipulator()
    h = ROLL_TIME / (nodes - 1)
    t = transcription(model, nodes, h)
    variables = ca.veccat(t["q"], t["v"])
    thrusts = ca.mtimes(np.linalg.inv(rotors()), t["tau"][2:6, :])
    joints = t["tau"][6:, :]
    cost = h * (ca.sumsqr(thrusts) / THRUST**2 + ca.sumsqr(joints) / JOINT_TORQUE**2)
    cost += 1e-3 * h * ca.sumsqr(t["v"])
    hover = dtau.neutral(model)
    upside_down = hover.copy()
    upside_down[6] = -1.0
    guess = np.tile(hover, (nodes, 1))
    half_angle = np.linspace(0.0, np.pi, nodes)
    guess[:, 3], guess[:, 6] = np.sin(half_angle), np.cos(half_angle)
    lower, upper = np.full((nodes, model.nq), -np.inf), np.full((nodes, model.nq), np.inf)
    lower[:, 7:], upper[:, 7:] = -1.5, 1.5
    lower[0] = upper[0] = hover
    lower[-1] = upper[-1] = upside_down
    lower[-1, 6], upper[-1, 6] = -np.inf, 0.0  # its length is 1 by the step that leads there
    speed = np.full((nodes, model.nv), np.inf)
    speed[[0, -1]] = 0.0
    ties, sideways = np.zeros(t["defects"].numel()), np.zeros(2 * (nodes - 1))
    most = np.r_[np.full(thrusts.numel(), THRUST), np.full(joints.numel(), JOINT_TORQUE)]
    least = np.r_[np.zeros(thrusts.numel()), np.full(joints.numel(), -JOINT_TORQUE)]
    return Problem(
        model,
        {"x": variables, "f": cost, "g": ca.veccat(t["defects"], t["tau"][:2, :], thrusts, joints)},
        {
            "x0": np.r_[guess.ravel(), np.zeros(speed.size)],
            "lbx": np.r_[lower.ravel(), -speed.ravel()],
            "ubx": np.r_[upper.ravel(), speed.ravel()],
            "lbg": np.r_[ties, sideways, least],
            "ubg": np.r_[ties, sideways, most],
        },
        motion(variables, np.linspace(0.0, ROLL_TIME, nodes), t),
    )


def solve(problem: Problem, hessian: str = "exact", most: int = 3000) -> Solution:
    """Let IPOPT solve it, with exact Hessians or with those of its limited-memory mode."""
    options = {
        "print_time": False,
        "ipopt": {
            "print_level": 0,
            "sb": "yes",
            "max_iter": most,
            "tol": 1e-6,
            "hessian_approximation": hessian,
        },
    }
    solver = ca.nlpsol("solver", "ipopt", problem.nlp, options)
    began = time.process_time()
    found = solver(**problem.bounds)
    seconds = time.process_time() - began
    stats = solver.stats()
    times, *rest = (np.array(each).T for each in problem.motion(found["x"]))
    q, v, tau = rest
    return Solution(
        float(found["f"]), stats["iter_count"], seconds, stats["success"], times.ravel(), q, v, tau
    )


def report(name: str, solutions: dict[str, Solution]) -> None:
    """Print what each way took."""
    print(f"{name}\n{'':22} {'cost':>9} {'iterations':>11} {'CPU time':>9}")
    for way, s in solutions.items():
        end = "" if s.solved else "  (did not converge)"
        print(f"{way:22} {s.cost:9.5f} {s.iterations:11d} {s.seconds:7.2f} s{end}")


def plot(path: Path, arm: Solution, model: dtau.Model, roll: Solution) -> None:
    """Draw Panda's torques beside their limits, and the flying arm's roll."""
    plt = program.pyplot()
    figure = plt.figure(figsize=(11, 6.6))
    panels = figure.subplot_mosaic([["torque", "speed"], ["roll", "roll"]], height_ratios=[1, 0.9])
    for name, numbers, most in (
        ("torque", arm.tau, model.effort_limits),
        ("speed", arm.v, model.velocity_limits),
    ):
        panels[name].axhspan(-1.0, 1.0, color="0.93", zorder=0)
        at = arm.times if name == "speed" else (arm.times[1:] + arm.times[:-1]) / 2.0
        lines = panels[name].plot(at, numbers / most)
        panels[name].set(xlabel="time (s)", ylabel=f"{name} / limit", ylim=(-1.1, 1.1))
        panels[name].set_title(f"Panda: {name}s of the seven joints")
    panels["speed"].legend(lines, range(1, 8), title="joint", fontsize=7, loc="center left",
                           bbox_to_anchor=(1.0, 0.5))  # fmt: skip
    right = panels["roll"]
    flying = dtau.robots.aerial_manipulator()
    ends = [frame for frame in flying.frames if frame.endswith("link3")]
    links = [frame for frame in flying.frames if "arm" in frame]
    shown = np.unique(np.linspace(0, len(roll.q) - 1, 12).astype(int))
    rotation, at = dtau.frame_placements(flying, roll.q[shown], [flying.bodies[0], *links])
    colours = plt.colormaps["viridis"](np.linspace(0.0, 0.9, len(shown)))
    spread = 0.55 * np.arange(len(shown))  # so that they do not hide each other
    for k, colour in enumerate(colours):
        base, turn = at[k, 0], rotation[k, 0]
        rod = np.array([base + turn @ [0, s * ARM, 0] for s in (-1, 1)])
        right.plot(rod[:, 1] + spread[k], rod[:, 2], color=colour, linewidth=3)
        for side in range(len(ends)):
            joints = at[k, 1 + 3 * side : 4 + 3 * side]
            tip = joints[-1] + rotation[k, 3 + 3 * side] @ [0, 0, -0.12]
            chain = np.vstack([base, joints, tip])
            right.plot(
                chain[:, 1] + spread[k], chain[:, 2], color=colour, linewidth=1.5, marker="."
            )
    right.set(
        xlabel="y (m), each state 0.55 m further to the right", ylabel="z (m)", aspect="equal"
    )
    right.set_title(f"Flying arm: a roll in {ROLL_TIME} s, twelve states")
    program.save(figure, path, 130)


def main(arguments: Sequence[str] | None = None) -> None:
    parser = program.options(__doc__)
    parser.add_argument("--short", action="store_true", help="fewer nodes, exact Hessians only")
    options = parser.parse_args(arguments)
    model = panda()
    ways = ("exact",) if options.short else ("exact", "limited-memory")
    nodes = 15 if options.short else 41
    arm = panda_problem(model, nodes)
    solutions = {f"Hessian {way}": solve(arm, way) for way in ways}
    report(f"Panda, {nodes} nodes", solutions)
    nodes = 29 if options.short else 57
    roll = roll_problem(nodes)
    rolls = {f"Hessian {way}": solve(roll, way) for way in ways}
    report(f"flying arm, {nodes} nodes", rolls)
    if options.plot:
        plot(options.plot, solutions["Hessian exact"], model, rolls["Hessian exact"])


if __name__ == "__main__":
    main()
