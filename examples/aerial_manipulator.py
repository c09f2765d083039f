"""Jerk, snap and beyond: a flying robot with two arms along a trajectory of 30 seconds.

The base flies along a circle and yaws to and fro while the arms lift. From the trajectory and its
derivatives, inverse dynamics gives the wrench on the base and the joints' torques with their time
derivatives of order 1 to 5, at all instants in one call. Such derivatives are what a flatness-based
controller feeds forward, and what tells whether propellers and motors can follow. Forward dynamics
then takes the wrenches and torques back to the accelerations, jerks, ... they came from.

The robot and the trajectory are those of [HO-FBS] table 3; the plot is like its figure 3.

    python examples/aerial_manipulator.py                         # numbers
    python examples/aerial_manipulator.py --plot orders.png       # all orders (matplotlib)
    python examples/aerial_manipulator.py --plot f.png --spatial  # base in spatial axes, as there
    python examples/aerial_manipulator.py --picture robot.png     # the robot on its way
    python examples/aerial_manipulator.py --orders 8 --step 0.1   # other orders, fewer instants

What is printed, for each order k:

    |a|       largest entry of the k-th derivative of the accelerations, of the base and the joints
    |tau|     the same of wrenches and torques
    back      how far forward dynamics is from the trajectory, relative to |a|: errors of low orders
              feed the high ones, about a digit an order
    residual  what its result misses in the differentiated equations of motion, relative to
              max(|tau|, |M| |a|): rounding errors, whatever the order
"""

from __future__ import annotations

from math import comb
from pathlib import Path
from typing import Any, NamedTuple

import numpy as np
import program

import dtau

SECONDS = 30.0
CIRCLE = 2.0 * np.pi / 20.0  # rad/s, along a circle of 1 m radius around the world's origin
YAW, YAW_RATE = np.deg2rad(25.0), 2.0 * np.pi / 30.0
START = np.deg2rad([10.0, -5.0, 15.0, -10.0, 7.0, -12.0])  # the joints', down one arm, the other
LIFT = np.deg2rad([60.0, 50.0, 40.0, 55.0, 45.0, 35.0])


class Reference(NamedTuple):
    """A trajectory at many instants."""

    q: np.ndarray  # (instants, nq)
    v_derivatives: np.ndarray  # (instants, orders + 2, nv): v, a, jerk, ...


def reference(t: np.ndarray, orders: int) -> Reference:
    """The trajectory and its derivatives: all of it sines, so that nothing is approximated."""
    count = orders + 2
    yaw = [YAW * wave(np.sin, YAW_RATE, t, k) for k in range(count + 1)]
    q = np.zeros((len(t), 13))
    q[:, 0], q[:, 1] = np.cos(CIRCLE * t), np.sin(CIRCLE * t)
    q[:, 5], q[:, 6] = np.sin(0.5 * yaw[0]), np.cos(0.5 * yaw[0])
    q[:, 7:] = START + 0.5 * LIFT * (1.0 - np.cos(np.pi * t / SECONDS))[:, np.newaxis]

    # The base's velocity along its own axes, x + iy a complex number u: the world's velocity
    # i CIRCLE exp(i CIRCLE t), turned back by the yaw, so that u' = i (CIRCLE - yaw') u.
    turning = [CIRCLE * (k == 0) - yaw[k + 1] for k in range(count)]
    u = [1j * CIRCLE * np.exp(1j * (CIRCLE * t - yaw[0]))]
    for k in range(count - 1):
        u.append(1j * sum(comb(k, m) * turning[m] * u[k - m] for m in range(k + 1)))

    v = np.zeros((len(t), count, 12))
    for k in range(count):
        v[:, k, 0], v[:, k, 1] = u[k].real, u[k].imag
        v[:, k, 5] = yaw[k + 1]
        v[:, k, 6:] = -0.5 * LIFT * wave(np.cos, np.pi / SECONDS, t, k + 1)[:, np.newaxis]
    return Reference(q, v)


def wave(function: Any, rate: float, t: np.ndarray, k: int) -> np.ndarray:
    """The k-th derivative of the sine or cosine of rate t."""
    return np.asarray(rate**k * function(rate * t + 0.5 * np.pi * k))


class Flight(NamedTuple):
    """What inverse dynamics makes of a trajectory, and forward dynamics of that."""

    tau: np.ndarray  # (instants, orders + 1, nv): wrench on the base and torques
    a: np.ndarray  # (instants, orders + 1, nv): accelerations from them
    residual: np.ndarray  # (orders + 1,): largest of inverse dynamics of a, less tau, relative


