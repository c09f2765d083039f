"""Read the robot of a command: its file, the options common to all commands, its model."""

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
from dtau.loaders.load import load
from dtau.model.model import Model
from dtau.model.postures import by_joint
from dtau.support.errors import ModelError
from dtau.support.options import Inertias, MimicJoints, Root, require_option

STDIN = "-"
SAVED = ".dtau"  # a model's file, which has speeds of its own
_OPTION = re.compile(r"\b(root|mimic|inertia)='(\w+)'")  # in errors of the package
_WORDS = {
    "says in Model.notes by how much": "dtau info then says by how much",
    "says so in Model.notes": "dtau info then says so",
    "leave out root=": "leave out --root",
    "meshes=": "--meshes",
    "replace(gravity=(0.0, 0.0, -9.81))": "--gravity 0 0 -9.81",
    "replace(armature=0)": "--armature 0",
    "replace(stiffness=0)": "--stiffness 0",
    "friction_speed: expected": "--friction-speed: expected",
    "friction_speed= of dtau.load": "--friction-speed",
    "friction_speed= smooths": "--friction-speed smooths",
    ", of free roots by name;": ",",
    "root_link= adds": "--root-link NAME adds",
    "in the order of their names, and q and v with them": (
        "in the order of their names (--reorder sorts them: q and v then have another order)"
    ),
}


class RefusedError(click.ClickException):
    """The file cannot be read as a robot."""

    exit_code = 2


class MissingPackageError(click.ClickException):
    """The command needs a package that is not installed."""

    exit_code = 3


class Word(click.Choice[str]):
    """A value of an option of the package, with the package's error message."""

    def __init__(self, option: Any) -> None:
        super().__init__(get_args(option))
        self._option = option

    def convert(self, value: Any, param: click.Parameter | None, ctx: click.Context | None) -> str:
        """Return the value, or fail with the list of valid values."""
        name = "" if param is None else f"--{param.name}"
        try:
            require_option(name, value, self._option)
        except ValueError as problem:
            raise click.UsageError(str(problem), ctx) from None
        return str(value)


class Number(click.types.FloatParamType):
    """A finite number, with a least value."""

    def __init__(self, least: float = -math.inf) -> None:
        self._least = least

    def convert(
        self, value: Any, param: click.Parameter | None, ctx: click.Context | None
    ) -> float:
        """Return the number, or fail with the expected range."""
        number = super().convert(value, param, ctx)
        if not (math.isfinite(number) and number >= self._least):
            least = "" if math.isinf(self._least) else f" of at least {self._least:g}"
            self.fail(f"expected a finite number{least}, got {value}", param, ctx)
        return number


@dataclass(frozen=True)
class RobotFile:
    """A robot's file and the options to read it with."""

    path: str
    options: dict[str, Any]

    @property
    def label(self) -> str:
        """The file's name in the output of commands."""
        return "standard input" if self.path == STDIN else self.path

    @functools.cached_property
    def source(self) -> str | Path:
        """The source for `dtau.load`: a path or the text of standard input.

        Raises
        ------
        MissingFileError
            If the file does not exist.
        """
        if self.path == STDIN:
            text = sys.stdin.read()
            if not text.lstrip("\ufeff \t\r\n").startswith("<"):
                raise RefusedError(f"standard input: expected XML, got {text!r:.60}")
            return text
        require_file(self.path)
        return Path(self.path)

    def load(self, **changes: Any) -> Loaded:
        """Read the file; `changes` replace the given options.

        Raises
        ------
        MissingFileError, RefusedError
            If the file does not exist, or cannot be read as a robot.
        """
        try:
            with warnings.catch_warnings(record=True) as caught:
                warnings.simplefilter("always")
                model = load(self.source, **{**self.options, **changes})
        except ModelError as error:
            missing = isinstance(error.__context__, ImportError)
            kind = MissingPackageError if missing else RefusedError
            raise kind(as_typed(str(error))) from None
        except (ValueError, OSError) as error:
            raise RefusedError(f"{self.label}: {as_typed(str(error))}") from None
        return Loaded(self, model, [as_typed(str(one.message)) for one in caught])


@dataclass(frozen=True)
class Loaded:
    """A model, its file, and the warnings of the loader."""

    file: RobotFile
    model: Model
    warnings: list[str]

    @property
    def notes(self) -> list[str]:
        """The notes of the loader, with options of the command line."""
        return [as_typed(note) for note in self.model.notes]


def as_typed(message: str) -> str:
    """Replace options in messages of the package by options of the command line."""
    for word, typed in _WORDS.items():
        message = message.replace(word, typed)
    return _OPTION.sub(r"--\1 \2", message)


def reordered(model: Model) -> Model:
    """Return the model with siblings sorted by their joints' names, the order of a URDF."""
    links = sorted(model.links, key=lambda link: link.joint_name)
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")  # the first model already warned
        return Model(
            model.name, links, gravity=model.gravity, notes=model.notes, postures=by_joint(model)
        )


def takes_robot(command: Callable[..., Any]) -> Callable[..., Any]:
    """Add the argument ROBOT and the common options to a command, which takes a `RobotFile`."""

    @functools.wraps(command)
    def with_robot(robot: str, **given: Any) -> Any:
        options = {name: given.pop(name) for name in _NAMES}
        if options["friction"] and options["friction_speed"] is None and not robot.endswith(SAVED):
            raise click.UsageError(
                "--friction: expected --friction-speed V beside it, the speed in rad/s that "
                "smooths the friction of all joints"
            )
        return command(RobotFile(robot, options), **given)

    for decorate in reversed(_OPTIONS):
        with_robot = decorate(with_robot)
    return with_robot


_NAMES = (
    *("root", "mimic", "inertia", "gravity"),
    *("armature", "damping", "stiffness", "friction", "friction_speed"),
)
_OPTIONS = (
    click.argument("robot"),
    click.option(
        "--root",
        type=Word(Root),
        help="Joint between a URDF's root link and the world: fixed (the default), or free, for "
        "the base of a legged or flying robot. An MJCF defines it itself.",
    ),
    click.option(
        "--mimic",
        type=Word(MimicJoints),
        default="independent",
        show_default=True,
        help="Mimic joints: load as independent joints, or follow the mimicked joint exactly.",
    ),
    click.option(
        "--inertia",
        type=Word(Inertias),
        default="keep",
        show_default=True,
        help="Inertias that no rigid body can have: keep them, or take the nearest valid one.",
    ),
    click.option(
        "--gravity",
        type=Number(),
        nargs=3,
        metavar="X Y Z",
        help="Gravity in m/s². Default: the file's, or 0 0 -9.81.",
    ),
    *(
        click.option(
            f"--{name}",
            type=Number(0.0),
            metavar=letter,
            help=f"{what} of all joints in {unit}. Default: the file's.",
        )
        for name, letter, what, unit in (
            ("armature", "I", "Armature", "kg m²"),
            ("damping", "D", "Damping", "N m s"),
            ("stiffness", "K", "Stiffness", "N m"),
            ("friction", "F", "Coulomb friction", "N m"),
        )
    ),
    click.option(
        "--friction-speed",
        type=Number(0.0),
        metavar="V",
        help="Speed that smooths Coulomb friction in rad/s. Without it the file's friction is left "
        "out.",
    ),
)
