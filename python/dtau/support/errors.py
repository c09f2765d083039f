"""The exception and the warning about models and their files: `ModelError`, `ModelWarning`."""

from __future__ import annotations

import threading
import warnings
from collections.abc import Iterator
from contextlib import contextmanager

_of_thread = threading.local()


class ModelError(ValueError):
    """A robot's file cannot be read as a model; the message names the file and the line."""


class ModelWarning(UserWarning):
    """A model was accepted, but something in it is probably not what its author meant."""


def warn_of_model(message: str, *, stacklevel: int) -> None:
    """Warn of a model, unless this thread runs `without_model_warnings`."""
    if not getattr(_of_thread, "is_quiet", False):
        warnings.warn(message, ModelWarning, stacklevel=stacklevel + 1)


@contextmanager
def without_model_warnings() -> Iterator[None]:
    """Make models without warnings, in this thread.

    The filters of the module ``warnings`` belong to the whole process: a change of them hides
    warnings of other threads, and two threads that put them back can leave them changed.
    """
    before = getattr(_of_thread, "is_quiet", False)
    _of_thread.is_quiet = True
    try:
        yield
    finally:
        _of_thread.is_quiet = before