def in_spatial_axes(model: dtau.Model, way: Reference, flight: Flight) -> tuple[Reference, Flight]:
    """The same motion with the base's spatial twist, and its wrench about the world's origin.

    The paper has the halves in the other order, the angular one first.
    """
    spatial = dtau.conventions.spatial_twist(model)
    v = way.v_derivatives
    moved = spatial.convert(v, of="v_derivatives", at={"q": way.q})
    back = np.concatenate([v[:, :1], flight.a], axis=1)
    a = spatial.convert(back, of="v_derivatives", at={"q": way.q})[:, 1:]
    tau = spatial.convert(
        flight.tau, of="tau_derivatives", at={"q": way.q, "v_derivatives": v[:, :-1]}
    )
    return Reference(way.q, moved), Flight(tau, a, flight.residual)


def fly(model: dtau.Model, way: Reference) -> Flight:
    """There and back: both with all instants in one call."""
    tau = dtau.inverse_dynamics_time_derivatives(model, way.q, way.v_derivatives)
    v = way.v_derivatives[:, 0]
    a = dtau.forward_dynamics_time_derivatives(model, way.q, v, tau)
    again = dtau.inverse_dynamics_time_derivatives(
        model, way.q, np.concatenate([v[:, np.newaxis], a], axis=1)
    )
    inertia = np.linalg.norm(dtau.mass_matrix(model, way.q), ord=2, axis=(-2, -1)).max()
    scale = np.maximum(largest(tau), inertia * largest(a))
    return Flight(tau, a, largest(again - tau) / scale)


def largest(stack: np.ndarray) -> np.ndarray:
    """The largest entry of each order."""
    return np.asarray(np.abs(stack).max(axis=(0, 2)))


def report(way: Reference, flight: Flight) -> None:
    """Print the table that the help explains."""
    a = way.v_derivatives[:, 1:]
    back = largest(flight.a - a) / largest(a)
    print(f"{len(way.q)} instants, orders 0 to {a.shape[1] - 1} in one call each way\n")
    print("order       |a|     |tau|      back  residual")
    rows = zip(largest(a), largest(flight.tau), back, flight.residual, strict=True)
    for k, numbers in enumerate(rows):
        print(f"{k:5}", *(f"{x:9.2e}" for x in numbers))


# Figures

GROUPS = {  # columns of v, a and tau; what they are called; units of a, labels of tau
    "base, linear": (slice(0, 3), "xyz", "m/s", "force (N/s$^k$)"),
    "base, angular": (slice(3, 6), "xyz", "rad/s", "moment (N m/s$^k$)"),
    "arms": (slice(6, 12), "123456", "rad/s", "torque (N m/s$^k$)"),
}


def plot(
    path: Path, t: np.ndarray, way: Reference, flight: Flight, axes_of_base: str = "body"
) -> None:
    """All orders over time: the trajectory above, wrenches and torques below."""
    plt = program.pyplot()
    orders = flight.tau.shape[1]
    figure, panels = plt.subplots(
        6, orders, figsize=(2.9 * orders, 14.0), sharex=True, squeeze=False
    )
    for row, (name, (columns, entries, unit, force)) in enumerate(GROUPS.items()):
        for k in range(orders):
            above, below = panels[row, k], panels[row + 3, k]
            for i, entry in enumerate(entries):
                j = columns.start + i
                label = f"joint {entry}" if len(entries) > 3 else entry
                above.plot(t, way.v_derivatives[:, k + 1, j], color=f"C{i}", label=label)
                above.plot(t, flight.a[:, k, j], "--", color="black", linewidth=0.8)
                below.plot(t, flight.tau[:, k, j], color=f"C{i}", label=label)
            for axes in (above, below):
                axes.ticklabel_format(axis="y", scilimits=(-2, 3), useMathText=True)
        panels[row, 0].set_ylabel(f"{name}\nacceleration ({unit}$^{{k+2}}$)")
        panels[row + 3, 0].set_ylabel(f"{name}\n{force}")
        panels[row, -1].legend(loc="upper left", bbox_to_anchor=(1.0, 1.0))
    for k in range(orders):
        panels[0, k].set_title(f"order {k}")
        panels[5, k].set_xlabel("t (s)")
    figure.suptitle(
        "The trajectory (coloured) and what forward dynamics makes of its wrenches and torques "
        f"(dashed); below, these wrenches and torques. All orders, base in {axes_of_base} axes."
    )
    program.save(figure, path, 80)


