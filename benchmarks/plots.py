"""Plots of findings, as PNG files."""

from __future__ import annotations

from collections.abc import Sequence
from pathlib import Path
from typing import Any

import numpy as np
from numpy.typing import NDArray

from benchmarks.experiment import Curve, Plot
from benchmarks.optional import optional

matplotlib = optional("matplotlib")
if matplotlib is not None:
    from matplotlib.figure import Figure
    from matplotlib.ticker import FuncFormatter, LogLocator, MaxNLocator, NullLocator

INSIDE = 5  # curves, at most, whose legend is inside the axes


def available() -> bool:
    """Whether matplotlib is installed."""
    return matplotlib is not None


def draw(plot: Plot, path: Path) -> None:
    """Write a plot to a file: a line a curve with a band of quartiles, or points at words."""
    many = len(plot.curves) > INSIDE
    figure = Figure(figsize=(8.5 if many else 7.0, 4.2), layout="constrained")
    axes = figure.add_subplot()
    for i, (curve, colour) in enumerate(zip(plot.curves, _colours(plot.curves), strict=True)):
        (_points if plot.ticks else _line)(axes, curve, colour, _place(i, len(plot.curves)))
    figure.suptitle(plot.title, x=0.01, ha="left", fontsize=11)
    axes.set_xlabel(plot.x)
    axes.set_ylabel(plot.y)
    for axis, logarithmic in zip("xy", plot.logarithmic, strict=True):
        if logarithmic and not (axis == "x" and plot.ticks):
            _logarithmic(axes, axis)
        elif axis == "x" and all(np.all(_numbers(curve.x) % 1.0 == 0.0) for curve in plot.curves):
            axes.xaxis.set_major_locator(MaxNLocator(integer=True))
    if plot.ticks:
        axes.set_xticks(range(len(plot.ticks)), plot.ticks)
        if sum(map(len, plot.ticks)) > 60:
            axes.tick_params(axis="x", rotation=20)
    axes.grid(alpha=0.3, linewidth=0.6)
    axes.spines[["top", "right"]].set_visible(False)
    if many:
        figure.legend(loc="outside right center", frameon=False, fontsize=9)
    elif len(plot.curves) > 1 or plot.curves[0].label:
        axes.legend(frameon=False, fontsize=9)
    figure.savefig(path, dpi=110)


def _line(axes: Any, curve: Curve, colour: Any, _: float) -> None:
    x, y, low, high = map(_numbers, (curve.x, curve.y, curve.low, curve.high))
    style = "--" if curve.dashed else "-"
    marker = "o" if len(x) <= 25 else ""
    axes.plot(x, y, style, marker=marker, markersize=3, color=colour, label=curve.label)
    if len(low):
        axes.fill_between(x, low, high, color=colour, alpha=0.2, linewidth=0)


def _points(axes: Any, curve: Curve, colour: Any, place: float) -> None:
    x, y, low, high = map(_numbers, (curve.x, curve.y, curve.low, curve.high))
    whiskers = np.array([y - low, high - y]) if len(low) else None
    marker = "_" if curve.dashed else "o"
    style = {"marker": marker, "markersize": 8 if curve.dashed else 5, "linestyle": ""}
    axes.errorbar(x + place, y, whiskers, color=colour, label=curve.label, **style)


def _place(i: int, count: int) -> float:
    """How far a curve's points are from the middle of their word."""
    return 0.6 * ((i + 0.5) / count - 0.5)


def _numbers(values: Sequence[float]) -> NDArray[np.float64]:
    return np.array(values, dtype=float)  # None, of a JSON file, as NaN


def _colours(curves: Sequence[Curve]) -> list[Any]:
    """A color a curve; one for "a, this" and, dashed, "a, that"."""
    groups = [curve.label.rpartition(",")[0] for curve in curves]
    solid = [group for group, curve in zip(groups, curves, strict=True) if not curve.dashed]
    keys = [
        group if group and solid.count(group) == 1 else str(i) for i, group in enumerate(groups)
    ]
    kinds = list(dict.fromkeys(keys))
    if len(kinds) <= 10:
        return [f"C{kinds.index(key)}" for key in keys]
    scale = matplotlib.colormaps["turbo"](np.linspace(0.05, 0.95, len(kinds)))
    return [scale[kinds.index(key)] for key in keys]


def _logarithmic(axes: Any, name: str) -> None:
    """Scale an axis, and write numbers that can be read where it has few decades."""
    getattr(axes, f"set_{name}scale")("log")
    low, high = getattr(axes, f"get_{name}lim")()
    decades = np.log10(high / low)
    if decades > 5.0 or high >= 1e6 or low < 1e-4:
        return
    axis = getattr(axes, f"{name}axis")
    plain = FuncFormatter(lambda value, _: f"{value:g}")
    steps = (1.0, 2.0, 5.0) if decades > 1.0 else (1.0, 1.5, 2.0, 3.0, 4.0, 5.0, 6.0, 8.0)
    axis.set_major_locator(LogLocator(subs=steps, numticks=20))
    axis.set_major_formatter(plain)
    axis.set_minor_locator(NullLocator())
