"""Arrays in disguise and arrays that are wrong, drawn at random, and what NumPy makes of them."""

from __future__ import annotations

import warnings
from collections.abc import Callable
from typing import Any

import numpy as np
from layouts import misaligned, read_only
from odd_values import choose
from trees import Array

Mutator = Callable[[np.random.Generator, Array], Any]

# fmt: off
EXTREMES = (
    0.0, -0.0, 1.0, -1.0, np.nan, np.inf, -np.inf, 5e-324, -5e-324, 2.2e-308, 1e-160, 1e-9, 1e9,
    1e160, 1.7976931348623157e308, -1.7976931348623157e308, 2.0**53, 1.0 + 2.0**-52,
)
# fmt: on
HUGE = ((2**44,), (2**46,), (2**45, 1))  # batches whose results no processor can address


class Subclass(np.ndarray):
    """An array of another class."""


class ArrayLike:
    """No array, but it can be made one."""

    def __init__(self, x: Array) -> None:
        self.x = x

    def __array__(self, dtype: Any = None, copy: Any = None) -> Array:
        return self.x if dtype is None else self.x.astype(dtype)


def strided(rng: np.random.Generator, x: Array) -> Array:
    """The same numbers with gaps between them, and some axes backwards."""
    steps = [int(rng.integers(1, 4)) if n > 1 else 1 for n in x.shape]
    block = np.full([n * step for n, step in zip(x.shape, steps, strict=True)], np.nan)
    view = block[(..., *(slice(None, None, step) for step in steps))]
    view = view[(..., *(slice(None, None, int(rng.choice([-1, 1]))) for _ in x.shape))]
    view[...] = x
    return view


def in_record(x: Array) -> Array:
    """A field of a packed record: strides that are no multiple of 8."""
    record = np.zeros(x.shape, dtype=[("flag", "u1"), ("x", "f8")])
    record["x"] = x
    return record["x"]


def scattered_axes(rng: np.random.Generator, x: Array) -> Array:
    """The axes lie in memory in a random order."""
    order = rng.permutation(x.ndim)
    return x.transpose(order).copy(order="C").transpose(np.argsort(order))


def with_axes_of_1(x: Array, count: int) -> Array:
    few = x.ndim < 9 and np.lib.NumpyVersion(np.__version__) >= "2.0.0"
    return x.reshape((1,) * count + x.shape) if few else x


def repeated(rng: np.random.Generator, x: Array) -> Array:
    """One state in place of all, by strides of zero."""
    return np.broadcast_to(x[:1], x.shape) if x.ndim > 1 else x


# The same numbers, or as near as the type allows.
DISGUISES: dict[str, Mutator] = {
    "float32": lambda rng, x: x.astype(np.float32),
    "float16": lambda rng, x: x.astype(np.float16),
    "long double": lambda rng, x: x.astype(np.longdouble),
    "integers": lambda rng, x: np.rint(np.nan_to_num(x)).astype(
        choose(rng, ["i1", "u1", "i8", ">i4"])
    ),
    "bool": lambda rng, x: x > 0,
    "other bytes first": lambda rng, x: x.astype(">f8"),
    "other bytes first, strided": lambda rng, x: strided(rng, x).astype(">f8"),
    "Fortran order": lambda rng, x: np.asfortranarray(x),
    "strided": strided,
    "scattered axes": scattered_axes,
    "misaligned": lambda rng, x: misaligned(x),
    "in a record": lambda rng, x: in_record(x),
    "read-only": lambda rng, x: read_only(x),
    "list": lambda rng, x: x.tolist(),
    "tuple": lambda rng, x: tuple(x) if x.ndim else x,
    "list of lists of scalars": lambda rng, x: (
        [list(row) if row.ndim else row for row in x] if x.ndim else x
    ),
    "subclass": lambda rng, x: x.view(Subclass),
    "matrix": lambda rng, x: np.matrix(x) if x.ndim == 2 else x,
    "masked": lambda rng, x: np.ma.masked_array(x, rng.random(x.shape) < 0.3),
    "array-like": lambda rng, x: ArrayLike(x),
    "memoryview": lambda rng, x: memoryview(np.ascontiguousarray(x)) if x.size else x,
    "repeated": repeated,
    "an axis of 1 more": lambda rng, x: x[None],
    "many axes": lambda rng, x: with_axes_of_1(x, int(rng.integers(1, 39))),
}


def extreme(rng: np.random.Generator, x: Array) -> Array:
    """Some numbers replaced by extreme ones."""
    copy = np.array(x)
    if copy.size:
        for at in rng.integers(copy.size, size=rng.integers(1, 4)):
            copy.reshape(-1)[at] = choose(rng, EXTREMES)
    return copy


def random_bits(rng: np.random.Generator, x: Array) -> Array:
    return np.array(rng.integers(2**64, size=x.shape, dtype=np.uint64)).view(np.float64)


def ragged(rng: np.random.Generator, x: Array) -> Any:
    return [*np.atleast_2d(x).tolist(), [0.0] * int(rng.integers(4))]


