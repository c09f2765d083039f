"""What the programs share: their options, files of robots, and how their pictures look."""

from __future__ import annotations

import argparse
import importlib.metadata
from pathlib import Path
from typing import Any

STYLE = {
    "axes.grid": True,
    "axes.spines.right": False,
    "axes.spines.top": False,
    "axes.titlelocation": "left",
    "figure.constrained_layout.use": True,
    "grid.alpha": 0.3,
    "legend.frameon": False,
}


def options(head: str | None, plot: str = "draw it (matplotlib)") -> argparse.ArgumentParser:
    """Begin a command line whose help is the program's head; it has the option --plot."""
    parser = argparse.ArgumentParser(
        description=head, formatter_class=argparse.RawDescriptionHelpFormatter
    )
    parser.add_argument("--plot", type=Path, metavar="FILE", help=plot)
    return parser


def number(
    parser: argparse.ArgumentParser, option: str, default: int, said: str, least: int = 1
) -> None:
    """Add an option that takes a whole number."""

    def number(text: str) -> int:
        if (found := int(text)) < least:
            raise argparse.ArgumentTypeError(f"expected at least {least}, got {found}")
        return found

    said = f"{said} (default: {default})"
    parser.add_argument(option, type=number, default=default, metavar="N", help=said)


def robot_file(name: str) -> Path | None:
    """Where example-robot-data has a robot's URDF, if that is installed."""
    try:
        files = importlib.metadata.files("example-robot-data") or []
    except importlib.metadata.PackageNotFoundError:
        return None
    found = (f for f in files if f.match(name))
    return next((Path(str(f.locate())) for f in found), None)


def pyplot() -> Any:
    """Return Matplotlib's pyplot, which draws into files alone."""
    import matplotlib

    matplotlib.use("Agg")
    import matplotlib.pyplot as plt

    plt.rcParams.update(STYLE)
    return plt


def save(figure: Any, path: Path, dpi: int = 90) -> None:
    """Write a picture."""
    figure.savefig(path, dpi=dpi)
    print(f"\nwritten: {path}")
