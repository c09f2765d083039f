"""The README's picture: a robot, the derivatives of its torques, and how fast they come.

The ratios are those at the head of docs/benchmarks.md, read from there.

    python docs/pictures/overview.py    # writes docs/pictures/overview.png (needs matplotlib)
"""

from __future__ import annotations

import re
from pathlib import Path
from typing import Any

import numpy as np

import dtau

PAGE = Path(__file__).resolve().parents[1] / "benchmarks.md"
BLUE, GREY = "#2166ac", "#44505c"
NUMBER = r"([\d.,]+)"
SPAN = NUMBER + r" to " + NUMBER
# The bars: the peer, the functions, and the row of the table at the head of docs/benchmarks.md.
RATIOS = [
    ("Pinocchio", "values, one state", rf"one state per call \| values \| {SPAN}"),
    ("Pinocchio", "derivatives, one state", rf"\| first derivatives \| {SPAN}"),
    ("Pinocchio", "inverse dynamics, batches", rf"batches of 256 \| inverse dynamics \| {SPAN}"),
    ("Pinocchio", "forward dynamics, batches", rf"\| forward dynamics \| {SPAN}"),
    ("Pinocchio", "derivatives of inverse, batches", rf"of inverse dynamics \| {SPAN}"),
    ("Pinocchio", "derivatives of forward, batches", rf"of forward dynamics \| {SPAN}"),
    ("MuJoCo", "differences of a step, batches", rf"derivatives of a time step \| {SPAN}"),
    (
        "CasADi as C",
        "second derivatives, batches",
        rf"3.6 to 29 \| `paper_002_casadi` \| \| \| second derivatives \| {SPAN}",
    ),
]
AZIMUTH, ELEVATION = np.deg2rad(-58.0), np.deg2rad(16.0)


def ratios() -> list[tuple[str, str, float, float]]:
    """Beside whom, what, from, to."""
    head = " ".join(PAGE.read_text(encoding="utf-8").split("**Level**")[0].split())
    found = []
    for whom, what, pattern in RATIOS:
        match = re.search(pattern, head)
        assert match, f"{PAGE} does not say {pattern!r}"
        low, high = (float(x.replace(",", "")) for x in match.groups())
        found.append((whom, what, low, high))
    return found


def label() -> str:
    """The ratios in words, as the picture's file has them: a test compares them with the page."""
    return "; ".join(f"{whom}: {what}: {low:g} to {high:g}" for whom, what, low, high in ratios())


def trotting(model: dtau.Model) -> tuple[np.ndarray, np.ndarray, np.ndarray]:
    """A state, and accelerations: two legs swing forward, two stand."""
    rng = np.random.default_rng(3)
    q, v, a = dtau.neutral(model), *(0.3 * rng.normal(size=(2, model.nv)))
    v[0] += 0.5
    for leg, swing in {"LF": 1.0, "RH": 1.0, "RF": -1.0, "LH": -1.0}.items():
        bend = 1.0 if leg.endswith("F") else -1.0
        q[model.joint(f"{leg}_HFE").q] = 0.6 * bend - 0.15 * swing
        q[model.joint(f"{leg}_KFE").q] = -(1.2 + 0.2 * swing) * bend
        v[model.joint(f"{leg}_HFE").v] += -2.5 * swing
    return q, v, a


def draw_robot(axes: Any, model: dtau.Model, q: np.ndarray) -> None:
    """Trunk and legs, from the side and a little from above."""
    sin, cos = np.sin([AZIMUTH, ELEVATION]), np.cos([AZIMUTH, ELEVATION])
    view = np.array([[-sin[0], cos[0], 0.0], [-sin[1] * cos[0], -sin[1] * sin[0], cos[1]]])

    def leg(name: str, color: str, order: int) -> None:
        frames = [f"{name}_{link}" for link in ("HIP", "THIGH", "SHANK", "FOOT")]
        points = dtau.frame_placements(model, q, frames).translation
        style = {"solid_capstyle": "round", "solid_joinstyle": "round"}
        axes.plot(*(points @ view.T).T, color=color, lw=9, zorder=order, **style)

    for name in ("LF", "LH"):
        leg(name, "#92b4d4", 1)
    x, y, z = (0.36, -0.36), (0.14, -0.14), (0.09, -0.08)
    square = ((0, 0), (1, 0), (1, 1), (0, 1))
    faces = {
        GREY: [(x[i], y[1], z[j]) for i, j in square],
        "#5d6b78": [(x[0], y[i], z[j]) for i, j in square],
        "#7d8b98": [(x[i], y[j], z[0]) for i, j in square],
    }
    for color, corners in faces.items():
        axes.fill(*(np.array(corners) @ view.T).T, color=color, lw=2, joinstyle="round", zorder=3)
    for name in ("RF", "RH"):
        leg(name, BLUE, 4)
    axes.set_aspect("equal")
    axes.margins(0.08)
    axes.axis("off")


def draw_matrix(axes: Any, matrix: np.ndarray, title: str) -> None:
    from matplotlib.colors import SymLogNorm

    largest = np.abs(matrix).max()
    axes.imshow(matrix, cmap="RdBu_r", norm=SymLogNorm(1e-2 * largest, vmin=-largest, vmax=largest))
    axes.set_title(title, fontsize=17)
    axes.set_xticks([])
    axes.set_yticks([])
    for side in axes.spines.values():
        side.set_color("#b8c0c8")


def draw_ratios(axes: Any) -> None:
    for k, (whom, what, low, high) in enumerate(ratios()):
        color = BLUE if whom == "Pinocchio" else GREY
        axes.barh(-k, high - low, left=low, height=0.6, color=color)
        axes.text(1.12 * high, -k, f"{low:g} to {high:g}", va="center", fontsize=14, color=color)
        axes.text(0.9, -k, f"{whom}: {what}", ha="right", va="center", fontsize=14)
    axes.set_xscale("log")
    axes.set_xlim(1.0, 300)
    axes.set_yticks([])
    axes.set_xticks([1, 10, 100], ["1", "10", "100"], fontsize=13)
    axes.minorticks_off()
    for side in ("top", "right"):
        axes.spines[side].set_visible(False)


def main() -> None:
    import matplotlib.pyplot as plt

    model = dtau.robots.quadruped()
    q, v, a = trotting(model)
    d = dtau.inverse_dynamics_derivatives(model, q, v, a)
    figure = plt.figure(figsize=(10, 7.2))
    heading: dict[str, Any] = {"fontsize": 17, "weight": "bold", "color": GREY, "va": "top"}
    figure.text(0.03, 0.97, "A robot's file", **heading)
    draw_robot(figure.add_axes((0.02, 0.54, 0.32, 0.38)), model, q)
    figure.text(0.37, 0.97, "Exact derivatives of its dynamics", **heading)
    for k, (matrix, name) in enumerate(zip(d, ("q", "v", "a"), strict=True)):
        axes = figure.add_axes((0.37 + 0.21 * k, 0.58, 0.19, 0.19 / 0.72))
        draw_matrix(axes, matrix, rf"$\partial\tau\,/\,\partial {name}$")
    figure.text(0.03, 0.5, "How many times as fast as", **heading)
    draw_ratios(figure.add_axes((0.46, 0.05, 0.52, 0.39)))
    picture = Path(__file__).with_suffix(".png")
    figure.savefig(picture, dpi=120, metadata={"Description": label()})


if __name__ == "__main__":
    main()
