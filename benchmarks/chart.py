"""A bar chart of the ratios to Pinocchio."""

from __future__ import annotations

from collections.abc import Sequence
from pathlib import Path
from typing import Any

import numpy as np


def require_matplotlib() -> None:
    """Say how to get matplotlib before anything is measured in vain."""
    try:
        import matplotlib
    except ImportError:
        raise SystemExit("--plot: needs matplotlib: python -m pip install matplotlib") from None
    matplotlib.use("Agg")


def bar_chart(rows: Sequence[Any], batch: int, path: Path) -> None:
    """Draw a panel for one state and one for a batch: groups of functions, a bar a robot.

    Whiskers are the quartiles, black lines what is asked for, grey ones what is aimed at.
    """
    import matplotlib.pyplot as plt

    robots = list(dict.fromkeys(row.robot for row in rows))
    functions = list(dict.fromkeys(row.function for row in rows))
    colours = plt.colormaps["viridis"](np.linspace(0.1, 0.7, len(robots)))
    width = 0.84 / len(robots)
    figure, panels = plt.subplots(2, 1, figsize=(12, 8), layout="constrained")
    titles = ("One state a call", f"Batches of {batch} states")
    for panel, (axes, title) in enumerate(zip(panels, titles, strict=True)):
        for row in rows:
            ratio = (row.alone, row.batch)[panel].ratio
            i = robots.index(row.robot)
            x = functions.index(row.function) + (i - 0.5 * (len(robots) - 1)) * width
            error = [[ratio.median - ratio.lower], [ratio.upper - ratio.median]]
            axes.bar(x, ratio.median, 0.92 * width, color=colours[i], yerr=error, ecolor="#666666")
            axes.text(x, 0.0, f" {ratio.median:.1f}", rotation=90, color="white", ha="center")
            if row.goals:
                ends = x - 0.46 * width, x + 0.46 * width
                axes.hlines(row.goals[panel].least, *ends, color="black", linewidth=2)
                axes.hlines(row.goals[panel].aim, *ends, color="#aaaaaa", linewidth=2)
        axes.axhline(1.0, color="black", linewidth=0.8, linestyle=":")
        axes.set_xticks(
            range(len(functions)),
            [name.replace("_dynamics", " dynamics\n").replace("_", " ") for name in functions],
        )
        axes.set_title(title, loc="left")
        axes.set_ylabel("Pinocchio's time / dtau's")
        axes.spines[["top", "right"]].set_visible(False)
    keys = [plt.Rectangle((0, 0), 1, 1, color=colour) for colour in colours]
    lines = [plt.Line2D([], [], color=c, linewidth=2) for c in ("black", "#aaaaaa")]
    has_goals = any(row.goals for row in rows)
    figure.legend(
        keys + lines * has_goals,
        robots + ["at least", "aim"] * has_goals,
        ncols=len(robots) + 2,
        loc="outside upper center",
        frameon=False,
    )
    figure.savefig(path, dpi=150)
    plt.close(figure)
