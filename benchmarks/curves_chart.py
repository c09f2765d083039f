"""Time over the number of bodies and over the order, as figure 4 of [HO-FBS]."""

from __future__ import annotations

from collections.abc import Sequence
from pathlib import Path
from typing import Any


def draw(curves: Sequence[Any], peers: Sequence[Any], path: Path) -> None:
    """Draw a panel over the bodies for each function, and one over the order."""
    import matplotlib.pyplot as plt

    figure, panels = plt.subplots(1, 3, figsize=(15, 4.8), layout="constrained")
    styles = {"alone": "--", "batch": "-"}
    for axes, function in zip(panels, ("inverse", "forward"), strict=False):
        for curve in curves:
            if curve.function == function and curve.over == "bodies":
                colour = plt.colormaps["viridis"](0.17 * curve.order)
                label = f"order {curve.order}" if curve.way == "batch" else None
                style = styles[curve.way]
                axes.loglog(curve.x, curve.microseconds, style, color=colour, label=label)
        axes.set_title(f"{function.capitalize()} dynamics: batches (solid), alone (dashed)")
        axes.set_xlabel("bodies")
        axes.set_ylabel("microseconds a state")
    last = panels[2]
    for curve in curves:
        if curve.over == "order":
            colour = {"inverse": "C0", "forward": "C1"}[curve.function]
            label = f"{curve.function}, {curve.way}, 101 bodies"
            last.semilogy(curve.x, curve.microseconds, styles[curve.way], color=colour, label=label)
    ways = {
        "repeated": ("CasADi, repeated", "C3", "s-"),
        "compiled": ("CasADi, eliminated, C", "C4", "s-"),
        "alone": ("inverse, alone", "C2", "s--"),
        "batch": ("inverse, batch", "C2", "s-"),
    }
    peers = [peer for peer in peers if peer.function == "inverse"]
    for name, (label, colour, style) in ways.items() if peers else ():
        times = [getattr(peer, name) for peer in peers]
        orders = [peer.order for peer in peers]
        last.semilogy(orders, times, style, color=colour, label=f"{label}, 21 bodies", markersize=4)
    last.set_title("By order")
    last.set_xlabel("order")
    last.set_ylabel("microseconds a state")
    for axes in panels:
        axes.spines[["top", "right"]].set_visible(False)
        if axes.lines:
            axes.legend(frameon=False, fontsize="small")
    figure.savefig(path, dpi=110)
    plt.close(figure)
    print(f"\nwritten: {path}")
