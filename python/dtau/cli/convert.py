"""`dtau convert`: write a robot as a URDF that loads as the same model."""

from __future__ import annotations

import warnings
from dataclasses import replace
from pathlib import Path

import click
from rich.text import Text

from dtau.cli.output import FAINT, hanging, plural, say
from dtau.cli.robot import Loaded, RefusedError, RobotFile, as_typed, reordered, takes_robot
from dtau.files import write_file
from dtau.loaders.load import load
from dtau.model.joints import Free

_EPILOG = """\b
Examples:
  dtau convert robot.xml robot.urdf
  dtau convert ant.xml ant.urdf --armature 0 --reorder
  dtau convert crane.xml crane.urdf --root-link world
  dtau convert tiago.urdf sound.urdf --inertia repair
  dtau convert arm.urdf.xacro arm.urdf
"""


_NAME = "root_link: "  # prefix of messages about it


@click.command(epilog=_EPILOG, short_help="Write a robot as a URDF.")
@takes_robot
@click.argument("urdf")
@click.option(
    "--root-link",
    metavar="NAME",
    help="Add a root link: for robots of several trees, or if a URDF cannot have the first joint.",
)
@click.option(
    "--reorder",
    is_flag=True,
    help="Sort joints by name, the order in which readers of URDF take them. The entries of q "
    "and v then have another order than ROBOT's.",
)
@click.option("--force", is_flag=True, help="Replace the file URDF if it exists.")
def convert(robot: RobotFile, urdf: str, root_link: str | None, reorder: bool, force: bool) -> None:
    """Write ROBOT to the file URDF, which loads as the same model, to the last bit.

    The file has the model: tree, inertias, limits, damping. It has no meshes, colors or sensors.
    Robots that a URDF cannot represent are refused, with the way out.
    """
    out = _output(urdf, force)
    loaded = robot.load()
    try:
        loaded, text = _written(loaded, root_link, reorder)
    except ValueError as error:
        message = as_typed(str(error))
        if message.startswith(_NAME):
            raise click.UsageError(message.replace(_NAME, "--root-link: ", 1)) from None
        raise RefusedError(f"{robot.label}: {message}.") from None
    try:
        write_file(out, text.encode())
    except OSError as error:
        raise click.UsageError(f"{urdf}: cannot be written: {error.strerror}") from None
    _show(loaded, out, root_link)


def _written(loaded: Loaded, root_link: str | None, reorder: bool) -> tuple[Loaded, str]:
    """Return the model that is written, and its URDF.

    Joints that a reader of URDF would sort are sorted here if this changes the order of frames
    alone, for example a site before the legs; joints that move wait for --reorder.
    """
    model, ordered = loaded.model, reordered(loaded.model)
    if not reorder:
        try:
            return loaded, model.to_urdf(root_link=root_link)
        except ValueError:
            if [joint.name for joint in ordered.joints] != [joint.name for joint in model.joints]:
                raise
    return replace(loaded, model=ordered), ordered.to_urdf(root_link=root_link)


def _output(path: str, force: bool) -> Path:
    """Return the path to write, or fail with the reason."""
    out = Path(path)
    if out.suffix.lower() != ".urdf":
        raise click.UsageError(f"{path}: expected a name that ends in .urdf")
    if not out.parent.is_dir():
        raise click.UsageError(f"{path}: no such folder: {out.parent}")
    if out.exists() and not force:
        raise click.UsageError(f"{path}: the file exists; --force replaces it")
    return out


def _show(loaded: Loaded, out: Path, root_link: str | None) -> None:
    """Read the written file, and print what it has and with which options it loads."""
    model = loaded.model
    free = root_link is None and isinstance(model.links[0].joint, Free)
    tied = any(link.mimic for link in model.links)
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")
        written = load(
            out, root="free" if free else "fixed", mimic="exact" if tied else "independent"
        )
    if root_link is None and written != model:
        raise AssertionError(f"{out} loads as another model than {loaded.file.label}")
    options = f', root="{"free" if free else "fixed"}"' + (', mimic="exact"' if tied else "")
    say(f"{out}: {model.name or 'a robot'}, nv {written.nv}, {written.mass:.4g} kg", "bold")
    say(f'It loads as the same model with dtau.load("{out}"{options}).')
    for warning in loaded.warnings:
        hanging(Text("- "), [Text(warning, "yellow")], 2)
    ignored = [x.removeprefix("ignored ") for x in model.notes if x.startswith("ignored ")]
    if ignored:
        kinds = plural(len(ignored), "kind")
        say(f"Left out {kinds} that the model does not have: {', '.join(ignored)}.", FAINT)
