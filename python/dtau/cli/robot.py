"""The robot that a command is about: its file, the options common to all commands, its model."""

from __future__ import annotations

import functools
import math
import re
import sys
import warnings
from collections.abc import Callable
from dataclasses import dataclass
from pathlib import Path
from typing import Any, get_args

import click

from dtau.cli.files import require_file
from dtau.errors import ModelError
from dtau.loaders.load import load
from dtau.model.model import Model
from dtau.options import Inertias, MimicJoints, Root, require_option

STDIN = "-"
_OPTION = re.compile(r"\b(root|mimic|inertia)='(\w+)'")  # as errors of the package say it
_WORDS = {
    "says in Model.notes by how much": "dtau info then says by how much",
    "leave out root=": "leave out --root",
    "meshes=": "--meshes",
    "replace(gravity=(0.0, 0.0, -9.81))": "--gravity 0 0 -9.81",
    "replace(armature=0)": "--armature 0",
    ", of free roots by name;": ",",
    "root_link= adds": "--root-link NAME adds",
    "in the order of their names, and q and v with them": (
        "in the order of their names (--reorder puts them so: q and v then have another order)"
    ),
    "in the order of their names, and frames with them": (
        "in the order of their names (--reorder puts them so: q and v keep their order)"
    ),
}


class RefusedError(click.ClickException):
    """The file cannot be read as a robot."""

    exit_code = 2


class MissingPackageError(click.ClickException):
    """A package is not installed that the command needs."""

    exit_code = 3


class Word(click.Choice[str]):
    """One of the words of an option of the package, whose message it gives."""

    def __init__(self, option: Any) -> None:
        super().__init__(get_args(option))
        self._option = option

    def convert(self, value: Any, param: click.Parameter | None, ctx: click.Context | None) -> str:
        """Return the word, or fail with the words that there are."""
        name = "" if param is None else f"--{param.name}"
        try:
            require_option(name, value, self._option)
        except ValueError as problem:
            raise click.UsageError(str(problem), ctx) from None
        return str(value)


class Number(click.types.FloatParamType):
    """A finite number, of at least so much."""

    def __init__(self, least: float = -math.inf) -> None:
        self._least = least

    def convert(
        self, value: Any, param: click.Parameter | None, ctx: click.Context | None
    ) -> float:
        """Return the number, or fail with what was expected."""
        number = super().convert(value, param, ctx)
        if not (math.isfinite(number) and number >= self._least):
            least = "" if math.isinf(self._least) else f" of at least {self._least:g}"
            self.fail(f"expected a finite number{least}, got {value}", param, ctx)
        return number


@dataclass(frozen=True)
class RobotFile:
    """A file and how to read it."""

    path: str
    options: dict[str, Any]

    @property
    def label(self) -> str:
        """What it is called in what a command shows."""
        return "standard input" if self.path == STDIN else self.path

    @functools.cached_property
    def source(self) -> str | Path:
        """What `dtau.load` takes.

        Raises
        ------
        MissingFileError
            If there is no such file.
        """
        if self.path == STDIN:
            text = sys.stdin.read()
            if not text.lstrip("\ufeff \t\r\n").startswith("<"):
                raise RefusedError(f"standard input: expected XML, got {text!r:.60}")
            return text
        require_file(self.path)
        return Path(self.path)

    def load(self, **changes: Any) -> Loaded:
        """Read the file; `changes` are options in place of those that were given.

        Raises
        ------
        MissingFileError, RefusedError
            If there is no such file, or no robot in it.
        """
        try:
            with warnings.catch_warnings(record=True) as caught:
                warnings.simplefilter("always")
                model = load(self.source, **{**self.options, **changes})
        except ModelError as error:
            raise RefusedError(as_typed(str(error))) from None
        except (ValueError, OSError) as error:
            raise RefusedError(f"{self.label}: {as_typed(str(error))}") from None
        return Loaded(self, model, [as_typed(str(one.message)) for one in caught])


@dataclass(frozen=True)
class Loaded:
    """A model, where it came from, and what was said about it."""

    file: RobotFile
    model: Model
    warnings: list[str]


def as_typed(message: str) -> str:
    """Put what messages of the package say about options as one types it here."""
    for word, typed in _WORDS.items():
        message = message.replace(word, typed)
    return _OPTION.sub(r"--\1 \2", message)


def reordered(model: Model) -> Model:
    """Return the model with siblings in the order of their joints' names, as a URDF has them."""
    links = sorted(model.links, key=lambda link: link.joint_name)
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")  # what it warns of was said of the first model
        return Model(model.name, links, gravity=model.gravity, notes=model.notes)


def takes_robot(command: Callable[..., Any]) -> Callable[..., Any]:
    """Give a command the argument ROBOT and the options common to all; it takes a `RobotFile`."""

    @functools.wraps(command)
    def with_robot(
        robot: str,
        root: str | None,
        mimic: str,
        inertia: str,
        gravity: tuple[float, float, float] | None,
        armature: float | None,
        damping: float | None,
        **rest: Any,
    ) -> Any:
        options: dict[str, Any] = {"root": root, "mimic": mimic, "inertia": inertia}
        options |= {"gravity": gravity, "armature": armature, "damping": damping}
        return command(RobotFile(robot, options), **rest)

    for decorate in reversed(_OPTIONS):
        with_robot = decorate(with_robot)
    return with_robot


_OPTIONS = (
    click.argument("robot"),
    click.option(
        "--root",
        type=Word(Root),
        help="How a URDF's root link hangs from the world: fixed (the default), or free, as the "
        "base of a legged or flying robot. An MJCF says so itself.",
    ),
    click.option(
        "--mimic",
        type=Word(MimicJoints),
        default="independent",
        show_default=True,
        help="Joints that mimic others: joints of their own, or tied to them.",
    ),
    click.option(
        "--inertia",
        type=Word(Inertias),
        default="keep",
        show_default=True,
        help="Inertias that no rigid body has: as they are, or the nearest that one has.",
    ),
    click.option(
        "--gravity",
        type=Number(),
        nargs=3,
        metavar="X Y Z",
        help="In m/s², in place of the file's, or of 0 0 -9.81.",
    ),
    click.option(
        "--armature",
        type=Number(0.0),
        metavar="I",
        help="Of all joints, in place of the file's; kg m².",
    ),
    click.option(
        "--damping",
        type=Number(0.0),
        metavar="D",
        help="Of all joints, in place of the file's; N m s.",
    ),
)
