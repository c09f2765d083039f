"""`dtau view`: show a robot in the browser, or draw a picture of it."""

from __future__ import annotations

import threading
import warnings
from pathlib import Path
from typing import Any

import click
from rich.text import Text

import dtau
from dtau.cli.files import require_file
from dtau.cli.output import FAINT, hanging, say
from dtau.cli.robot import (
    Loaded,
    MissingPackageError,
    RefusedError,
    RobotFile,
    as_typed,
    takes_robot,
)
from dtau.support.files import write_file

_EPILOG = """\b
Examples:
  dtau view panda.urdf
  dtau view robots/talos/urdf/talos.urdf --root free --meshes robots
  dtau view panda.urdf --srdf panda.srdf --posture ready
  dtau view panda.urdf --picture panda.png     no browser, no screen
  ssh -L 8080:localhost:8080 lab               then open the page of a remote machine here
"""


@click.command(epilog=_EPILOG, short_help="Show a robot in the browser, or draw it.")
@takes_robot
@click.option(
    "--meshes",
    metavar="FOLDER",
    multiple=True,
    type=click.Path(exists=True, file_okay=False),
    help="Folder of packages with meshes, in addition to ROBOT's own folder; repeat for several. "
    "No file outside these folders is opened.",
)
@click.option(
    "--port",
    type=click.IntRange(0, 65535),
    default=8080,
    show_default=True,
    help="Port of the page, or the next free one; 0: any free port.",
)
@click.option("--posture", metavar="NAME", help="Show this posture of the file or of --srdf.")
@click.option("--srdf", metavar="FILE", help="SRDF of a URDF, for its postures.")
@click.option("--picture", metavar="PNG", help="Draw the robot into this file instead.")
def view(
    robot: RobotFile,
    meshes: tuple[str, ...],
    port: int,
    posture: str | None,
    srdf: str | None,
    picture: str | None,
) -> None:
    """Show a robot on a page in the browser, with a slider for each joint, until Ctrl-C.

    The page is served to this machine alone. Bodies are shown with the shapes and meshes of the
    file, or as ellipsoids of inertia if these are missing.
    """
    loaded = robot.load() if srdf is None else robot.load(srdf=_existing(srdf))
    shown: dict[str, Any] = {"q": posture, "geometry": robot.source, "meshes": meshes}
    with warnings.catch_warnings(record=True) as caught:
        warnings.simplefilter("always")
        try:
            if picture is not None:
                _draw(loaded, picture, shown)
            else:
                viewer = dtau.view(loaded.model, port=port, **shown)
        except ImportError as error:
            raise MissingPackageError(str(error)) from None
        except (ValueError, OSError) as error:
            raise RefusedError(f"{robot.label}: {as_typed(str(error))}") from None
    if picture is not None:
        say(f"written: {picture}")
        _tell(loaded, caught)
        return
    try:
        with viewer:
            _tell(loaded, caught)
            say(f"{loaded.model.name or robot.label}: {viewer.url}", "bold")
            say("Open this page in a browser; Ctrl-C stops it.", FAINT)
            threading.Event().wait()
    except KeyboardInterrupt:
        say()


def _existing(path: str) -> Path:
    require_file(path)
    return Path(path)


def _draw(loaded: Loaded, path: str, shown: dict[str, Any]) -> None:
    from dtau.viewer.picture import picture, png

    out = Path(path)
    if out.suffix.lower() != ".png":
        raise click.UsageError(f"--picture: expected a name that ends in .png, got {path}")
    if not out.parent.is_dir():
        raise click.UsageError(f"--picture: {path}: no such folder: {out.parent}")
    image = picture(loaded.model, **shown)
    try:
        write_file(out, png(image))
    except OSError as error:
        raise click.UsageError(f"--picture: {path}: cannot be written: {error.strerror}") from None


def _tell(loaded: Loaded, caught: list[warnings.WarningMessage]) -> None:
    """Print the loader's warnings, and the parts that cannot be shown."""
    for line in (*loaded.warnings, *(str(one.message) for one in caught)):
        hanging(Text("- "), [Text(as_typed(line), "yellow")], 2)
