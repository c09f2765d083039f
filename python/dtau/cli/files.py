"""Check that files exist, with suggestions for missing ones: `require_file`."""

from __future__ import annotations

import difflib
import os
from pathlib import Path

import click

_SUFFIXES = (".urdf", ".xml", ".mjcf", ".xacro", ".dtau")


class MissingFileError(click.ClickException):
    """The file does not exist."""

    exit_code = 3


def require_file(path: str) -> None:
    """Raise MissingFileError, with suggestions, unless the file exists."""
    here = Path(path)
    if here.is_dir():
        inside = sorted(x.name for x in here.iterdir() if x.suffix in _SUFFIXES)
        hint = f"; robots in it: {', '.join(inside[:8])}" if inside else ""
        raise MissingFileError(f"{path}: expected a file, got a folder{hint}.")
    if here.exists():
        return
    folder = here.parent
    if not folder.is_dir():
        raise MissingFileError(f"{path}: no such file, and no folder {folder}.")
    close = difflib.get_close_matches(here.name, os.listdir(folder), n=3)
    hint = f"; close names: {', '.join(str(folder / name) for name in close)}" if close else ""
    raise MissingFileError(f"{path}: no such file{hint}.")
