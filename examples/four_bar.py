"""A four-bar linkage swings without friction: its energy, and its loop, over the time step.

The linkage is a tree, a crank with a coupler and a rocker, and one loop that holds the coupler's
end on the rocker's. `dtau.step` with `contacts=` takes the accelerations at which the loop holds.
Nothing takes energy out of it or brings any in, so what changes is the integrator's error: it goes
with the time step to the power of the integrator's order. So does the gap of the loop, for what is
held are accelerations. Without gains it grows as time goes on; Baumgarte's keep it small.

    python examples/four_bar.py                     # orders, as slopes
    python examples/four_bar.py --plot four_bar.png # and a picture (matplotlib)
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from pathlib import Path

import numpy as np
import program
from ddp_convergence import progress

import dtau

METHODS = {"euler": 1, "semi_implicit": 1, "rk4": 4}  # and their orders
SECONDS = 1.0
STEPS = np.array([200, 400, 800, 1600, 3200, 6400])  # in that time
DRIVEN = 20.0  # rad/s, of the crank at first
GAINS = {"kp": 400.0, "kd": 40.0}  # 1/s², 1/s
LONG, COARSE = 10.0, 0.002  # s: a simulation with gains and without, its step
ENDS = ["coupler_end", "rocker_end"]


@dataclass(frozen=True)
class Run:
    """What became of the energy, in parts of the kinetic energy at first, and of the loop."""

    energy: np.ndarray  # error at each time
    gap: np.ndarray  # m


def start(robot: dtau.Mechanism) -> np.ndarray:
    """Velocities at which the crank turns and the loop holds: an impact on the loop leaves such."""
    crank, v = robot.model.joint("crank").v, np.zeros(robot.model.nv)
    v[crank] = 1.0
    v = dtau.impulse_dynamics(robot.model, robot.q, v, robot.contacts).v
    return DRIVEN / v[crank] * v


def energy(model: dtau.Model, q: np.ndarray, v: np.ndarray) -> np.ndarray:
    return dtau.kinetic_energy(model, q, v) + dtau.potential_energy(model, q)


def gap(model: dtau.Model, q: np.ndarray) -> np.ndarray:
    """How far the ends of coupler and rocker are apart."""
    ends = dtau.frame_placements(model, q, ENDS).translation
    return np.linalg.norm(ends[..., 0, :] - ends[..., 1, :], axis=-1)


def swing(robot: dtau.Mechanism, method: str, steps: int, seconds: float = SECONDS) -> Run:
    """Simulate, with nothing but gravity."""
    model, contacts = robot.model, robot.contacts
    q, v = robot.q, start(robot)
    tau, h = np.zeros(model.nv), seconds / steps
    states = [(q, v)]
    for _ in range(steps):
        q, v = dtau.step(model, q, v, tau, h, method, contacts=contacts)
        states.append((q, v))
    q, v = (np.stack(x) for x in zip(*states, strict=True))
    total = energy(model, q, v)
    return Run((total - total[0]) / dtau.kinetic_energy(model, q[0], v[0]), gap(model, q))


def largest(robot: dtau.Mechanism, counts: np.ndarray) -> dict[str, np.ndarray]:
    """By method, the largest error of the energy and the largest gap, for each number of steps."""
    found = {method: np.zeros((2, len(counts))) for method in METHODS}
    for i in progress(len(counts), "time steps"):
        for method, errors in found.items():
            run = swing(robot, method, int(counts[i]))
            errors[:, i] = np.abs(run.energy).max(), run.gap.max()
    return found


def long_runs() -> dict[str, Run]:
    """With RK4, the loop left alone and with gains."""
    robots = {"no gains": dtau.robots.four_bar(), "gains": dtau.robots.four_bar(**GAINS)}
    steps = round(LONG / COARSE)
    return {name: swing(robot, "rk4", steps, LONG) for name, robot in robots.items()}


def slopes(counts: np.ndarray, errors: np.ndarray) -> np.ndarray:
    """Powers of the time step, from one to the next."""
    return np.asarray(-np.diff(np.log(errors)) / np.diff(np.log(counts)))


def report(counts: np.ndarray, found: dict[str, np.ndarray]) -> None:
    print("largest error of the energy (of the kinetic energy at first), and power of the step")
    print(f"{'step (ms)':>15}", *(f"{1e3 * SECONDS / n:>10.3g}" for n in counts), f"{'power':>7}")
    for method, (of_energy, _) in found.items():
        power = slopes(counts, of_energy)[-1]
        print(f"{method:>15}", *(f"{x:>10.1e}" for x in of_energy), f"{power:>7.2f}")
    print("\nlargest gap of the loop (m)")
    for method, (_, of_loop) in found.items():
        power = slopes(counts, of_loop)[-1]
        print(f"{method:>15}", *(f"{x:>10.1e}" for x in of_loop), f"{power:>7.2f}")


def report_long(runs: dict[str, Run]) -> None:
    print(
        f"\nin {LONG:g} s of RK4 in steps of {1e3 * COARSE:g} ms, largest gap and error of energy"
    )
    for name, run in runs.items():
        print(f"{name:>15} {run.gap.max():>10.1e} m {np.abs(run.energy).max():>10.1e}")


def plot(
    counts: np.ndarray, found: dict[str, np.ndarray], runs: dict[str, Run], path: Path
) -> None:
    """Draw both errors over the step, with lines of the orders, and the gaps of long runs."""
    plt = program.pyplot()
    figure, panels = plt.subplots(1, 3, figsize=(11, 3.6))
    h = SECONDS / counts
    colors = dict(zip(METHODS, ("C1", "C2", "C0"), strict=True))
    for method, errors in found.items():
        order = METHODS[method]
        for axes, values in zip(panels, errors, strict=False):
            axes.loglog(
                h, values, color=colors[method], marker=".", label=f"{method}, order {order}"
            )
            line = values[-1] * (h / h[-1]) ** order
            axes.loglog(h, line, color="black", linewidth=0.7, linestyle=":")
    panels[0].set_title("error of the energy (parts)")
    panels[1].set_title("gap of the loop (m)")
    panels[1].legend(loc="lower right")
    for name, color in (("no gains", "C0"), ("gains", "C3")):
        gap = runs[name].gap
        label = name if name == "no gains" else "kp {kp:g}, kd {kd:g}".format(**GAINS)
        panels[2].semilogy(
            COARSE * np.arange(1, len(gap)), gap[1:], color=color, linewidth=0.8, label=label
        )
    panels[2].set(title=f"gap, RK4 in steps of {1e3 * COARSE:g} ms (m)", xlabel="time (s)")
    panels[2].legend(loc="center right")
    for axes in panels[:2]:
        axes.set_xlabel("time step (s)")
        axes.xaxis.set_minor_formatter("")
    program.save(figure, path)


def main(arguments: Sequence[str] | None = None) -> None:
    parser = program.options(__doc__)
    parser.add_argument("--short", action="store_true", help="three steps instead of six")
    args = parser.parse_args(arguments)
    counts = STEPS[:3] if args.short else STEPS
    found, runs = largest(dtau.robots.four_bar(), counts), long_runs()
    report(counts, found)
    report_long(runs)
    if args.plot:
        plot(counts, found, runs, args.plot)


if __name__ == "__main__":
    main()
