"""Check and read arguments: `real_array`, `batch_arrays`, `integer`, `require` and others."""

from __future__ import annotations

import contextlib
import difflib
import itertools
import math
import operator
import re
import sys
from collections.abc import Iterable, Iterator, Mapping, Sequence
from typing import Any, TypeVar

import numpy as np
from numpy.typing import ArrayLike, NDArray

from dtau import _core
from dtau.support import foreign_arrays
from dtau.support.arrays import Array

T = TypeVar("T")

_SHOWN = 8  # most names that a message lists
_COMPARED = 1000  # most names that are searched for similar ones
_LONGEST = 80  # most characters compared of a name: the cost is the product of two lengths
_NUMPY_STRING = re.compile(r"""np\.str_\(('(?:[^'\\]|\\.)*'|"(?:[^"\\]|\\.)*")\)""")
_FLOAT64 = np.dtype(np.float64)
_SEQUENCES = (list, tuple)
_NUMPYS_OWN = frozenset({np.ndarray, list, tuple, float, int})
_MOST_AXES = 32  # most batch axes, as in the core


def real_numbers(
    argument: str, value: ArrayLike, expected: str | tuple[int, ...] = "numbers"
) -> NDArray[Any]:
    """Read `value` as an array of real numbers of any shape and type.

    `expected`, for the message, describes the numbers or is their shape.

    Raises
    ------
    TypeError
        If the numbers are complex, or not numbers at all, or have a mask or a gradient.
    ValueError
        If rows are of unequal size.
    """
    if type(value) not in _NUMPYS_OWN:
        value = foreign_arrays.readable(argument, value)
    try:
        array = np.asarray(value)
    except RuntimeError:
        foreign_arrays.refuse_gradients(argument, value)
        raise
    except ValueError:  # NumPy's own message does not name the argument
        wanted = expected if isinstance(expected, str) else f"shape {expected}"
        raise ValueError(f"{argument}: expected {wanted}, got rows of unequal size") from None
    if array.dtype.kind not in "biuf":
        raise TypeError(f"{argument}: expected real numbers, got {shown(value)}")
    if isinstance(value, _SEQUENCES):
        foreign_arrays.refuse_masks(argument, value)
    return array


def real_array(
    argument: str, value: ArrayLike, shape: tuple[int, ...], *, finite: bool = True
) -> Array:
    """Copy `value` into a read-only float64 array of exactly this shape.

    Raises
    ------
    TypeError
        If the numbers are complex, or not numbers at all.
    ValueError
        If the shape differs, or a number is not finite although it has to be.
    """
    array = real_numbers(argument, value, shape)
    if array.shape != shape:
        raise ValueError(f"{argument}: expected shape {shape}, got {array.shape}")
    if array.dtype != _FLOAT64 or not isinstance(value, _SEQUENCES):
        array = array.astype(_FLOAT64)  # a copy: the caller may change theirs
    if finite and not all(map(math.isfinite, array.ravel().tolist())):
        raise ValueError(f"{argument}: expected finite numbers, got {array.tolist()}")
    array.setflags(write=False)
    return array


def batch_arrays(
    arrays: Mapping[str, tuple[ArrayLike, tuple[int, ...]]],
) -> tuple[tuple[int, ...], list[Array]]:
    """Read float64 arrays with last axes of these sizes, and broadcast their batch axes.

    Return the batch as one axis, together with its shape: NumPy's own functions fail or crash at 32
    axes.

    Raises
    ------
    TypeError
        If the numbers of an array are complex, or not numbers at all.
    ValueError
        If a shape does not fit, there are more than 32 batch axes, or batches do not broadcast
        against each other.
    MemoryError
        If there is no memory for the arrays and for typical results computed from them.
    """
    read, batches = [], {}
    for argument, (value, core) in arrays.items():
        array = real_numbers(argument, value)
        if array.shape[max(array.ndim - len(core), 0) :] != core:
            expected = ", ".join(["...", *map(str, core)])
            raise ValueError(f"{argument} has shape {array.shape}, expected ({expected})")
        read.append(array)
        batches[argument] = array.shape[: array.ndim - len(core)]
    batch = common_batch(batches)
    rows = math.prod(batch)
    numbers = sum(math.prod(core) for _, core in arrays.values())
    taken = 3.5 * numbers + min(2.5 * numbers, 1000.0)  # copies, matrices of the states, results
    require_memory(f"a batch of {rows} states", rows * taken)
    flat = []
    for x, (_, core) in zip(read, arrays.values(), strict=True):
        # Contiguous, because sums in matrix products can depend on the strides.
        whole = np.ascontiguousarray(np.broadcast_to(x, batch + core), dtype=np.float64)
        whole = whole.reshape(rows, *core)
        whole.flags.writeable = False  # it may be the caller's memory
        flat.append(whole)
    return batch, flat


def require_memory(what: str, numbers: float) -> None:
    """Raise MemoryError unless there is memory for so many numbers; `what` names their purpose.

    NumPy alone would allocate memory that does not exist, and the system would kill the process
    later.
    """
    _core.require_memory(what, 8.0 * numbers, "use a smaller batch")


