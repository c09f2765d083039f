"""Memory of results that are gone, kept for new ones."""

from __future__ import annotations

import os

from dtau import _core
from dtau.checks import integer

_VARIABLE = "DTAU_KEPT_MEMORY"
_MOST = 2**62


def keep_memory(limit: int) -> int:
    """Limit the memory that is kept of results that are gone, for the results of later calls.

    Fresh memory of the system can cost several times what it takes to compute what is written to
    it; so results of 64 kB and more leave theirs to later ones. By default at most 256 MB are kept,
    or a sixteenth of the machine's memory if that is less; the environment variable
    ``DTAU_KEPT_MEMORY`` sets another limit at import. What was not used for longest goes first.

    Parameters
    ----------
    limit
        Bytes; what is over is given back to the system at once. 0: all of it, and nothing is kept.

    Returns
    -------
    int
        The limit before, in bytes.

    Raises
    ------
    TypeError, ValueError
        If `limit` is not an integer, or negative.

    Examples
    --------
    >>> import dtau
    >>> before = dtau.keep_memory(0)  # gives all of it back
    >>> dtau.keep_memory(before)  # and goes on as before
    0
    """
    return _core.keep_memory(integer("limit", limit, 0, _MOST))


def _read_environment() -> None:
    text = os.environ.get(_VARIABLE)
    if not text:
        return
    try:
        keep_memory(int(text))
    except ValueError:
        raise ImportError(f"{_VARIABLE}: expected a number of bytes, got {text!r:.80}") from None


_read_environment()
