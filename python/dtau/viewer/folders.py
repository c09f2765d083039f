"""Open files that a robot's file names, but only below folders that the user allows: `Folders`."""

from __future__ import annotations

import os
import stat
from collections.abc import Iterable, Sequence
from pathlib import Path
from urllib.parse import unquote

from dtau.support.files import require_path

Paths = str | os.PathLike[str] | Sequence[str | os.PathLike[str]]

LARGEST = 256_000_000  # most bytes of a mesh

_NOT_FOUND = "not found below the file's own folder and those of meshes="


class Folders:
    """The folders below which files may be read: the robot's own, and folders the user names.

    Parameters
    ----------
    own : str or path-like, optional
        The folder of the robot's file, the base of relative names.
    named : path, or sequence of paths
        Folders that contain packages, or that are a package.

    Raises
    ------
    NotADirectoryError, ValueError, TypeError
        If a named folder is not a folder, or not a path.
    """

    def __init__(self, own: str | os.PathLike[str] | None, named: Paths = ()) -> None:
        if isinstance(named, str | os.PathLike) or not isinstance(named, Iterable):
            named = (named,)
        folders = [require_path("meshes", folder) for folder in named]
        for folder in folders:
            if not os.path.isdir(folder):
                raise NotADirectoryError(f"meshes: expected a folder, got {folder!r}")
        self._own = None if own is None else Path(os.path.realpath(own))
        self._named = [Path(os.path.realpath(folder)) for folder in folders]

    def find(self, name: str) -> Path:
        """Return the file of a name: ``package://``, ``file://``, relative or absolute.

        Symbolic links are resolved first, so that no file outside the folders is opened.

        Raises
        ------
        FileNotFoundError
            If there is no such file below the folders; the message gives the reason.
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
        """Return the same folders, with relative names based on the folder of a file in them."""
        other = Folders(path.parent)
        other._named = self._all()
        return other

    def _all(self) -> list[Path]:
        return [*([] if self._own is None else [self._own]), *self._named]

    def _candidates(self, name: str) -> list[Path]:
        """Return the paths where a file of this name might be."""
        if name.startswith("package://"):
            rest = unquote(name.removeprefix("package://")).lstrip("/")
            package, _, below = rest.partition("/")
            whole = [folder / rest for folder in self._all()]
            return whole + [folder / below for folder in self._all() if package and below]
        if name.startswith("file://"):
            return [Path(unquote(name.removeprefix("file://")))]
        if "://" in name:  # nothing is downloaded
            return []
        return [folder / name for folder in self._all()]  # an absolute name is unchanged


def _file(candidate: Path) -> tuple[Path | None, int]:
    """Resolve links to a file; return it and its size, or None for anything but a file."""
    try:
        path = Path(os.path.realpath(candidate))
        found = path.stat()
    except (OSError, ValueError):  # missing or unreadable files; null characters
        return None, 0
    return (path, found.st_size) if stat.S_ISREG(found.st_mode) else (None, 0)
