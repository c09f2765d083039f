"""Linearize a flying robot in all attitudes, with and without Euler angles.

The aerial manipulator hovers, held by its six tilted propellers and its joints. In Euler angles
(roll, pitch, yaw) the same linearization is A' = P A P^-1, B' = P B, where P takes a displacement
in the tangent space to the coordinates' rates. At a pitch of 90 degrees P is singular: entries of
A' and B' grow without bound as 1 / cos(pitch), and with them whatever is computed of them: gains,
Kalman filters, optimizers' steps. The geometric linearization sees nothing special there.

    python examples/attitude_sweep.py                  # numbers
    python examples/attitude_sweep.py --plot sweep.png # and a figure (matplotlib)
"""

from __future__ import annotations

from pathlib import Path

import numpy as np
import program
import propellers

import dtau


def quaternions(roll: np.ndarray, pitch: np.ndarray) -> np.ndarray:
    """Unit quaternions (x, y, z, w) of Ry(pitch) Rx(roll)."""
    sr, cr = np.sin(0.5 * roll), np.cos(0.5 * roll)
    sp, cp = np.sin(0.5 * pitch), np.cos(0.5 * pitch)
    return np.stack([sr * cp, cr * sp, -sr * sp, cr * cp], axis=-1)


def to_euler(rotation: np.ndarray, roll: np.ndarray, pitch: np.ndarray, nv: int) -> np.ndarray:
    """Rates of (world position, roll, pitch, yaw, joints) by velocities: matrices (..., nv, nv)."""
    sin, cos, tan = np.sin(roll), np.cos(roll), np.tan(pitch)
    rates = np.zeros((*roll.shape, nv, nv))
    rates[..., range(nv), range(nv)] = 1.0
    rates[..., :3, :3] = rotation
    rates[..., 3, 4], rates[..., 3, 5] = sin * tan, cos * tan
    rates[..., 4, 4], rates[..., 4, 5] = cos, -sin
    rates[..., 5, 4], rates[..., 5, 5] = sin / np.cos(pitch), cos / np.cos(pitch)
    return rates


def largest_entries(roll: np.ndarray, pitch: np.ndarray) -> dict[str, np.ndarray]:
    """The largest entry in the rows of the base's angular acceleration, of A and B, both ways."""
    model = dtau.robots.aerial_manipulator()
    q = np.broadcast_to(propellers.hover(model), (*roll.shape, model.nq)).copy()
    q[..., 3:7] = quaternions(roll, pitch)
    inputs = propellers.inputs(model)
    hold = dtau.equilibrium(model, q, inputs=inputs)
    assert hold.exists.all()
    lin = dtau.linearize(model, q, np.zeros(model.nv), hold.tau, inputs=inputs)

    base = dtau.frame_placements(model, q, "base").rotation
    rates = to_euler(base, roll, pitch, model.nv)
    both = np.zeros_like(lin.A)  # P: positions and, at rest, velocities change alike
    both[..., : model.nv, : model.nv] = both[..., model.nv :, model.nv :] = rates
    matrices = {
        "A": lin.A,
        "A, Euler": both @ lin.A @ np.linalg.inv(both),
        "B": lin.B,
        "B, Euler": both @ lin.B,
    }
    rows = slice(model.nv + 3, model.nv + 6)
    return {name: np.abs(x[..., rows, :]).max(axis=(-2, -1)) for name, x in matrices.items()}


def report() -> None:
    """Print the largest entries on the way to a pitch of 90 degrees."""
    degrees = np.array([0.0, 45.0, 80.0, 89.0, 89.9, 89.99, 89.9999])
    roll = np.deg2rad(np.full_like(degrees, 20.0))
    largest = largest_entries(roll, np.deg2rad(degrees))
    print("At hover, roll 20 degrees: the largest entry in the rows of angular acceleration\n")
    print(f"{'pitch':>10}", *(f"{name:>10}" for name in largest))
    for i, pitch in enumerate(degrees):
        print(f"{pitch:10g}", *(f"{values[i]:10.4g}" for values in largest.values()))


def plot(path: Path) -> None:
    """Draw B's largest entry along a loop of the pitch, and over roll and pitch."""
    plt = program.pyplot()
    figure, panels = plt.subplots(1, 3, figsize=(14, 4.2))
    loop = np.linspace(0.0, 360.0, 721) + 0.01  # beside 90 degrees, where there is no number
    largest = largest_entries(np.deg2rad(np.full_like(loop, 20.0)), np.deg2rad(loop))
    for name, values in largest.items():
        style = "--" if "Euler" in name else "-"
        panels[0].semilogy(loop, values, style, color="C0" if name[0] == "A" else "C1", label=name)
    panels[0].set(title="Largest entry* along a loop, roll 20°", xlabel="pitch (degrees)")
    panels[0].set_xticks(range(0, 361, 90))
    panels[0].legend(ncols=2)

    edges = np.linspace(-180.0, 180.0, 73)
    middles = 0.5 * (edges[1:] + edges[:-1])
    roll, pitch = np.meshgrid(np.deg2rad(middles), np.deg2rad(middles), indexing="ij")
    over = largest_entries(roll, pitch)
    low, high = over["B"].min(), over["B, Euler"].max()
    for axes, name, title in (
        (panels[1], "B, Euler", "Largest entry* of B, Euler angles"),
        (panels[2], "B", "Largest entry* of B, geometric"),
    ):
        image = axes.pcolormesh(edges, edges, over[name], norm="log", vmin=low, vmax=high)
        axes.grid(visible=False)
        axes.set(title=title, xlabel="pitch (degrees)", ylabel="roll (degrees)")
        axes.set(xticks=range(-180, 181, 90), yticks=range(-180, 181, 90))
    figure.colorbar(image, ax=panels[1:])
    figure.supxlabel("* in the rows of the base's angular acceleration", fontsize="small", x=0.85)
    program.save(figure, path)


def main() -> None:
    parser = program.options(__doc__, "draw the sweep")
    args = parser.parse_args()
    report()
    if args.plot:
        plot(args.plot)


if __name__ == "__main__":
    main()
