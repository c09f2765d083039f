"""Limits the cache of memory for results: `set_result_cache_limit`."""

from __future__ import annotations

import os

from dtau import _core
from dtau.checks import integer

_VARIABLE = "DTAU_KEPT_MEMORY"
_MOST = 2**62


def set_result_cache_limit(limit: int) -> int:
    """Limit the memory that is cached from deleted results, for the results of later calls.

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
    >>> before = dtau.set_result_cache_limit(0)  # gives all of it back
    >>> dtau.set_result_cache_limit(before)  # and goes on as before
    0
    """
    return _core.set_result_cache_limit(integer("limit", limit, 0, _MOST))


def _read_environment() -> None:
    text = os.environ.get(_VARIABLE)
    if not text:
        return
    try:
        set_result_cache_limit(int(text))
    except ValueError:
        raise ImportError(f"{_VARIABLE}: expected a number of bytes, got {text!r:.80}") from None


_read_environment()
