"""The command line: `dtau`, or `python -m dtau`.

Each command is in the module of its name. `robot` has the options common to all commands, `output`
tables, colors and progress, `app` the handling of errors. The folder `checks` has the checks of
`dtau check`. The package itself imports none of these modules.
"""

from __future__ import annotations

import importlib
import sys
from collections.abc import Sequence
from pathlib import Path


def main(arguments: Sequence[str] | None = None) -> int:
    """Run a command, by default the one on the command line; return the exit code."""
    arguments = sys.argv[1:] if arguments is None else list(arguments)
    if len(arguments) == 1 and arguments[0] in _FOLDERS:
        return _print_folder(_FOLDERS[arguments[0]])
    try:
        for package in ("click", "rich"):
            importlib.import_module(package)
    except ModuleNotFoundError as missing:
        print(
            f"The command line needs the package {missing.name}, which is not installed: "
            "python -m pip install 'click>=8.2' 'rich>=13'",
            file=sys.stderr,
        )
        return 3
    from dtau.cli.app import run

    return run(arguments)


_FOLDERS = {"--cmake-dir": "cmake/dtau", "--pkgconfig-dir": "pkgconfig"}


def _print_folder(name: str) -> int:
    """Print a folder with which builds find the C++ library; builds have no click."""
    from dtau import _core

    folder = Path(str(_core.__file__)).parent / "lib" / name
    if not folder.is_dir():
        print(
            f"The C++ library is not installed: {folder} does not exist. "
            "The package has it on Linux and macOS, and not on Windows",
            file=sys.stderr,
        )
        return 3
    print(folder)
    return 0
