"""The base of the classes whose objects never change."""

from __future__ import annotations

from typing import Any, NoReturn

import numpy as np


class Immutable:
    """Attributes are set once, by the constructor through `vars(self)`; arrays are read-only.

    Pickling and copying restore the attributes as they were, without validating them again.
    """

    def __setattr__(self, name: str, value: object) -> NoReturn:
        raise AttributeError(f"cannot set {name!r}: a {type(self).__name__} is immutable")

    def __delattr__(self, name: str) -> NoReturn:
        raise AttributeError(f"cannot delete {name!r}: a {type(self).__name__} is immutable")

    def _require_new(self) -> None:
        """Raise unless nothing is set yet: constructors can be called a second time."""
        if vars(self):
            raise AttributeError(f"cannot construct it again: a {type(self).__name__} is immutable")

    def __setstate__(self, state: dict[str, Any]) -> None:
        self._require_new()
        for value in state.values():
            if isinstance(value, np.ndarray):
                value.flags.writeable = False  # NumPy does not keep this flag in a pickle
        vars(self).update(state)
