"""Limit generated code by the expected time of a compiler: `Budget`."""

from __future__ import annotations

import warnings

from dtau.codegen.recording import COMPILES
from dtau.support.errors import ModelWarning

_WAY_OUT = "ask for fewer functions, a lower order of casadi=, or a larger limit="
_PATIENCE = 30.0  # seconds above which there is a warning
_RECORDED = 4  # recorded operations per written one: up to 1.8 were counted


def require_limit(limit: object) -> None:
    """Raise unless this is a positive number of seconds."""
    if isinstance(limit, bool) or not isinstance(limit, int | float) or not limit > 0:
        raise ValueError(f"limit: expected a positive number of seconds, got {limit!r}")


class Budget:
    """Count the operations of functions, before they are written, against a limit of seconds."""

    def __init__(self, limit: float, language: str) -> None:
        require_limit(limit)
        self._limit = limit
        self._rate = COMPILES[language]
        self._language = language.upper()
        self._bytes = 0
        self.operations: dict[str, int] = {}

    @property
    def _seconds(self) -> float:
        return sum(self.operations.values()) / self._rate

    def add(self, name: str, operations: int, text: str) -> str:
        """Count a function; return its text, or nothing once the limit is exceeded."""
        self.operations[name] = operations
        self._bytes += len(text)
        return text if self._seconds <= self._limit else ""

    def require_recordable(self, recorded: int) -> None:
        """Raise during a recording if the function certainly exceeds the limit."""
        least = recorded // _RECORDED
        if least > self._limit * self._rate:
            raise ValueError(
                f"functions: more than {least:,} operations would take a compiler longer than "
                f"limit={self._limit:g} seconds; {_WAY_OUT}"
            )

    def require_within(self) -> None:
        """Raise if all functions together exceed the limit; warn if compiling takes long."""
        largest = max(self.operations, key=lambda name: self.operations[name])
        said = (
            f"{sum(self.operations.values()):,} operations, {self._bytes / 1e6:.1f} MB of "
            f"{self._language}, most of them in {largest}"
        )
        if self._seconds > self._limit:
            raise ValueError(
                f"functions: {said}, would take a compiler about {self._seconds:.0f} s, more than "
                f"limit={self._limit:g}; {_WAY_OUT}"
            )
        if self._seconds > _PATIENCE:
            warnings.warn(
                f"dtau.generate: {said}: a compiler takes about {self._seconds:.0f} s for them",
                ModelWarning,
                stacklevel=3,
            )
