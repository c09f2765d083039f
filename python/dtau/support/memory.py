"""Limit the cache of result memory: `set_result_cache_limit`."""

from __future__ import annotations

import os

from dtau import _core
from dtau.support.checks import integer

_VARIABLE = "DTAU_RESULT_CACHE_LIMIT"
_FORMER_VARIABLE = "DTAU_KEPT_MEMORY"
_MOST = 2**62


def set_result_cache_limit(limit: int) -> int:
    """Limit the memory of deleted results that is cached for the results of later calls.

    Allocating fresh memory can take several times as long as computing the results in it. So the
    memory of deleted results of 64 kB and more is cached for later results. By default the cache
    holds at most 256 MB, or a sixteenth of the machine's memory if that is less. The environment
    variable ``DTAU_RESULT_CACHE_LIMIT`` sets another limit at import, in bytes. The least recently
    used memory is released first.

    Parameters
    ----------
    limit
        Bytes. Cached memory above the limit is returned to the system at once. 0 empties the cache
        and switches it off.

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
    >>> before = dtau.set_result_cache_limit(0)  # empties the cache
    >>> dtau.set_result_cache_limit(before)  # restores the limit
    0
    """
    return _core.set_result_cache_limit(integer("limit", limit, 0, _MOST))


def _read_environment() -> None:
    if os.environ.get(_FORMER_VARIABLE):
        raise ImportError(f"{_FORMER_VARIABLE}: the environment variable is called {_VARIABLE} now")
    text = os.environ.get(_VARIABLE)
    if not text:
        return
    try:
        set_result_cache_limit(int(text))
    except ValueError:
        raise ImportError(f"{_VARIABLE}: expected a number of bytes, got {text!r:.80}") from None


_read_environment()
