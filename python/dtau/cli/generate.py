"""`dtau generate`: functions of a robot as C."""

from __future__ import annotations

import inspect
import re
import warnings
from collections.abc import Sequence
from pathlib import Path
from typing import Any

import click

import dtau
from dtau.cli.output import FAINT, Column, plural, print_table, say
from dtau.cli.robot import RefusedError, RobotFile, Word, as_typed, takes_robot
from dtau.codegen.recording import COMPILES, LARGE
from dtau.options import Scalar

_OPTION = re.compile(r"\b(limit|casadi|prefix)=(\d*)")  # as errors of the package say it
_EPILOG = """\b
Examples:
  dtau generate arm.urdf arm.c
  dtau generate arm.urdf arm.c -f inverse_dynamics -f forward_dynamics_derivatives
  dtau generate anymal.urdf legs.c --root free -f inverse_dynamics --parameter f_ext
  dtau generate arm.urdf arm.c -f frame_jacobians -o frames=tool0 -o axes=mixed
  dtau generate arm.urdf arm.c -f inverse_dynamics_time_derivatives -o order=2
  dtau generate arm.urdf arm.c --scalar float
  dtau generate arm.urdf arm.c --casadi 2
"""


_OF_ROBOT = ": expected a model "  # in what a function says of a robot that it is not for
_TYPED = {
    "functions: ": "--function: ",
    "parameters: ": "--parameter: ",
    "prefix: ": "--prefix: ",
    "casadi: ": "--casadi: ",
    "limit: ": "--limit: ",
}  # what messages call the options, and what is typed
_ARGUMENTS = re.compile(f"^({'|'.join(_TYPED)})")


@click.command(epilog=_EPILOG, short_help="Write functions of a robot as C.")
@takes_robot
@click.argument("file", metavar="FILE.c")
@click.option(
    "-f",
    "--function",
    "functions",
    multiple=True,
    default=("inverse_dynamics", "forward_dynamics"),
    show_default=True,
    help="A function of the package, by its name; any number of them.",
)
@click.option(
    "-o",
    "--option",
    "options",
    metavar="NAME=VALUE",
    multiple=True,
    help="For the functions that take it: frames=left,right, axes=mixed, order=2, integrator=rk4.",
)
@click.option(
    "--parameter",
    "parameters",
    multiple=True,
    help="What stays an argument: f_ext, external wrenches; gravity; payload=LINK, its load.",
)
@click.option(
    "--scalar",
    type=Word(Scalar),
    default="double",
    show_default=True,
    help="The type of all numbers.",
)
@click.option("--prefix", help="What names in C begin with; by default the file's name.")
@click.option(
    "--casadi",
    type=click.IntRange(0, 2),
    help="Write what casadi.external() finds: 0 values, 1 Jacobians and adjoints too, 2 Hessians.",
)
@click.option(
    "--limit",
    type=float,
    metavar="SECONDS",
    default=120.0,
    show_default=True,
    help="What a compiler may take for FILE.c, at 4,000 operations a second.",
)
@click.option("--force", is_flag=True, help="Replace the files if there are any.")
def generate(
    robot: RobotFile,
    file: str,
    functions: tuple[str, ...],
    options: tuple[str, ...],
    parameters: tuple[str, ...],
    scalar: Any,
    prefix: str | None,
    casadi: int | None,
    limit: float,
    force: bool,
) -> None:
    """Write functions of ROBOT as FILE.c and a header, which need <math.h> alone.

    The functions are those of the package, for this robot: its numbers are constants, and nothing
    is computed that is zero or known. The header says what they take and give. FILE_check() in it
    is 0 if they compute, where they run, what they computed here.
    """
    out = _output(file, force)
    asked = {name: (name, _options_of(name, options)) for name in functions}
    unused = [x for x in options if not any(_name(x) in given for _, given in asked.values())]
    if unused:
        raise click.UsageError(f"--option {unused[0]}: none of {', '.join(functions)} takes it")
    model = robot.load().model
    try:
        with warnings.catch_warnings():
            warnings.simplefilter("ignore", dtau.ModelWarning)  # `_advise` says how long it takes
            code = dtau.generate(
                model,
                asked,
                out,
                scalar=scalar,
                prefix=prefix,
                parameters=parameters,
                casadi=casadi,
                limit=limit,
            )
    except (ValueError, TypeError) as error:
        message = _OPTION.sub(r"--\1 \2", as_typed(str(error))).replace(" ,", ",").strip()
        if _OF_ROBOT in message:
            raise RefusedError(f"{robot.label}: {message}.") from None
        raise click.UsageError(_ARGUMENTS.sub(lambda found: _TYPED[found[0]], message)) from None
    except OSError as error:
        raise click.UsageError(f"{file}: cannot be written: {error.strerror}") from None
    say(f"{code.source}, {code.header}: {model.name or 'a robot'}, {scalar}", "bold")
    print_table(
        [
            Column("function", list(code.operations)),
            Column("operations", [f"{n:,}" for n in code.operations.values()], numbers=True),
        ]
    )
    _advise(code, list(code.operations)[: len(asked)])


def _advise(code: dtau.GeneratedCode, functions: Sequence[str]) -> None:
    seconds = max(round(sum(code.operations.values()) / COMPILES), 1)
    say(
        f"Compile it with cc -O2 -march=native -c {code.source}: about "
        f"{plural(seconds, 'second')}.",
        FAINT,
    )
    large = [name for name in functions if code.operations[name] > LARGE]
    if large:
        say(
            f"{', '.join(large)}: from some {LARGE:,} operations on, the package was measured to "
            "be as fast as its C, or faster.",
            FAINT,
        )


def _output(path: str, force: bool) -> Path:
    """Return where to write, or say why not there."""
    out = Path(path)
    if out.suffix != ".c":
        raise click.UsageError(f"{path}: C is written, to a name that ends in .c")
    if not out.parent.is_dir():
        raise click.UsageError(f"{path}: there is no folder {out.parent}")
    for file in (out, out.with_suffix(".h")):
        if file.exists() and not force:
            raise click.UsageError(f"{file}: there is already such a file; --force replaces it")
    return out


def _name(option: str) -> str:
    return option.partition("=")[0]


def _options_of(function: str, options: Sequence[str]) -> dict[str, Any]:
    """Those options that a function takes, as it takes them."""
    for option in options:
        if "=" not in option:
            raise click.UsageError(f"--option {option}: expected NAME=VALUE, such as order=2")
    if function not in dtau.__all__:
        return {}
    taken = inspect.signature(getattr(dtau, function)).parameters
    return {
        _name(option): _value(_name(option), option.partition("=")[2])
        for option in options
        if _name(option) in taken
    }


def _value(name: str, text: str) -> Any:
    if text.isdigit():
        return int(text)
    if text in ("true", "false"):
        return text == "true"
    return text.split(",") if name in ("frames", "prescribed") else text
