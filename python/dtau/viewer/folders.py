"""Files that others name: only those below folders that the user allows are opened."""

from __future__ import annotations

import os
import stat
from collections.abc import Sequence
from pathlib import Path
from urllib.parse import unquote

LARGEST = 256_000_000  # bytes of a mesh

_NOT_FOUND = "not found below the file's own folder and those of meshes="


class Folders:
    """The folders below which files may be read: the robot's own, and those that the user names.

    Parameters
    ----------
    own : str or path-like, optional
        The folder of the robot's file, which relative names begin at.
    named : sequence of str or path-like
        Folders that packages are in, or that are a package.

    Raises
    ------
    NotADirectoryError
        If one that is named is no folder.
    """

    def __init__(
        self, own: str | os.PathLike[str] | None, named: Sequence[str | os.PathLike[str]] = ()
    ) -> None:
        for folder in named:
            if not os.path.isdir(folder):
                raise NotADirectoryError(f"meshes: expected a folder, got {os.fspath(folder)!r}")
        self._own = None if own is None else Path(os.path.realpath(own))
        self._named = [Path(os.path.realpath(folder)) for folder in named]

    def find(self, name: str) -> Path:
        """Return the file of a name: ``package://``, ``file://``, relative or absolute.

        Symbolic links are followed first: what lies outside the folders is never opened.

        Raises
        ------
        FileNotFoundError
            If there is none below the folders; the message says why.
        """
        outside = False
        for candidate in self._candidates(name):
            path, size = _file(candidate)
            if path is None:
                continue
            if not any(path.is_relative_to(folder) for folder in self._all()):
                outside = True
            elif size > LARGEST:
                raise FileNotFoundError(f"larger than {LARGEST} bytes: {name!r:.200}")
            else:
                return path
        raise FileNotFoundError(
            f"{'outside the folders of meshes=' if outside else _NOT_FOUND}: {name!r:.200}"
        )

    def inside(self, path: Path) -> Folders:
        """Return these folders for names that are relative to a file in them."""
        other = Folders(path.parent)
        other._named = self._all()
        return other

    def _all(self) -> list[Path]:
        return [*([] if self._own is None else [self._own]), *self._named]

    def _candidates(self, name: str) -> list[Path]:
        """Where a file might be, by its name alone."""
        if name.startswith("package://"):
            rest = unquote(name.removeprefix("package://")).lstrip("/")
            package, _, below = rest.partition("/")
            whole = [folder / rest for folder in self._all()]
            return whole + [folder / below for folder in self._all() if package and below]
        if name.startswith("file://"):
            return [Path(unquote(name.removeprefix("file://")))]
        if "://" in name:  # nothing is fetched
            return []
        return [folder / name for folder in self._all()]  # an absolute name stays as it is


def _file(candidate: Path) -> tuple[Path | None, int]:
    """Follow links to a file, and return its size; None for whatever else, which might not end."""
    try:
        path = Path(os.path.realpath(candidate))
        found = path.stat()
    except (OSError, ValueError):  # not there, not to be read; null characters
        return None, 0
    return (path, found.st_size) if stat.S_ISREG(found.st_mode) else (None, 0)
