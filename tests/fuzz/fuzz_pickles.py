"""Pickles with damaged contents: an object that can be used, or TypeError or ValueError.

A pickle can run any code. Here only contents are damaged that the package's own classes get.
"""

from __future__ import annotations

import copy
import pickle
import traceback
import warnings
from functools import cache
from pathlib import Path
from typing import Any

import numpy as np
from fuzz_models import endures
from odd_values import choose
from pickles import EXAMPLES, damaged_state, state_of

import dtau
from dtau.conventions import Convention


def empty(cls: type) -> Any:
    """An object without contents."""
    return cls.__new__(cls)


class StandIn:
    """Pickled in place of an object of another class: unpickling makes one of it."""

    def __init__(self, cls: type, state: Any) -> None:
        self.cls, self.state = cls, state

    def __reduce__(self) -> Any:
        return empty, (self.cls,), self.state


@cache
def example(name: str) -> Any:
    return EXAMPLES[name]()


def check(rng: np.random.Generator) -> str:
    """Unpickle one object; return "result" or "refused", or raise AssertionError."""
    name = choose(rng, list(EXAMPLES))
    value = example(name)
    state = copy.copy(state_of(value)) or {}
    for _ in range(choose(rng, [0, 1, 1, 1, 2])):
        state = damaged_state(rng, state)
    what = f"{name}, {state!r:.500}" if not has_hollow(state) else name
    try:
        data = pickle.dumps(StandIn(type(value), state), int(rng.integers(2, 6)))
    except Exception:  # an object that no pickle can have
        return "refused"
    if rng.random() < 0.1:
        data = data[: rng.integers(len(data))]
    try:
        with warnings.catch_warnings():
            warnings.simplefilter("error")
            made = pickle.loads(data)
    except (pickle.UnpicklingError, EOFError):
        return "refused"
    except (TypeError, ValueError):
        return "refused"
    except Exception as error:
        if of_pickle(error):
            return "refused"
        raise AssertionError(f"{what}: {type(error).__name__}: {error}") from error
    usable(made, what)
    return "result"


def of_pickle(error: BaseException) -> bool:
    """Whether an exception comes from pickle itself, not from the package."""
    package = str(Path(dtau.__file__).parent)
    return not any(
        frame.filename.startswith(package) for frame in traceback.extract_tb(error.__traceback__)
    )


def has_hollow(value: Any) -> bool:
    """Whether an object has no contents, so that it cannot be shown."""
    try:
        repr(value)
    except Exception:
        return True
    return False


def usable(made: Any, what: str) -> None:
    repr(made), str(made), copy.deepcopy(made)
    again = pickle.loads(pickle.dumps(made))
    assert type(again) is type(made), what
    if isinstance(made, dtau.Model):
        endures(made, what)
    elif isinstance(made, Convention):
        q = dtau.neutral(made.model)
        made.to_dtau(*made.from_dtau(q, np.zeros(made.nv), np.zeros(made.nv)))
    elif isinstance(made, dtau.ModelBuilder):
        made.add(dtau.Revolute((0, 0, 1)), name="a name that is new")
        with warnings.catch_warnings():
            warnings.simplefilter("ignore", dtau.ModelWarning)
            made.build()
    elif isinstance(made, dtau.JointType):
        made.placement(np.eye(made.nq)[-1] if made.nq > 3 else np.zeros(made.nq))