def of_other_shape(rng: np.random.Generator, x: Array) -> Array:
    """Axes longer, shorter, empty, gone, or in another order."""
    shape = list(x.shape) or [1]
    at = int(rng.integers(len(shape)))
    change = rng.integers(6)
    if change == 0:
        shape[at] = int(rng.integers(0, 4))
    elif change == 1:
        shape[at] += int(rng.choice([-1, 1]))
    elif change == 2:
        del shape[at]
    elif change == 3:
        shape.insert(at, int(rng.integers(0, 4)))
    elif change == 4:
        shape = shape[::-1]
    else:
        shape = [int(np.prod(shape))]
    return np.resize(x, [max(n, 0) for n in shape])


def with_axis(axis: int, length: Callable[[int], int]) -> Mutator:
    """One axis from the end gets another length."""

    def resized(rng: np.random.Generator, x: Array) -> Array:
        if x.ndim < -axis:
            return x
        shape = list(x.shape)
        shape[axis] = max(length(shape[axis]), 0)
        return np.resize(x, shape)

    return resized


def objects_of_numbers(rng: np.random.Generator, x: Array) -> Any:
    copy = x.astype(object)
    if copy.size:
        copy.reshape(-1)[-1] = choose(rng, [None, "x", 10**400, 1.0, [1.0], {}])
    return copy


# Mostly no numbers of this shape.
DAMAGE: dict[str, Mutator] = {
    "extreme": extreme,
    "extreme again": extreme,
    "extreme, rare bits": lambda rng, x: extreme(rng, x).astype(np.longdouble) * 10.0,
    "random bits": random_bits,
    "one number more": with_axis(-1, lambda n: n + 1),
    "one number less": with_axis(-1, lambda n: n - 1),
    "no number": with_axis(-1, lambda n: 0),
    "numbers twice": with_axis(-1, lambda n: 2 * n),
    "one row more": with_axis(-2, lambda n: n + 1),
    "one row less": with_axis(-2, lambda n: n - 1),
    "too many axes": lambda rng, x: with_axes_of_1(x, 33),
    "other shape": of_other_shape,
    "other shape, twice": lambda rng, x: of_other_shape(rng, of_other_shape(rng, x)),
    "huge": lambda rng, x: huge(rng, x),
    "huge, empty": lambda rng, x: huge(rng, x, 0),
    "huge, other bytes first": lambda rng, x: huge(rng, x.astype(">f8")),
    "scaled": lambda rng, x: x * choose(rng, [0.0, 2.0, 1e-200, 1e200]),
    "complex": lambda rng, x: x.astype(complex),
    "objects": objects_of_numbers,
    "text": lambda rng, x: x.astype(str),
    "bytes": lambda rng, x: x.astype("S8"),
    "dates": lambda rng, x: np.zeros(x.shape, dtype="datetime64[s]"),
    "durations": lambda rng, x: np.zeros(x.shape, dtype="timedelta64[s]"),
    "records": lambda rng, x: np.zeros(x.shape, dtype=[("x", "f8")]),
    "ragged": ragged,
    "lists without end": lambda rng, x: endless(),
    "scalar": lambda rng, x: choose(rng, [0.5, np.float64(1.0), 3, True, np.array(2.0)]),
    "nothing of the kind": lambda rng, x: choose(
        rng, ["x", b"x", {}, {1.0}, object(), len, np, float, ..., NotImplemented, 1j]
    ),
    "empty": lambda rng, x: choose(rng, [[], (), [[]], np.zeros(0), np.zeros((0, 0))]),
    "generator": lambda rng, x: iter(x.tolist()) if x.ndim else x,
    "None": lambda rng, x: None,
    "an int beyond float64": lambda rng, x: [10**400] * x.shape[-1] if x.ndim else 10**400,
    "an int beyond int64": lambda rng, x: [2**64] * x.shape[-1] if x.ndim else 2**64,
}


def huge(rng: np.random.Generator, x: Array, *more: int) -> Array:
    """More states than any processor can address, unless NumPy cannot count their bytes."""
    shape = choose(rng, HUGE)
    try:
        return np.broadcast_to(x, (*shape, *more, *x.shape))
    except ValueError:  # NumPy counts bytes as if all of them were there
        return x


def endless() -> list[Any]:
    a: list[Any] = []
    a.append(a)
    return a


def mutated(rng: np.random.Generator, x: Array) -> Any:
    """The array in disguise, damaged, or damaged and in disguise."""
    with warnings.catch_warnings(), np.errstate(all="ignore"):
        warnings.simplefilter("ignore")
        if rng.random() < 0.5:
            return choose(rng, DISGUISES)(rng, x)
        damaged = choose(rng, DAMAGE)(rng, x)
        return choose(rng, DISGUISES)(rng, damaged) if is_plain(damaged) else damaged


def is_plain(value: Any) -> bool:
    """Whether it is an array that can be disguised."""
    return (
        type(value) is np.ndarray
        and value.dtype == np.float64
        and max(value.shape, default=0) < 10_000
    )


def meaning(value: Any) -> Array | None:
    """What a function should read in a value: real numbers, or None if there are none."""
    if isinstance(value, np.ma.MaskedArray):
        return None  # numbers that do not count
    with warnings.catch_warnings(), np.errstate(all="ignore"):
        warnings.simplefilter("ignore")
        try:
            array = np.asarray(value)
        except (ValueError, TypeError, RecursionError):
            return None
        if array.dtype.kind not in "biuf":
            return None
        if array.size > 2**40:
            return array  # too large to copy
        return array.astype(np.float64)
