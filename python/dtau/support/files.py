"""Read paths, and write files whole or not at all: `require_path`, `write_file`."""

from __future__ import annotations

import errno
import os
import secrets
import stat
from contextlib import suppress

from dtau.support.checks import plain, shown


def require_path(argument: str, path: object) -> str:
    """Return a path as text.

    Raises
    ------
    TypeError
        If it is neither text nor path-like.
    ValueError
        If it is empty, or has a null character.
    """
    if not isinstance(path, str | os.PathLike):
        raise TypeError(f"{argument}: expected a path, got {shown(path)}")
    text = str(plain(os.fsdecode(path)))
    if not text or "\0" in text:
        raise ValueError(f"{argument}: expected a path, got {text!r:.80}")
    return text


def write_file(path: str | os.PathLike[str], content: bytes) -> None:
    """Write a file so that a failure leaves the former one as it was.

    The content goes into a new file beside it, which then takes its place, with its owner and
    permissions. Links are followed. What is no regular file, such as a pipe, is written to.

    Raises
    ------
    OSError
        If the file cannot be written.
    ValueError, TypeError
        If the path is none.
    """
    path = require_path("path", path)
    target = os.path.realpath(path)
    try:
        former = os.stat(target)
    except FileNotFoundError:
        former = None
    if former is not None and not stat.S_ISREG(former.st_mode):
        with open(target, "wb") as file:
            file.write(content)
        return
    if former is not None and not os.access(target, os.W_OK):
        raise PermissionError(errno.EACCES, os.strerror(errno.EACCES), path)
    beside = f"{target}.{secrets.token_hex(8)}.tmp"
    try:
        with open(beside, "xb") as file:
            file.write(content)
            file.flush()
            os.fsync(file.fileno())
        if former is not None:
            with suppress(
                OSError, AttributeError
            ):  # only root gives files away; Windows has no owners
                os.chown(beside, former.st_uid, former.st_gid)
            os.chmod(beside, stat.S_IMODE(former.st_mode))
        os.replace(beside, target)
    except BaseException as error:
        with suppress(OSError):
            os.unlink(beside)
        if isinstance(error, OSError) and error.errno is not None:
            raise type(error)(error.errno, error.strerror, path) from None
        raise
