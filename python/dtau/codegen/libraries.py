"""Cache compiled libraries in the user's folder, verify and load them: `kept_library`.

Cached files are not trusted. A file must belong to the user and end with a digest of its name and
its content. The verified bytes are loaded from memory of this process, so a file that is changed or
truncated later, while its code runs, does no harm.
"""

from __future__ import annotations

import ctypes
import hashlib
import itertools
import os
import shutil
import stat
import sys
import tempfile
import time
from collections.abc import Iterator
from contextlib import contextmanager, suppress
from pathlib import Path

_DIGEST = hashlib.sha256().digest_size
_WORK = ".dtau-work-"


def cache_folder() -> Path:
    """Return the user's folder for compiled libraries; raise OSError if there is none."""
    given = Path(os.environ.get("XDG_CACHE_HOME", ""))
    folder = (given if given.is_absolute() else _home() / ".cache") / "dtau"
    folder.mkdir(mode=0o700, parents=True, exist_ok=True)
    found = folder.stat()
    if not _is_own(found):
        raise PermissionError(
            f"{folder} is another user's (number {found.st_uid}): name a folder of your own in the "
            "environment variable XDG_CACHE_HOME"
        )
    if _others_write(found):
        raise PermissionError(f"{folder} can be written by others: run chmod 700 {folder}")
    _remove_abandoned(folder)
    return folder


def _home() -> Path:
    with suppress(RuntimeError):
        home = Path.home()
        if home.is_absolute():
            return home
    raise OSError(
        "there is no home folder: name a folder in the environment variable XDG_CACHE_HOME"
    )


def _is_own(found: os.stat_result) -> bool:
    return not hasattr(os, "geteuid") or found.st_uid == os.geteuid()


def _others_write(found: os.stat_result) -> bool:
    return os.name == "posix" and bool(found.st_mode & (stat.S_IWGRP | stat.S_IWOTH))


def kept_library(folder: Path, name: str) -> bytes | None:
    """Return the cached library of a name; if it is invalid, remove the file and return None."""
    flags = getattr(os, "O_NOFOLLOW", 0) | getattr(os, "O_NONBLOCK", 0) | getattr(os, "O_BINARY", 0)
    try:
        descriptor = os.open(folder / name, os.O_RDONLY | flags)
    except FileNotFoundError:
        return None
    except OSError:  # a link
        content = b""
    else:
        content = _read_own(descriptor)
    code = content[:-_DIGEST]
    if content and content[-_DIGEST:] == _digest(name, code):
        return code
    remove_library(folder, name)
    return None


def _read_own(descriptor: int) -> bytes:
    """Read a file and close it; return nothing if anyone but the user may have written it."""
    try:
        found = os.fstat(descriptor)
        if not stat.S_ISREG(found.st_mode) or not _is_own(found) or _others_write(found):
            return b""
        with open(descriptor, "rb", closefd=False) as file:
            return file.read()
    finally:
        os.close(descriptor)


def keep_library(folder: Path, work: Path, name: str, code: bytes) -> None:
    """Cache a library under a name, atomically."""
    new = work / "kept"
    with open(new, "xb", opener=_private) as file:
        file.write(code + _digest(name, code))
        file.flush()
        os.fsync(file.fileno())
    new.replace(folder / name)


def _private(path: str, flags: int) -> int:
    return os.open(path, flags, 0o600)


def _digest(name: str, code: bytes) -> bytes:
    return hashlib.sha256(name.encode() + b"\0" + code).digest()


def remove_library(folder: Path, name: str) -> None:
    """Remove the file or folder of a name."""
    path = folder / name
    with suppress(OSError):
        if path.is_dir() and not path.is_symlink():
            shutil.rmtree(path)
        else:
            path.unlink()


@contextmanager
def work_folder(folder: Path | None) -> Iterator[Path]:
    """Make a folder for this call: in the cache, or among temporary files.

    The folder is locked, so that folders of killed processes can be recognized.
    """
    # Not TemporaryDirectory: a forked child would remove its parent's folder at exit.
    try:
        work = Path(tempfile.mkdtemp(prefix=_WORK, dir=folder))
    except OSError:  # a read-only cache
        work = Path(tempfile.mkdtemp(prefix=_WORK))
    lock = _lock(work)
    try:
        yield work
    finally:
        shutil.rmtree(work, ignore_errors=True)
        if lock is not None:
            os.close(lock)


def _lock(work: Path) -> int | None:
    """Lock a folder; None if another process holds it or the file system has no locks."""
    if sys.platform == "win32":
        return None
    import fcntl

    descriptor = os.open(work, os.O_RDONLY | os.O_NOFOLLOW | os.O_DIRECTORY)
    try:
        fcntl.flock(descriptor, fcntl.LOCK_EX | fcntl.LOCK_NB)
    except OSError:
        os.close(descriptor)
        return None
    return descriptor


def _remove_abandoned(folder: Path) -> None:
    """Remove the work folders of processes that were killed."""
    for work in folder.glob(f"{_WORK}*"):
        with suppress(OSError):
            if time.time() - work.lstat().st_mtime < 60.0:  # it may not be locked yet
                continue
            lock = _lock(work)
            if lock is not None:
                shutil.rmtree(work, ignore_errors=True)
                os.close(lock)


_loads = itertools.count(1)


def load_library(code: bytes) -> ctypes.CDLL:
    """Load a library from memory; raise OSError if it is not a library."""
    if sys.platform == "linux":
        with suppress(OSError):  # no /proc, or the system does not run code from memory
            return _load_from_memory(code)
    with work_folder(None) as work:
        (work / "robot.so").write_bytes(code)
        return ctypes.CDLL(str(work / "robot.so"))


def _load_from_memory(code: bytes) -> ctypes.CDLL:
    descriptor = os.memfd_create("dtau")
    with open(descriptor, "wb") as file:
        file.write(code)
        file.flush()
        # The dynamic linker returns the earlier library for a name that it has seen, and numbers of
        # files repeat. So each load spells the folder differently: a count in binary, of "/" and
        # "/.".
        spelled = "".join("/." if bit == "1" else "/" for bit in f"{next(_loads):b}")
        return ctypes.CDLL(f"/proc/self/fd{spelled}/{descriptor}")
