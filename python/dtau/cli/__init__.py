"""The command line: `dtau`, or `python -m dtau`.

Each command is in the module of its name. `robot` has the options common to all commands, `output`
tables, colors and progress, `app` the handling of errors. The folder `checks` has the checks of
`dtau check`. The package itself imports none of these modules.
"""

from __future__ import annotations

import importlib
import sys
from collections.abc import Sequence


def main(arguments: Sequence[str] | None = None) -> int:
    """Run a command, by default the one on the command line; return the exit code."""
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
