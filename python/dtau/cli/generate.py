"""`dtau generate`: write functions of a robot as C or CUDA code."""

from __future__ import annotations

import re
import warnings
from collections.abc import Sequence
from pathlib import Path
from typing import Any

import click

import dtau
from dtau.cli.output import FAINT, Column, plural, print_table, say
from dtau.cli.robot import RefusedError, RobotFile, Word, as_typed, takes_robot
from dtau.codegen.generate import SUFFIXES
from dtau.codegen.recording import COMPILES, LARGE
from dtau.registry import FUNCTIONS
from dtau.support.options import Language, Scalar

_OPTION = re.compile(r"\b(limit|casadi|prefix)=(\d*)")  # in errors of the package
_EPILOG = """\b
Examples:
  dtau generate arm.urdf arm.c
  dtau generate arm.urdf arm.c -f inverse_dynamics -f forward_dynamics_derivatives
  dtau generate anymal.urdf legs.c --root free -f inverse_dynamics --parameter f_ext
  dtau generate arm.urdf arm.c -f frame_jacobians -o frames=tool0 -o axes=mixed
  dtau generate arm.urdf arm.c -f inverse_dynamics_time_derivatives -o order=2
  dtau generate arm.urdf arm.c --scalar float
  dtau generate arm.urdf arm.c --casadi 2
  dtau generate arm.urdf arm.cu --language cuda -f inverse_dynamics
"""


_OF_ROBOT = ": expected a model "  # in errors of functions that do not support a robot
_TYPED = {
    "functions: ": "--function: ",
    "parameters: ": "--parameter: ",
    "prefix: ": "--prefix: ",
    "casadi: ": "--casadi: ",
    "limit: ": "--limit: ",
}  # names of options in messages: names on the command line
_ARGUMENTS = re.compile(f"^({'|'.join(_TYPED)})")


@click.command(epilog=_EPILOG, short_help="Write functions of a robot as C or CUDA code.")
@takes_robot
@click.argument("file", metavar="FILE")
@click.option(
    "-f",
    "--function",
    "functions",
    multiple=True,
    default=("inverse_dynamics", "forward_dynamics"),
    show_default=True,
    help="Name of a function of the package; repeat for several.",
)
@click.option(
    "-o",
    "--option",
    "options",
    metavar="NAME=VALUE",
    multiple=True,
    help="An option of the functions: frames=left,right, axes=mixed, order=2, integrator=rk4.",
)
@click.option(
    "--parameter",
    "parameters",
    multiple=True,
    help="Keep as an argument: f_ext, external wrenches; gravity; payload=LINK, its load.",
)
@click.option(
    "--language",
    type=Word(Language),
    default="c",
    show_default=True,
    help="c: FILE.c and FILE.h, one state a call; cuda: FILE.cu and FILE.cuh, batches on a GPU.",
)
@click.option(
    "--scalar", type=Word(Scalar), default="double", show_default=True, help="Type of all numbers."
)
@click.option("--prefix", help="Prefix of all names in C. Default: the file's name.")
@click.option(
    "--casadi",
    type=click.IntRange(0, 2),
    help="Write what casadi.external() needs: 0 values, 1 Jacobians and adjoints too, 2 Hessians.",
)
@click.option(
    "--limit",
    type=float,
    metavar="SECONDS",
    default=120.0,
    show_default=True,
    help="Seconds that a compiler may take for FILE, at 4,000 operations a second; 500 of CUDA.",
)
@click.option("--force", is_flag=True, help="Replace the files if they exist.")
def generate(
    robot: RobotFile,
    file: str,
    functions: tuple[str, ...],
    options: tuple[str, ...],
    parameters: tuple[str, ...],
    language: Any,
    scalar: Any,
    prefix: str | None,
    casadi: int | None,
    limit: float,
    force: bool,
) -> None:
    """Write functions of ROBOT to FILE and a header: C that needs only <math.h>, or CUDA.

    They are functions of the package for this robot: its numbers are constants, and terms that are
    zero or known are not computed. The header documents arguments and results. FILE_check() in it
    returns 0 if the functions give, on the target machine, the results that they gave here.
    """
    out = _output(file, force, *SUFFIXES[language])
    asked = {name: (name, _options_of(name, options)) for name in functions}
    unused = [x for x in options if not any(_name(x) in given for _, given in asked.values())]
    if unused:
        raise click.UsageError(f"--option {unused[0]}: none of {', '.join(functions)} takes it")
    model = robot.load().model
    try:
        with warnings.catch_warnings():
            warnings.simplefilter("ignore", dtau.ModelWarning)  # `_advise` prints its time
            code = dtau.generate(
                model,
                asked,
                out,
                language=language,
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
    _advise(code, list(code.operations)[: len(asked)], language)


_COMPILERS = {"c": "cc -O2 -march=native -c", "cuda": "nvcc -arch=native -c"}


def _advise(code: dtau.GeneratedCode, functions: Sequence[str], language: str) -> None:
    seconds = max(round(sum(code.operations.values()) / COMPILES[language]), 1)
    say(
        f"Compile it with {_COMPILERS[language]} {code.source}: about {plural(seconds, 'second')}.",
        FAINT,
    )
    large = [name for name in functions if code.operations[name] > LARGE and language == "c"]
    if large:
        say(
            f"{', '.join(large)}: above about {LARGE:,} operations, measurements found the package "
            "as fast as its C code, or faster.",
            FAINT,
        )


def _output(path: str, force: bool, suffix: str, header_suffix: str) -> Path:
    """Return the path to write, or fail with the reason."""
    out = Path(path)
    if out.suffix != suffix:
        hint = ", or --language cuda" if out.suffix == ".cu" else ""
        raise click.UsageError(f"{path}: expected a name that ends in {suffix}{hint}")
    if not out.parent.is_dir():
        raise click.UsageError(f"{path}: no such folder: {out.parent}")
    for file in (out, out.with_suffix(header_suffix)):
        if file.exists() and not force:
            raise click.UsageError(f"{file}: the file exists; --force replaces it")
    return out


def _name(option: str) -> str:
    return option.partition("=")[0]


def _options_of(function: str, options: Sequence[str]) -> dict[str, Any]:
    """Return the options that a function takes, converted to its types."""
    given: dict[str, Any] = {}
    for option in options:
        name, equals, text = option.partition("=")
        if not equals:
            raise click.UsageError(f"--option {option}: expected NAME=VALUE, such as order=2")
        if name in given:
            raise click.UsageError(f"--option {option}: expected {name} once, got it twice")
        given[name] = _value(name, text)
    if function not in FUNCTIONS:
        return given  # `dtau.generate` refuses the function
    taken = {argument.name for argument in FUNCTIONS[function].arguments}
    return {name: value for name, value in given.items() if name in taken}


def _value(name: str, text: str) -> Any:
    if name in ("frames", "prescribed"):
        return text.split(",")
    if text in ("true", "false"):
        return text == "true"
    for number in (int, float):
        try:
            return number(text)
        except ValueError:
            pass
    return text
