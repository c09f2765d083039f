"""Read the files that `Model.save` writes: `read`."""

from __future__ import annotations

import struct

from dtau.loaders.source import Options, Parts, Source
from dtau.model.array_file import MAGIC
from dtau.model.saving import restored
from dtau.support.errors import ModelError

_SHORTEST = 2  # bytes of MAGIC that no text in UTF-8 begins with


def is_saved(text: Source) -> bool:
    """Whether a source is such a file; also if it is cut off within its first bytes."""
    start = text.content[: len(MAGIC)]
    return isinstance(start, bytes) and len(start) >= _SHORTEST and MAGIC.startswith(start)


def read(text: Source, options: Options) -> Parts:
    """Read the parts of a model.

    Raises
    ------
    ModelError
        If the file is truncated, damaged or of another version, or holds no model.
    ValueError
        If an option is given that only other formats have.
    """
    for name, value, default in zip(
        options._fields, options, Options(None, "independent", "keep"), strict=True
    ):
        if value != default and name != "friction":  # the links have theirs
            raise ValueError(
                f"{name}: expected {default!r} with a file of Model.save, which has the whole "
                f"model, got {value!r}"
            )
    assert isinstance(text.content, bytes)
    try:
        saved = restored(text.content)
    except (ValueError, TypeError, KeyError, IndexError, struct.error) as error:
        raise ModelError(f"{text.label}: a file of Model.save: {error}") from None
    return Parts(
        saved.name, saved.links, saved.notes, gravity=saved.gravity, postures=saved.postures
    )
