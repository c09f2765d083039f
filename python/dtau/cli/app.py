"""Run commands; errors become a sentence and an exit code: `run`."""

from __future__ import annotations

import os
import sys
import warnings
from collections.abc import Sequence
from io import TextIOWrapper
from pathlib import Path

import click

import dtau
from dtau.cli.bench import bench
from dtau.cli.check import check
from dtau.cli.convert import convert
from dtau.cli.docs import docs
from dtau.cli.generate import generate
from dtau.cli.info import info
from dtau.cli.output import complain, warn
from dtau.cli.robot import as_typed
from dtau.cli.view import view

_USAGE = 3  # also for files that cannot be read or written
_INTERRUPTED = 130

_HELP = """Show, check, time and convert a robot's file, generate C code for it, and view it.

ROBOT is a URDF, an MJCF (pip install mujoco-core), a file *.xacro (pip install "xacrodoc>=2") or
a file *.dtau; - reads standard input.
"""
_EPILOG = """\b
Examples:
  dtau info anymal.urdf --root free     the tree, with entries of q and v
  dtau check anymal.urdf --root free    errors and suspicious values in it
  dtau bench anymal.urdf --root free    times of the functions on this machine
  dtau convert ant.xml ant.urdf         an MJCF as a URDF
  dtau convert arm.urdf arm.dtau        a URDF as a file for the C++ library
  dtau generate arm.urdf arm.c          its dynamics as C code
  dtau view anymal.urdf --root free     the robot in the browser
  dtau docs command_line                a page of the documentation: docs/command_line.md
  dtau check --help                     what a command does, with examples
  dtau --cmake-dir                      the folder of the C++ library's CMake package
  dtau --pkgconfig-dir                  the folder of its file for pkg-config

\b
Exit codes:
  0  done; for check: nothing worse than a note
  1  check found warnings
  2  check found errors; for the others: the file cannot be read as a robot, or this robot has no
     such functions or no such URDF
  3  the command line is not valid, a file does not exist or cannot be written, or a package
     is missing
  130  interrupted by Ctrl-C
"""


class _Commands(click.Group):
    """A group of commands that suggests the right command if a file stands in its place."""

    def resolve_command(
        self, ctx: click.Context, args: list[str]
    ) -> tuple[str | None, click.Command | None, list[str]]:
        """Return the command that was typed, or fail with a suggestion."""
        name = args[0]
        if name not in self.commands and (Path(name).exists() or "." in name):
            raise click.UsageError(f"{name} is not a command: dtau info {name} shows it.", ctx)
        return super().resolve_command(ctx, args)


@click.group(
    cls=_Commands,
    help=_HELP,
    epilog=_EPILOG,
    context_settings={"help_option_names": ["-h", "--help"], "max_content_width": 100},
    no_args_is_help=False,
    invoke_without_command=True,
)
@click.version_option(dtau.__version__, message="dtau %(version)s")
@click.pass_context
def commands(ctx: click.Context) -> None:
    """Print the help if no command was given."""
    if ctx.invoked_subcommand is None:
        click.echo(ctx.get_help())


for _command in (info, check, bench, convert, generate, view, docs):
    commands.add_command(_command)


def run(arguments: Sequence[str]) -> int:
    """Run a command and return the exit code; errors are printed as a sentence."""
    if sys.stdout is None:  # dtau info robot.urdf >&-
        sys.stdout = os.fdopen(os.open(os.devnull, os.O_WRONLY), "w", encoding="utf-8")
    for stream in (sys.stdout, sys.stderr):
        if isinstance(stream, TextIOWrapper):
            stream.reconfigure(errors="replace")  # for encodings without ²
    with warnings.catch_warnings():
        warnings.showwarning = _warn
        return _exit_code(arguments)


def _warn(message: Warning | str, *_: object, **__: object) -> None:
    warn(as_typed(str(message)))


def _exit_code(arguments: Sequence[str]) -> int:
    try:
        code = commands.main(list(arguments), prog_name="dtau", standalone_mode=False)
        sys.stdout.flush()
        return code if isinstance(code, int) else 0
    except click.UsageError as error:
        typed = (
            f"dtau {arguments[0]}" if arguments and arguments[0] in commands.commands else "dtau"
        )
        where = error.ctx.command_path if error.ctx else typed  # click's parser tells no command
        message = error.format_message()
        end = "" if message.endswith((".", "?")) else "."
        complain(f"{message}{end} Try: {where} --help")
        return _USAGE
    except click.ClickException as error:
        complain(error.format_message())
        return error.exit_code
    except (click.Abort, KeyboardInterrupt):
        complain("interrupted.")
        return _INTERRUPTED
    except SystemExit:  # click raises it if the reader closes the pipe: dtau info robot.urdf | head
        return 0
    except BrokenPipeError:  # the same, at the last line
        _close_output()
        return 0
    except OSError as error:
        complain(f"{error.filename or 'standard output'}: {error.strerror}.")
        _close_output()
        return _USAGE


def _close_output() -> None:
    """Make the interpreter drop, at its end, the output that could not be written."""
    os.dup2(os.open(os.devnull, os.O_WRONLY), sys.stdout.fileno())
