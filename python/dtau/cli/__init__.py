"""The command line: `dtau`, or `python -m dtau`.

A command is a module of its name; `robot` has the options common to all, `output` tables, colors
and progress, `app` what becomes of mistakes. The folder `checks` has what `dtau check` looks at.
The package itself imports nothing of this.
"""

from __future__ import annotations

import importlib
import sys
from collections.abc import Sequence


def main(arguments: Sequence[str] | None = None) -> int:
    """Run a command; by default what was typed. Return the exit code."""
    try:
        for package in ("click", "rich"):
            importlib.import_module(package)
    except ModuleNotFoundError as missing:
        print(
            f"The command line needs the package {missing.name}, which the extra dtau[cli] "
            'installs: python -m pip install "dtau[cli]"',
            file=sys.stderr,
        )
        return 3
    from dtau.cli.app import run

    return run(sys.argv[1:] if arguments is None else list(arguments))