def picture(path: Path, model: dtau.Model) -> None:
    """The robot at home, and on its first round."""
    plt = program.pyplot()
    figure = plt.figure(figsize=(13.0, 6.0), layout="none")
    home, way = (figure.add_subplot(1, 2, i, projection="3d") for i in (1, 2))
    sketch(home, model, dtau.neutral(model), "black")
    home.set_title("At home: all angles zero", y=1.0)
    t = np.array([0.0, 4.0, 8.0, 12.0, 16.0])
    around = reference(np.linspace(0.0, 20.0, 201), 0).q
    way.plot(*around[:, :3].T, ":", color="grey")
    colours = plt.colormaps["viridis"](np.linspace(0.0, 0.85, len(t)))
    for at, q, colour in zip(t, reference(t, 0).q, colours, strict=True):
        sketch(way, model, q, colour)
        way.text(*q[:2], 0.2, f"{at:g} s", color=colour, ha="center")
    way.set_title("The first 16 of 30 seconds", y=1.0)
    way.set_zticks([0.0, -0.4])
    for axes in (home, way):
        axes.set(aspect="equal", xlabel="x (m)", ylabel="y (m)", zlabel="z (m)")
        axes.view_init(elev=25.0, azim=-60.0)
        axes.locator_params(axis="x", nbins=5)
        axes.locator_params(axis="y", nbins=5)
    figure.subplots_adjust(left=0.02, right=0.95, bottom=0.05, top=0.92, wspace=0.12)
    program.save(figure, path, 100)


def sketch(axes: Any, model: dtau.Model, q: np.ndarray, colour: Any) -> None:
    """Draw the base with six propellers (as large as it looks well), and the arms."""
    at = dtau.frame_placements(model, q, "base")
    turn = np.linspace(0.0, 2.0 * np.pi, 25)
    ring = 0.08 * np.stack([np.cos(turn), np.sin(turn), 0.0 * turn], axis=-1)
    for angle in np.pi / 3.0 * np.arange(6):
        hub = 0.2 * np.array([np.cos(angle), np.sin(angle), 0.0])
        spoke = at.translation + np.stack([0.0 * hub, hub]) @ at.rotation.T
        disc = at.translation + (hub + ring) @ at.rotation.T
        axes.plot(*spoke.T, color=colour, linewidth=2.0)
        axes.plot(*disc.T, color="C3" if angle == 0.0 else colour, linewidth=1.0)
    for arm in ("arm1", "arm2"):
        links = dtau.frame_placements(model, q, [f"{arm}_link{i}" for i in (1, 2, 3)])
        tip = links.translation[-1] + links.rotation[-1] @ (0.0, 0.0, -0.12)
        points = np.vstack([at.translation, links.translation, tip])
        axes.plot(*points.T, "o-", color=colour, linewidth=3.0, markersize=4.0, markevery=[1, 2, 3])


def main() -> None:
    parser = program.options(__doc__, "draw all orders over time")
    parser.add_argument("--orders", type=int, default=5, metavar="R", help="to R (default: 5)")
    parser.add_argument(
        "--step", type=float, default=0.01, metavar="S", help="between instants (default: 0.01 s)"
    )
    parser.add_argument("--spatial", action="store_true", help="draw the base in spatial axes")
    parser.add_argument("--picture", type=Path, metavar="FILE", help="draw the robot")
    args = parser.parse_args()
    if args.spatial and not args.plot:
        parser.error("--spatial: only with --plot")
    if not 0 <= args.orders <= 20:
        parser.error(f"--orders: expected 0 to 20, got {args.orders}")
    if not 0.0 < args.step <= SECONDS:
        parser.error(f"--step: expected more than 0 and at most {SECONDS:g}, got {args.step:g}")

    model = dtau.robots.aerial_manipulator()
    t = np.linspace(0.0, SECONDS, 1 + round(SECONDS / args.step))
    way = reference(t, args.orders)
    flight = fly(model, way)
    report(way, flight)
    if args.plot and args.spatial:
        plot(args.plot, t, *in_spatial_axes(model, way, flight), axes_of_base="spatial")
    elif args.plot:
        plot(args.plot, t, way, flight)
    if args.picture:
        picture(args.picture, model)


if __name__ == "__main__":
    main()