def common_batch(batches: Mapping[str, tuple[int, ...]]) -> tuple[int, ...]:
    """Broadcast the batch axes of arguments, given by their names.

    Raises
    ------
    ValueError
        If there are more than 32 axes, which NumPy's own functions refuse without a name, or the
        batches do not broadcast against each other.
    """
    for argument, shape in batches.items():
        if len(shape) > _MOST_AXES:
            raise ValueError(
                f"{argument} has {len(shape)} batch axes, expected at most {_MOST_AXES}"
            )
    try:
        return np.broadcast_shapes(*batches.values())
    except ValueError as error:
        shapes = ", ".join(f"{argument} {shape}" for argument, shape in batches.items())
        problem = "are too large, broadcast" if "too large" in str(error) else "do not broadcast"
        raise ValueError(f"batch shapes {problem} against each other: {shapes}") from None


def integer(argument: str, value: object, least: int, most: int | None = None) -> int:
    """Read `value` as an integer.

    Raises
    ------
    TypeError
        If it is not an integer.
    ValueError
        If it is out of its range.
    """
    try:
        if isinstance(value, bool):
            raise TypeError
        number = operator.index(value)  # type: ignore[arg-type]
    except TypeError:
        raise TypeError(f"{argument}: expected an integer, got {shown(value)}") from None
    if number < least or (most is not None and number > most):
        wanted = f"at least {least}" if most is None else f"{least} to {most}"
        raise ValueError(f"{argument}: expected an integer of {wanted}, got {number}")
    return number


@contextlib.contextmanager
def naming(where: str) -> Iterator[None]:
    """Put `where` in front of the messages of errors that arise in the block.

    They become TypeError or ValueError themselves: other classes may take no text, such as JAX's of
    traced arrays, which stay as the cause.
    """
    try:
        yield
    except (TypeError, ValueError) as error:
        kind = TypeError if isinstance(error, TypeError) else ValueError
        cause = None if type(error) is kind else error
        raise kind(f"{where}: {error}") from cause


def listing(names: Sequence[str], separator: str = ", ") -> str:
    """Join quoted names; only the first few of many."""
    shown = [repr(plain(name)) for name in names[:_SHOWN]]
    return separator.join(shown if len(names) <= _SHOWN else [*shown, "..."])


def unknown_name(kind: str, name: object, known: Iterable[str]) -> ValueError:
    """Make the error for an unknown name; it lists similar names, or all if there are few."""
    short = [other for other in itertools.islice(known, _COMPARED) if len(other) <= _LONGEST]
    close = difflib.get_close_matches(str(name)[:_LONGEST], short, n=3)
    if close:
        hint = f"; close names: {listing(close)}"
    elif not short:
        hint = "; there are none"
    else:
        hint = f"; there are: {listing(short)}" if len(short) <= _SHOWN else ""
    return ValueError(f"no {kind} named {plain(name)!r:.80}{hint}")


def plain(value: T) -> T | str:
    """Return a string as a plain str (NumPy's print their class); anything else unchanged."""
    return str.__str__(value) if isinstance(value, str) else value


def shown(value: object) -> str:
    """Return how a value prints, cut at 80 characters; NumPy's strings as plain ones."""
    return _NUMPY_STRING.sub(r"\1", repr(value))[:80]


def class_name(value: object) -> str:
    """Return the name of an object's class, with the package that has it: whose Model it is."""
    kind = type(value)
    package = kind.__module__.split(".")[0]
    if package == "dtau":
        return (
            f"dtau.{kind.__name__}"
            if hasattr(sys.modules["dtau"], kind.__name__)
            else kind.__name__
        )
    return kind.__qualname__ if package == "builtins" else f"{kind.__module__}.{kind.__qualname__}"


def require(argument: str, value: object, kind: type) -> None:
    """Raise TypeError unless `value` is of this kind."""
    if not isinstance(value, kind):
        raise TypeError(f"{argument}: expected {kind.__name__}, got {class_name(value)}")


def require_name(argument: str, value: object) -> str:
    """Return a name as plain text.

    Raises
    ------
    TypeError
        If `value` is not a string.
    ValueError
        If it cannot be encoded.
    """
    require(argument, value, str)
    name = str(plain(value))
    if not name.isascii() and any("\ud800" <= letter <= "\udfff" for letter in name):
        raise ValueError(f"{argument}: expected text without lone surrogates, got {name!r:.80}")
    return name


def tuple_of(argument: str, values: Iterable[T], kind: type, what: str) -> tuple[T, ...]:
    """Collect `values`; raise TypeError unless all are of this kind, which `what` describes."""
    if isinstance(values, str) or not isinstance(values, Iterable):
        alone = not isinstance(values, str) and isinstance(values, kind)
        got = f"a single {type(values).__name__}; put it in a list" if alone else shown(values)
        raise TypeError(f"{argument}: expected {what}, got {got}")
    items = tuple(values)
    for item in items:
        if not isinstance(item, kind):
            raise TypeError(f"{argument}: expected {what}, got {shown(item)}")
    return items


def frame_names(frames: object) -> str | tuple[str, ...]:
    """Return one name, or several names as a hashable tuple."""
    if isinstance(frames, str):
        return frames
    if not isinstance(frames, Iterable):
        raise TypeError(f"frames: expected names, got {shown(frames)}")
    return tuple(frames)
