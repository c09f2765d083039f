"""`dtau convert`: write a robot as a URDF or as a file for C++, which load as the same model."""

from __future__ import annotations

import warnings
from dataclasses import replace
from pathlib import Path

import click
from rich.text import Text

from dtau.cli.output import FAINT, hanging, plural, say
from dtau.cli.robot import SAVED, Loaded, RefusedError, RobotFile, as_typed, reordered, takes_robot
from dtau.loaders.load import load
from dtau.model.saving import saved
from dtau.model.writing import load_options, spelled
from dtau.support.files import write_file

_EPILOG = """\b
Examples:
  dtau convert robot.xml robot.urdf
  dtau convert ant.xml ant.urdf --armature 0 --reorder
  dtau convert crane.xml crane.urdf --root-link world
  dtau convert tiago.urdf sound.urdf --inertia repair
  dtau convert arm.urdf.xacro arm.urdf
  dtau convert anymal.urdf anymal.dtau --root free
"""


_NAME = "root_link: "  # prefix of messages about it


@click.command(epilog=_EPILOG, short_help="Write a robot as a URDF or for C++.")
@takes_robot
@click.argument("file")
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
@click.option("--force", is_flag=True, help="Replace FILE if it exists.")
def convert(robot: RobotFile, file: str, root_link: str | None, reorder: bool, force: bool) -> None:
    """Write ROBOT to FILE, *.urdf or *.dtau, which loads as the same model, to the last bit.

    The file has the model: tree, inertias, limits, damping. It has no meshes, colors or sensors.
    Robots that a URDF cannot represent are refused, with the way out. A file *.dtau, as Model.save
    writes it, has every model; the C++ library and C read it without Python.
    """
    out = _output(file, force)
    loaded = robot.load()
    try:
        loaded, content = _written(loaded, out, root_link, reorder)
    except ValueError as error:
        message = as_typed(str(error))
        if message.startswith(_NAME):
            raise click.UsageError(message.replace(_NAME, "--root-link: ", 1)) from None
        raise RefusedError(f"{robot.label}: {message}.") from None
    try:
        write_file(out, content)
    except OSError as error:
        raise click.UsageError(f"{file}: cannot be written: {error.strerror}") from None
    _show(loaded, out, root_link)


def _written(
    loaded: Loaded, out: Path, root_link: str | None, reorder: bool
) -> tuple[Loaded, bytes]:
    """Return the model that is written, and the content of the file.

    Joints that a reader of URDF would sort are sorted here if this changes the order of frames
    alone, for example a site before the legs; joints that move wait for --reorder.
    """
    model, ordered = loaded.model, reordered(loaded.model)
    if _is_saved(out):
        if root_link is not None:
            raise ValueError(f"{_NAME}expected it with a URDF, as {SAVED} has robots of any trees")
        model = ordered if reorder else model
        return replace(loaded, model=model), saved(model)
    if not reorder:
        try:
            return loaded, model.to_urdf(root_link=root_link).encode()
        except ValueError:
            if [joint.name for joint in ordered.joints] != [joint.name for joint in model.joints]:
                raise
    return replace(loaded, model=ordered), ordered.to_urdf(root_link=root_link).encode()


def _is_saved(out: Path) -> bool:
    return out.suffix.lower() == SAVED


def _output(path: str, force: bool) -> Path:
    """Return the path to write, or fail with the reason."""
    out = Path(path)
    if out.suffix.lower() not in (".urdf", SAVED):
        raise click.UsageError(f"{path}: expected a name that ends in .urdf or {SAVED}")
    if not out.parent.is_dir():
        raise click.UsageError(f"{path}: no such folder: {out.parent}")
    if out.exists() and not force:
        raise click.UsageError(f"{path}: the file exists; --force replaces it")
    return out


def _show(loaded: Loaded, out: Path, root_link: str | None) -> None:
    """Read the written file, and print what it has and with which options it loads."""
    model = loaded.model
    options = {} if _is_saved(out) else load_options(model, root_link)
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")
        written = load(out, **options)
    if root_link is None and written != model:
        raise AssertionError(f"{out} loads as another model than {loaded.file.label}")
    say(f"{out}: {model.name or 'a robot'}, nv {written.nv}, {written.mass:.4g} kg", "bold")
    typed = f", {spelled(options)}" if options else ""
    cpp = " and, in C++, dtau::Model::load" if _is_saved(out) else ""
    say(f'It loads as the same model with dtau.load("{out}"{typed}){cpp}.')
    for warning in loaded.warnings:
        hanging(Text("- "), [Text(warning, "yellow")], 2)
    ignored = [x.removeprefix("ignored ") for x in loaded.notes if x.startswith("ignored ")]
    if ignored:
        kinds = plural(len(ignored), "kind")
        say(f"Left out {kinds} that the model does not have: {', '.join(ignored)}.", FAINT)
